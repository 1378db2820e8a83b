"""Companies as signals over HTTP: the strongest first, one with its offers, and what a person decides."""

from typing import Annotated, Any

from fastapi import Path, Query
from starlette.requests import Request

from thresher.admin.keys import READ, WRITE
from thresher.apps.queries.http.answer import Camel, camel_answer
from thresher.apps.queries.service import signals
from thresher.apps.queries.store.companies import CompanyView
from thresher.web.auth import holder
from thresher.web.route import BeforeKey, CurrentRuntime, Limit, Route
from thresher.web.schemas import RequestBody, Text, like

Key = Annotated[str, Path(description="Key or name of the company.")]


class DecisionAsked(RequestBody):
    """What is decided about a company. What is missing or null stays as it is; an empty text removes feedback
    or notes.
    """

    model_config = like(resolution="HIGH_INTEREST", feedback="OK", notes="call in March")

    resolution: Text | None = None
    feedback: Text | None = None
    notes: Text | None = None


async def listed(
    runtime: CurrentRuntime,
    resolution: Annotated[str | None, Query(description="Only companies of this resolution.")] = None,
    limit: Limit = 100,
    before: BeforeKey = None,
) -> Camel[list[CompanyView]]:
    """List companies by what their offers say, the strongest first."""
    return await camel_answer(
        runtime,
        lambda: signals.list_companies(runtime.store, resolution=resolution, limit=limit, before=before),
    )


async def shown(runtime: CurrentRuntime, key: Key) -> Camel[signals.CompanyDetail]:
    """Show one company, by key or name: its figures, its offers with the parts of their scores, its weeks,
    and what was decided.
    """
    return await camel_answer(runtime, lambda: signals.show_company(runtime.store, key))


async def decide(
    request: Request, runtime: CurrentRuntime, key: Key, body: DecisionAsked
) -> Camel[signals.CompanyDetail]:
    """Decide about a company: its resolution, whether its signals are right, and notes."""
    who = holder(request)
    by = who.who if who else "the API"
    return await camel_answer(runtime, lambda: signals.decide(runtime.store, key, by, **body.model_dump()))


_COMPANY: dict[str, Any] = {
    "company": "acme.example",
    "name": "Acme Anvils",
    "maxScore": 8,
    "strongOfferCount": 2,
    "uniqueOfferCount": 12,
    "offerCount": 15,
    "openOffers": 9,
    "postingActivity": 15,
    "avgStrongScore": 7.5,
    "topCategory": "legacy_stack",
    "topOffer": "remotive/1234",
    "topOfferUrl": "https://offers.example/1234",
    "categoryMaxScores": {"legacy_stack": 8},
    "lastStrongAt": "2026-03-02T10:15:00.000Z",
    "firstSeenAt": "2026-02-01T10:15:00.000Z",
    "updatedAt": "2026-03-02T10:15:09.000Z",
    "resolution": "PENDING",
    "resolved": False,
    "resolutionAt": "2026-03-02T12:00:00.000Z",
    "feedback": "OK",
    "notes": "call in March",
    "problem": "ValueError: its offers cannot be read",
}
_OFFER = {
    "posting": "remotive/1234",
    "title": "Migration engineer",
    "url": "https://offers.example/1234",
    "score": 8,
    "category": "legacy_stack",
    "hits": [],
    "reposts": 1,
    "canonical": "remotive/1200",
    "postedOn": "2026-03-01",
    "firstSeenAt": "2026-03-01T10:15:00.000Z",
    "state": "open",
}
_DETAIL = {
    "company": _COMPANY,
    "offers": [_OFFER],
    "weeks": [{"week": "2026-03-02", "offers": 3, "strong": 1, "reposts": 0}],
    "decisions": [
        {
            "field": "resolution",
            "old": "PENDING",
            "new": "HIGH_INTEREST",
            "by": "key anna",
            "at": "2026-03-02T12:00:00.000Z",
        }
    ],
}


ROUTES = (
    Route(
        "GET",
        "/api/signals",
        listed,
        READ,
        example=[_COMPANY],
        probe=True,
        page_by="company",
        name="list_signals",
    ),
    Route("POST", "/api/signals/{key:path}/decide", decide, WRITE, example=_DETAIL, name="decide_signal"),
    Route("GET", "/api/signals/{key:path}", shown, READ, example=_DETAIL, name="get_signal"),
)
