"""Webhooks over HTTP: which endpoints are told of events, and how their deliveries stand.

The address of an endpoint is often a secret of its receiver, so even looking needs the scope write.
"""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import Body, Path, Query
from pydantic import Field
from starlette.requests import Request

from thresher.admin import webhooks as control
from thresher.admin.keys import WRITE
from thresher.admin.times import seconds
from thresher.admin.webhooks import (
    DeliveryView,
    Pinged,
    SignedWebhook,
    SignedWebhookView,
    WebhookView,
    signed_view,
)
from thresher.fetch.guard import Guard
from thresher.runtime import Runtime, make_fetcher
from thresher.web.answer import JSON, Answer, answer, written
from thresher.web.auth import holder, is_admin
from thresher.web.route import MAX_ID, BeforeId, CurrentRuntime, Limit, Route
from thresher.web.routes.examples import AT
from thresher.web.schemas import ReasonBody, RequestBody, Text, like, said

MAX_KINDS = 100
Name = Annotated[str, Path(max_length=40, description="The name of the webhook.")]
DeliveryId = Annotated[int, Path(ge=1, le=MAX_ID, description="The task of the delivery.")]


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

    model_config = like(keep="12h")

    keep: Text = "24h"


@dataclass(frozen=True, slots=True)
class WebhookRemoved:
    """A webhook that was removed, and how many of its deliveries were cancelled."""

    name: str
    cancelled: int


@dataclass(frozen=True, slots=True)
class Replayed:
    """The task that delivers a message again."""

    task: int


async def webhooks(runtime: CurrentRuntime) -> Answer[list[WebhookView]]:
    """List webhooks: what they are told of, and how their deliveries stand."""
    return await answer(runtime.store, control.list_webhooks, runtime.store)


async def webhook(runtime: CurrentRuntime, name: Name) -> Answer[WebhookView]:
    """Show one webhook."""
    return await answer(runtime.store, control.show_webhook, runtime.store, name)


async def add(runtime: CurrentRuntime, request: Request, body: WebhookAsked) -> Answer[SignedWebhookView]:
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


def _secret(made: SignedWebhook, status: int) -> Answer[SignedWebhookView]:
    return Answer(written(signed_view(made)), status, {"Cache-Control": "no-store"}, JSON)


async def test(runtime: CurrentRuntime, name: Name) -> Answer[Pinged]:
    """Send a message of the kind `ping` now, past the queue, and return what the endpoint answered."""
    fetcher = make_fetcher(runtime.outward, lambda: runtime.store.settings)
    try:
        found = await control.ping(runtime.store, fetcher, name)
    finally:
        await fetcher.close()
    return Answer(written(found), media_type=JSON)


async def pause(
    runtime: CurrentRuntime,
    request: Request,
    name: Name,
    body: Annotated[WebhookPause | None, Body()] = None,
) -> Answer[WebhookView]:
    """Hold deliveries back for a time, else until somebody resumes. They wait, and none is lost."""
    lasts = seconds(body.lasts) if body and body.lasts else None
    change = partial(control.pause_webhook, lasts=lasts, by_admin=is_admin(request))
    return await answer(runtime.store, change, runtime.store, name, said(body, "paused manually"))


async def resume(runtime: CurrentRuntime, request: Request, name: Name) -> Answer[WebhookView]:
    """Deliver again, whatever stopped it. The pause of an administrator needs the scope admin."""
    change = partial(control.resume_webhook, by_admin=is_admin(request))
    return await answer(runtime.store, change, runtime.store, name)


async def rotate(
    runtime: CurrentRuntime, name: Name, body: Annotated[Rotation | None, Body()] = None
) -> Answer[SignedWebhookView]:
    """Make a new secret, which the response contains. The one before signs, too, for a while."""
    keep = seconds((body or Rotation()).keep)
    return _secret(
        await runtime.store.run(partial(control.rotate_secret, runtime.store, name, keep=keep)), 200
    )


async def remove(runtime: CurrentRuntime, request: Request, name: Name) -> Answer[WebhookRemoved]:
    """Forget a webhook and its secrets, and cancel its deliveries that wait."""
    return await answer(runtime.store, _removed, runtime, name, is_admin(request))


def _removed(runtime: Runtime, name: str, by_admin: bool) -> WebhookRemoved:
    return WebhookRemoved(name, control.remove_webhook(runtime.store, name, by_admin=by_admin))


async def deliveries(
    runtime: CurrentRuntime,
    name: Name,
    state: Annotated[str | None, Query(description="State, such as retryable, failed or succeeded.")] = None,
    limit: Limit = 50,
    before: BeforeId = None,
) -> Answer[list[DeliveryView]]:
    """List the deliveries of a webhook, newest first: the attempts, what came of the last, and the next."""
    return await answer(
        runtime.store, control.list_deliveries, runtime.store, name, state=state, limit=limit, before=before
    )


async def replay(runtime: CurrentRuntime, name: Name, task: DeliveryId) -> Answer[Replayed]:
    """Deliver a message again, under the same message id."""
    return await answer(runtime.store, _replayed, runtime, name, task)


def _replayed(runtime: Runtime, name: str, task: int) -> Replayed:
    return Replayed(control.replay(runtime.store, runtime.registry, name, task))


_WEBHOOK: dict[str, Any] = {
    "name": "billing",
    "url": "https://hooks.example.com/thresher",
    "events": ["group_ended"],
    "source": "webhook.billing",
    "state": "open",
    "why": None,
    "opens_at": None,
    "held_back": 0,
    "failures": 0,
    "last_success_at": AT,
    "made_by": "key ops",
    "created_at": AT,
    "old_secret_until_at": None,
}
_SIGNED = {**_WEBHOOK, "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
_DELIVERY = {
    "task": 4711,
    "message": "msg_5f1c0d6f8e7b4a39a2c1d0e9f8b7a695",
    "kind": "group_ended",
    "at": AT,
    "state": "retryable",
    "attempts": 2,
    "says": "ServerError: hooks.example.com answered 500: oops",
    "next_at": AT,
    "created_at": AT,
    "ended_at": None,
}
_PINGED = {
    "ok": False,
    "status": 500,
    "seconds": 0.12,
    "answer": "oops",
    "why": "hooks.example.com answered 500",
}
_ALL, _ONE = "/api/webhooks", "/api/webhooks/{name}"
_DELIVERIES = f"{_ONE}/deliveries"

ROUTES = (
    Route("GET", _ALL, webhooks, WRITE, probe=True, name="list_webhooks", example=[_WEBHOOK]),
    Route(
        "POST",
        _ALL,
        add,
        WRITE,
        status=(201,),
        shows=("name", "url", "events"),
        name="add_webhook",
        example=_SIGNED,
    ),
    Route("GET", _ONE, webhook, WRITE, name="show_webhook", example=_WEBHOOK),
    Route(
        "DELETE",
        _ONE,
        remove,
        WRITE,
        name="remove_webhook",
        example={"name": "billing", "cancelled": 3},
    ),
    Route("POST", f"{_ONE}/test", test, WRITE, name="test_webhook", example=_PINGED),
    Route(
        "POST",
        f"{_ONE}/pause",
        pause,
        WRITE,
        shows=("for", "reason"),
        name="pause_webhook",
        example=_WEBHOOK,
    ),
    Route("POST", f"{_ONE}/resume", resume, WRITE, name="resume_webhook", example=_WEBHOOK),
    Route("POST", f"{_ONE}/rotate", rotate, WRITE, shows=("keep",), name="rotate_webhook", example=_SIGNED),
    Route(
        "GET",
        _DELIVERIES,
        deliveries,
        WRITE,
        page_by="task",
        name="list_webhook_deliveries",
        example=[_DELIVERY],
    ),
    Route(
        "POST",
        f"{_DELIVERIES}/{{task}}/replay",
        replay,
        WRITE,
        name="replay_webhook_delivery",
        example={"task": 4712},
    ),
)
