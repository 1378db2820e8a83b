"""Webhooks over HTTP: which endpoints are told of events, and how their deliveries stand.

The address of an endpoint is often a secret of its receiver, so even looking needs the scope write.
"""

from functools import partial
from typing import Annotated, Any

from fastapi import Body, Path, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from thresher.admin import webhooks as control
from thresher.admin.keys import WRITE
from thresher.admin.times import seconds
from thresher.admin.webhooks import SignedWebhook, signed_view
from thresher.fetch.guard import Guard
from thresher.runtime import make_fetcher
from thresher.web.answer import JSON, answer, written
from thresher.web.auth import holder, is_admin
from thresher.web.route import MAX_ID, BeforeId, CurrentRuntime, Limit, Route
from thresher.web.schemas import ReasonBody, RequestBody, Text, answers, like, said

MAX_KINDS = 100
Name = Annotated[str, Path(max_length=40)]
DeliveryId = Annotated[int, Path(ge=1, le=MAX_ID)]


class WebhookAsked(RequestBody):
    """A new webhook: its name, the https address that messages are posted to, and kinds of events (* is
    every kind).
    """

    model_config = like(name="billing", url="https://hooks.example.com/thresher", events=["group_ended"])

    name: Text
    url: Text
    events: list[Text] = Field(max_length=MAX_KINDS)


class WebhookPause(ReasonBody):
    """The length of a pause, such as 90s or 2h, and its reason. Without a length: until it is resumed."""

    lasts: Text | None = Field(None, alias="for")


class Rotation(RequestBody):
    """For how long the old secret signs, too: 24h unless said."""

    keep: Text = "24h"


async def webhooks(runtime: CurrentRuntime) -> Response:
    """List webhooks: what they are told of, and how their deliveries stand."""
    return await answer(runtime.store, control.list_webhooks, runtime.store)


async def webhook(runtime: CurrentRuntime, name: Name) -> Response:
    """Show one webhook."""
    return await answer(runtime.store, control.show_webhook, runtime.store, name)


async def add(runtime: CurrentRuntime, request: Request, body: WebhookAsked) -> Response:
    """Add a webhook. The response contains its `secret`, which signs messages; it cannot be read again."""
    who = holder(request)
    make = partial(
        control.add_webhook,
        runtime.store,
        Guard(runtime.outward.allow),
        body.name,
        body.url,
        body.events,
        made_by=who.who if who else None,
    )
    return _secret(await runtime.store.run(make), 201)


def _secret(made: SignedWebhook, status: int) -> Response:
    return Response(written(signed_view(made)), status, {"Cache-Control": "no-store"}, JSON)


async def test(runtime: CurrentRuntime, name: Name) -> Response:
    """Send a message of the kind `ping` now, past the queue, and return what the endpoint answered."""
    fetcher = make_fetcher(runtime.outward, lambda: runtime.store.settings)
    try:
        found = await control.ping(runtime.store, fetcher, name)
    finally:
        await fetcher.close()
    return Response(written(found), media_type=JSON)


async def pause(
    runtime: CurrentRuntime,
    request: Request,
    name: Name,
    body: Annotated[WebhookPause | None, Body()] = None,
) -> Response:
    """Hold deliveries back for a time, else until somebody resumes. They wait, and none is lost."""
    lasts = seconds(body.lasts) if body and body.lasts else None
    change = partial(control.pause_webhook, lasts=lasts, by_admin=is_admin(request))
    return await answer(runtime.store, change, runtime.store, name, said(body, "paused manually"))


async def resume(runtime: CurrentRuntime, request: Request, name: Name) -> Response:
    """Deliver again, whatever stopped it. The pause of an administrator needs the scope admin."""
    change = partial(control.resume_webhook, by_admin=is_admin(request))
    return await answer(runtime.store, change, runtime.store, name)


async def rotate(
    runtime: CurrentRuntime, name: Name, body: Annotated[Rotation | None, Body()] = None
) -> Response:
    """Make a new secret, which the response contains. The one before signs, too, for a while."""
    keep = seconds((body or Rotation()).keep)
    return _secret(
        await runtime.store.run(partial(control.rotate_secret, runtime.store, name, keep=keep)), 200
    )


async def remove(runtime: CurrentRuntime, request: Request, name: Name) -> Response:
    """Forget a webhook and its secrets, and cancel its deliveries that wait."""
    return await answer(runtime.store, _removed, runtime, name, is_admin(request))


def _removed(runtime: Any, name: str, by_admin: bool) -> dict[str, Any]:
    return {"name": name, "cancelled": control.remove_webhook(runtime.store, name, by_admin=by_admin)}


async def deliveries(
    runtime: CurrentRuntime,
    name: Name,
    state: Annotated[str | None, Query(description="State, such as retryable, failed or succeeded.")] = None,
    limit: Limit = 50,
    before: BeforeId = None,
) -> Response:
    """List the deliveries of a webhook, newest first: the attempts, what came of the last, and the next."""
    return await answer(
        runtime.store, control.list_deliveries, runtime.store, name, state=state, limit=limit, before=before
    )


async def replay(runtime: CurrentRuntime, name: Name, task: DeliveryId) -> Response:
    """Deliver a message again, under the same message id."""
    return await answer(runtime.store, _replayed, runtime, name, task)


def _replayed(runtime: Any, name: str, task: int) -> dict[str, int]:
    return {"task": control.replay(runtime.store, runtime.registry, name, task)}


_WEBHOOK = {
    "name": "billing",
    "url": "https://hooks.example.com/thresher",
    "events": ["group_ended"],
    "source": "webhook.billing",
    "state": "open",
    "why": "undeliverable: hooks.example.com answered 410: it wants no more messages",
    "opens_at": "2026-11-19T18:00:00Z",
    "held_back": 0,
    "failures": 0,
    "last_success_at": "2026-11-19T17:00:00Z",
    "made_by": "key ops",
    "created_at": "2026-11-19T16:00:00Z",
    "old_secret_until_at": "2026-11-20T16:00:00Z",
}
_PERHAPS = ("why", "opens_at", "last_success_at", "made_by", "old_secret_until_at")
_SIGNED = {**_WEBHOOK, "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
_DELIVERY = {
    "task": 4711,
    "message": "msg_5f1c0d6f8e7b4a39a2c1d0e9f8b7a695",
    "kind": "group_ended",
    "at": "2026-11-19T17:00:00.123Z",
    "state": "retryable",
    "attempts": 2,
    "says": "ServerError: hooks.example.com answered 500: oops",
    "next_at": "2026-11-19T17:00:30Z",
    "created_at": "2026-11-19T17:00:01Z",
    "ended_at": "2026-11-19T17:00:31Z",
}
_PINGED = {
    "ok": False,
    "status": 500,
    "seconds": 0.12,
    "answer": "oops",
    "why": "hooks.example.com answered 500",
}


def _extra(example: Any, perhaps: tuple[str, ...] = _PERHAPS, status: str = "200") -> dict[str, Any]:
    return {"responses": {status: answers(example, perhaps=perhaps)}}


_ONE = _extra(_WEBHOOK)

ROUTES = (
    Route("GET", "/api/webhooks", webhooks, WRITE, _extra([_WEBHOOK])),
    Route(
        "POST",
        "/api/webhooks",
        add,
        WRITE,
        _extra(_SIGNED, status="201"),
        status=(201,),
        shows=("name", "url", "events"),
    ),
    Route("GET", "/api/webhooks/{name}", webhook, WRITE, _ONE),
    Route("DELETE", "/api/webhooks/{name}", remove, WRITE, _extra({"name": "billing", "cancelled": 3})),
    Route(
        "POST",
        "/api/webhooks/{name}/test",
        test,
        WRITE,
        _extra(_PINGED, ("status", "why")),
    ),
    Route("POST", "/api/webhooks/{name}/pause", pause, WRITE, _ONE, shows=("for", "reason")),
    Route("POST", "/api/webhooks/{name}/resume", resume, WRITE, _ONE),
    Route("POST", "/api/webhooks/{name}/rotate", rotate, WRITE, _extra(_SIGNED), shows=("keep",)),
    Route(
        "GET",
        "/api/webhooks/{name}/deliveries",
        deliveries,
        WRITE,
        _extra([_DELIVERY], ("next_at", "ended_at")),
        page_by="task",
    ),
    Route("POST", "/api/webhooks/{name}/deliveries/{task}/replay", replay, WRITE, _extra({"task": 4712})),
)
