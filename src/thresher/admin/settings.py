"""Settings at run time: list them with value and origin, and change them with history.

A change is checked first and takes effect everywhere within a few seconds.
"""

from dataclasses import dataclass
from typing import Any

from thresher.admin.keys import ADMIN, WRITE
from thresher.config.settings import Catalogue, Settings
from thresher.core.decide import POLICY
from thresher.core.errors import BudgetExhausted
from thresher.core.setting import Number, Setting
from thresher.store import sources
from thresher.store.settings import KeptSetting, change_setting, kept_settings, read_settings, setting_history
from thresher.store.store import Store

BUDGET = "budget."


def scope_needed(catalogue: Catalogue, name: str) -> str:
    """The scope that opens a change of this setting over HTTP."""
    return ADMIN if catalogue[name].admin else WRITE


def set_setting(store: Store, name: str, text: str, by: str) -> Number:
    """Change a setting; the value that is in force now."""
    catalogue = store.settings.catalogue
    value = catalogue[name].parse(text)
    Settings({**store.settings, name: value}, catalogue).heartbeat()
    change_setting(store, name, value, by)
    _reopen(store, name)
    return value


def unset_setting(store: Store, name: str, by: str) -> Number:
    """Go back to the project's value or the default; the value that is in force now."""
    known = store.settings.catalogue[name]
    change_setting(store, name, None, by)
    _reopen(store, name)
    return store.project_settings.get(name, known.default)


def _reopen(store: Store, name: str) -> None:
    """Whoever waits for tomorrow's money has a look at once when a cap is changed; if it was not raised, they
    wait again.
    """
    if not name.startswith(BUDGET):
        return
    with store.read() as session:
        closed = [
            gate["name"]
            for gate in sources.find_gates(session)
            if gate["closed_tag"] == POLICY[BudgetExhausted].tag
        ]
    for gate in closed:
        sources.resume(store, gate)


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
    """All settings of Thresher and of the apps that are enabled here."""
    catalogue = store.settings.catalogue
    with store.read() as session:
        changed = read_settings(session, catalogue)
    return [_view(each, store.project_settings, changed) for each in catalogue.values()]


def show_setting(store: Store, name: str) -> SettingView:
    """One setting."""
    catalogue = store.settings.catalogue
    with store.read() as session:
        return _view(catalogue[name], store.project_settings, read_settings(session, catalogue))


def list_kept(store: Store) -> list[KeptSetting]:
    """Changed settings of apps that are not enabled here."""
    with store.read() as session:
        return kept_settings(session, store.settings.catalogue)


def list_changes(store: Store, limit: int) -> list[dict[str, Any]]:
    """Who changed what, the newest first."""
    with store.read() as session:
        return setting_history(session, limit)


def setting_changes(store: Store, name: str, limit: int) -> list[dict[str, Any]]:
    """Who changed one setting, the newest first."""
    with store.read() as session:
        return setting_history(session, limit, name)


def _view(known: Setting, project: dict[str, Number], changed: dict[str, Number]) -> SettingView:
    origin = "database" if known.name in changed else "project" if known.name in project else "default"
    value = changed.get(known.name, project.get(known.name, known.default))
    scope = "admin" if known.admin else "write"
    return SettingView(
        known.name, value, origin, known.default, known.unit, known.low, known.high, scope, known.sentence
    )
