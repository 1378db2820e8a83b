"""`thresher inspect`: what Thresher makes of a page. The tool to find out why a site does not work."""

import asyncio
import sys
import zlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from thresher.cli.call import CommandCall, call_of
from thresher.cli.format import as_json, plain, short, span
from thresher.cli.show import console, pairs, table
from thresher.core.clock import SystemClock, day_of, monotonic
from thresher.core.errors import TaskError, ThresherError, UnknownName, UsageError
from thresher.core.keys import canonical_url
from thresher.core.page import Page, Via
from thresher.reading.inspect import inspection as reading
from thresher.reading.inspect.inspection import Inspection, inspect, unreachable
from thresher.reading.inspect.report import advice
from thresher.reading.values.money import Price
from thresher.runtime import fetch_once, read_once

MAX_FILE = 50 * 1024 * 1024  # bytes, unpacked
TYPES = {
    ".json": "application/json",
    ".xml": "application/xml",
    ".rss": "application/xml",
    ".atom": "application/xml",
    ".txt": "text/plain",
}
GZIP = b"\x1f\x8b"
SHOWN_ROWS = 10


def command(
    ctx: typer.Context,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="URL|FILE...", help="URLs, or saved pages: HTML, JSON, XML, optionally gzipped."
        ),
    ],
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="URL of a saved page.")] = None,
    render: Annotated[bool, typer.Option("--render", help="Render the page in a browser first.")] = False,
) -> None:
    """Show what Thresher reads from a page: verdict, kind, board, postings, products, links, text.

    With --json, one object a line. What cannot be read is an object with an error, the others still come, and
    the exit code is not 0.
    """
    call, code = call_of(ctx), 0
    call.learn_platforms()
    base = _checked(base_url)
    for source in sources:
        inspection, error, failure = _inspected(call, source, base, render=render)
        code = code or failure
        if call.json:
            _write(inspection, error, source)
        else:
            _show(inspection, error, source)
    raise typer.Exit(code)


def _inspected(
    call: CommandCall, source: str, base: str | None, *, render: bool
) -> "tuple[Inspection | None, str | None, int]":
    """Return the inspection or the error, and the exit code."""
    try:
        page = _fetched(call, source, render=render) if _is_address(source) else _file(source, base)
        started = monotonic()
        found = inspected(call, page)
    except TaskError as problem:
        return unreachable(source, problem), str(problem), problem.exit_code
    except ThresherError as problem:
        return None, str(problem), problem.exit_code
    return replace(found, source=source, timings={**found.timings, "reading": monotonic() - started}), None, 0


def inspected(call: CommandCall, page: "Page") -> "Inspection":
    """What a page says, read in a process that is killed at the limits of the project."""
    return asyncio.run(read_once(call.project(), inspect, page, _today()))


def opened_page(call: CommandCall, source: str, base_url: str | None) -> "Page":
    """The page at an address, or a saved one."""
    return _fetched(call, source, render=False) if _is_address(source) else _file(source, _checked(base_url))


def saved_page(name: str) -> "Page":
    """A page out of a file, which says itself where it came from, or not at all."""
    return _file(name, None)


def _is_address(source: str) -> bool:
    return source.lower().startswith(("http://", "https://"))


def _checked(base_url: str | None) -> str | None:

    if base_url is not None:
        canonical_url(base_url)
    return base_url


def _today() -> "date":

    return day_of(SystemClock().now())


def _fetched(call: CommandCall, url: str, *, render: bool) -> "Page":

    return asyncio.run(fetch_once(call.project(), url, render=render))


def _file(name: str, base: str | None) -> "Page":
    """A saved page. Its address is the one given, else whatever it says about itself."""
    path = Path(name)
    body = _unpacked(_bytes(path), name)
    suffix = (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()
    headers = {"content-type": TYPES[suffix]} if suffix in TYPES else {}
    return Page(base or name, base or "", 200, headers, body, via=Via.FILE)


def _bytes(path: Path) -> bytes:

    try:
        with path.open("rb") as file:
            body = file.read(MAX_FILE + 1)
    except FileNotFoundError:
        raise UnknownName(f"there is no file {str(path)!r}; an address starts with https://") from None
    except OSError as problem:
        raise UsageError(f"{str(path)!r} cannot be read: {problem.strerror or problem}") from None
    if len(body) > MAX_FILE:
        raise UsageError(f"{str(path)!r} is larger than {MAX_FILE:,} bytes; inspect a part of it")
    return body


def _unpacked(body: bytes, name: str) -> bytes:

    if not body.startswith(GZIP):
        return body
    unpacker = zlib.decompressobj(wbits=31)
    try:
        unpacked = unpacker.decompress(body, MAX_FILE + 1)
    except zlib.error as problem:
        raise UsageError(f"{name!r} is not complete gzip data: {problem}") from None
    if len(unpacked) > MAX_FILE:
        raise UsageError(f"{name!r} decompresses to more than {MAX_FILE:,} bytes; inspect a part of it")
    return unpacked


def _write(inspection: "Inspection | None", error: str | None, source: str) -> None:

    found: dict[str, Any] = reading.as_json(inspection) if inspection else {"source": source}
    sys.stdout.write(as_json({**found, **({"error": error} if error else {})}) + "\n")


def _show(inspection: "Inspection | None", error: str | None, source: str) -> None:

    out = console()
    out.print(Text(plain(source), style="bold"))
    if inspection is None:
        out.print(Text(plain(f"  cannot be read: {error}\n"), style="red"))
        return
    _draw(out, inspection)


def _draw(out: "Console", seen: "Inspection") -> None:
    """Verdict first, then why, what was found, and what to do."""
    colour = {"found": "green", "confirmed_empty": "cyan", "unknown": "yellow", "blocked": "red"}[
        seen.look.verdict
    ]
    out.print(
        Text(f"  {seen.look.verdict.replace('_', ' ')}", style=f"bold {colour}"),
        Text(plain(f"– {seen.look.reason}")),
    )
    out.print(pairs((f"  {name}", value) for name, value in _facts(seen)))
    if seen.postings:
        rows = [
            (short(each.title, 60), each.company, short(each.location, 40), each.posted_date)
            for each in seen.postings[:SHOWN_ROWS]
        ]
        out.print(table(("posting", "company", "location", "posted"), rows))
        _and_more(out, len(seen.postings))
    if seen.products:
        shown = [
            (short(each.name, 80), _cost(each.price) if each.price else None, each.availability)
            for each in seen.products[:SHOWN_ROWS]
        ]
        out.print(table(("product", "price", "availability"), shown))
        _and_more(out, len(seen.products))
    out.print(Text(plain(f"  {advice(seen)}\n")))


def _cost(price: Price) -> str:
    """A price as it is written, with its currency where that stands elsewhere in the answer."""
    signs = (price.symbol, price.currency)
    if price.currency is None or any(sign and sign in price.text for sign in signs):
        return price.text
    return f"{price.text} {price.currency}"


def _and_more(out: "Console", number: int) -> None:
    if number > SHOWN_ROWS:
        out.print(f"  and {number - SHOWN_ROWS:,} more (--json shows all)")


def _facts(seen: "Inspection") -> Iterator[tuple[str, Any]]:
    """What there is to say about the page, without what is missing."""
    board = (
        f"{seen.board.platform} {seen.board.token or '(token not shown)'} {seen.board.url}"
        if seen.board
        else None
    )
    facts = (
        ("kind", seen.kind),
        ("title", short(seen.title, 100)),
        ("language", seen.language),
        ("board", board),
        ("company", seen.company.name),
        ("careers", seen.company.careers_url),
        ("next page", seen.next),
        ("pages", len(seen.pages) or None),
        ("links", f"{len(seen.links)} worth following" if seen.links else None),
        ("text", f"{len(seen.text):,} characters"),
        ("status", seen.status or None),
        ("took", ", ".join(f"{name} {span(seconds)}" for name, seconds in seen.timings.items()) or None),
    )
    yield from ((name, value) for name, value in facts if value)
