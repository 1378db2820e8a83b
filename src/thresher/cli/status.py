"""`thresher status`: the whole queue at a glance."""

from typing import TYPE_CHECKING, Any

import typer

from thresher.cli.call import call_of

if TYPE_CHECKING:
    from rich.console import Console

    from thresher.insight.gates import GateView
    from thresher.insight.workers import WorkerView


def command(ctx: typer.Context) -> None:
    """Show what waits, runs and has ended, who works, and which gates are closed."""
    from thresher.cli.show import answer, jsonable
    from thresher.config.project import hide_password
    from thresher.insight.status import read_status

    call = call_of(ctx)
    with call.store() as store:
        status = read_status(store)
    answer(call, {"database": hide_password(call.url(call.project())), **jsonable(status)} if call.json else (call.url(call.project()), status), _draw)


def _draw(out: "Console", value: Any) -> None:
    from thresher.cli.show import pairs, table
    from thresher.cli.words import ago, number, when
    from thresher.config.project import hide_password
    from thresher.core.state import State

    url, status = value
    out.print(pairs([("database", f"{hide_password(url)} (schema {status.schema})")]))
    if not status.counts:
        out.print("\nNo tasks yet. Add one with: thresher add KIND, or start the apps with: thresher run")
    else:
        used = [state for state in State if any(states.get(state) for states in status.counts.values())]
        rows = [[kind, *(states.get(state, "") for state in used), sum(states.values())] for kind, states in status.counts.items()]
        out.print(table(["kind", *(f"#{state}" for state in used), "#total"], rows))
    waiting = status.waiting
    lines = [("waiting", f"{waiting['due']:,} due, {waiting['delayed']:,} for a later time")]
    if waiting["next_at"]:
        lines.append(("next", when(waiting["next_at"], status.at)))
    if status.oldest:
        lines.append(("oldest", f"task {status.oldest['id']} ({status.oldest['kind']}), accepted {ago(status.oldest['created_at'], status.at)} ago"))
    alive = sum(worker.alive for worker in status.workers)
    lines.append(("workers", f"{alive} alive" + (f", {len(status.workers) - alive} lost" if alive < len(status.workers) else "")))
    out.print(pairs(lines))
    if status.workers:
        out.print(_workers(status.workers, status.at))
    if status.closed:
        out.print(gate_table(status.closed, status.at, f"{number(len(status.closed), 'gate')} closed"))


def _workers(workers: "list[WorkerView]", now: int) -> Any:
    from thresher.cli.show import table
    from thresher.cli.words import ago

    rows = [
        [worker.name, "alive" if worker.alive else "lost", ago(worker.started_at, now), worker.holds,
         ", ".join(f"{task['id']} {task['kind']}.{task['stage']} {ago(task['started_at'], now)}" for task in worker.tasks)]
        for worker in workers
    ]  # fmt: skip
    return table(["worker", "state", "#up", "#holds", "longest-running"], rows)


def gate_table(gates: "list[GateView]", now: int, title: str | None = None) -> Any:
    """Closed gates: why, and until when."""
    from thresher.cli.show import cell, table
    from thresher.cli.words import short, when

    rows = [
        [gate.name, cell(gate.state), gate.waiting, short(f"{gate.tag}: {gate.why}" if gate.tag else gate.why, 100),
         when(gate.opens_at, now) if gate.opens_at else "when a slot is free" if gate.state == "full" else "when a person enables it"]
        for gate in gates
    ]  # fmt: skip
    return table(["gate", "state", "#waiting", "why", "opens"], rows, title=title)
