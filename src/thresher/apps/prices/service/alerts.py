"""Alerts: what a person wants to be told of an item's value. A worker tells it, by the usual notices."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from thresher.apps.prices.alerting import Alert, AlertKind
from thresher.apps.prices.amounts import Money, amount_of, maybe_amount, minor_of, share_of
from thresher.apps.prices.model import Item, Origin
from thresher.apps.prices.service.items import item_named
from thresher.apps.prices.store import alerts as table
from thresher.apps.prices.store.items import item_of_id
from thresher.apps.prices.store.overview import values_of
from thresher.apps.prices.store.valuations import request_valuation
from thresher.core.errors import UnknownName, UsageError
from thresher.store.session import Session
from thresher.store.store import Store
from thresher.store.transaction import in_transaction

MAX_ALERTS = 50  # of one item


@dataclass(frozen=True, slots=True)
class AlertView:
    """An alert as people see it. `amount` is the threshold of below and above, `percent` that of change, and
    `basis` the value that a change is measured against. `armed`: it will be told when it happens; False: it
    was told, and is told again once the value has come back.
    """

    id: int
    item: str
    item_id: int
    kind: str
    amount: Money | None
    percent: float | None
    basis: Money | None
    armed: bool
    times: int
    fired_at: int | None
    told_at: int | None
    told: str | None
    created_at: int
    says: str


def list_alerts(
    store: Store, item: str | None = None, *, after: int = 0, limit: int = 100
) -> list[AlertView]:
    """All alerts by id, or those of an item."""
    with store.read() as session:
        if item is None:
            return _views(session, table.list_alerts(session, after=after, limit=limit))
        found = table.alerts_of(session, item_named(session, item).id)
        return _views(session, [each for each in found if each.id > after][:limit])


def add_alerts(
    store: Store,
    item: str,
    *,
    below: str | None = None,
    above: str | None = None,
    change: str | None = None,
) -> list[AlertView]:
    """Add alerts to an item: when its value falls below an amount, rises above one, or changes by so many
    percent. Raises UsageError that names what is wrong.
    """
    asked = ((AlertKind.BELOW, below), (AlertKind.ABOVE, above), (AlertKind.CHANGE, change))
    texts = [(kind, text) for kind, text in asked if text is not None]
    return in_transaction(store, lambda session: _add(store, session, item, texts)) if texts else []


def _add(
    store: Store, session: Session, name: str, texts: Sequence[tuple[AlertKind, str]]
) -> list[AlertView]:
    item = item_named(session, name, session.dialect.lock)
    if not item.is_live:
        raise UsageError(f"{item.name!r} is archived; thresher prices unarchive {item.id} brings it back")
    wanted = [(kind, _threshold(kind, text, item.spec.currency)) for kind, text in texts]
    if len(table.alerts_of(session, item.id)) + len(wanted) > MAX_ALERTS:
        raise UsageError(f"{item.name!r} has {MAX_ALERTS} alerts; remove one: thresher prices alerts list")
    value = values_of(session, [item.id]).get(item.id)
    median = value.bands.median if value and value.bands else None
    now = store.backend.now(session)
    ids = [
        table.add_alert(session, item.id, kind, limit, median if kind is AlertKind.CHANGE else None, now)
        for kind, limit in wanted
    ]
    request_valuation(session, {"item": item.id}, now)  # it may have been crossed already
    return _views(session, [found for each in ids if (found := table.find_alert(session, each))])


def _threshold(kind: AlertKind, text: str, currency: str) -> int:
    try:
        return share_of(text) if kind is AlertKind.CHANGE else minor_of(text, currency)
    except UsageError as problem:
        raise UsageError(f"{kind.value}: {problem}") from None


def remove_alerts(store: Store, numbers: Sequence[int]) -> list[AlertView]:
    """Remove alerts by id, all or none. Those that the project file declares would be back with the next
    command: UsageError says where they are removed.
    """

    def work(session: Session) -> list[AlertView]:
        now = store.backend.now(session)
        return _views(session, [_removed(session, each, now) for each in dict.fromkeys(numbers)])

    return in_transaction(store, work)


def _removed(session: Session, number: int, now: int) -> Alert:
    found = table.find_alert(session, number)
    if found is None or not table.remove_alert(session, number, now):
        raise UnknownName(f"there is no alert {number}; thresher prices alerts list shows them")
    item = item_of_id(session, found.item_id)
    if item is not None and item.is_live and found.origin is item.origin is Origin.FILE:
        raise UsageError(
            f"the project file declares alert {number}; remove it there: prices.items.{item.name}.alerts"
        )
    return found


def _views(session: Session, alerts: Sequence[Alert]) -> list[AlertView]:
    items = {each: item_of_id(session, each) for each in {alert.item_id for alert in alerts}}
    return [_view(each, item) for each in alerts if (item := items[each.item_id]) is not None]


def _view(alert: Alert, item: Item) -> AlertView:
    currency = item.spec.currency
    is_change = alert.kind is AlertKind.CHANGE
    return AlertView(
        alert.id,
        item.name,
        item.id,
        alert.kind.value,
        None if is_change else amount_of(alert.threshold, currency),
        alert.threshold / 10 if is_change else None,
        maybe_amount(alert.basis, currency),
        alert.armed,
        alert.times,
        alert.fired_at or None,
        alert.told_at or None,
        alert.told,
        alert.created_at,
        _says(alert, item),
    )


def _says(alert: Alert, item: Item) -> str:
    amount = amount_of(alert.threshold, item.spec.currency)
    match alert.kind:
        case AlertKind.BELOW:
            return f"{item.name} falls below {amount}"
        case AlertKind.ABOVE:
            return f"{item.name} rises above {amount}"
        case AlertKind.CHANGE:
            return f"{item.name} changes by {alert.threshold / 10:g}%"
        case _ as unreachable:
            assert_never(unreachable)
