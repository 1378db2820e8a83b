"""`thresher tasks`: see tasks, send them back, cancel them."""

import json
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType
from rich.text import Text
from rich.tree import Tree

from thresher.admin import tasks
from thresher.admin.explain import brought, earlier_traces, refusal_sentence, run_sentence
from thresher.admin.tasks import (
    Branch,
    LineageTree,
    TaskDetail,
    Waiter,
    last_message,
    list_tasks,
    show_task,
    show_tree,
    status_of,
)
from thresher.admin.times import read_now
from thresher.cli.call import call_of
from thresher.cli.format import ago, number, short, span, when
from thresher.cli.show import answer, cell, pairs, print_page, say, table
from thresher.cli.status import gate_table
from thresher.core.clock import SECOND, as_text
from thresher.core.task import TaskStatus
from thresher.core.trace import split_trace, with_place

app = typer.Typer()
# What `wait` exits with, by the state of the task.
EXIT_CODES = {"succeeded": 0, "filtered": 10, "skipped": 11, "failed": 12, "cancelled": 13}
EXIT_LIVE = 124  # as of timeout(1)

Ids = Annotated[list[int], typer.Argument(metavar="ID...", help="The ids of tasks.")]


@app.command("list")
def list_(
    ctx: typer.Context,
    state: Annotated[
        str | None,
        typer.Option(
            help="State: pending, running, retryable, succeeded, filtered, skipped, failed, cancelled."
        ),
    ] = None,
    kind: Annotated[str | None, typer.Option(help="The kind of task.")] = None,
    source: Annotated[
        str | None, typer.Option(help="Name of a source, or a gate such as host:example.com.")
    ] = None,
    error: Annotated[str | None, typer.Option(help="Class of the last error, such as TimedOut.")] = None,
    url: Annotated[str | None, typer.Option(help="The task's URL.")] = None,
    run: Annotated[
        int | None,
        typer.Option(metavar="ID", help="Only tasks of this run or group, and of the groups below it."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Maximum number of rows.")] = 50,
    before: Annotated[int | None, typer.Option(help="Only ids below this one (next page).")] = None,
) -> None:
    """List tasks, the newest first."""
    call = call_of(ctx)
    with call.store() as store:
        found = list_tasks(
            store,
            state=state,
            kind=kind,
            source=source,
            error=error,
            url=url,
            run=run,
            limit=limit,
            before=before,
        )
        now = read_now(store)
    answer(
        call,
        found,
        lambda out, value: print_page(
            out, value, limit, lambda rows: task_table(rows, now), "No tasks match."
        ),
    )


def task_table(found: list[dict[str, Any]], now: int) -> "RenderableType":
    """Tasks, one a line."""
    rows = [
        [
            task["id"],
            task["kind"],
            task["stage"],
            task["state"],
            ago(task["created_at"], now),
            task["failures"] or None,
            task["url"] or short(task["dedupe_key"], 60),
            short(split_trace(last_message(task))[0], 80),
        ]
        for task in found
    ]
    return table(
        ["!#id", "!kind", "-stage", "state", "#age", "-#failures", "@url or key", "-+last words"], rows
    )


@app.command()
def show(ctx: typer.Context, task_id: Annotated[int, typer.Argument(metavar="ID")]) -> None:
    """Show everything about one task.

    Its attempts, its family, refused spawns, its gates, and why it waits.
    """
    call = call_of(ctx)
    with call.store() as store:
        detail = show_task(store, task_id)
        now = read_now(store)
    answer(call, detail, lambda out, value: draw_detail(out, value, now))


def draw_detail(out: "Console", detail: "TaskDetail", now: int) -> None:
    """Draw one task: its facts, what it waits for, its gates, its attempts with where they failed, what it
    wrote, and its family.
    """
    out.print(pairs(_facts(detail, now)))
    if detail.waits:
        out.print("\nWhy it waits" if detail.task["state"] != "running" else "\nNow")
        for sentence in detail.waits:
            out.print(cell(f"  {sentence}"))
    if detail.gates:
        out.print(gate_table(detail.gates, now, "gates before this stage"))
    if detail.attempts:
        out.print(_attempts(detail.attempts))
        for sentence in earlier_traces(detail):
            out.print(cell(f"  {sentence}"))
    for sentence in brought(detail):
        out.print(cell(f"  {sentence}"))
    if detail.children:
        more = "" if detail.has_all_children else " or more"
        out.print(
            f"\n{number(len(detail.children), 'child', 'children')}{more}: thresher tasks tree {detail.task['id']} draws them"
        )


def _facts(detail: "TaskDetail", now: int) -> list[tuple[str, Any]]:

    task = detail.task
    facts: list[tuple[str, Any]] = [
        ("task", task["id"]),
        ("kind", f"{task['kind']}, stage {task['stage']}"),
        ("state", cell(task["state"])),
        ("reason", last_message(task) or None),
        ("url", task["url"]),
        ("key", task["dedupe_key"]),
        ("payload", json.dumps(task["payload"], ensure_ascii=False)),
        ("checkpoint", json.dumps(task["checkpoint"], ensure_ascii=False) if task["checkpoint"] else None),
        ("result", json.dumps(detail.result, ensure_ascii=False) if detail.result is not None else None),
        ("priority", task["priority"] or None),
        ("accepted", when(task["created_at"], now)),
        ("ended", when(task["finished_at"], now) if task["finished_at"] else None),
        (
            "tried",
            f"{number(task['claim'], 'time')}; {number(task['failures'], 'failure')}, {number(task['crashes'], 'crash', 'crashes')}",
        ),
        ("group", task["group_id"]),
        ("run", run_sentence(detail.run) if detail.run else None),
        (
            "lineage",
            f"root {task['tracking_id']}, parent {task['parent_id'] or 'none'}, depth {task['depth']}",
        ),
    ]
    return [(name, value) for name, value in facts if value is not None]


def _attempts(attempts: list[dict[str, Any]]) -> "RenderableType":

    rows = [
        [
            each["claim"],
            each["stage"],
            as_text(each["started_at"]),
            span((each["ended_at"] - each["started_at"]) / SECOND) if each["started_at"] else None,
            each["worker"] or each["worker_id"],
            each["ending"],
            short(with_place(last_message(each)), 90),
        ]
        for each in attempts
    ]
    return table(
        ["#claim", "stage", "started", "#took", "worker", "ending", "message"], rows, title="attempts"
    )


@app.command()
def wait(
    ctx: typer.Context,
    task_id: Annotated[int, typer.Argument(metavar="ID")],
    timeout: Annotated[
        float | None, typer.Option(min=0, help="Timeout in seconds. Default: no timeout.")
    ] = None,
) -> None:
    """Wait until a task has ended, and print its result.

    Exits with 0 if it succeeded, 10 if it was filtered, 11 skipped, 12 failed, 13 cancelled, and with 124 if
    the time is up.
    """
    call = call_of(ctx)
    with call.store() as store:
        try:
            found = Waiter(store).wait(task_id, timeout)
        except TimeoutError:
            found = status_of(store, task_id)
    answer(call, found, _draw_status)
    raise typer.Exit(EXIT_CODES.get(found.state, EXIT_LIVE))


def _draw_status(out: "Console", found: "TaskStatus") -> None:

    if found.result is not None:
        out.print(cell(json.dumps(found.result, ensure_ascii=False)), soft_wrap=True)
        return
    said = f": {found.error}: {found.reason}" if found.error else f": {found.reason}" if found.reason else ""
    out.print(
        cell(f"task {found.id} is {'' if found.ended else 'still '}{found.state}{said}"), soft_wrap=True
    )


@app.command()
def tree(ctx: typer.Context, task_id: Annotated[int, typer.Argument(metavar="ID")]) -> None:
    """Draw the lineage a task belongs to, refused spawns included."""
    call = call_of(ctx)
    with call.store() as store:
        lineage = show_tree(store, task_id)
    answer(call, lineage, lambda out, value: _draw_tree(out, value, task_id))


def _draw_tree(out: "Console", lineage: "LineageTree", task_id: int) -> None:
    out.print(_grow(lineage.root, task_id))
    if not lineage.whole:
        out.print(f"Only the first {lineage.shown:,} tasks are drawn; the lineage has more.")


def _grow(root: "Branch", chosen: int) -> "Tree":

    top = Tree(_leaf(root, chosen))
    todo = [(root, top)]
    while todo:  # a loop and no recursion: lineages may be deep
        branch, node = todo.pop()
        todo += [(child, node.add(_leaf(child, chosen))) for child in branch.children]
        for refusal in branch.refusals:
            node.add(cell(f"✗ {refusal_sentence(refusal)}", "dim"))
    return top


def _leaf(branch: "Branch", chosen: int) -> Any:

    task = branch.task
    name = cell(f"{task['id']} {task['kind']} ", "bold reverse" if task["id"] == chosen else "bold")
    rest = short(task["url"] or task["dedupe_key"] or "", 70)
    reason = short(f"– {task['reason']}", 60) if task["reason"] else ""
    return Text.assemble(name, cell(task["state"]), " ", cell(rest or " "), " ", cell(reason or " ", "dim"))


@app.command()
def retry(ctx: typer.Context, ids: Ids) -> None:
    """Send ended tasks back to waiting, with a fresh budget; they go on at the stage where they ended."""
    call = call_of(ctx)
    with call.store() as store:
        done = tasks.retry(store, ids)
    taken = f"; skipped, because a live task has their key: {_list(done.key_taken)}" if done.key_taken else ""
    say(call, done, f"{number(len(done.retried), 'task')} sent back to waiting{taken}.")


@app.command()
def cancel(
    ctx: typer.Context,
    ids: Ids,
    reason: Annotated[str, typer.Option(help="Reason, stored with the task.")] = "cancelled manually",
) -> None:
    """Cancel tasks. Running ones are asked to stop at their worker's next heartbeat."""
    call = call_of(ctx)
    with call.store() as store:
        done = tasks.cancel(store, ids, reason)
    asked = f"; {number(len(done.asked), 'running task')} asked to stop" if done.asked else ""
    say(call, done, f"{number(len(done.cancelled), 'task')} cancelled{asked}.")


def _list(ids: list[int]) -> str:
    return ", ".join(map(str, ids[:20])) + (" …" if len(ids) > 20 else "")
