"""Settings as a person sees them: the value in force, where it comes from, the default, the unit, the
sentence.
"""

from dataclasses import dataclass
from typing import Any

from thresher.config.setting import Number, Setting
from thresher.config.settings import SETTINGS, setting
from thresher.store.settings import read_settings, setting_history
from thresher.store.store import Store


@dataclass(frozen=True, slots=True)
class SettingView:
    """`origin` is default, project (thresher.yaml) or database (changed at run time). `scope` is what a
    change over HTTP needs.
    """

    name: str
    value: Number
    origin: str
    default: Number
    unit: str
    low: Number
    high: Number
    scope: str
    sentence: str


def list_settings(store: Store) -> list[SettingView]:
    """All settings."""
    with store.read() as session:
        changed = read_settings(session)
    return [_view(each, store.project_settings, changed) for each in SETTINGS]


def show_setting(store: Store, name: str) -> SettingView:
    """One setting."""
    with store.read() as session:
        return _view(setting(name), store.project_settings, read_settings(session))


def list_changes(store: Store, limit: int) -> list[dict[str, Any]]:
    """Who changed what, the newest first."""
    with store.read() as session:
        return setting_history(session, limit)


def _view(known: Setting, project: dict[str, Number], changed: dict[str, Number]) -> SettingView:
    origin = "database" if known.name in changed else "project" if known.name in project else "default"
    value = changed.get(known.name, project.get(known.name, known.default))
    scope = "admin" if known.admin else "write"
    return SettingView(
        known.name, value, origin, known.default, known.unit, known.low, known.high, scope, known.sentence
    )
