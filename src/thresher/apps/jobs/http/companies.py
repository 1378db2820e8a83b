"""Companies over HTTP: list them, open one, ask for more."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from thresher.admin.keys import READ, WRITE
from thresher.admin.requests import Answered
from thresher.admin.requests import RequestResult as Outcome
from thresher.apps.jobs.service.companies import (
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
from thresher.web.answer import JSON, answer, written
from thresher.web.route import BeforeKey, CurrentRuntime, Limit, Route
from thresher.web.schemas import MAX_AT_ONCE, RequestBody, Text


class CompanyAsked(RequestBody):
    """A company, by name, website or both."""

    name: Text | None = None
    website: Text | None = None


class CompaniesAsked(CompanyAsked):
    """One company, or many: names, websites, or objects with both. `force` reads companies again that are up
    to date.
    """

    companies: list[Text | CompanyAsked] | None = Field(None, min_length=1, max_length=MAX_AT_ONCE)
    force: bool = False


class PostingAsked(RequestBody):
    """The URL of a posting."""

    url: Text


async def companies(
    runtime: CurrentRuntime,
    status: Annotated[
        str | None, Query(description="Status: analyzing, complete, partial, unknown_site, failed, excluded.")
    ] = None,
    tier: Annotated[str | None, Query(description="Tier: S, A, B, C or D.")] = None,
    limit: Limit = 50,
    before: BeforeKey = None,
) -> Response:
    """List companies, newest first."""
    return await answer(
        runtime.store, list_companies, runtime.store, status=status, tier=tier, limit=limit, before=before
    )


async def company(runtime: CurrentRuntime, key: str) -> Response:
    """Show everything known about a company, its status, and why it has its tier."""
    return await answer(runtime.store, show_company, runtime.store, key)


async def add_companies(runtime: CurrentRuntime, body: CompaniesAsked) -> Response:
    """Add companies to be analysed. Repeating it is harmless: 201 if something is new, else 200, with the
    result for each company.
    """
    return await asked_for(
        runtime, ask_companies, runtime.store, runtime.registry, _wishes(body), force=body.force
    )


async def asked_for(runtime: Runtime, fn: object, *args: object, **kwargs: object) -> Response:
    """Request work, and report the result of each request."""
    found: Sequence[Outcome] = await runtime.store.run(fn, *args, **kwargs)  # type: ignore[arg-type]
    status = 201 if any(each.answer is Answered.ADDED for each in found) else 200
    return Response(written({"asked": found}), status, media_type=JSON)


async def add_posting(runtime: CurrentRuntime, body: PostingAsked) -> Response:
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


ROUTES = (
    Route("GET", "/api/companies", companies, READ, page_by="key"),
    Route("POST", "/api/companies", add_companies, WRITE, status=(200, 201)),
    Route("POST", "/api/postings", add_posting, WRITE, status=(200, 201)),
    Route("GET", "/api/companies/{key:path}", company, READ),
)
