"""Companies as signals over HTTP: the strongest first, one with its offers, and what a person decides."""

from typing import Annotated, Any

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from thresher.admin.keys import READ, WRITE
from thresher.apps.queries.http.answer import camel_answer
from thresher.apps.queries.service import signals
from thresher.web.auth import holder
from thresher.web.route import CurrentRuntime, Limit, Route
from thresher.web.schemas import RequestBody, Text, answers, like


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
) -> Response:
    """List companies by what their offers say, the strongest first."""
    return await camel_answer(
        runtime, lambda: signals.list_companies(runtime.store, resolution=resolution, limit=limit)
    )


async def shown(runtime: CurrentRuntime, key: str) -> Response:
    """Show one company, by key or name: its figures, its offers with the parts of their scores, its weeks,
    and what was decided.
    """
    return await camel_answer(runtime, lambda: signals.show_company(runtime.store, key))


async def decide(request: Request, runtime: CurrentRuntime, key: str, body: DecisionAsked) -> Response:
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
_UNKNOWN = (
    "avgStrongScore",
    "topCategory",
    "topOffer",
    "topOfferUrl",
    "lastStrongAt",
    "resolutionAt",
    "feedback",
    "notes",
    "problem",
    "url",
    "score",
    "category",
    "canonical",
    "postedOn",
    "old",
    "new",
)


def _fits(example: Any) -> dict[str, Any]:
    return {"responses": {"200": answers(example, perhaps=_UNKNOWN)}}


ROUTES = (
    Route("GET", "/api/signals", listed, READ, _fits([_COMPANY]), probe=True),
    Route("POST", "/api/signals/{key:path}/decide", decide, WRITE, _fits(_DETAIL)),
    Route("GET", "/api/signals/{key:path}", shown, READ, _fits(_DETAIL)),
)
