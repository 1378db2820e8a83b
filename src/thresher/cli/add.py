"""`thresher add`: ask for work, by the kind of a task. What people add by name, their apps bring as
`thresher add SOMETHING`.
"""

import difflib
import sys
from pathlib import Path
from typing import Annotated

import typer

from thresher.admin import tasks
from thresher.admin.requests import new_task, parse_payload, read_lines
from thresher.admin.tasks import Added
from thresher.cli.call import CommandCall, call_of
from thresher.cli.commands import ADD, table_of
from thresher.cli.format import number
from thresher.cli.show import say
from thresher.core.errors import InvalidPayload, UsageError

ALIKE = 0.8  # of 1: what may be a slip of the hand


def command(
    ctx: typer.Context,
    kind: Annotated[str | None, typer.Argument(help="The kind of task.")] = None,
    things: Annotated[list[str] | None, typer.Argument(metavar="", hidden=True)] = None,
    payload: Annotated[
        str | None,
        typer.Option(metavar="JSON|@FILE|-", help="A JSON object, a file with one, or - for stdin."),
    ] = None,
    url: Annotated[
        str | None, typer.Option(help="URL that the task is about. The loop guard checks it.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="Deduplication key, unique among the live tasks of the kind.")
    ] = None,
    priority: Annotated[
        int, typer.Option(help="Priority. Each step is worth one queue.head_start of waiting.")
    ] = 0,
    delay: Annotated[
        str | None, typer.Option(help="Delay before the first attempt: 90s, 10m, 2h, 1d.")
    ] = None,
    from_file: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE.jsonl", help="File with one task per line; - for stdin."),
    ] = None,
) -> None:
    """Add tasks.

    One of a kind, or with --from all tasks of a file, or none of them. The apps bring words of their own:
    `thresher --help` lists them beside `add`.
    """
    call = call_of(ctx)
    if (kind is None) == (from_file is None):
        raise UsageError("name what to add: thresher add KIND, or thresher add --from FILE.jsonl")
    if kind is None:
        _add_file(call, from_file or "-")
    elif things:
        names = [name.partition(" ")[2] for name in table_of(ctx).rows if name.startswith(f"{ADD} ")]
        near = difflib.get_close_matches(kind, names, 1, ALIKE)
        meant = f"; did you mean: thresher add {near[0]}?" if near else ""
        others = f"; names and addresses are for {', '.join(names)}" if names else ""
        raise UsageError(f"{kind} is added with --payload, --url and --key{others}{meant}")
    else:
        _add_one(call, {"kind": kind, "url": url, "key": key, "priority": priority, "delay": delay}, payload)


def _add_one(call: CommandCall, fields: dict[str, object], payload: str | None) -> None:

    text = None if payload is None else _text(payload)
    new = new_task(fields | ({} if text is None else {"payload": parse_payload(text, "the payload")}))
    with call.runtime() as runtime:
        added = tasks.add(runtime.store, runtime.registry, new)
    say(call, added, _sentence(added))


def _sentence(added: "Added") -> str:
    if added.new:
        return f"Task {added.id} ({added.kind}) added."
    return (
        f"Task {added.id} ({added.kind}) already waits or runs with the key {added.key!r}; nothing was added."
    )


def _add_file(call: CommandCall, name: str) -> None:

    lines = read_text(name).splitlines()
    with call.runtime() as runtime:
        added = tasks.add_entries(runtime.store, read_lines(runtime.registry, lines, name))
    new = [each.id for each in added if each.new]
    already = len(added) - len(new)
    left = f"; {already:,} already waited or ran with the same key" if already else ""
    say(call, {"added": len(new), "already": already, "ids": new}, f"{number(len(new), 'task')} added{left}.")


def _text(payload: str) -> str:
    if payload == "-":
        return read_text("-")
    return read_text(payload[1:]) if payload.startswith("@") else payload


def read_text(name: str) -> str:
    """A file, or standard input for -, as text."""
    try:
        return sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidPayload(f"{name} is not UTF-8 text") from None
    except OSError as problem:
        raise UsageError(f"cannot read {name}: {problem.strerror}") from None
