"""What the project file declares, beside items and sources: alerts of its items, and what was read from
files.
"""

from collections.abc import Collection, Mapping, Sequence

from thresher.apps.prices.alerting import AlertKind
from thresher.apps.prices.model import Item, Origin
from thresher.apps.prices.store.items import SELECT, item_of_row
from thresher.store.session import Session, one

DeclaredAlert = tuple[AlertKind, int]  # and its threshold

_NAMED = f"{SELECT} where name in (:names*)"
_OF_FILE = f"{SELECT} where origin = 'file' and archived_at = 0 order by id"
_ALERTS = """select i.name, a.kind, a.threshold from price_alerts a join price_items i on i.id = a.item_id
    where a.origin = 'file' and a.removed_at = 0"""
_REMOVE_ALERTS = """update price_alerts set removed_at = :now, due = null
    where item_id = :item and kind = :kind and threshold = :threshold and origin = 'file' and removed_at = 0"""
_OF_ITEM = (
    "select kind, threshold from price_alerts where item_id = :item and origin = 'file' and removed_at = 0"
)
_ADD_ALERT = """insert into price_alerts (item_id, kind, threshold, origin, created_at)
    values (:item, :kind, :threshold, 'file', :now)"""
_OPTION = "select value from price_options where name = :name"
_SAVE = """insert into price_options (name, value, changed_at) values (:name, :value, :now)
    on conflict (name) do update set value = excluded.value, changed_at = excluded.changed_at"""


def items_named(session: Session, names: Sequence[str]) -> Mapping[str, Item]:
    """The items of these names, archived or not."""
    rows = session.rows(_NAMED, {"names": list(names)}) if names else []
    return {item.name: item for item in map(item_of_row, rows)}


def file_items(session: Session) -> list[Item]:
    """The live items that the project file has declared."""
    found = [item_of_row(row) for row in session.rows(_OF_FILE)]
    assert all(each.origin is Origin.FILE for each in found)
    return found


def declared_alerts(session: Session) -> Mapping[str, frozenset[DeclaredAlert]]:
    """The alerts that the project file has declared, by item."""
    found: dict[str, set[DeclaredAlert]] = {}
    for name, kind, threshold in session.rows(_ALERTS):
        found.setdefault(name, set()).add((AlertKind(kind), threshold))
    return {name: frozenset(each) for name, each in found.items()}


def save_file_alerts(session: Session, item: int, wanted: Collection[DeclaredAlert], now: int) -> None:
    """Have these alerts, of those that the file declares for an item. Those of people stay as they are."""
    known = {(AlertKind(kind), threshold) for kind, threshold in session.rows(_OF_ITEM, {"item": item})}
    for kind, threshold in sorted(known - set(wanted)):
        session.run(_REMOVE_ALERTS, {"item": item, "kind": kind.value, "threshold": threshold, "now": now})
    for kind, threshold in sorted(set(wanted) - known):
        session.run(_ADD_ALERT, {"item": item, "kind": kind.value, "threshold": threshold, "now": now})


def option(session: Session, name: str) -> str | None:
    """A value that is remembered by name."""
    row = one(session, _OPTION, {"name": name})
    return None if row is None else str(row[0])


def save_option(session: Session, name: str, value: str, now: int) -> None:
    """Remember a value by name."""
    session.run(_SAVE, {"name": name, "value": value, "now": now})
