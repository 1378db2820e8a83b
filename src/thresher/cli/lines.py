"""Input that comes as arguments or as lines, one answer a line: any number of them in the memory of one.

A line is a text, or a JSON object with more than a text. A line that is too long, or an object that lacks
what it needs, gets an answer that says so, and the others are answered all the same; only the exit code
remembers.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import typer

from thresher.cli.call import CommandCall
from thresher.cli.format import as_json, plain, short
from thresher.core.errors import TaskError, UsageError

MAX_LENGTH = 2_000_000  # bytes

Fields = Mapping[str, Any]


def answer_each(
    call: CommandCall,
    texts: Iterable[str] | None,
    answer: Callable[[Fields], dict[str, Any]],
    sentence: Callable[[Fields], str],
) -> None:
    """Answer every argument, or every line of standard input; end with the code of the first that was
    unusable.
    """
    code = 0
    for fields in _fields(texts):
        try:
            if fields is None:
                raise UsageError(f"a line of more than {MAX_LENGTH:,} bytes; cut it")
            found = answer(fields)
        except (UsageError, TaskError) as problem:
            code, found = (
                code or problem.exit_code,
                {"text": short(str((fields or {}).get("text", "")), 200), "error": str(problem)},
            )
        write(call, found, sentence)
    raise typer.Exit(code)


def write(call: CommandCall, found: dict[str, Any], sentence: Callable[[Fields], str]) -> None:
    """One answer: an object for programs, a line for people."""
    said = (
        f"{short(str(found.get('text')))}: {found['error']}"
        if call.json is False and "error" in found
        else ""
    )
    line = as_json(found) if call.json else plain(said or sentence(found)).replace("\n", " ")
    sys.stdout.write(line + "\n")
    sys.stdout.flush()  # whoever pipes lines in may wait for each answer


def wanted(fields: Fields, *names: str) -> str:
    """The first of these fields, which must be a text."""
    value = next((fields[name] for name in names if name in fields), None)
    if not isinstance(value, str):
        raise UsageError(
            f"a JSON object wants {names[0]!r} as text; it has {', '.join(map(repr, fields)) or 'nothing'}"
        )
    return value


def asked(fields: Fields, *names: str) -> str | None:
    """The first of these fields that is there and not null."""
    value = next((fields[name] for name in names if fields.get(name) is not None), None)
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{names[0]!r} wants text, and got {json.dumps(value)[:80]}")
    return value


def _fields(texts: Iterable[str] | None) -> Iterator[Fields | None]:
    given = list(texts or [])
    if given and given != ["-"]:
        yield from ({"text": text} for text in given)
        return
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("give a text as argument, or lines on standard input")
    yield from (None if line is None else _of_line(line) for line in _lines())


def _of_line(line: str) -> Fields:
    try:
        found = json.loads(line) if line.startswith("{") else None
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {"text": line}


def _lines() -> Iterator[str | None]:
    """Lines without their ends; None for one that is too long, which is read to its end and dropped."""
    while piece := sys.stdin.buffer.readline(MAX_LENGTH + 1):
        if len(piece) <= MAX_LENGTH or piece.endswith(b"\n"):
            yield piece.decode("utf-8", "replace").rstrip("\r\n")
            continue
        while piece and not piece.endswith(b"\n"):
            piece = sys.stdin.buffer.readline(MAX_LENGTH)
        yield None
