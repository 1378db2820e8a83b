"""docs/reference/states.md: the transition table, drawn and told."""

from tests.house.pages.markdown import fence, join, table
from thresher.core.task import LIVE, REVIVABLE, TERMINAL, TRANSITIONS, WAITING, State, diagram

MEANINGS = {
    State.PENDING: "It waits: for a worker, for its gates, or for a time. New tasks, snoozed ones, and tasks between two stages.",
    State.RUNNING: "A worker holds a claim on it.",
    State.RETRYABLE: "It failed, has tries left, and waits for the next one.",
    State.SUCCEEDED: "Its last stage returned `Done`. The only end that cannot be undone.",
    State.FILTERED: "A stage returned `Filtered`: a rule rejected it. Not an error.",
    State.SKIPPED: "A stage returned `Skipped`: not worth doing. Not an error.",
    State.FAILED: "It cannot be done, or its retries are used up, or it lost its worker too often.",
    State.CANCELLED: "It was cancelled manually, or by a program.",
}
SETS = {
    "waiting": (WAITING, "May be claimed once due."),
    "live": (LIVE, "Holds its key: no second live task of its kind may have the same one."),
    "terminal": (TERMINAL, "Ended. History is kept for `history.retention`."),
    "revivable": (
        REVIVABLE,
        "`thresher tasks retry` may send it back to waiting; `thresher failures retry` does so in bulk.",
    ),
}

INTRO = """\
A task is in one of these states. The moves between them are one table in the code; the checks in both databases and this
page are derived from it."""
AFTER = """\
`pending` and `retryable` go to `running` by a claim. `running` goes back to `pending` by `Next`, by `Snooze`, by a closed
gate, when its worker is stopped, or when its worker is lost; to `retryable` by an [error](errors.md) that is worth another try.
The arrows out of `filtered`, `skipped`, `failed` and `cancelled` are manual retries."""


def page() -> str:
    rows = [[f"`{state}`", MEANINGS[state], _list(TRANSITIONS[state]) or "–"] for state in State]
    sets = [[name, _list(states), says] for name, (states, says) in SETS.items()]
    return join(
        "States",
        INTRO,
        table(["state", "meaning", "may become"], rows),
        fence("mermaid", diagram()),
        AFTER,
        "## Sets of states",
        table(["set", "states", "what it is for"], sets),
    )


def _list(states: frozenset[State]) -> str:
    return ", ".join(f"`{state}`" for state in State if state in states)
