"""`thresher add`: ask for work. Companies, boards, postings and candidates in a person's words, any other
task by its kind.
"""

import difflib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thresher.cli.call import Call, call_of

if TYPE_CHECKING:
    from thresher.admin.requests import Asked
    from thresher.admin.tasks import Added
    from thresher.apps.jobs.service.company_file import Roster
    from thresher.build import Workshop

ALIKE = 0.8  # of 1: what may be a slip of the hand
WORDS = ("company", "companies", "board", "posting", "candidates")
MAX_BYTES = 100_000_000
UNUSABLE = 2


def command(
    ctx: typer.Context,
    kind: Annotated[
        str | None,
        typer.Argument(help="company, companies, board, posting, candidates; or any kind of task."),
    ] = None,
    things: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME|URL|FILE]...", help="Names or sites of companies, URLs, or a file."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="The company's name, beside its site or its board.")
    ] = None,
    website: Annotated[
        str | None, typer.Option(metavar="URL", help="The company's site, beside its name.")
    ] = None,
    company: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="Whose board it is; thresher companies list shows the keys."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Look at a company again although it is known and fresh.")
    ] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Of a file of candidates: leave out lines that cannot be used.")
    ] = False,
    payload: Annotated[
        str | None,
        typer.Option(metavar="JSON|@FILE|-", help="A JSON object, a file with one, or - for stdin."),
    ] = None,
    url: Annotated[
        str | None, typer.Option(help="The page the task is about; the loop guard looks at it.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="Unique among live tasks of the kind: asking twice adds once.")
    ] = None,
    priority: Annotated[
        int, typer.Option(help="A head start: each step counts as one queue.head_start of waiting.")
    ] = 0,
    delay: Annotated[str | None, typer.Option(help="Not before: 90s, 10m, 2h, 1d.")] = None,
    from_file: Annotated[
        str | None, typer.Option("--from", metavar="FILE.jsonl", help="Many: one task a line; - for stdin.")
    ] = None,
) -> None:
    """Add a company, a board, a posting, candidates, or any task.

    `thresher add company acme.com`, `add board URL`, `add posting URL`, `add companies FILE.csv`, `add
    candidates FILE.csv`: asking twice is harmless. Any other kind takes --payload, --url and --key. With
    --from all tasks of the file are added, or none of them.
    """
    from thresher.core.errors import UsageError

    call = call_of(ctx)
    if (kind is None) == (from_file is None):
        raise UsageError(
            "say what to add: thresher add company acme.com, thresher add KIND, or thresher add --from FILE.jsonl"
        )
    if kind is None:
        _add_file(call, from_file or "-")
    elif kind == "candidates" and not (name or website or company or force):
        from thresher.cli.candidates import add_file

        add_file(call, things or [], skip_bad=skip_bad)
    elif kind in WORDS and (things or name or website) and not skip_bad:
        _add_words(
            call, kind, things or [], {"name": name, "website": website, "company": company, "force": force}
        )
    elif things or name or website or company or force or skip_bad:
        near = difflib.get_close_matches(kind, WORDS, 1, ALIKE) if kind not in WORDS else []
        meant = f"; did you mean: thresher add {near[0]}?" if near else ""
        raise UsageError(
            f"{kind} is added with --payload, --url and --key; names and addresses are for {', '.join(WORDS)}{meant}"
        )
    else:
        _add_one(call, {"kind": kind, "url": url, "key": key, "priority": priority, "delay": delay}, payload)


def _add_words(call: Call, kind: str, things: list[str], said: dict[str, Any]) -> None:
    """What was said is read before the database is touched."""
    from thresher.core.errors import UsageError

    if kind == "companies":
        if len(things) != 1:
            raise UsageError("name one file: thresher add companies FILE.csv, or - for standard input")
        _add_roster(call, things[0], force=said["force"])
        return
    if kind != "company" and not things:
        raise UsageError(f"say which: thresher add {kind} URL")
    ready = _companies(things, said) if kind == "company" else None
    with call.workshop() as shop:
        found = _ask(shop, kind, things, said, ready)
    _answer(call, found)


def _companies(things: list[str], said: dict[str, Any]) -> list[Any]:
    from thresher.apps.jobs.service.companies import is_site, read_wish, wish
    from thresher.core.errors import UsageError

    if not (said["name"] or said["website"]):
        return [read_wish(thing) for thing in things]
    if len(things) > 1 or (things and said["name"] and said["website"]):
        raise UsageError(
            "--name and --website are for one company: thresher add company acme.com --name Acme"
        )
    name = said["name"] or (things[0] if things and not is_site(things[0]) else None)
    website = said["website"] or (things[0] if things and is_site(things[0]) else None)
    if things and things[0] not in (name, website):
        raise UsageError(
            f"{things[0]!r} was said besides its {'name' if said['name'] else 'website'}; which of the two is meant?"
        )
    return [wish(name, website)]


def _ask(
    shop: "Workshop", kind: str, things: list[str], said: dict[str, Any], ready: list[Any] | None
) -> "list[Asked]":
    if ready is not None:
        from thresher.apps.jobs.service.companies import ask_companies

        return ask_companies(shop.store, shop.registry, ready, force=said["force"])
    if kind == "board":
        from thresher.apps.jobs.service.boards import ask_boards

        return ask_boards(shop.store, shop.registry, things, company=said["company"], name=said["name"])
    from thresher.apps.jobs.service.postings import ask_postings

    return ask_postings(shop.store, shop.registry, things)


def _add_roster(call: Call, name: str, *, force: bool) -> None:
    from thresher.apps.jobs.service.companies import ask_companies
    from thresher.apps.jobs.service.company_file import read_roster

    roster = read_roster(_read(name), name)
    with call.workshop() as shop:
        found = ask_companies(shop.store, shop.registry, roster.wishes, force=force)
    _answer(call, found, roster, name)
    raise typer.Exit(UNUSABLE if roster.slips else 0)


def _answer(call: Call, found: "list[Asked]", roster: "Roster | None" = None, name: str = "") -> None:
    from thresher.cli.show import answer, cell

    value = {"asked": found, "slips": roster.slips} if roster else found
    answer(call, value, lambda out, _: out.print(cell("\n".join(_lines(found, roster, name)))))


def _lines(found: "list[Asked]", roster: "Roster | None", name: str) -> list[str]:
    """Every answer, or, of a file, how many of which; and every line that could not be read."""
    from thresher.cli.words import number

    if roster is None:
        return [each.says for each in found]
    counts = {word: sum(each.answer == word for each in found) for word in ("added", "waiting", "known")}
    lines = [f"{name}:{slip.line}: {slip.why}" for slip in roster.slips]
    others = (("on their way already", counts["waiting"]), ("known", counts["known"]))
    rest = "".join(f", {count:,} {word}" for word, count in others if count)
    slips = (
        f" {number(len(lines), 'line')} could not be read: mend and add the file again, nothing is added twice."
        if lines
        else ""
    )
    return [*lines, f"{number(counts['added'], 'company', 'companies')} added{rest}.{slips}"]


def _add_one(call: Call, fields: dict[str, object], payload: str | None) -> None:
    from thresher.admin import tasks
    from thresher.admin.intake import new_task, parse_payload
    from thresher.cli.show import say

    text = None if payload is None else _text(payload)
    new = new_task(fields | ({} if text is None else {"payload": parse_payload(text, "the payload")}))
    with call.workshop() as shop:
        added = tasks.add(shop.store, shop.registry, new)
    say(call, added, _sentence(added))


def _sentence(added: "Added") -> str:
    if added.new:
        return f"Task {added.id} ({added.kind}) added."
    return (
        f"Task {added.id} ({added.kind}) already waits or runs with the key {added.key!r}; nothing was added."
    )


def _add_file(call: Call, name: str) -> None:
    from thresher.admin import tasks
    from thresher.admin.intake import read_lines
    from thresher.cli.show import say
    from thresher.cli.words import number

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
