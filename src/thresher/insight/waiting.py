"""Why a task waits: the sentence a person is given instead of a guess."""

from collections.abc import Sequence
from typing import Any

from thresher.core.clock import FOREVER, as_text
from thresher.core.task import LIVE, State
from thresher.insight.gates import OPEN, GateView
from thresher.store import lanes, overview
from thresher.store.session import Session

ADVICE = {
    "disabled": "it opens when a person enables it: thresher sources enable {name}",
    "full": "it opens when one of them ends",
}


def why_it_waits(session: Session, task: dict[str, Any], gates: Sequence[GateView], now: int) -> list[str]:
    """What stands between a task and its end; nothing for one that has ended."""
    if State(task["state"]) not in LIVE:
        return []
    if task["state"] == State.RUNNING:
        return [_running(session, task)]
    if task["run_at"] is not None and task["run_at"] > now:
        return [f"it waits for {as_text(task['run_at'])}{_because(task)}"]
    closed = [closed_sentence(gate) for gate in gates if gate.state != OPEN]
    return closed or _in_line(session, task, now)


def closed_sentence(gate: GateView) -> str:
    """Why a gate is closed and when it opens, in one sentence."""
    tag = f" ({gate.tag})" if gate.tag and gate.tag != gate.state else ""
    said = f"{gate.name} is {_word(gate.state)}{tag}" + (f": {gate.why}" if gate.why else "")
    if gate.opens_at is not None and gate.opens_at < FOREVER:
        return f"{said}; it opens at {as_text(gate.opens_at)}"
    advice = ADVICE.get(gate.state, "").format(name=gate.source or gate.name)
    return f"{said}; {advice}" if advice else said


def _word(state: str) -> str:
    return {"rate": "at its rate limit", "tripped": "closed by its breaker"}.get(state, state)


def _running(session: Session, task: dict[str, Any]) -> str:
    names = {worker["id"]: worker["name"] for worker in overview.workers(session)}
    asked = "; it has been asked to stop" if task["cancelling"] else ""
    return f"it is running since {as_text(task['started_at'])} at worker {names.get(task['worker_id'], task['worker_id'])}{asked}"


def _because(task: dict[str, Any]) -> str:
    if task["error"]:
        return f" after {task['error']}: {task['reason']}"
    return f": {task['reason']}" if task["reason"] else ""


def _in_line(session: Session, task: dict[str, Any], now: int) -> list[str]:
    ahead = overview.ahead_of(session, task["id"])
    place = (
        f"it is ready; {ahead} stand before it in its lane" if ahead else "it is ready and next in its lane"
    )
    alive = [
        worker
        for worker in overview.workers(session)
        if worker["lost_at"] is None and worker["lease_until"] >= now
    ]
    if (task["kind"], task["stage"]) in lanes.unserved(session, now):
        return [
            place,
            f"no worker that is alive knows kind {task['kind']}, stage {task['stage']}; start one that does",
        ]
    return (
        [place] if alive else [place, "no worker is alive; start one with: thresher worker (or thresher run)"]
    )


def unserved_sentences(session: Session, now: int) -> list[str]:
    """Tasks that no living worker serves: of a stage that a newer version has added, or of a kind that all
    were told to leave out.
    """
    return [
        f"{number:,} {'task waits' if number == 1 else 'tasks wait'} for a worker that knows kind {kind}, stage {stage}"
        for (kind, stage), number in lanes.unserved(session, now).items()
    ]


def could_start(gate: GateView) -> str:
    """Whether a task could pass this gate now, else why not and when."""
    return (
        f"{gate.name} is open: a task could start now."
        if gate.state == OPEN
        else f"No task could start now: {closed_sentence(gate)}."
    )
