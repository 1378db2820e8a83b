"""`price_items`: what is to be valued."""

from collections.abc import Sequence

import orjson

from thresher.apps.prices.model import Item, ItemSpec, ItemStatus, Origin
from thresher.apps.prices.store.collections import drop_item, plan_item, spec_text
from thresher.core.stored import read
from thresher.store.session import Row, Session, one

_COLUMNS = "id, name, spec, status, origin, refresh, created_at, updated_at, archived_at"
SELECT = f"select {_COLUMNS} from price_items"
_BY_ID = f"{SELECT} where id = :id"
_BY_NAME = f"{SELECT} where name = :name"
_LIST = f"{SELECT} where (:all = 1 or archived_at = 0) and id > :after order by id limit :limit"
_BY_STATUS = f"{SELECT} where status = :status and id > :after order by id limit :limit"
_STOOD = "select spec, archived_at from price_items where name = :name"
_SAVE = """insert into price_items (name, kind, spec, status, origin, refresh, created_at, updated_at)
    values (:name, :kind, :spec, :status, :origin, :refresh, :now, :now)
    on conflict (name) do update set kind = excluded.kind, spec = excluded.spec, status = excluded.status,
    origin = excluded.origin, refresh = excluded.refresh, updated_at = excluded.updated_at, archived_at = 0
    returning id"""
_STATUS = "update price_items set status = :status, archived_at = :archived, updated_at = :now where id = :id"


def find_item(session: Session, name: str, lock: str = "") -> Item | None:
    """The item of this name, else of this id. Archived ones count."""
    row = one(session, _BY_NAME + lock, {"name": name})
    if row is None and name.isdecimal() and name.isascii() and len(name) < 19:
        return item_of_id(session, int(name), lock)
    return None if row is None else item_of_row(row)


def item_of_id(session: Session, item: int, lock: str = "") -> Item | None:
    """The item of this id, archived or not."""
    row = one(session, _BY_ID + lock, {"id": item})
    return None if row is None else item_of_row(row)


def list_items(
    session: Session,
    *,
    status: ItemStatus | None = None,
    archived: bool = False,
    after: int = 0,
    limit: int = 1_000,
) -> Sequence[Item]:
    """Items by id, those above `after`; archived ones only if they are asked for."""
    if status is not None:
        rows = session.rows(_BY_STATUS, {"status": status.value, "after": after, "limit": limit})
    else:
        rows = session.rows(_LIST, {"all": int(archived), "after": after, "limit": limit})
    return [item_of_row(row) for row in rows]


def save_item(
    session: Session, spec: ItemSpec, status: ItemStatus, origin: Origin, refresh: int, now: int
) -> int:
    """Write an item under its name and return its id. One that is known takes all that is said, keeps its
    prices, and is no longer archived. It is looked for at once if it is new, changed, or was archived.
    """
    said, stood = spec_text(spec), one(session, _STOOD, {"name": spec.name})
    values = {
        "name": spec.name,
        "kind": spec.kind,
        "spec": said,
        "status": status.value,
        "origin": origin.value,
        "refresh": refresh,
        "now": now,
    }
    item = int(session.rows(_SAVE, values)[0][0])
    plan_item(session, item, spec, is_changed=stood != (said, 0))
    return item


def set_status(session: Session, item: int, status: ItemStatus, now: int) -> None:
    """Move an item on, archive it, or bring it back."""
    archived = now if status is ItemStatus.ARCHIVED else 0
    stood = item_of_id(session, item)
    session.run(_STATUS, {"id": item, "status": status.value, "archived": archived, "now": now})
    if archived:
        drop_item(session, item)
    elif stood is not None and not stood.is_live:
        plan_item(session, item, stood.spec, is_changed=True)


def item_of_row(row: Row) -> Item:
    """A row of SELECT as an item."""
    identity, name, spec, status, origin, refresh, created_at, updated_at, archived_at = row
    said = read(ItemSpec, orjson.loads(spec), name=name)
    return Item(
        identity, said, ItemStatus(status), Origin(origin), refresh, created_at, updated_at, archived_at
    )
