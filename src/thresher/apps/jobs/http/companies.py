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
    """A company by name, by site, or by both."""

    name: Text | None = None
    website: Text | None = None


class CompaniesAsked(CompanyAsked):
    """One company, or many: names, sites, or objects with both. `force` looks again at what is known and
    fresh.
    """

    companies: list[Text | CompanyAsked] | None = Field(None, min_length=1, max_length=MAX_AT_ONCE)
    force: bool = False


class PostingAsked(RequestBody):
    """The address of a posting."""

    url: Text


async def companies(
    runtime: CurrentRuntime,
    status: Annotated[
        str | None, Query(description="Status: analyzing, complete, partial, unknown_site, failed.")
    ] = None,
    tier: Annotated[str | None, Query(description="Tier: S, A, B, C or D.")] = None,
    limit: Limit = 50,
    before: BeforeKey = None,
) -> Response:
    """Companies, the newest first."""
    return await answer(
        runtime.store, list_companies, runtime.store, status=status, tier=tier, limit=limit, before=before
    )


async def company(runtime: CurrentRuntime, key: str) -> Response:
    """Everything that is known of a company, where it stands, and why it has its tier."""
    return await answer(runtime.store, show_company, runtime.store, key)


async def add_companies(runtime: CurrentRuntime, body: CompaniesAsked) -> Response:
    """Have companies looked at. Asking again is harmless: 201 if something is new, else 200; either way what
    became of each.
    """
    return await asked_for(
        runtime, ask_companies, runtime.store, runtime.registry, _wishes(body), force=body.force
    )


async def asked_for(runtime: Runtime, fn: object, *args: object, **kwargs: object) -> Response:
    """Ask for work, and say what became of each request."""
    found: Sequence[Outcome] = await runtime.store.run(fn, *args, **kwargs)  # type: ignore[arg-type]
    status = 201 if any(each.answer is Answered.ADDED for each in found) else 200
    return Response(written({"asked": found}), status, media_type=JSON)


async def add_posting(runtime: CurrentRuntime, body: PostingAsked) -> Response:
    """Have a posting read and judged. One that is known is judged anew."""
    return await asked_for(runtime, ask_postings, runtime.store, runtime.registry, [body.url])


def _wishes(body: CompaniesAsked) -> list[Wish]:
    """All or none: the first that makes no sense is named."""
    if body.companies is None:
        return [wish(body.name, body.website)]
    if body.name or body.website:
        raise UsageError("a body has a name or a website, or a list of companies, not both")
    found = []
    for at, each in enumerate(body.companies):
        try:
            found.append(wish(each.name, each.website) if isinstance(each, CompanyAsked) else read_wish(each))
        except UsageError as problem:
            raise type(problem)(f"companies.{at}: {problem}. Nothing was added.") from None
    return found


ROUTES = (
    Route("GET", "/api/companies", companies, READ),
    Route("POST", "/api/companies", add_companies, WRITE, status=(200, 201)),
    Route("POST", "/api/postings", add_posting, WRITE, status=(200, 201)),
    Route("GET", "/api/companies/{key:path}", company, READ),
)
