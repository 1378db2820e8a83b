"""`thresher jobs`: the search for work: matches, the profile they are measured by, and searches worth
keeping.
"""

import shlex
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from rich.console import Console

from thresher.admin.records import maybe
from thresher.admin.requests import RequestResult
from thresher.admin.times import read_now
from thresher.apps.hiring.checks import none_yet, what_was_checked
from thresher.apps.hiring.cli import COMPANIES
from thresher.apps.jobs.service.boards import ask_boards
from thresher.apps.jobs.service.companies import (
    Slip,
    Wish,
    ask_companies,
    ask_review,
    is_site,
    read_company_file,
    read_wish,
    wish,
)
from thresher.apps.jobs.service.matches import (
    MatchView,
    Search,
    ViewView,
    check,
    list_matches,
    list_views,
    save_view,
    saved_search,
    set_status,
)
from thresher.apps.jobs.service.postings import ask_postings, check_profile, judge_again, set_profile
from thresher.apps.jobs.service.why_no_matches import CHANGEABLE, make_change, why_no_matches
from thresher.cli.add import read_text
from thresher.cli.call import CommandCall, call_of, user_name
from thresher.cli.explain import explain_one
from thresher.cli.format import ago, number, short
from thresher.cli.numbers import Numbered, numbered
from thresher.cli.show import answer, cell, linked, say, table
from thresher.cli.show import answer as show_answer
from thresher.core.errors import ConfigError, UsageError

app = typer.Typer()
profile_app = typer.Typer()
views_app = typer.Typer()
app.add_typer(
    profile_app,
    name="profile",
    help="Show, check and set the profile.",
    no_args_is_help=True,
)
app.add_typer(
    views_app,
    name="views",
    help="Save searches for matches, and run them.",
    no_args_is_help=True,
)

Status = Annotated[str | None, typer.Option(help="Status: new, viewed, applied or dismissed.")]
Priority = Annotated[str | None, typer.Option(help="Priority: high, medium or low.")]
MinScore = Annotated[int | None, typer.Option(min=0, max=100, help="Minimum score.")]
Since = Annotated[
    str | None, typer.Option(metavar="TIME", help="Only matches decided since: 12h, 7d, 2w, 2026-01-31.")
]
Company = Annotated[str | None, typer.Option(metavar="NAME", help="Part of the company's name.")]
Words = Annotated[str | None, typer.Option(metavar="WORDS", help="Words that the title must contain.")]
Limit = Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of rows.")]
File = Annotated[
    Path, typer.Argument(metavar="FILE", help="Profile file (see docs/how-to/write-a-profile.md).")
]
MATCHES = Numbered("matches", "thresher jobs matches")
MAX_PROFILE = 1_000_000
FEW = 3  # matches below which the list says why there are not more


@app.command()
def matches(
    ctx: typer.Context,
    status: Status = None,
    priority: Priority = None,
    min_score: MinScore = None,
    since: Since = None,
    company: Company = None,
    words: Words = None,
    view: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of a saved search, instead of filters.")
    ] = None,
    limit: Limit = 50,
) -> None:
    """List the openings that suit the profile, the best first."""
    search = Search(status, priority, min_score, since, company, words)
    if view is not None and search.filters:
        raise UsageError("a view has its own filters; use either --view NAME or filters")
    _show(ctx, search, view, limit)


def _show(ctx: typer.Context, search: "Search", view: str | None, limit: int) -> None:

    call = call_of(ctx)
    with call.store() as store:
        now = read_now(store)
        asked = search if view is None else saved_search(store, view)
        found = list_matches(store, asked, now, limit)
        checked = what_was_checked(store)
        few = not call.json and not asked.filters and checked.judged and len(found) < min(FEW, limit)
        why = list(why_no_matches(store, now).sentences) if few else []
    empty = (
        "No matches suit; thresher jobs matches shows all."
        if asked.filters and checked.saved
        else none_yet(checked, "matches")
    )
    answer(call, found, lambda out, value: _draw(out, value, now, empty))
    if why:
        say(call, found, "\n".join(why))


@app.command()
def why(
    ctx: typer.Context,
    key: Annotated[
        str | None,
        typer.Argument(
            metavar="[KEY]",
            help="Match to explain: its key, or its number in the last list. Default: what keeps others out.",
            callback=numbered(MATCHES),
        ),
    ] = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="Make the one change, and have all open postings judged by it.")
    ] = False,
) -> None:
    """Explain why there are not more matches, or why a match is one.

    Without KEY: the reasons by count, the nearest misses with what cost them points, and the one change that
    would bring the most, found by judging the stored postings again.
    """
    call = call_of(ctx)
    if key is not None:
        if apply:
            raise UsageError("--apply makes the change that brings most matches; it takes no KEY")
        explain_one(call, key)
        return
    if apply:
        _apply(call)
        return
    with call.store() as store:
        found, checked = why_no_matches(store, read_now(store)), what_was_checked(store)
    lines = [f"{number(found.matches, 'match', 'matches')} in {number(found.postings, 'open posting')}."]
    if not found.matches:
        lines = [none_yet(checked, "matches")]
    say(call, found, "\n".join([*lines, *found.sentences]))


def _apply(call: CommandCall) -> None:
    """Make the change that brings most."""
    with call.runtime() as runtime:
        store = runtime.store
        change = why_no_matches(store, read_now(store)).change
        if change is None:
            raise UsageError("there is no change that would bring more matches; nothing was changed")
        if change.name not in CHANGEABLE or change.then is None:
            raise UsageError(
                f"{change.name} is in your profile, and only you can say what it should be. Nothing was changed; "
                f"run: {'; '.join(change.commands)}"
            )
        asked = make_change(store, runtime.registry, change.name, str(change.then), user_name())
    told = (
        f"{change.name} = {change.then} (was {change.now}). {number(asked, 'posting')} will be judged by it"
    )
    say(call, {"change": change, "asked": asked}, f"{told}; to do it now: thresher run")


def _draw(out: "Console", found: "list[MatchView]", now: int, empty: str) -> None:

    if not found:
        out.print(empty)
        return
    rows = [
        [
            each.score,
            each.priority,
            each.status,
            linked(short(each.title, 45), each.url),
            short(each.company, 25),
            short(each.location, 25),
            short(each.pay, 22),
            "closed" if each.state == "closed" else ago(each.decided_at, now),
            each.key,
        ]
        for each in found
    ]
    out.print(
        table(
            ["#score", "-priority", "status", "title", "company", "-location", "-pay", "-#ago", "!key"],
            rows,
            numbered=MATCHES.rows([each.key for each in found]),
        )
    )
    numbers = "KEY is the number of a row, or its key. " if out.is_terminal else ""
    out.print(f"{numbers}To see why: thresher jobs why KEY. To keep track: thresher jobs match KEY --applied")


@app.command()
def match(
    ctx: typer.Context,
    keys: Annotated[
        list[str],
        typer.Argument(
            metavar="KEY...",
            help="Matches: their keys, or their numbers in the last list (see `jobs matches`).",
            callback=numbered(MATCHES),
        ),
    ],
    status: Status = None,
    applied: Annotated[bool, typer.Option("--applied", help="The same as --status applied.")] = False,
    dismissed: Annotated[bool, typer.Option("--dismissed", help="The same as --status dismissed.")] = False,
    note: Annotated[str | None, typer.Option(help="Note to store with the match.")] = None,
) -> None:
    """Set the status of a match. No later analysis changes it."""
    call = call_of(ctx)
    short_forms = {"applied": applied, "dismissed": dismissed}
    said = [*([status] if status else []), *(name for name, wanted in short_forms.items() if wanted)]
    if len(said) != 1:
        raise UsageError(
            "say once what became of the match: --applied, --dismissed, --status viewed or --status new"
        )
    with call.store() as store:
        changed = set_status(store, keys, said[0], note)
    say(call, changed, "\n".join(f"{each.title}: {each.status} (was {each.was})" for each in changed))


@app.command()
def judge(
    ctx: typer.Context,
    every: Annotated[bool, typer.Option("--all", help="Include postings that were judged before.")] = False,
) -> None:
    """Judge open postings that have not been judged yet by the current profile. Your decisions about matches
    stay.
    """
    call = call_of(ctx)
    with call.runtime() as runtime:
        asked = judge_again(runtime.store, runtime.registry, every=every)
    say(call, {"asked": asked}, f"{number(asked, 'posting')} will be judged; to do it now: thresher run")


@profile_app.command("show")
def profile_show(ctx: typer.Context) -> None:
    """Show the profile in use."""
    call = call_of(ctx)
    with call.store() as store:
        found = maybe(store, "profile", "me")
    value = dict(found.data) if found else None
    answer(call, value, _draw_profile)


def _draw_profile(out: "Console", value: dict[str, Any] | None) -> None:

    if value is None:
        out.print("There is no profile yet; start with: thresher jobs profile example profile.yaml")
        return
    out.print(
        cell(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, default_flow_style=None).rstrip())
    )


@profile_app.command("example")
def profile_example(
    ctx: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Output file. Default: print it.")
    ] = None,
) -> None:
    """Print a profile to begin with, with every key explained, or write it into a new file."""
    text = (files("thresher.apps.jobs") / "example_profile.yaml").read_text("utf-8")
    if file is None:
        typer.echo(text, nl=False)
        return
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as problem:
        raise UsageError(
            f"{file} cannot be written: {problem.strerror}; an example never overwrites a file"
        ) from None
    say(
        call_of(ctx),
        {"file": str(file)},
        f"Wrote {file}; edit it, then run: thresher jobs profile set {file}",
    )


@profile_app.command("check")
def profile_check(ctx: typer.Context, file: File) -> None:
    """Say whether a profile can be used, without using it. Exits 3 with the line and the key that is
    wrong.
    """
    profile = check_profile(_read(file), str(file))
    say(call_of(ctx), profile, f"{file} is valid; to use it: thresher jobs profile set {file}")


@profile_app.command("set")
def profile_set(ctx: typer.Context, file: File) -> None:
    """Use a profile from now on. Companies and boards are ranked by it again, and what it excludes is no
    longer read. Postings that were judged before keep their decisions; thresher jobs judge --all judges them
    again.
    """
    call = call_of(ctx)
    text = _read(file)
    with call.runtime() as runtime:
        profile = set_profile(runtime.store, text, str(file))
        ask_review(runtime.store, runtime.registry)
    say(
        call,
        profile,
        f"The profile in {file} is in use; companies and boards will be ranked by it. To judge known postings by "
        "it: thresher jobs judge --all",
    )


def _read(file: Path) -> str:

    try:
        with file.open("rb") as opened:
            return opened.read(MAX_PROFILE).decode("utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is not UTF-8 text") from None
    except OSError as problem:
        raise UsageError(
            f"{file} cannot be read: {problem.strerror}; to start from an example: thresher jobs "
            "profile example"
        ) from None


@views_app.command("save")
def views_save(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME")],
    status: Status = None,
    priority: Priority = None,
    min_score: MinScore = None,
    since: Since = None,
    company: Company = None,
    words: Words = None,
) -> None:
    """Keep a search under a name; the same name again replaces it."""
    call = call_of(ctx)
    with call.store() as store:
        search = check(Search(status, priority, min_score, since, company, words), read_now(store))
        save_view(store, name, search.filters)
    shown = f"thresher jobs views show {shlex.quote(name)}"
    say(
        call,
        {"name": name, "filters": search.filters},
        f"View {name} is saved; to run it: {shown}",
    )


@views_app.command("list")
def views_list(ctx: typer.Context) -> None:
    """List the searches that were kept, and how many matches each finds now."""
    call = call_of(ctx)
    with call.store() as store:
        found = list_views(store, read_now(store))
    answer(call, found, _draw_views)


def _draw_views(out: "Console", found: "list[ViewView]") -> None:

    if not found:
        out.print(
            "No views yet. Save a search with: thresher jobs views save NAME --status new --min-score 85"
        )
        return
    rows = [
        [
            each.name,
            ", ".join(f"{name} {value}" for name, value in each.filters.items()) or "all",
            each.matches,
        ]
        for each in found
    ]
    out.print(table(["!view", "filters", "#matches"], rows))


@views_app.command("show")
def views_show(
    ctx: typer.Context, name: Annotated[str, typer.Argument(metavar="NAME")], limit: Limit = 50
) -> None:
    """Show the matches that a kept search finds now."""
    _show(ctx, Search(), name, limit)


Force = Annotated[bool, typer.Option("--force", help="Analyze a company again even if it is up to date.")]
Urls = Annotated[list[str], typer.Argument(metavar="URL...")]
UNUSABLE = 2


def add_company(
    ctx: typer.Context,
    things: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME|SITE]...", help="Names or sites of companies.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the company, if a site is given.")] = None,
    website: Annotated[
        str | None, typer.Option(metavar="URL", help="Site of the company, if a name is given.")
    ] = None,
    force: Force = False,
) -> None:
    """Follow companies: read their sites and find their boards. Asking twice is harmless."""
    call, wishes = call_of(ctx), _wishes(things or [], name, website)
    with call.runtime() as runtime:
        found = ask_companies(runtime.store, runtime.registry, wishes, force=force)
    _tell(call, found, [each.says for each in found])


def _wishes(things: list[str], name: str | None, website: str | None) -> list[Wish]:
    """What was said is read before the database is touched."""
    if not (things or name or website):
        raise UsageError("name a company: thresher add company acme.com")
    if not (name or website):
        return [read_wish(thing) for thing in things]
    if len(things) > 1 or (things and name and website):
        raise UsageError(
            "--name and --website are for one company: thresher add company acme.com --name Acme"
        )
    called = name or (things[0] if things and not is_site(things[0]) else None)
    site = website or (things[0] if things and is_site(things[0]) else None)
    if things and things[0] not in (called, site):
        raise UsageError(
            f"both {things[0]!r} and a {'name' if name else 'website'} were given; give only one of them"
        )
    return [wish(called, site)]


def add_companies(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="CSV file with names and sites; - for stdin.")],
    force: Force = False,
) -> None:
    """Follow all companies of a file. Exits 2 if a line could not be read; the others are added."""
    call = call_of(ctx)
    roster = read_company_file(read_text(file), file)
    with call.runtime() as runtime:
        found = ask_companies(runtime.store, runtime.registry, roster.wishes, force=force)
    _tell(call, {"asked": found, "slips": roster.slips}, _counted(found, roster.slips, file))
    raise typer.Exit(UNUSABLE if roster.slips else 0)


def _counted(found: Sequence[RequestResult], slips: Sequence[Slip], name: str) -> list[str]:
    """How many of which answer, and every line that could not be read."""
    counts = {word: sum(each.answer == word for each in found) for word in ("added", "waiting", "known")}
    lines = [f"{name}:{slip.line}: {slip.why}" for slip in slips]
    others = (("already queued", counts["waiting"]), ("known", counts["known"]))
    rest = "".join(f", {count:,} {word}" for word, count in others if count)
    advice = (
        f" {number(len(lines), 'line')} could not be read: fix the file and add it again; nothing is "
        "added twice."
        if lines
        else ""
    )
    return [*lines, f"{number(counts['added'], 'company', 'companies')} added{rest}.{advice}"]


def add_board(
    ctx: typer.Context,
    urls: Urls,
    company: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            help="Company that owns the board: its key, or its number in the last list (see `companies list`).",
            callback=numbered(COMPANIES),
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="The company's name.")] = None,
) -> None:
    """Add boards by their addresses. Each has to prove whose it is."""
    call = call_of(ctx)
    with call.runtime() as runtime:
        found = ask_boards(runtime.store, runtime.registry, urls, company=company, name=name)
    _tell(call, found, [each.says for each in found])


def add_posting(ctx: typer.Context, urls: Urls) -> None:
    """Add single postings by their addresses."""
    call = call_of(ctx)
    with call.runtime() as runtime:
        found = ask_postings(runtime.store, runtime.registry, urls)
    _tell(call, found, [each.says for each in found])


def _tell(call: CommandCall, value: Any, lines: list[str]) -> None:
    show_answer(call, value, lambda out, _: out.print(cell("\n".join(lines))))
