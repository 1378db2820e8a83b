"""Alerts: when the value of an item has crossed a threshold or has changed by a share, and what is told then.
Pure, but for the stage at the end.

An alert fires once. It is armed again when the value has come back over the threshold by a small distance, so
that a value which trembles around it is not told again and again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from thresher.apps.prices.model import WHOLE, Item, Origin, Valuation
from thresher.apps.prices.valuation.explanation import amount
from thresher.core.context import Context
from thresher.core.errors import UnknownName
from thresher.core.keys import content_hash
from thresher.core.limits import without_controls
from thresher.core.outcome import Done, Effect, Next, Outcome
from thresher.core.pipeline import Pipeline, Schedule, Stage
from thresher.core.task import NewTask

TELL = "tell_price_alerts"
EVERY = 120.0  # seconds between two looks for alerts that wait to be told
MAX_NAME = 100  # characters of an item's name in a message


class AlertKind(StrEnum):
    """What a person wants to be told of."""

    BELOW = "below"
    ABOVE = "above"
    CHANGE = "change"


@dataclass(frozen=True, slots=True)
class Alert:
    """A row of `price_alerts`. `threshold` counts the smallest unit of the item's currency, for a change
    thousandths of `basis`, the value that was told last. `times` is how often it has fired. `origin` says who
    has asked for it.
    """

    id: int
    item_id: int
    kind: AlertKind
    threshold: int
    armed: bool = True
    basis: int | None = None
    times: int = 0
    fired_at: int = 0
    told_at: int = 0
    told: str | None = None
    is_due: bool = False
    created_at: int = 0
    origin: Origin = Origin.PERSON


@dataclass(frozen=True, slots=True)
class Notice:
    """What is told of an alert that has fired. `old` is None for the first value of an item."""

    title: str
    body: str
    old: int | None
    new: int


@dataclass(frozen=True, slots=True)
class AlertChange:
    """What becomes of an alert with a new value. Without a notice it has not fired."""

    alert: Alert
    armed: bool
    basis: int | None
    notice: Notice | None = None


def judge_alerts(
    alerts: Sequence[Alert], item: Item, before: Valuation | None, value: Valuation, hysteresis: int
) -> list[AlertChange]:
    """What becomes of the alerts of an item whose value was `before`. `hysteresis` is in thousandths of the
    threshold. Without a value nothing does, and alerts that stay as they are are left out.
    """
    if value.bands is None:
        return []
    old = before.bands.median if before and before.bands and before.currency == value.currency else None
    found = (_judged(each, item, old, value.bands.median, value, hysteresis) for each in alerts)
    return [each for each in found if each is not None]


def _judged(
    alert: Alert, item: Item, old: int | None, new: int, value: Valuation, hysteresis: int
) -> AlertChange | None:
    limit = alert.threshold
    match alert.kind:
        case AlertKind.BELOW:
            fires, is_back = new < limit, WHOLE * new >= (WHOLE + hysteresis) * limit
        case AlertKind.ABOVE:
            fires, is_back = new > limit, WHOLE * new <= (WHOLE - hysteresis) * limit
        case AlertKind.CHANGE:
            return _changed(alert, item, new, value)
    if alert.armed and fires:
        return AlertChange(alert, False, alert.basis, _notice(alert, item, old, new, value))
    return AlertChange(alert, True, alert.basis) if not alert.armed and is_back else None


def _changed(alert: Alert, item: Item, new: int, value: Valuation) -> AlertChange | None:
    """A change is measured against the value that was told last; the first value is only noted."""
    if alert.basis is None:
        return AlertChange(alert, True, new)
    if new == alert.basis or WHOLE * abs(new - alert.basis) < alert.threshold * alert.basis:
        return None
    return AlertChange(alert, True, new, _notice(alert, item, alert.basis, new, value))


def _notice(alert: Alert, item: Item, old: int | None, new: int, value: Valuation) -> Notice:
    name = " ".join(without_controls(item.name).split())[:MAX_NAME]
    now = amount(new, value.currency)
    moved = now if old is None or old == new else f"{amount(old, value.currency)} -> {now}"
    lines = [
        f"{_why(alert, value.currency, old, new)}: {moved}.",
        value.explanation,
        f"Confidence: {value.confidence} of 10.",
        "",
        f"Dashboard: {item_page(item.id)}",
        f"Command: thresher prices explain {item.id}",
    ]
    return Notice(f"{name}: {moved}", "\n".join(lines), old, new)


def _why(alert: Alert, currency: str, old: int | None, new: int) -> str:
    match alert.kind:
        case AlertKind.BELOW:
            return f"The value is below {amount(alert.threshold, currency)}"
        case AlertKind.ABOVE:
            return f"The value is above {amount(alert.threshold, currency)}"
        case AlertKind.CHANGE:
            share = 1_000 * abs(new - (old or 0)) // (old or 1)
            moved = "risen" if new > (old or 0) else "fallen"
            return f"The value has {moved} by {share / 10:g} %"


def item_page(item: int) -> str:
    """Where the dashboard shows an item."""
    return f"/prices/{item}"


# Telling


class TellContext(Protocol):
    """What is used of a stage's context."""

    async def read(self, name: str, data: Mapping[str, Any] = {}) -> Any: ...
    async def tell(self, title: str, body: str) -> bool: ...
    async def save(self, body: bytes) -> str: ...
    async def load(self, content_hash: str) -> bytes: ...


@dataclass(frozen=True, slots=True)
class DueAlert:
    """A message that waits. `times` says which firing of the alert it is of."""

    id: int
    times: int
    title: str
    body: str

    @property
    def receipt(self) -> bytes:
        """What is stored the moment the message was sent. Its hash is known before."""
        return f"price alert {self.id}, firing {self.times}: told".encode()


async def tell(ctx: Context) -> Outcome:
    """Tell the alert that has waited longest, one for each attempt, and go on while there are more."""
    due: DueAlert | None = await ctx.read("prices.due_alert")
    if due is None:
        return Done("no alert waits to be told")
    if not await tell_once(ctx, due):
        return Done("nobody is listed under notify: in the project, so the alerts wait")
    told = {"id": due.id, "times": due.times, "title": due.title}
    return Next({}, again=True, effects=(Effect("prices.alert_told", told),))


async def tell_once(ctx: TellContext, due: DueAlert) -> bool:
    """Send the message unless it was sent; False if there is nobody to tell.

    A worker may be killed after the message went out and before its task is settled. The receipt is stored in
    between, so that whoever performs the task again does not send it a second time.
    """
    try:
        await ctx.load(content_hash(due.receipt))
    except UnknownName:
        if not await ctx.tell(due.title, due.body):
            return False
        await ctx.save(due.receipt)
    return True


def tell_task() -> NewTask:
    """The task that tells what waits; one at a time."""
    return NewTask(TELL, key="alerts")


PIPELINES = (Pipeline(TELL, Stage(tell)),)
SCHEDULES = (Schedule("prices.alerts", tell_task(), every=EVERY),)
