"""Settings at run time: checked, written with their history, and in force everywhere within a few seconds."""

from thresher.config.setting import Number
from thresher.config.settings import Settings, setting
from thresher.control.keys import Scope
from thresher.core.decide import POLICY
from thresher.core.errors import BudgetExhausted
from thresher.store import sources
from thresher.store.settings import change_setting
from thresher.store.store import Store

BUDGET = "budget."


def scope_needed(name: str) -> Scope:
    """The scope that opens a change of this setting over HTTP."""
    return Scope.ADMIN if setting(name).admin else Scope.WRITE


def set_setting(store: Store, name: str, text: str, by: str) -> Number:
    """Change a setting; the value that is in force now."""
    value = setting(name).parse(text)
    Settings({**store.settings, name: value}).heartbeat()
    change_setting(store, name, value, by)
    _reopen(store, name)
    return value


def unset_setting(store: Store, name: str, by: str) -> Number:
    """Go back to the project's value or the default; the value that is in force now."""
    known = setting(name)
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
