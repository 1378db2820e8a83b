"""Companies over HTTP: list them, open one, ask for more."""

from collections.abc import Sequence
from typing import Annotated, Any, TypedDict

from fastapi import Path, Query
from pydantic import Field

from thresher.admin.keys import READ, WRITE
from thresher.admin.requests import Answered
from thresher.admin.requests import RequestResult as Outcome
from thresher.apps.jobs.service.companies import (
    CompanyDetail,
    CompanyView,
    Wish,
    ask_companies,
    list_companies,
    read_wish,
    show_company,
    wish,
)
from thresher.apps.jobs.service.postings import ask_postings
from thresher.core.errors import UsageError
from thresher.runtime import Runtime
from thresher.web.answer import JSON, Answer, answer, written
from thresher.web.route import BeforeKey, CurrentRuntime, Limit, Route
from thresher.web.schemas import MAX_AT_ONCE, RequestBody, Text, like


class CompanyAsked(RequestBody):
    """A company, by name, website or both."""

    model_config = like(name="Acme", website="acme.com")

    name: Text | None = None
    website: Text | None = None


class CompaniesAsked(CompanyAsked):
    """One company, or many: names, websites, or objects with both. `force` reads companies again that are up
    to date.
    """

    model_config = like(companies=["acme.com", {"name": "Beta", "website": "beta.io"}])

    companies: list[Text | CompanyAsked] | None = Field(None, min_length=1, max_length=MAX_AT_ONCE)
    force: bool = False


class PostingAsked(RequestBody):
    """The URL of a posting."""

    model_config = like(url="https://acme.com/jobs/1")

    url: Text


class Asked(TypedDict):
    """What became of each request, in order."""

    asked: list[Outcome]


Key = Annotated[str, Path(description="Key of the company, such as acme.com.")]


async def companies(
    runtime: CurrentRuntime,
    status: Annotated[
        str | None, Query(description="Status: analyzing, complete, partial, unknown_site, failed, excluded.")
    ] = None,
    tier: Annotated[str | None, Query(description="Tier: S, A, B, C or D.")] = None,
    limit: Limit = 50,
    before: BeforeKey = None,
) -> Answer[list[CompanyView]]:
    """List the companies that were added or found for the job search, newest first."""
    return await answer(
        runtime.store, list_companies, runtime.store, status=status, tier=tier, limit=limit, before=before
    )


async def company(runtime: CurrentRuntime, key: Key) -> Answer[CompanyDetail]:
    """Show everything known about a company, its status, and why it has its tier."""
    return await answer(runtime.store, show_company, runtime.store, key)


async def add_companies(runtime: CurrentRuntime, body: CompaniesAsked) -> Answer[Asked]:
    """Add companies to be analysed. Repeating it is harmless: 201 if something is new, else 200, with the
    result for each company.
    """
    return await asked_for(
        runtime, ask_companies, runtime.store, runtime.registry, _wishes(body), force=body.force
    )


async def asked_for(runtime: Runtime, fn: object, *args: object, **kwargs: object) -> Answer[Asked]:
    """Request work, and report the result of each request."""
    found: Sequence[Outcome] = await runtime.store.run(fn, *args, **kwargs)  # type: ignore[arg-type]
    status = 201 if any(each.answer is Answered.ADDED for each in found) else 200
    return Answer(written({"asked": found}), status, media_type=JSON)


async def add_posting(runtime: CurrentRuntime, body: PostingAsked) -> Answer[Asked]:
    """Add a posting to be read and judged. A known posting is judged again."""
    return await asked_for(runtime, ask_postings, runtime.store, runtime.registry, [body.url])


def _wishes(body: CompaniesAsked) -> list[Wish]:
    """Accept all or none: name the first invalid one."""
    if body.companies is None:
        return [wish(body.name, body.website)]
    if body.name or body.website:
        raise UsageError("send either a name or a website, or a list of companies, not both")
    found = []
    for at, each in enumerate(body.companies):
        try:
            found.append(wish(each.name, each.website) if isinstance(each, CompanyAsked) else read_wish(each))
        except UsageError as problem:
            raise type(problem)(f"companies.{at}: {problem}. Nothing was added.") from None
    return found


AT = "2026-03-02T10:15:00.000Z"
ASKED = {
    "asked": [
        {"what": "acme.com", "key": "acme.com", "answer": "added", "task": 41, "says": "acme.com is analysed"}
    ]
}
BOARD: dict[str, Any] = {
    "key": "greenhouse:acme",
    "platform": "greenhouse",
    "url": "https://boards.greenhouse.io/acme",
    "company": "acme.com",
    "company_name": "Acme",
    "status": "active",
    "confidence": "high",
    "verdict": "found",
    "reason": None,
    "open": 12,
    "failures": 0,
    "alarms": [],
    "scraped_at": AT,
    "due_at": AT,
    "last_success_at": AT,
    "excluded": None,
}
_COMPANY: dict[str, Any] = {
    "key": "acme.com",
    "name": "Acme",
    "website": "https://acme.com/",
    "status": "complete",
    "tier": "A",
    "score": 105,
    "completeness": "good",
    "size": "240 people",
    "headquarters": "Portland, Oregon",
    "boards": 1,
    "postings": 12,
    "analyzed_at": AT,
    "excluded": None,
}
_DETAIL = {
    "company": _COMPANY,
    "data": {"name": "Acme", "website": "https://acme.com/", "tier": "A"},
    "evidence": {"source": "9f…", "places": {"size": {"quote": "our 240 people", "start": 80, "end": 94}}},
    "boards": [BOARD],
    "points": ["+30 size: 240 people"],
    "tasks": [41],
}

ROUTES = (
    Route("GET", "/api/companies", companies, READ, page_by="key", example=[_COMPANY], name="list_companies"),
    Route(
        "POST", "/api/companies", add_companies, WRITE, status=(200, 201), example=ASKED, name="add_companies"
    ),
    Route("POST", "/api/postings", add_posting, WRITE, status=(200, 201), example=ASKED, name="add_posting"),
    Route("GET", "/api/companies/{key:path}", company, READ, example=_DETAIL, name="get_company"),
)
