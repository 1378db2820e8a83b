"""Webhooks: register an endpoint for kinds of events, test it, pause it, see its deliveries and repeat one.

A delivery is a task, and a webhook is paused by its source, `webhook.NAME`. So there is no state here besides
the queue's: what the claim obeys is what is shown.
"""

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from time import monotonic
from typing import Any

from thresher.admin import sources as control
from thresher.admin.events import event_kinds
from thresher.admin.gates import show_gate
from thresher.admin.tasks import last_message
from thresher.admin.tasks import retry as retry_tasks
from thresher.core.clock import SECOND, to_us
from thresher.core.errors import NotAllowed, Refused, TaskError, UnknownName, UsageError
from thresher.core.event import SPAWN_REFUSED, TASK_ENDED, TASK_FAILED
from thresher.core.gate import GateLimits
from thresher.core.task import REVIVABLE, NewTask, State
from thresher.core.webhook import EVERY, GATE, PING, SECRET_BYTES, Webhook, message, new_secret
from thresher.engine.registry import Registry
from thresher.engine.webhooks import (
    ID_BYTES,
    KIND,
    bounds_of,
    first_words,
    judged,
    request_of,
    status_at_least,
)
from thresher.fetch.fetcher import Fetcher
from thresher.fetch.governor import Ungoverned
from thresher.fetch.guard import Guard
from thresher.store import search, sources, tasks, webhooks
from thresher.store.session import Session
from thresher.store.store import Store
from thresher.store.webhooks import NewWebhook

MAX_WEBHOOKS = 100
MAX_URL = 2_000
MAX_LOOKS = 50
MAX_KEPT = 30 * 86_400.0
KEEP_OLD = 86_400.0  # seconds that an old secret goes on signing, where nothing is said
# Failures in a row that close a webhook for a while, and for how long: whoever is down is not asked once for
# every message that waits.
LIMITS = GateLimits(max_in_flight=4, trip_after=5, cooldown_us=60 * SECOND)
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}", re.ASCII)
_NO_ROWS = (TASK_ENDED, TASK_FAILED, SPAWN_REFUSED)


@dataclass(frozen=True, slots=True)
class WebhookView:
    """One webhook and how it stands. `why` says why it is closed, `held_back` how many wait for that.
    `old_secret_until_at`: until then the secret before signs, too.
    """

    name: str
    url: str
    events: list[str]
    source: str
    state: str
    why: str | None
    opens_at: int | None
    held_back: int
    failures: int
    last_success_at: int | None
    made_by: str | None
    created_at: int
    old_secret_until_at: int | None


@dataclass(frozen=True, slots=True)
class SignedWebhook:
    """A webhook with its new secret, which is never shown again."""

    webhook: WebhookView
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class SignedWebhookView(WebhookView):
    """A webhook with its new secret, for the one answer that shows it."""

    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class DeliveryView:
    """One delivery: its task, the id and kind of its message, the attempts so far, what came of the last, and
    when it is tried again.
    """

    task: int
    message: str
    kind: str
    at: str
    state: str
    attempts: int
    says: str
    next_at: int | None
    created_at: int
    ended_at: int | None


@dataclass(frozen=True, slots=True)
class Pinged:
    """What an endpoint answered to a test. `status` None: there was no answer, and `why` says so."""

    ok: bool
    status: int | None
    seconds: float
    answer: str
    why: str | None


def add_webhook(
    store: Store,
    guard: Guard,
    name: str,
    url: str,
    events: Sequence[str],
    *,
    made_by: str | None = None,
) -> SignedWebhook:
    """Register an endpoint. What happened before is not delivered to it."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"a webhook's name must have 1 to 40 lower-case letters, digits and dashes, such as billing; got {name[:60]!r}"
        )
    host, href = _checked_url(guard, url)
    new = NewWebhook(name, href, host, _checked_events(store, events), made_by)
    secret = new_secret(secrets.token_bytes(SECRET_BYTES))
    with store.write() as session:
        if len(webhooks.list_all(session)) >= MAX_WEBHOOKS:
            raise NotAllowed(f"there are {MAX_WEBHOOKS} webhooks, which is the limit; remove one first")
        if not webhooks.add(session, new, secret, LIMITS, store.backend.now(session)):
            raise NotAllowed(
                f"a webhook named {name!r} exists; choose another name, or remove it first: thresher webhooks remove {name}"
            )
        # The gate may be left over, and closed, from a webhook of this name that was removed.
        _open(store, session, name, by_admin=True)
    return SignedWebhook(show_webhook(store, name), secret)


def _checked_url(guard: Guard, url: str) -> tuple[str, str]:
    """The host and the spelling of an address that may be delivered to."""
    url = url.strip()
    if len(url) > MAX_URL:
        raise UsageError(f"the address has {len(url):,} characters; the limit is {MAX_URL:,}")
    try:
        target = guard.check_url(url)
    except Refused as problem:
        raise UsageError(str(problem)) from None
    if not target.tls and not guard.is_named(target.host, target.port):
        raise UsageError(
            f"a webhook needs an https address, so that nobody reads along; http goes only to hosts that fetch.allow names, and {target.host} is none"
        )
    return target.host, target.href


def _checked_events(store: Store, events: Sequence[str]) -> list[str]:
    kinds = [kind for kind in event_kinds(store) if kind not in _NO_ROWS]
    wanted = list(dict.fromkeys(kind.strip() for kind in events))
    for kind in wanted:
        if kind in _NO_ROWS:
            raise UsageError(
                f"{kind} is no event that webhooks can deliver: it happens to single tasks; the end of a run is group_ended"
            )
        if kind != EVERY and kind not in kinds:
            raise UsageError(
                f"there is no event kind {kind[:80]!r}; the kinds are * (all), {', '.join(kinds)}"
            )
    if not wanted:
        raise UsageError("name at least one kind of event, or * for all: --event group_ended")
    return wanted


def list_webhooks(store: Store) -> list[WebhookView]:
    """Every webhook, by name."""
    with store.read() as session:
        found = webhooks.list_all(session)
    return [_view(store, each) for each in found]


def show_webhook(store: Store, name: str) -> WebhookView:
    """One webhook."""
    return _view(store, _find(store, name))


def _find(store: Store, name: str) -> Webhook:
    with store.read() as session:
        found = webhooks.find(session, name)
    if found is None:
        raise UnknownName(f"there is no webhook {name[:60]!r}; thresher webhooks list shows them")
    return found


def _view(store: Store, hook: Webhook) -> WebhookView:
    gate = show_gate(store, hook.source)
    return WebhookView(
        hook.name,
        hook.url,
        list(hook.events),
        hook.source,
        gate.state,
        gate.reason,
        gate.opens_at,
        gate.waiting,
        gate.failures,
        gate.last_success_at,
        hook.made_by,
        hook.created_at,
        hook.old_until,
    )


def pause_webhook(
    store: Store, name: str, reason: str, *, lasts: float | None = None, by_admin: bool = True
) -> WebhookView:
    """Hold deliveries back for `lasts` seconds, else until somebody resumes. They wait, and none is lost."""
    source = _find(store, name).source
    if lasts is None:
        control.disable(store, source, reason, by_admin=by_admin)
    else:
        control.pause(store, source, lasts, reason, by_admin=by_admin)
    return show_webhook(store, name)


def resume_webhook(store: Store, name: str, *, by_admin: bool = True) -> WebhookView:
    """Deliver again, whatever stopped it."""
    control.enable(store, _find(store, name).source, by_admin=by_admin)
    return show_webhook(store, name)


def rotate_secret(store: Store, name: str, *, keep: float = KEEP_OLD) -> SignedWebhook:
    """Sign with a new secret. The one before signs, too, for `keep` seconds: the receiver needs time to learn
    the new one.
    """
    _find(store, name)
    if not 0 <= keep <= MAX_KEPT:
        raise UsageError("the old secret can be kept for 0 seconds to 30 days: --keep 24h")
    secret = new_secret(secrets.token_bytes(SECRET_BYTES))
    with store.write() as session:
        webhooks.rotate(session, name, secret, store.backend.now(session) + to_us(keep))
    return SignedWebhook(show_webhook(store, name), secret)


def remove_webhook(store: Store, name: str, *, by_admin: bool = True) -> int:
    """Forget a webhook and its secrets, and cancel its deliveries that wait. Returns how many."""
    gate = GATE + _find(store, name).name
    with store.write() as session:
        # Opened, so that what is enqueued at this very moment comes through, and finds the webhook gone.
        _open(store, session, name, by_admin=by_admin)
        webhooks.remove(session, name)
    store.backend.ping()
    cancelled, before = 0, None
    while ids := _live(store, gate, before):
        cancelled += len(tasks.cancel(store, ids, f"the webhook {name} was removed").cancelled)
        before = min(ids)
    return cancelled


def _open(store: Store, session: Session, name: str, *, by_admin: bool) -> None:
    gate = sources.as_gate(sources.find_gates(session, name=GATE + name)[0])
    if gate.open_after or gate.failures:
        sources.resume_within(session, GATE + name, by_admin=by_admin, now=store.backend.now)


def _live(store: Store, gate: str, before: int | None) -> list[int]:
    found = _search(store, gate, tasks.MAX_AT_ONCE, before, live=True)
    return [each["id"] for each in found]


def _search(store: Store, gate: str, limit: int, before: int | None, **filters: Any) -> list[dict[str, Any]]:
    """Deliveries, the newest first. One look at a large queue may stop early, so there are several."""
    rows = list[dict[str, Any]]()
    for _ in range(MAX_LOOKS):
        with store.read() as session:
            wanted = {"kind": KIND, "gate": gate, **filters}
            found = search.find_tasks(session, limit=limit - len(rows), before=before, **wanted)
        rows, before = rows + found.rows, found.older
        if len(rows) >= limit or before is None:
            break
    return rows


def list_deliveries(
    store: Store, name: str, *, state: str | None = None, limit: int = 50, before: int | None = None
) -> list[DeliveryView]:
    """The deliveries of a webhook, the newest first, as long as the queue keeps its tasks."""
    if state is not None and state not in list(State):
        raise UsageError(f"there is no state {state[:40]!r}; the states are {', '.join(State)}")
    gate = GATE + _find(store, name).name
    found = _search(store, gate, limit, before, state=state)
    with store.read() as session:
        said = webhooks.messages(session, [each["id"] for each in found])
    return [_delivery(each, *said[each["id"]]) for each in found if each["id"] in said]


def _delivery(task: dict[str, Any], said: Mapping[str, Any], attempts: int) -> DeliveryView:
    return DeliveryView(
        task["id"],
        str(said.get("id")),
        str(said.get("kind")),
        str(said.get("at")),
        task["state"],
        attempts,
        last_message(task),
        task["run_at"],
        task["created_at"],
        task["finished_at"],
    )


def replay(store: Store, registry: Registry, name: str, task_id: int) -> int:
    """Deliver a message again, under its id. Returns the task that does."""
    gate = GATE + _find(store, name).name
    with store.read() as session:
        task = tasks.get(session, task_id)
    if task is None or task["kind"] != KIND or gate not in task["gates"]:
        raise UnknownName(
            f"the webhook {name} has no delivery {task_id}; thresher webhooks deliveries {name} shows them"
        )
    if State(task["state"]) in REVIVABLE:
        retry_tasks(store, [task_id])
        return task_id
    if task["finished_at"] is None:
        raise NotAllowed(f"delivery {task_id} has not ended; it is delivered without being asked for again")
    with store.read() as session:
        now = store.backend.now(session)
    new = NewTask(KIND, {**task["payload"], "since": now}, key=task["dedupe_key"])
    found = store.enqueue([registry.admit(new)])[0]
    if found is None:
        raise NotAllowed(f"the message of delivery {task_id} is on its way again already")
    return int(found)


async def ping(store: Store, fetcher: Fetcher, name: str) -> Pinged:
    """Send a message of the kind `ping` at once, past the queue and its gates, and say what came back."""
    hook = await store.run(_find, store, name)
    with_secrets, now = await store.run(_endpoint, store, name)
    said = message(
        f"msg_{secrets.token_hex(ID_BYTES)}",
        PING,
        now,
        "A test of this webhook, sent by hand.",
        {"task": None, "source": None},
        {"webhook": hook.name},
    )
    began = monotonic()
    try:
        bounds = bounds_of(float(store.settings["webhook.timeout"]))
        sending = fetcher.post(request_of(with_secrets, said, now), Ungoverned(), bounds)
        answer = await status_at_least(sending)
    except TaskError as problem:
        return Pinged(ok=False, status=None, seconds=monotonic() - began, answer="", why=str(problem))
    verdict = judged(hook.host, answer, now)
    return Pinged(
        verdict is None,
        answer.status,
        monotonic() - began,
        first_words(answer.body),
        None if verdict is None else str(verdict),
    )


def _endpoint(store: Store, name: str) -> tuple[Any, int]:
    with store.read() as session:
        now = store.backend.now(session)
        return webhooks.endpoint(session, {"name": name}, now), now


def signed_view(made: SignedWebhook) -> SignedWebhookView:
    """A webhook with its new secret, for the one answer that shows it."""
    return SignedWebhookView(**asdict(made.webhook), secret=made.secret)
