"""`thresher status`: show the state of the queue."""

from typing import TYPE_CHECKING

import typer

from thresher.cli.call import call_of

if TYPE_CHECKING:
    from rich.table import Table

    from thresher.admin.gates import GateView
    from thresher.admin.status import Counts, Status, WorkerView
    from thresher.core.extension import Check


def command(ctx: typer.Context) -> None:
    """Show the state of the queue.

    What waits, runs and has ended, who works, which gates are closed, and what an app needs a person for.
    """
    from thresher.admin.health import needs_person
    from thresher.admin.plain import jsonable
    from thresher.admin.status import read_status
    from thresher.cli.show import print_json
    from thresher.config.project import hide_password

    call = call_of(ctx)
    with call.store() as store:
        status = read_status(store)
        needs = needs_person(store, call.load_apps(broken=[]))
    database = hide_password(call.url(call.project()))
    if call.json:
        print_json({"database": database, **jsonable(status), "needs_you": jsonable(needs)})
    else:
        _draw(database, status, needs)


def _draw(database: str, status: "Status", needs: "list[Check]") -> None:
    from thresher.cli.format import number
    from thresher.cli.show import cell, console, pairs

    out = console()
    out.print(pairs([("database", f"{database} (schema {status.schema})")]))
    if status.counts:
        out.print(count_table(status.counts))
    else:
        out.print("\nNo tasks yet. Add one with: thresher add KIND, or start the apps with: thresher run\n")
    out.print(pairs(_waiting(status)))
    for sentence in status.unserved:
        out.print(f"{sentence}.")
    for check in needs:
        advice = f": {check.advice}" if check.advice else "."
        out.print(cell(f"{check.found}{advice}"))
    if status.workers:
        out.print(_workers(status.workers, status.at))
    if status.closed:
        out.print(gate_table(status.closed, status.at, f"{number(len(status.closed), 'gate')} closed"))


def _waiting(status: "Status") -> list[tuple[str, str]]:
    from thresher.cli.format import ago, when

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
    if status.runs:
        lines.append(("runs", f"{status.runs:,} running: thresher runs list --running"))
    alive = sum(worker.alive for worker in status.workers)
    lost = len(status.workers) - alive
    return [*lines, ("workers", f"{alive} alive" + (f", {lost} lost" if lost else ""))]


def count_table(counts: "Counts") -> "Table":
    """Kinds against the states that occur."""
    from thresher.cli.show import table
    from thresher.core.task import State

    used = [state for state in State if any(states.get(state) for states in counts.values())]
    rows = [
        [kind, *(states.get(state) for state in used), sum(states.values())]
        for kind, states in counts.items()
    ]
    return table(["kind", *(f"#{state}" for state in used), "#total"], rows)


def _workers(workers: "list[WorkerView]", now: int) -> "Table":
    from thresher.cli.format import ago, short
    from thresher.cli.show import table

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


def gate_table(gates: "list[GateView]", now: int, title: str | None = None) -> "Table":
    """Closed gates: why, and until when."""
    from thresher.cli.format import opens, short
    from thresher.cli.show import table

    rows = [
        [gate.name, gate.state, gate.waiting, short(gate.reason, 100), opens(gate.state, gate.opens_at, now)]
        for gate in gates
    ]
    return table(["gate", "state", "#waiting", "why", "opens"], rows, title=title)
