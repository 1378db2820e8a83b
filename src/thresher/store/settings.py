"""Settings changed at run time, with their history."""

from dataclasses import dataclass
from typing import Any

from thresher.config.settings import Catalogue, Settings
from thresher.core.setting import Number
from thresher.store.session import Session, one
from thresher.store.store import Store

_READ = "select name, value from settings"
_OLD = "select value from settings where name = :name"
_SET = """insert into settings (name, value, changed_at, changed_by) values (:name, :new, :now, :by)
    on conflict (name) do update set value = excluded.value, changed_at = excluded.changed_at, changed_by = excluded.changed_by"""
_UNSET = "delete from settings where name = :name"
_LOG = """insert into setting_changes (name, old, new, changed_at, changed_by) values (:name, :old, :new, :now, :by)"""
_CHANGED_BY = "select name, value, changed_at, changed_by from settings order by name"
_HISTORY = (
    "select name, old, new, changed_at, changed_by from setting_changes{where} order by id desc limit :most"
)


def read_settings(session: Session, catalogue: Catalogue) -> dict[str, Number]:
    """Return the changed settings. Ignore unknown names: they may belong to an app that is not
    enabled here.
    """
    return {name: catalogue[name].parse(value) for name, value in session.rows(_READ) if name in catalogue}


def settings_in_force(store: Store, session: Session) -> Settings:
    """The defaults, the project's values over them, and over those what was changed at run time."""
    catalogue = store.settings.catalogue
    return Settings(store.project_settings | read_settings(session, catalogue), catalogue)


def refresh_settings(store: Store) -> bool:
    """Bring into force what was changed elsewhere. True if anything was."""
    with store.read() as session:
        now = settings_in_force(store, session)
    changed = now != store.settings
    if changed:
        store.settings = now
    return changed


@dataclass(frozen=True, slots=True)
class KeptSetting:
    """A changed setting that nothing here knows: of an app that is not enabled here, or of another version.
    It is kept as it is.
    """

    name: str
    app: str  # by the first part of its name
    value: str
    changed_at: int
    changed_by: str


def kept_settings(session: Session, catalogue: Catalogue) -> list[KeptSetting]:
    """What was changed of settings that nothing here knows."""
    return [
        KeptSetting(name, name.partition(".")[0], value, at, by)
        for name, value, at, by in session.rows(_CHANGED_BY)
        if name not in catalogue
    ]


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


def setting_history(session: Session, most: int = 100, name: str | None = None) -> list[dict[str, Any]]:
    """Who changed what, or one setting, the newest first."""
    names = ("name", "old", "new", "changed_at", "changed_by")
    sql = _HISTORY.format(where="" if name is None else " where name = :name")
    rows = session.rows(sql, {"most": most} | ({} if name is None else {"name": name}))
    return [dict(zip(names, row, strict=True)) for row in rows]
