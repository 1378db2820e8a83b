"""Webhooks at work: every event becomes a delivery for each webhook that wants it, and a delivery is a task.

An event is marked as forwarded in the transaction that enqueues its deliveries. So none is lost and none is
enqueued twice, whichever worker dies; what an endpoint gets more than once has the same id each time.
"""

import logging
import secrets
from collections.abc import Awaitable, Mapping
from typing import Any

from thresher.core.context import Context
from thresher.core.errors import (
    InvalidPayload,
    Malformed,
    RateLimited,
    Refused,
    ServerError,
    TaskError,
    TooLarge,
    Transient,
    Undeliverable,
    UsageError,
)
from thresher.core.event import EventKind
from thresher.core.outcome import Done, Outcome, Skipped
from thresher.core.pipeline import Pipeline, Stage, Trip
from thresher.core.redaction import redact
from thresher.core.task import Entry, NewTask
from thresher.core.webhook import (
    SignedEndpoint,
    Webhook,
    body_of,
    gates_of,
    message,
    signed_headers,
    source_of,
)
from thresher.engine.machine import RETRIES
from thresher.engine.registry import Registry
from thresher.engine.stage_context import StageContext
from thresher.fetch.answers import MAX_WAIT, retry_after
from thresher.fetch.request import Bounds, Request, Response
from thresher.store import webhooks
from thresher.store.store import Store
from thresher.store.webhooks import EventRow

log = logging.getLogger("thresher.webhooks")

KIND = "webhook_delivery"
FORWARD_AT_ONCE = 200
ID_BYTES = 16
MAX_ANSWER = 65_536  # bytes; nothing in an answer but its status matters
MAX_SAID = 200  # characters of an answer that are kept with the attempt
RETIRED = 410


# From events to tasks.


def forward_events(registry: Registry, store: Store) -> str | None:
    """Enqueue a delivery of each new event for each webhook that wants it."""
    number = forwarded = 0
    while (found := _forward(registry, store)) is not None:
        number, forwarded = number + found[1], forwarded + found[0]
        if found[0] < FORWARD_AT_ONCE:
            break
    return f"{number} deliveries of {forwarded} events" if number else None


def _forward(registry: Registry, store: Store) -> tuple[int, int] | None:
    """One portion: how many events were forwarded, and how many deliveries that made. None: there is nothing
    to do.
    """
    with store.read() as session:
        if not webhooks.has_news(session):
            return None
    with store.transaction() as transaction:
        session = transaction.session
        now = store.backend.now(session)
        hooks = webhooks.list_all(session)
        events = webhooks.take_events(session, FORWARD_AT_ONCE)
        entries = [
            entry
            for event in events
            for hook in hooks
            if event.at >= hook.created_at and hook.wants(event.kind, event.gate)
            for entry in _entries(registry, hook, event)
        ]
        transaction.enqueue(entries)
        webhooks.mark_forwarded(session, [event.id for event in events], now)
    return len(events), len(entries)


def _entries(registry: Registry, hook: Webhook, event: EventRow) -> list[Entry]:
    """The delivery of an event: without its details, where they do not fit into a task; none, where nothing
    does.
    """
    message_id = f"msg_{secrets.token_hex(ID_BYTES)}"
    for data in (event.detail, None):
        try:
            return [registry.admit(delivery_of(registry, hook, event, message_id, data))]
        except InvalidPayload as problem:
            why = problem
    log.error("webhook %s is not told of event %d (%s): %s", hook.name, event.id, event.kind, why)
    return []


def delivery_of(
    registry: Registry,
    hook: Webhook,
    event: EventRow,
    message_id: str,
    data: Mapping[str, Any] | None,
) -> NewTask:
    """The task that delivers an event. `data` None: its details are too large to be sent."""
    subject = {"task": event.task_id, "source": event.gate}
    said = message(message_id, event.kind, event.at, _sentence(registry, event.kind), subject, data or {})
    if data is None:
        said["complete"] = False
    payload = {"webhook": hook.name, "host": hook.host, "since": event.at, "message": said}
    return NewTask(KIND, payload, key=message_id)


def _sentence(registry: Registry, kind: str) -> str:
    ours = next((each.sentence for each in EventKind if each == kind), None)
    return ours or registry.events.get(kind, "")


# One delivery.


def _gates(trip: Trip) -> tuple[str, ...]:
    name, host = trip.payload.get("webhook"), trip.payload.get("host")
    said = trip.payload.get("message")
    if not (isinstance(name, str) and isinstance(host, str) and isinstance(said, dict) and "id" in said):
        raise UsageError(f"a {KIND} task is made for an event, not by hand; see: thresher webhooks test NAME")
    return gates_of(name, host)


async def deliver(ctx: Context) -> Outcome:
    """Send a message, signed, and see what the endpoint says."""
    assert isinstance(ctx, StageContext)  # the way out of the machine's own tasks
    payload = ctx.task.payload
    name, said = payload["webhook"], payload["message"]
    endpoint: SignedEndpoint | None = await ctx.read("webhook", {"name": name})
    if endpoint is None:
        return Skipped(f"the webhook {name} was removed")
    bounds = bounds_of(ctx.setting("webhook.timeout"))
    request = request_of(endpoint, said, ctx.now())
    try:
        answer = await status_at_least(ctx.post(request, bounds))
    except Refused as problem:
        # By the address guard: nothing was sent, and nothing will be until somebody looks.
        raise Undeliverable(str(problem)) from None
    except (TooLarge, Malformed) as problem:
        raise _failure(ctx, endpoint, Transient(str(problem))) from None
    except Transient as problem:
        raise _failure(ctx, endpoint, problem) from None
    verdict = judged(endpoint.host, answer, ctx.now())
    if verdict is not None:
        raise _failure(ctx, endpoint, verdict) if isinstance(verdict, Transient) else verdict
    return Done(note=f"{endpoint.host} answered {answer.status}", result={"status": answer.status})


async def status_at_least(sending: Awaitable[Response]) -> Response:
    """The answer; where its body is cut off, too large or unreadable, its status alone, which says all: a
    message that was accepted is not sent again for what else there was to read.
    """
    try:
        return await sending
    except TaskError as problem:
        if problem.status is None:
            raise
        return Response(problem.status, {}, b"")


def _failure(ctx: Context, endpoint: SignedEndpoint, problem: Transient) -> TaskError:
    """What a failed attempt means: another one, unless it was the last, and nothing has arrived there since
    the event. Then the endpoint is disabled, and this delivery waits with the others instead of failing.
    """
    last = ctx.task.failures + 1 > (RETRIES.limit or 0)
    is_dead = (endpoint.last_success or 0) < ctx.task.payload.get("since", 0)
    found: TaskError = problem
    if last and is_dead:
        found = Undeliverable(
            f"nothing could be delivered to {endpoint.host} in {ctx.task.failures + 1} attempts, the last: {problem}"
        )
    found.gate = f"source:{source_of(ctx.task.payload['webhook'])}"
    return found


def bounds_of(seconds: float) -> Bounds:
    """How long and how large an answer may be."""
    return Bounds(connect=seconds, read=seconds, total=seconds, size=MAX_ANSWER)


def request_of(endpoint: SignedEndpoint, said: Mapping[str, Any], now: int) -> Request:
    """A message as it is posted."""
    body = body_of(said)
    headers = signed_headers(endpoint.secrets, str(said["id"]), now, body)
    return Request(endpoint.url, "POST", {"accept": "*/*", **headers}, body)


def judged(host: str, answer: Response, now: int) -> TaskError | None:
    """What an answer means; None: it arrived. Every other status is a failure that is tried again."""
    status, asked = answer.status, answer.headers.get("retry-after")
    if 200 <= status < 300:
        return None
    says = f"{host} answered {status}"
    if status == RETIRED:
        return Undeliverable(f"{says}: it wants no more messages")
    if status == 429 or (status == 503 and asked):
        wait = min(retry_after(asked, now), MAX_WAIT)
        return RateLimited(f"{says}: the next message may go out in {wait:g} s", retry_after=wait)
    if 300 <= status < 400:
        return Transient(f"{says}, a redirect, which is not followed; add the webhook with its final address")
    text = first_words(answer.body)
    return (ServerError if status >= 500 else Transient)(f"{says}: {text}" if text else says)


def first_words(body: bytes) -> str:
    """The beginning of an answer, as one line of plain characters without secrets."""
    text = body[: 4 * MAX_SAID].decode("utf-8", "replace")
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return redact(line)[:MAX_SAID]


PIPELINES = (Pipeline(KIND, Stage(deliver, through=_gates)),)
