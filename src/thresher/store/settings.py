"""Settings changed at run time, with their history."""

from typing import Any

from thresher.config.setting import Number
from thresher.config.settings import Settings, setting
from thresher.store.session import Session, one
from thresher.store.store import Store

_READ = "select name, value from settings"
_OLD = "select value from settings where name = :name"
_SET = """insert into settings (name, value, changed_at, changed_by) values (:name, :new, :now, :by)
    on conflict (name) do update set value = excluded.value, changed_at = excluded.changed_at, changed_by = excluded.changed_by"""
_UNSET = "delete from settings where name = :name"
_LOG = """insert into setting_changes (name, old, new, changed_at, changed_by) values (:name, :old, :new, :now, :by)"""
_HISTORY = "select name, old, new, changed_at, changed_by from setting_changes order by id desc limit :most"


def read_settings(session: Session) -> dict[str, Number]:
    """What was changed. A name that this version no longer knows is left alone."""
    from_rows = {}
    for name, value in session.rows(_READ):
        if name in Settings():
            from_rows[name] = setting(name).parse(value)
    return from_rows


def change_setting(store: Store, name: str, value: Number | None, by: str) -> None:
    """Set a value, or with None go back to the default; the change is written down."""
    with store.write() as session:
        old = one(session, _OLD, {"name": name})
        new = None if value is None else f"{value}"
        values = {
            "name": name,
            "old": old and old[0],
            "new": new,
            "now": store.backend.now(session),
            "by": by,
        }
        session.run(_UNSET if new is None else _SET, values if new is not None else {"name": name})
        session.run(_LOG, values)


def setting_history(session: Session, most: int = 100) -> list[dict[str, Any]]:
    """Who changed what, the newest first."""
    names = ("name", "old", "new", "changed_at", "changed_by")
    return [dict(zip(names, row, strict=True)) for row in session.rows(_HISTORY, {"most": most})]
