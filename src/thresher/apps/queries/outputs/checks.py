"""Lines of `thresher doctor` about the outputs: whether the sheet is on, how it ended last, what is open."""

from thresher.apps.queries.outputs.access import check_access
from thresher.apps.queries.store.alarms import list_alarms
from thresher.apps.queries.store.outputs import output_states
from thresher.core.clock import as_text
from thresher.core.extension import Check, CheckLevel
from thresher.store.store import Store

MAX_SHOWN = 3


def check_sheet(store: Store) -> list[Check]:
    """Check the variables of the sheet, and how its last sync ended."""
    found = check_access()
    if found.verdict is not CheckLevel.OK:
        return [found]
    with store.read() as session:
        state = output_states(session, {}, 0).get("sheet")
    if state is None:
        return [found]
    if state["failed_at"] > state["ok_at"]:
        said = f"the last sync failed ({as_text(state['failed_at'])}): {state['note']}"
        return [found, Check.warn("sheet", said, "correct the cause; the next sync tries again")]
    return [found, Check.ok("sheet", f"last synced {as_text(state['ok_at'])}")]


def check_alarms(store: Store) -> list[Check]:
    """Check for open alarms."""
    with store.read() as session:
        found = list_alarms(session, only_open=True, limit=MAX_SHOWN + 1)
    if not found:
        return [Check.ok("alarms", "no alarm is open")]
    shown = "; ".join(f"{each.name}/{each.subject}: {each.message}" for each in found[:MAX_SHOWN])
    return [Check.warn("alarms", shown + ("; and more" if len(found) > MAX_SHOWN else ""))]


CHECKS = (check_sheet, check_alarms)
