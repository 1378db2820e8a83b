"""Candidates over HTTP: list, add, change and forget them, and what suits each of them."""

import asyncio
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import Field
from starlette.responses import Response

from thresher.admin.keys import READ, WRITE
from thresher.apps.roles.service.candidates import (
    Admission,
    CandidateView,
    Taken,
    add_candidates,
    list_candidates,
    remove_candidates,
    show_candidate,
)
from thresher.apps.roles.service.intake import Given, read_candidate
from thresher.apps.roles.service.matches import explain_fit, list_fits, set_pair_status
from thresher.apps.roles.service.roles import find
from thresher.core.errors import InvalidPayload, UsageError
from thresher.runtime import Runtime
from thresher.store.store import Store
from thresher.web.answer import JSON, answer, written
from thresher.web.route import MAX_ID, MAX_TEXT, BeforeKey, CurrentRuntime, Limit, Route
from thresher.web.schemas import MAX_AT_ONCE, RequestBody, Text, given, like

PostingId = Annotated[int, Path(ge=1, le=MAX_ID)]


Many = Annotated[list[Text] | Text | None, Field(max_length=MAX_TEXT)]


class CandidateAsked(RequestBody):
    """A candidate. A list may also be text with entries separated by ;. Omit what is not known."""

    model_config = like(
        name="Anna Berg",
        email="anna@example.com",
        title="Senior Python Developer",
        skills=["Python", "SQL"],
        experience_years=7,
        locations=["Berlin, Germany"],
        salary_min=70_000,
        currency="EUR",
        remote=True,
    )

    id: Text | None = None
    email: Text | None = None
    name: Text | None = None
    title: Text | None = None
    roles: Many = None
    skills: Many = None
    tech_stack: Many = None
    specializations: Many = None
    experience_years: int | float | None = None
    locations: Many = None
    salary_min: int | None = None
    currency: Text | None = None
    remote: bool | None = None


class CandidatesAsked(CandidateAsked):
    """One candidate, or many."""

    model_config = like(
        candidates=[{"name": "Anna Berg", "title": "Senior Python Developer", "skills": ["Python", "SQL"]}]
    )

    candidates: list[CandidateAsked] | None = Field(None, min_length=1, max_length=MAX_AT_ONCE)


class PairChanged(RequestBody):
    """The status of a candidate's match: suggested, viewed, applied, rejected or shortlisted."""

    model_config = like(status="applied", note="sent on Monday")

    status: Text
    note: Text | None = None


async def candidates(
    runtime: CurrentRuntime,
    role: Annotated[str | None, Query(description="Only candidates who want this role (name or id).")] = None,
    limit: Limit = 50,
    before: BeforeKey = None,
) -> Response:
    """List candidates, newest first."""
    return await answer(runtime.store, _listed, runtime.store, role, limit, before)


def _listed(store: Store, role: str | None, limit: int, before: str | None) -> list[CandidateView]:
    return list_candidates(
        store, role_id=None if role is None else find(store, role).id, limit=limit, before=before
    )


async def add(runtime: CurrentRuntime, body: CandidatesAsked) -> Response:
    """Add candidates, all or none: one, or a list. A candidate whose id, email or name is known is replaced:
    201 if one is new, else 200.
    """
    return await _taken(runtime, _given(body))


async def put(runtime: CurrentRuntime, key: str, body: CandidateAsked) -> Response:
    """Add or replace the candidate with this key. An email of another candidate is refused with 409, naming
    that candidate.
    """
    found = _read(body, "the candidate")
    if body.id is not None and found.key != key:
        raise UsageError(
            f"the URL has {key[:60]!r} and the body {body.id[:60]!r}; they must be the same. Nothing "
            "was changed."
        )
    return await _taken(runtime, [found.under(key)])


async def _taken(runtime: Runtime, wanted: list[Given]) -> Response:
    """Resolve the titles on a separate thread: it takes a while, and no database thread should wait."""
    found: list[Admission] = await asyncio.to_thread(add_candidates, runtime.store, runtime.registry, wanted)
    status = 201 if any(each.answer is Taken.NEW for each in found) else 200
    return Response(written({"candidates": found}), status, media_type=JSON)


def _given(body: CandidatesAsked) -> list[Given]:
    if body.candidates is None:
        return [_read(body, "the candidate")]
    if set(given(body)) != {"candidates"}:
        raise UsageError("send either one candidate or a list of candidates, not both. Nothing was added.")
    return [_read(each, f"candidates.{at}") for at, each in enumerate(body.candidates)]


def _read(body: CandidateAsked, where: str) -> Given:
    fields: dict[str, Any] = {name: value for name, value in given(body).items() if name != "candidates"}
    try:
        return read_candidate(fields)
    except UsageError as problem:
        raise InvalidPayload(f"{where}: {problem}. Nothing was added.") from None


async def candidate(runtime: CurrentRuntime, key: str) -> Response:
    """Show one candidate: what is known, what is searched for, the wanted roles and how each was found."""
    return await answer(runtime.store, show_candidate, runtime.store, key)


async def remove(runtime: CurrentRuntime, key: str) -> Response:
    """Remove a candidate: the record, its links and its matches."""
    return await answer(runtime.store, _removed, runtime.store, key)


def _removed(store: Store, key: str) -> Any:
    return remove_candidates(store, [key])[0]


async def matches(
    runtime: CurrentRuntime,
    key: str,
    min_score: Annotated[float | None, Query(ge=0, le=100, description="Minimum score.")] = None,
    recommended: Annotated[bool, Query(description="Only recommended matches.")] = False,
    status: Annotated[
        str | None, Query(description="Status: suggested, viewed, applied, rejected or shortlisted.")
    ] = None,
    limit: Limit = 50,
    before: BeforeKey = None,
) -> Response:
    """List the postings that match a candidate, best first: score, grade and parts. `matched_at` is the time
    of the score.
    """
    wanted: dict[str, Any] = {
        "min_score": min_score,
        "recommended": recommended,
        "status": status,
        "limit": limit,
        "after": before,
    }
    return await answer(runtime.store, list_fits, runtime.store, candidate=key, **wanted)


async def match(runtime: CurrentRuntime, key: str, posting_id: PostingId) -> Response:
    """Compare a candidate and a posting now, part by part, with the words of the posting; `kept` is the
    stored match.
    """
    found = await asyncio.to_thread(explain_fit, runtime.store, key, posting_id)
    return Response(written(found), media_type=JSON)


async def change_match(
    runtime: CurrentRuntime, key: str, posting_id: PostingId, body: PairChanged
) -> Response:
    """Set the status of a match: suggested, viewed, applied, rejected, shortlisted. No later matching changes
    or removes it.
    """
    return await answer(
        runtime.store, set_pair_status, runtime.store, key, posting_id, body.status, body.note
    )


ROUTES = (
    Route("GET", "/api/candidates", candidates, READ, page_by="key"),
    Route("POST", "/api/candidates", add, WRITE, status=(200, 201)),
    Route("GET", "/api/candidates/{key:path}/matches", matches, READ, page_by="posting"),
    Route("GET", "/api/candidates/{key:path}/matches/{posting_id}", match, READ),
    Route("PATCH", "/api/candidates/{key:path}/matches/{posting_id}", change_match, WRITE),
    Route("GET", "/api/candidates/{key:path}", candidate, READ),
    Route("PUT", "/api/candidates/{key:path}", put, WRITE, status=(200, 201)),
    Route("DELETE", "/api/candidates/{key:path}", remove, WRITE),
)
