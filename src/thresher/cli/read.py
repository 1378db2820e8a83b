"""`thresher read`: what Thresher makes of a string. The small sister of `thresher inspect`.

Every command takes arguments, or lines on standard input, and answers one line each.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import typer

from thresher.cli.call import CommandCall, call_of
from thresher.cli.format import as_json, plain, short
from thresher.cli.inspect import inspected, saved_page
from thresher.core.clock import SystemClock, as_text
from thresher.core.errors import InvalidUrl, TaskError, UsageError
from thresher.fetch.robots import RobotsRules, read_rules
from thresher.reading.platforms.boards import Board, recognise
from thresher.reading.platforms.calls import list_call
from thresher.reading.values.addresses import read_address
from thresher.reading.values.dates import Day, read_day
from thresher.reading.values.money import Price, read_price

# Input that comes as arguments or as lines, one answer a line: any number of them in the memory of one.

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
                raise UsageError(f"a line has more than {MAX_LENGTH:,} bytes; shorten it")
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
            f"a JSON object must have {names[0]!r} as text; it has "
            f"{', '.join(map(repr, fields)) or 'nothing'}"
        )
    return value


def asked(fields: Fields, *names: str) -> str | None:
    """The first of these fields that is there and not null."""
    value = next((fields[name] for name in names if fields.get(name) is not None), None)
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{names[0]!r} must be text, got {json.dumps(value)[:80]}")
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


app = typer.Typer(context_settings={"help_option_names": ["-h", "--help"]})
Texts = Annotated[
    list[str] | None,
    typer.Argument(metavar="[TEXT]...", help="Texts to read. Default: lines of standard input."),
]
MAX_FILE = 10 * 1024 * 1024


@app.command()
def price(
    ctx: typer.Context,
    texts: Texts = None,
    currency: Annotated[
        str | None, typer.Option(help="Currency hint from the page: a code, a sign, another price.")
    ] = None,
) -> None:
    """Parse the price in a text, or say why there is none.

    A line may be a JSON object: text, and currency as a hint.
    """

    def answer(fields: Fields) -> dict[str, Any]:
        text = wanted(fields, "text", "price", "price_text")
        found = read_price(text, currency_hint=asked(fields, "currency", "currency_hint", "hint") or currency)
        if not isinstance(found, Price):
            return {"text": text, "amount_minor": None, "currency": None, "reason": found.reason}
        return {
            "text": text,
            "amount_minor": found.amount_minor,
            "currency": found.currency,
            "amount": str(found.amount),
            "quote": found.text,
            "symbol": found.symbol,
            "certain": found.certain,
            "high": found.high,
            "was": found.was,
            "bound": found.bound,
            "per": found.per,
        }

    answer_each(call_of(ctx), texts, answer, _price_line)


def _price_line(found: Fields) -> str:
    if found["amount_minor"] is None:
        return f"{found['text']}: no price ({found['reason']})"
    said = [found["bound"], found["amount"], found["currency"] or "in an unknown currency"]
    said += [f"to {found['high']} in the smallest unit"] if found["high"] is not None else []
    said += [f"per {found['per']}"] if found["per"] else []
    said += ["(the currency is not certain)"] if found["currency"] and not found["certain"] else []
    return f"{found['text']}: {' '.join(str(part) for part in said if part)}"


@app.command()
def url(
    ctx: typer.Context,
    texts: Texts = None,
    base: Annotated[str | None, typer.Option(metavar="URL", help="Base URL.")] = None,
) -> None:
    """Take an address apart as browsers do; give its one spelling, its key and its registered domain.

    A line may be a JSON object: text, and base.
    """

    def answer(fields: Fields) -> dict[str, Any]:
        text = wanted(fields, "text", "url", "input")
        try:
            return {"text": text, **asdict(read_address(text, asked(fields, "base") or base))}
        except InvalidUrl as problem:
            return {"text": text, "href": None, "canonical": None, "key": None, "error": str(problem)}

    answer_each(call_of(ctx), texts, answer, _url_line)


def _url_line(found: Fields) -> str:
    return f"{found['text']}: {found['canonical'] or found['href']} (host {found['host'] or 'none'}, domain {found['domain'] or 'none'})"


@app.command()
def board(ctx: typer.Context, texts: Texts = None) -> None:
    """Identify the hiring board of a URL: its platform, its token, and the URL of its list.

    An argument may also name a saved file: a page that embeds or links a board, an answer of its API, a feed.
    """

    def answer(fields: Fields) -> dict[str, Any]:
        text = wanted(fields, "text", "url")
        # Lines may come from anywhere.
        found = recognise(text) or (_board_of_file(call, text) if texts else None)
        if found is None:
            return {
                "text": text,
                "platform": None,
                "token": None,
                "url": None,
                "list": None,
                "reason": "not the URL of a known board",
            }
        listed = list_call(found)
        asked_for = f"{listed.method} {listed.url}" if listed else None
        return {
            "text": text,
            "platform": found.platform,
            "token": found.token,
            "url": found.url,
            "list": asked_for,
        }

    call = call_of(ctx)
    call.learn_platforms()
    answer_each(call, texts, answer, _board_line)


def _board_of_file(call: CommandCall, name: str) -> "Board | None":
    """The board of a saved page or answer; None where there is no such file."""
    try:
        if "://" in name or not Path(name).is_file():
            return None
    except (OSError, ValueError):  # no name that a file could have
        return None
    return inspected(call, saved_page(name)).board


def _board_line(found: Fields) -> str:
    if found["platform"] is None:
        return f"{found['text']}: no board ({found['reason']})"
    return f"{found['text']}: {found['platform']}, token {found['token'] or 'unknown'}"


@app.command("date")
def day(
    ctx: typer.Context,
    texts: Texts = None,
    today: Annotated[
        str | None,
        typer.Option(metavar="YYYY-MM-DD", help="Date of today. Default: the current date in UTC."),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            help="Language of the page, such as de or en-US: decides whether 3/4 is in March or in April."
        ),
    ] = None,
    day_first: Annotated[
        bool | None,
        typer.Option("--day-first/--month-first", help="Set the order of day and month directly."),
    ] = None,
) -> None:
    """Parse the date in a text, or say why there is none for certain.

    A line may be a JSON object: text, today, language.
    """
    default = _today(today)

    def answer(fields: Fields) -> dict[str, Any]:
        text = wanted(fields, "text", "date")
        now = _today(said) if (said := asked(fields, "today")) else default
        found = read_day(text, today=now, day_first=day_first, language=asked(fields, "language") or language)
        if not isinstance(found, Day):
            return {"text": text, "date": None, "reason": found.reason}
        return {
            "text": text,
            "date": found.day.isoformat(),
            "precision": found.precision,
            "approximate": found.approximate,
            "or_earlier": found.or_earlier,
            "at": found.at.isoformat() if found.at else None,
        }

    answer_each(call_of(ctx), texts, answer, _date_line)


def _today(said: str | None) -> "date":

    try:
        return date.fromisoformat((said or as_text(SystemClock().now()) or "")[:10])
    except ValueError:
        raise UsageError(f"today must be a day such as 2026-01-31, got {said!r}") from None


def _date_line(found: Fields) -> str:
    if found["date"] is None:
        return f"{found['text']}: no date ({found['reason']})"
    about = "about " if found["approximate"] else ""
    return f"{found['text']}: {about}{found['date']}{' or earlier' if found['or_earlier'] else ''}"


@app.command()
def robots(
    ctx: typer.Context,
    file: Annotated[
        str | None,
        typer.Argument(metavar="[FILE|-]", help="A robots.txt file. Default: JSON lines on standard input."),
    ] = None,
    agent: Annotated[str, typer.Option(help="Product token of the crawler.")] = "thresher",
    urls: Annotated[list[str] | None, typer.Option("--url", help="URL to check. Repeatable.")] = None,
) -> None:
    """Check what a robots.txt allows an agent, and by which line.

    Without a file, every line of standard input is a JSON object: robots, agent, url.
    """
    call = call_of(ctx)
    if file is None:
        answer_each(call, None, lambda fields: _robots_of_line(fields, agent), _robots_line)
        return
    rules = read_rules(_file(file), agent)
    for found in [_ruling(rules, each) for each in urls] if urls else [_ruling(rules, None)]:
        write(call, found, _robots_line)


def _robots_of_line(fields: Fields, agent: str) -> dict[str, Any]:

    text = wanted(fields, "robots", "robots_txt")
    rules = read_rules(text.encode("utf-8", "replace"), asked(fields, "agent", "user_agent") or agent)
    return _ruling(rules, wanted(fields, "url"))


def _ruling(rules: "RobotsRules", url: str | None) -> dict[str, Any]:
    ruling = rules.ruling(url) if url is not None else None
    asked_about = {"url": url, "allowed": ruling.allowed, "rule": ruling.rule} if ruling else {}
    return {
        **asked_about,
        "agent": rules.agent,
        "crawl_delay": rules.crawl_delay,
        "sitemaps": list(rules.sitemaps),
    }


def _robots_line(found: Fields) -> str:
    rest = f"crawl delay {found['crawl_delay'] or 'none'}, sitemaps {len(found['sitemaps'])}"
    if "url" not in found:
        return f"for {found['agent']}: {rest}"
    return f"{found['url']}: {'allowed' if found['allowed'] else 'disallowed'} for {found['agent']} ({found['rule'] or 'no rule'}; {rest})"


def _file(name: str) -> bytes:

    try:
        if name == "-":
            return sys.stdin.buffer.read(MAX_FILE)
        with Path(name).open("rb") as opened:
            return opened.read(MAX_FILE)
    except OSError as problem:
        raise UsageError(
            f"{name} cannot be read: {problem.strerror}; give a robots.txt, or - for standard input"
        ) from None
