"""Matches over HTTP: the openings that suit the profile, and what was done about them."""

from typing import Annotated, Any, TypedDict

from fastapi import Body, Path, Query
from starlette.requests import Request

from thresher.admin.keys import READ, WRITE
from thresher.admin.times import read_now
from thresher.apps.jobs.service.matches import (
    Changed,
    MatchView,
    Search,
    check,
    list_matches,
    saved_search,
    set_status,
)
from thresher.apps.jobs.service.postings import judge_again
from thresher.apps.jobs.service.why_no_matches import WhyNoMatches, why_no_matches
from thresher.apps.jobs.service.why_no_matches import make_change as change_setting
from thresher.core.errors import UsageError
from thresher.runtime import Runtime
from thresher.store.store import Store
from thresher.web.answer import Answer, answer
from thresher.web.auth import holder
from thresher.web.route import BeforeKey, CurrentRuntime, Limit, Route
from thresher.web.schemas import RequestBody, Text, like


class MatchChanged(RequestBody):
    """What you have done about a match."""

    model_config = like(status="applied", note="sent on Monday")

    status: Text
    note: Text | None = None


Key = Annotated[str, Path(description="Key of the match.")]


async def matches(
    runtime: CurrentRuntime,
    status: Annotated[str | None, Query(description="Status: new, viewed, applied or dismissed.")] = None,
    priority: Annotated[str | None, Query(description="Priority: high, medium or low.")] = None,
    min_score: Annotated[int | None, Query(ge=-100_000, le=100_000, description="Minimum score.")] = None,
    since: Annotated[
        str | None, Query(description="Only matches decided since: 12h, 7d, 2w, 2026-01-31.")
    ] = None,
    company: Annotated[str | None, Query(description="Part of the company's name.")] = None,
    words: Annotated[str | None, Query(description="Words that the title must contain.")] = None,
    view: Annotated[str | None, Query(description="Name of a saved search, instead of filters.")] = None,
    limit: Limit = 50,
    before: BeforeKey = None,
) -> Answer[list[MatchView]]:
    """List the job postings that match your profile, best first."""
    search = Search(status, priority, min_score, since, company, words)
    if view is not None and search.filters:
        raise UsageError("a view has its own filters; use either view or filters")
    return await answer(runtime.store, _listed, runtime.store, search, view, limit, before)


def _listed(
    store: Store, search: Search, view: str | None, limit: int, before: str | None
) -> list[MatchView]:
    now = read_now(store)
    asked = check(search, now) if view is None else saved_search(store, view)
    return list_matches(store, asked, now, limit, before)


async def why(runtime: CurrentRuntime) -> Answer[WhyNoMatches]:
    """Explain why there are not more matches: reasons by count, nearest misses, and the change that brings
    most.
    """
    return await answer(runtime.store, _explained, runtime.store)


def _explained(store: Store) -> WhyNoMatches:
    return why_no_matches(store, read_now(store))


class ChangeMade(RequestBody):
    """What is changed, one of what `GET /api/matches/why` names, and its new value."""

    model_config = like(name="jobs.score.needed_in_city", value=54)

    name: Text
    value: int | float


class JudgingAsked(RequestBody):
    """Which open postings are judged: with `all` all of them, else those not judged yet and unknown ones."""

    model_config = like(all=True)

    all: bool = False


class Judging(TypedDict):
    """How many postings will be judged."""

    postings: int


async def make_change(runtime: CurrentRuntime, request: Request, body: ChangeMade) -> Answer[Judging]:
    """Set what decides about most matches, and have all open postings judged by it again."""
    who = holder(request)
    by = who.who if who else "the API"
    return await answer(runtime.store, _made, runtime, body, by)


def _made(runtime: Runtime, body: ChangeMade, by: str) -> Judging:
    made = change_setting(runtime.store, runtime.registry, body.name, str(body.value), by)
    return {"postings": made}


async def judge(
    runtime: CurrentRuntime, body: Annotated[JudgingAsked | None, Body()] = None
) -> Answer[Judging]:
    """Have open postings judged by the profile as it is now: those not judged yet, or all of them."""
    every = body is not None and body.all
    return await answer(runtime.store, _asked, runtime, every)


def _asked(runtime: Runtime, every: bool) -> Judging:
    return {"postings": judge_again(runtime.store, runtime.registry, every=every)}


async def change_match(runtime: CurrentRuntime, key: Key, body: MatchChanged) -> Answer[Changed]:
    """Record what you did about a match. No later analysis changes it."""
    return await answer(runtime.store, _changed, runtime.store, key, body)


def _changed(store: Store, key: str, body: MatchChanged) -> Changed:
    (changed,) = set_status(store, [key], body.status, body.note)
    return changed


_AT = "2026-03-02T10:15:00.000Z"
_MATCH: dict[str, Any] = {
    "key": "greenhouse:acme/1",
    "score": 91,
    "priority": "high",
    "status": "new",
    "title": "Senior Python Engineer",
    "company": "Acme",
    "location": "Portland, OR",
    "pay": "$100k-$120k",
    "url": "https://acme.com/jobs/1",
    "state": "open",
    "matched_skills": ["python"],
    "skill_gaps": ["kafka"],
    "explanation": ["+12 skills: python"],
    "resume_intake": {"summary": "Builds things", "prioritised_skills": ["python"], "projects": []},
    "note": None,
    "withdrawn": None,
    "decided_at": _AT,
    "notified_at": _AT,
    "found_at": _AT,
    "status_at": None,
    "posting": "greenhouse:acme/1",
}
_WHY = {
    "postings": 50,
    "matches": 2,
    "waiting": 1,
    "reasons": [{"rule": "score", "reason": "below the minimum score", "postings": 31}],
    "nearest": [
        {
            "key": "greenhouse:acme/5",
            "title": "Harbour Engineer",
            "company": "Acme",
            "score": 54,
            "needed": 65,
            "lacks": ["-15 title: the title is not one that you look for"],
        }
    ],
    "change": {
        "name": "jobs.score.needed_in_city",
        "now": 65,
        "then": 54,
        "brings": 1,
        "commands": ["thresher config set jobs.score.needed_in_city 54"],
    },
    "profile": True,
    "all_looked_at": True,
}
_CHANGED = {"key": "greenhouse:acme/1", "title": "Senior Python Engineer", "was": "new", "status": "applied"}

ROUTES = (
    Route("GET", "/api/matches", matches, READ, page_by="key", example=[_MATCH], name="list_matches"),
    Route("GET", "/api/matches/why", why, READ, example=_WHY, name="explain_matches"),
    Route(
        "POST",
        "/api/matches/why/change",
        make_change,
        WRITE,
        shows=("name", "value"),
        name="make_match_change",
        example={"postings": 50},
    ),
    Route(
        "POST",
        "/api/matches/judge",
        judge,
        WRITE,
        shows=("all",),
        name="judge_postings",
        example={"postings": 50},
    ),
    Route("PATCH", "/api/matches/{key:path}", change_match, WRITE, example=_CHANGED, name="change_match"),
)
