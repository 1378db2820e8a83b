"""Candidates over HTTP: list, add, change and forget them, and what suits each of them."""

import asyncio
from typing import Annotated, Any, TypedDict

from fastapi import Path, Query
from pydantic import Field

from thresher.admin.keys import READ, WRITE
from thresher.apps.roles.service.candidates import (
    Admission,
    CandidateDetail,
    CandidateView,
    Gone,
    Taken,
    add_candidates,
    list_candidates,
    remove_candidates,
    show_candidate,
)
from thresher.apps.roles.service.intake import Given, read_candidate
from thresher.apps.roles.service.matches import (
    FitDetail,
    FitView,
    PairStatus,
    explain_fit,
    list_fits,
    set_pair_status,
)
from thresher.apps.roles.service.roles import find
from thresher.core.errors import InvalidPayload, UsageError
from thresher.runtime import Runtime
from thresher.store.store import Store
from thresher.web.answer import JSON, Answer, answer, written
from thresher.web.route import MAX_ID, MAX_TEXT, BeforeKey, CurrentRuntime, Limit, Route
from thresher.web.schemas import MAX_AT_ONCE, RequestBody, Text, given, like

PostingId = Annotated[int, Path(ge=1, le=MAX_ID, description="Id of the posting.")]
Key = Annotated[str, Path(description="Key of the candidate.")]


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


class Admissions(TypedDict):
    """What became of each candidate, in order."""

    candidates: list[Admission]


async def candidates(
    runtime: CurrentRuntime,
    role: Annotated[str | None, Query(description="Only candidates who want this role (name or id).")] = None,
    limit: Limit = 50,
    before: BeforeKey = None,
) -> Answer[list[CandidateView]]:
    """List the candidates that postings are matched to, newest first."""
    return await answer(runtime.store, _listed, runtime.store, role, limit, before)


def _listed(store: Store, role: str | None, limit: int, before: str | None) -> list[CandidateView]:
    return list_candidates(
        store, role_id=None if role is None else find(store, role).id, limit=limit, before=before
    )


async def add(runtime: CurrentRuntime, body: CandidatesAsked) -> Answer[Admissions]:
    """Add candidates, all or none: one, or a list. A candidate whose id, email or name is known is replaced:
    201 if one is new, else 200.
    """
    return await _taken(runtime, _given(body))


async def put(runtime: CurrentRuntime, key: Key, body: CandidateAsked) -> Answer[Admissions]:
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


async def _taken(runtime: Runtime, wanted: list[Given]) -> Answer[Admissions]:
    """Resolve the titles on a separate thread: it takes a while, and no database thread should wait."""
    found: list[Admission] = await asyncio.to_thread(add_candidates, runtime.store, runtime.registry, wanted)
    status = 201 if any(each.answer is Taken.NEW for each in found) else 200
    return Answer(written({"candidates": found}), status, media_type=JSON)


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


async def candidate(runtime: CurrentRuntime, key: Key) -> Answer[CandidateDetail]:
    """Show one candidate: what is known, what is searched for, the wanted roles and how each was found."""
    return await answer(runtime.store, show_candidate, runtime.store, key)


async def remove(runtime: CurrentRuntime, key: Key) -> Answer[Gone]:
    """Remove a candidate: the record, its links and its matches."""
    return await answer(runtime.store, _removed, runtime.store, key)


def _removed(store: Store, key: str) -> Gone:
    return remove_candidates(store, [key])[0]


async def matches(
    runtime: CurrentRuntime,
    key: Key,
    min_score: Annotated[float | None, Query(ge=0, le=100, description="Minimum score.")] = None,
    recommended: Annotated[bool, Query(description="Only recommended matches.")] = False,
    status: Annotated[
        str | None, Query(description="Status: suggested, viewed, applied, rejected or shortlisted.")
    ] = None,
    limit: Limit = 50,
    before: BeforeKey = None,
) -> Answer[list[FitView]]:
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


async def match(runtime: CurrentRuntime, key: Key, posting_id: PostingId) -> Answer[FitDetail]:
    """Compare a candidate and a posting now, part by part, with the words of the posting; `kept` is the
    stored match.
    """
    found = await asyncio.to_thread(explain_fit, runtime.store, key, posting_id)
    return Answer(written(found), media_type=JSON)


async def change_match(
    runtime: CurrentRuntime, key: Key, posting_id: PostingId, body: PairChanged
) -> Answer[PairStatus]:
    """Set the status of a match: suggested, viewed, applied, rejected, shortlisted. No later matching changes
    or removes it.
    """
    return await answer(
        runtime.store, set_pair_status, runtime.store, key, posting_id, body.status, body.note
    )


_AT = "2026-03-02T10:15:00.000Z"
_ANNA: dict[str, Any] = {
    "key": "anna@example.com",
    "id": 22,
    "name": "Anna Berg",
    "title": "Senior Python Developer",
    "skills": ["Python", "SQL"],
    "experience_years": 7.0,
    "locations": ["Berlin, Germany"],
    "remote": True,
    "roles": ["Python Developer"],
    "matches": 12,
    "created_at": _AT,
    "updated_at": _AT,
}
_WANTED = {
    "title": "Senior Python Developer",
    "role": "Python Developer",
    "role_id": 123,
    "similarity": 1.0,
    "method": "rules",
    "reason": "it is the name of the role without a level",
}
_ADMITTED = {
    "key": "anna@example.com",
    "name": "Anna Berg",
    "answer": "new",
    "roles": [{**_WANTED, "key": "python developer", "created": False}],
}
_DETAIL = {
    "candidate": _ANNA,
    "data": {"name": "Anna Berg", "email": "anna@example.com"},
    "keywords": ["Python Developer", "Python"],
    "wants": [{**_WANTED, "status": "completed"}],
    "waiting": [],
}
_FIT: dict[str, Any] = {
    "candidate": "anna@example.com",
    "candidate_name": "Anna Berg",
    "posting": "dice/dice-123456",
    "posting_id": 51,
    "title": "Senior Python Developer",
    "company_name": "TechCorp",
    "location": "Berlin, Germany",
    "pay": "€80k-€90k",
    "url": "https://dice.example/123456",
    "state": "open",
    "role_id": 123,
    "score": 88.5,
    "grade": "A",
    "recommended": True,
    "parts": {"skills": 92.0},
    "status": "suggested",
    "note": None,
    "created_at": _AT,
    "matched_at": _AT,
}
_QUOTE = {"text": "Python", "path": None, "start": 12, "end": 18}
_FIT_DETAIL = {
    "candidate": "anna@example.com",
    "posting": "dice/dice-123456",
    "score": 88.5,
    "grade": "A",
    "recommended": True,
    "parts": [{"name": "skills", "points": 92.0, "weight": 0.4, "reason": "2 of 2 skills", "quote": _QUOTE}],
    "matched": [{"skill": "python", "own": "Python", "quote": _QUOTE}],
    "missing": [{"skill": "aws", "own": None, "quote": None}],
    "kept": _FIT,
}
_PAIR = {
    "candidate": "anna@example.com",
    "posting_id": 51,
    "was": "suggested",
    "status": "applied",
    "note": "sent on Monday",
}
_GONE = {"key": "anna@example.com", "name": "Anna Berg", "roles": 1, "matches": 12}

ROUTES = (
    Route("GET", "/api/candidates", candidates, READ, page_by="key", example=[_ANNA], name="list_candidates"),
    Route(
        "POST",
        "/api/candidates",
        add,
        WRITE,
        status=(200, 201),
        example={"candidates": [_ADMITTED]},
        name="add_candidates",
    ),
    Route(
        "GET",
        "/api/candidates/{key:path}/matches",
        matches,
        READ,
        page_by="posting",
        example=[_FIT],
        name="list_candidate_matches",
    ),
    Route(
        "GET",
        "/api/candidates/{key:path}/matches/{posting_id}",
        match,
        READ,
        example=_FIT_DETAIL,
        name="get_candidate_match",
    ),
    Route(
        "PATCH",
        "/api/candidates/{key:path}/matches/{posting_id}",
        change_match,
        WRITE,
        example=_PAIR,
        name="change_candidate_match",
    ),
    Route("GET", "/api/candidates/{key:path}", candidate, READ, example=_DETAIL, name="get_candidate"),
    Route(
        "PUT",
        "/api/candidates/{key:path}",
        put,
        WRITE,
        status=(200, 201),
        example={"candidates": [_ADMITTED]},
        name="replace_candidate",
    ),
    Route("DELETE", "/api/candidates/{key:path}", remove, WRITE, example=_GONE, name="remove_candidate"),
)
