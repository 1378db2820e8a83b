"""`thresher status`: show the state of the queue."""

import typer
from rich.console import Console, RenderableType

from thresher.admin.gates import GateView
from thresher.admin.health import needs_person
from thresher.admin.plain import jsonable
from thresher.admin.status import (
    NO_WORKER,
    Counts,
    Status,
    WorkerView,
    deep_sentence,
    read_status,
    refused_sentence,
)
from thresher.cli.call import call_of
from thresher.cli.format import ago, number, opens, short, when
from thresher.cli.numbers import Numbered
from thresher.cli.show import cell, pairs, print_json, screen, table
from thresher.config.project import hide_password
from thresher.core.extension import Check
from thresher.core.task import State

DECLINED = (State.FILTERED, State.SKIPPED)  # of these nobody has to know first
GATES = Numbered("gates", "thresher sources list")


def command(ctx: typer.Context) -> None:
    """Show the state of the queue.

    Waiting, running and ended tasks, workers, closed gates, and what needs your attention.
    """
    call = call_of(ctx)
    with call.store() as store:
        status = read_status(store)
        needs = needs_person(store, call.load_apps(broken=[]))
    database = hide_password(call.url(call.project()))
    if call.json:
        print_json({"database": database, **jsonable(status), "needs_you": jsonable(needs)})
    else:
        _draw(screen(call), database, status, needs)


def _draw(out: Console, database: str, status: "Status", needs: "list[Check]") -> None:
    out.print(pairs([("database", f"{database} (schema {status.schema})")]))
    if status.counts:
        out.print(count_table(status.counts))
    else:
        out.print("\nNo tasks yet. Add one with: thresher add KIND, or start the apps with: thresher run\n")
    out.print(pairs(_waiting(status)))
    for sentence in status.unserved:
        out.print(f"{sentence}.")
    if not any(worker.alive for worker in status.workers):
        out.print(f"{NO_WORKER}.")
    for check in needs:
        out.print(cell(need_sentence(check)))
    if status.workers:
        out.print(_workers(status.workers, status.at))
    if status.closed:
        out.print(gate_table(status.closed, status.at, f"{number(len(status.closed), 'gate')} closed"))


def need_sentence(check: "Check") -> str:
    """What needs a person, and what to do."""
    return f"{check.found}{f': {check.advice}' if check.advice else '.'}"


def _waiting(status: "Status") -> list[tuple[str, str]]:

    lines = [("waiting", f"{status.waiting['due']:,} due, {status.waiting['delayed']:,} for a later time")]
    if status.waiting["next_at"]:
        lines.append(("next", when(status.waiting["next_at"], status.at)))
    if oldest := status.oldest:
        lines.append(
            (
                "oldest",
                f"task {oldest['id']} ({oldest['kind']}), accepted {ago(oldest['created_at'], status.at)} ago",
            )
        )
    if status.refused:
        lines.append(("refused", f"{refused_sentence(status.refused)}: thresher events --kind spawn_refused"))
    if status.deep:
        lines.append(("deep", f"{deep_sentence(status.deep)}: thresher events --kind lineage_deep"))
    if status.runs:
        lines.append(("runs", f"{status.runs:,} running: thresher runs list --running"))
    alive = sum(worker.alive for worker in status.workers)
    lost = len(status.workers) - alive
    return [*lines, ("workers", f"{alive} alive" + (f", {lost} lost" if lost else ""))]


def count_table(counts: "Counts") -> "RenderableType":
    """Kinds against the states that occur."""
    used = [state for state in State if any(states.get(state) for states in counts.values())]
    rows = [
        [kind, *(states.get(state) for state in used), sum(states.values())]
        for kind, states in counts.items()
    ]
    heads = [f"{'-' if state in DECLINED else ''}#{state}" for state in used]
    return table(["!kind", *heads, "-#total"], rows)


def _workers(workers: "list[WorkerView]", now: int) -> "RenderableType":

    rows = [
        [
            worker.name,
            "alive" if worker.alive else "lost",
            ago(worker.started_at, now),
            short(", ".join(worker.serves), 60),
            worker.holds,
            ", ".join(
                f"{task['id']} {task['kind']}.{task['stage']} {ago(task['started_at'], now)}"
                for task in worker.tasks
            ),
        ]
        for worker in workers
    ]
    return table(["worker", "state", "#up", "serves", "#holds", "longest-running"], rows)


def gate_table(gates: "list[GateView]", now: int, title: str | None = None) -> "RenderableType":
    """Closed gates: why, and until when."""
    rows = [
        [gate.name, gate.state, gate.waiting, short(gate.reason, 200), opens(gate.state, gate.opens_at, now)]
        for gate in gates
    ]
    return table(
        ["!gate", "state", "#waiting", "+why", "-opens"],
        rows,
        title=title,
        numbered=GATES.rows([gate.name for gate in gates]),
    )
