"""`thresher add`: ask for work, one task or a file of them."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thresher.cli.call import Call, call_of

if TYPE_CHECKING:
    from thresher.control.tasks import Added


def command(
    ctx: typer.Context,
    kind: Annotated[str | None, typer.Argument(help="The kind of task; an app must know it.")] = None,
    payload: Annotated[str | None, typer.Option(metavar="JSON|@FILE|-", help="A JSON object, a file with one, or - for stdin.")] = None,
    url: Annotated[str | None, typer.Option(help="The page the task is about; the loop guard looks at it.")] = None,
    key: Annotated[str | None, typer.Option(help="Unique among live tasks of the kind: asking twice adds once.")] = None,
    priority: Annotated[int, typer.Option(help="A head start: each step counts as one queue.head_start of waiting.")] = 0,
    delay: Annotated[str | None, typer.Option(help="Not before: 90s, 10m, 2h, 1d.")] = None,
    from_file: Annotated[str | None, typer.Option("--from", metavar="FILE.jsonl", help="Many: one task a line; - for stdin.")] = None,
) -> None:
    """Add a task, or a file of tasks.

    With --from all tasks of the file are added, or none of them.
    """
    from thresher.core.errors import UsageError

    call = call_of(ctx)
    if (kind is None) == (from_file is None):
        raise UsageError("say what to add: thresher add KIND, or thresher add --from FILE.jsonl")
    if kind is None:
        _add_file(call, from_file or "-")
    else:
        _add_one(call, {"kind": kind, "url": url, "key": key, "priority": priority, "delay": delay}, payload)


def _add_one(call: Call, fields: dict[str, object], payload: str | None) -> None:
    from thresher.cli.show import say
    from thresher.control import tasks
    from thresher.control.intake import new_task, parse_payload

    text = None if payload is None else _text(payload)
    new = new_task(fields | ({} if text is None else {"payload": parse_payload(text, "the payload")}))
    with call.workshop() as shop:
        added = tasks.add(shop.store, shop.registry, new)
    say(call, added, _sentence(added))


def _sentence(added: "Added") -> str:
    if added.new:
        return f"Task {added.id} ({added.kind}) added."
    return f"Task {added.id} ({added.kind}) already waits or runs with the key {added.key!r}; nothing was added."


def _add_file(call: Call, name: str) -> None:
    from thresher.cli.show import say
    from thresher.cli.words import number
    from thresher.control import tasks
    from thresher.control.intake import read_lines

    lines = _read(name).splitlines()
    with call.workshop() as shop:
        added = tasks.add_entries(shop.store, read_lines(shop.registry, lines, name))
    new = [each.id for each in added if each.new]
    already = len(added) - len(new)
    left = f"; {already:,} already waited or ran with the same key" if already else ""
    say(call, {"added": len(new), "already": already, "ids": new}, f"{number(len(new), 'task')} added{left}.")


def _text(payload: str) -> str:
    if payload == "-":
        return _read("-")
    return _read(payload[1:]) if payload.startswith("@") else payload


def _read(name: str) -> str:
    from thresher.core.errors import InvalidPayload, UsageError

    try:
        return sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidPayload(f"{name} is not UTF-8 text") from None
    except OSError as problem:
        raise UsageError(f"cannot read {name}: {problem.strerror}") from None
