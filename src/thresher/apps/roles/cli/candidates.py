"""`thresher candidates`: who looks for work, which roles they want, and which postings suit them."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from thresher.admin.file_rows import IGNORE, decoded
from thresher.admin.times import read_now
from thresher.apps.roles.service.candidates import (
    Admission,
    CandidateDetail,
    CandidateView,
    add_candidates,
    list_candidates,
    remove_candidates,
    show_candidate,
)
from thresher.apps.roles.service.intake import Slip, read_sheet
from thresher.apps.roles.service.matches import (
    FitDetail,
    FitView,
    Quote,
    explain_fit,
    list_fits,
    posting_named,
    set_pair_status,
)
from thresher.apps.roles.service.roles import find
from thresher.cli.call import call_of
from thresher.cli.format import ago, number, short, when
from thresher.cli.numbers import Numbered, numbered
from thresher.cli.show import answer, cell, known, linked, say, table
from thresher.core.errors import UsageError

app = typer.Typer()

Key = Annotated[str, typer.Argument(metavar="KEY", help="Candidate (see `candidates list`).")]
FITS = Numbered("matches of a candidate", "thresher candidates matches KEY")
PostingName = Annotated[
    str,
    typer.Argument(
        metavar="POSTING",
        help="Posting: its key, its number in the last list, or in a script the id of its record.",
        callback=numbered(FITS),
    ),
]
MAX_BYTES = 200_000_000
SHOWN = 3  # candidates that are named where many are meant
VISIBLE = 0.05  # points: less is not seen in what is printed
FACTS = (
    "email",
    "title",
    "roles",
    "skills",
    "tech_stack",
    "specializations",
    "experience_years",
    "locations",
    "salary_min",
    "currency",
    "remote",
)


def read_body(name: str) -> bytes:
    """A file, or standard input for -, as it is."""
    try:
        if name == "-":
            body = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with Path(name).open("rb") as opened:
                body = opened.read(MAX_BYTES + 1)
    except (OSError, ValueError) as problem:
        raise UsageError(f"cannot read {name!r}: {getattr(problem, 'strerror', None) or problem}") from None
    if len(body) > MAX_BYTES:
        raise UsageError(f"{name} has more than {MAX_BYTES:,} bytes; split the file")
    return body


def add(
    ctx: typer.Context,
    file: Annotated[str | None, typer.Argument(metavar="FILE", help="CSV or JSON file; - for stdin.")] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip invalid lines.")] = False,
    ignore_unknown: Annotated[
        bool, typer.Option(IGNORE, help="Leave out columns that a candidate does not have.")
    ] = False,
) -> None:
    """Add candidates from a file. The whole file is read before anything is written."""
    call = call_of(ctx)
    if file is None:
        raise UsageError("give one file: thresher add candidates FILE.csv, or - for standard input")
    sheet = read_sheet(decoded(read_body(file), file), file, ignore_unknown=ignore_unknown)
    sheet = sheet if skip_bad else sheet.whole(file)
    with call.runtime() as runtime:
        found = add_candidates(runtime.store, runtime.registry, sheet.candidates)
    value = counts(found) | {"candidates": found, "slips": sheet.slips, "ignored_columns": sheet.ignored}
    lines = [
        *([f"Left out: {', '.join(sheet.ignored)}."] if sheet.ignored else []),
        *_lines(found, sheet.slips, file),
    ]
    answer(call, value, lambda out, _: out.print(cell("\n".join(lines))))


def counts(found: "Sequence[Admission]") -> dict[str, Any]:
    """How many candidates of which answer, and how many roles were found, made, or wait for a model."""
    said: dict[str, Any] = {
        word: sum(each.answer == word for each in found) for word in ("new", "changed", "unchanged")
    }
    wanted = {(each.role_id or each.key): each for one in found for each in one.roles}
    made = {each.role_id for one in found for each in one.roles if each.created}
    waiting = sum(each.method == "waiting" for each in wanted.values())
    there = {each.role_id for each in wanted.values() if each.role_id is not None} - made
    return said | {"roles": {"found": len(there), "created": len(made), "waiting": waiting}}


def _lines(found: "Sequence[Admission]", slips: "Sequence[Slip]", name: str) -> list[str]:

    said = counts(found)
    others = "".join(f", {said[word]:,} {word}" for word in ("changed", "unchanged") if said[word])
    roles = said["roles"]
    waiting = f", {roles['waiting']:,} titles wait for a model" if roles["waiting"] else ""
    lines = [f"{name}:{slip.line}: left out: {slip.why}" for slip in slips]
    lines.append(f"{number(said['new'], 'new candidate')}{others}.")
    lines.append(f"Roles: {roles['found']:,} found, {roles['created']:,} created{waiting}.")
    none = [each.name for each in found if not each.roles]
    if none:
        shown = ", ".join(none[:SHOWN]) + (", …" if len(none) > SHOWN else "")
        lines.append(
            f"{number(len(none), 'candidate')} without a title: nothing is matched for them ({shown})."
        )
    return lines


@app.command("list")
def list_(
    ctx: typer.Context,
    role: Annotated[
        str | None, typer.Option(metavar="ROLE", help="Only candidates who want this role (name or id).")
    ] = None,
    before: Annotated[str | None, typer.Option(metavar="KEY", help="Start after this candidate.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of rows.")] = 50,
) -> None:
    """List candidates, the newest first."""
    call = call_of(ctx)
    with call.store() as store:
        role_id = find(store, role).id if role is not None else None
        found, now = list_candidates(store, role_id=role_id, before=before, limit=limit), read_now(store)
    answer(call, found, lambda out, value: _draw(out, value, now))


def _draw(out: "Console", found: "list[CandidateView]", now: int) -> None:

    if not found:
        out.print("No candidates; thresher add candidates FILE.csv adds some.")
        return
    rows = [
        [
            each.key,
            short(each.name, 30),
            short(each.title, 40),
            short(", ".join(each.roles), 50),
            short(", ".join(each.skills), 40),
            _years(each.experience_years),
            short("; ".join(each.locations), 30),
            each.matches,
            ago(each.updated_at, now),
        ]
        for each in found
    ]
    out.print(
        table(["!key", "name", "title", "roles", "skills", "#years", "locations", "#matches", "#ago"], rows)
    )


def _years(years: float | None) -> str | None:
    return None if years is None else f"{years:g}"


@app.command()
def show(ctx: typer.Context, key: Key) -> None:
    """Show one candidate: what is known, what is searched for, which roles are wanted and how each was
    found.
    """
    call = call_of(ctx)
    with call.store() as store:
        detail, now = show_candidate(store, key), read_now(store)
    answer(call, detail, lambda out, value: _draw_one(out, value, now))


def _draw_one(out: "Console", detail: "CandidateDetail", now: int) -> None:
    one = detail.candidate
    out.print(
        known(
            [
                ("candidate", one.key),
                ("name", one.name),
                *((name, _fact(getattr(detail.record, name))) for name in FACTS),
                ("keywords", ", ".join(detail.keywords)),
                ("matches", one.matches),
                ("changed", when(one.updated_at, now)),
            ]
        )
    )
    rows = [
        [
            short(each.role, 40),
            each.role_id,
            each.status,
            short(each.title, 40),
            each.method,
            None if each.similarity is None else f"{each.similarity:.2f}",
            short(each.reason, 80),
        ]
        for each in detail.wants
    ]
    if rows:
        out.print(table(["role", "#id", "status", "by the title", "method", "#similarity", "why"], rows))


def _fact(value: tuple[str, ...] | str | float | bool | None) -> str | None:
    if value is None or isinstance(value, bool):
        return {True: "yes", False: "no"}.get(value)  # type: ignore[arg-type]
    return ("; ".join(value) if isinstance(value, tuple) else str(value)) or None


@app.command()
def remove(
    ctx: typer.Context,
    keys: Annotated[list[str], typer.Argument(metavar="KEY...", help="Candidates (see `candidates list`).")],
) -> None:
    """Remove candidates: their records, links and matches. The roles they wanted are recounted."""
    call = call_of(ctx)
    with call.store(migrate=True) as store:
        gone = remove_candidates(store, keys)
    lines = [f"{each.name} was removed, with {number(each.matches, 'match', 'matches')}." for each in gone]
    say(call, gone, "\n".join(lines))


@app.command()
def matches(
    ctx: typer.Context,
    key: Key,
    min_score: Annotated[float | None, typer.Option(min=0, max=100, help="Minimum score.")] = None,
    recommended: Annotated[bool, typer.Option("--recommended", help="Only recommended matches.")] = False,
    status: Annotated[
        str | None, typer.Option(help="Status: suggested, viewed, applied, rejected or shortlisted.")
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="POSTING",
            help="Explain this posting instead (key, number in the last list, or id).",
            callback=numbered(FITS),
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of rows.")] = 50,
) -> None:
    """List the postings that suit a candidate, the best first: score, grade, and what it is made of."""
    if explain is not None:
        match(ctx, key, explain)
        return
    call = call_of(ctx)
    with call.store() as store:
        found = list_fits(
            store, candidate=key, min_score=min_score, recommended=recommended, status=status, limit=limit
        )
        now = read_now(store)
    answer(call, found, lambda out, value: _draw_fits(out, value, now))


def _draw_fits(out: "Console", found: "list[FitView]", now: int) -> None:

    if not found:
        out.print(
            "No matches. Candidates are matched when scrapers send postings for their roles: "
            "thresher candidates show KEY."
        )
        return
    parts = list(found[0].parts)
    rows = [
        [
            f"{each.score:.1f}",
            each.grade,
            "yes" if each.recommended else None,
            *(f"{each.parts[part]:.0f}" for part in parts),
            each.status,
            linked(short(each.title, 40), each.url),
            short(each.company_name, 25),
            short(each.location, 25),
            ago(each.matched_at, now),
            each.posting,
        ]
        for each in found
    ]
    heads = [
        "#score",
        "grade",
        "recommended",
        *(f"-#{part}" for part in parts),
        "status",
        "title",
        "company",
        "-location",
        "-#ago",
        "!posting",
    ]
    out.print(table(heads, rows, numbered=FITS.rows([each.posting for each in found])))


@app.command()
def match(
    ctx: typer.Context,
    key: Key,
    posting: PostingName,
) -> None:
    """Explain how a candidate and a posting go together, part by part, with the words of the posting."""
    call = call_of(ctx)
    with call.store() as store:
        found = explain_fit(store, key, posting_named(posting))
    answer(call, found, _draw_fit)


def _draw_fit(out: "Console", found: "FitDetail") -> None:

    word = "recommended" if found.recommended else "not recommended"
    out.print(
        cell(
            f"{found.candidate} and {found.posting}: {found.score:.1f} ({found.grade}), {word}, {_kept(found)}."
        )
    )
    rows = [
        [part.name, f"{part.points:.0f}", f"{part.weight:g}", short(part.reason, 90), _quoted(part.quote)]
        for part in found.parts
    ]
    out.print(table(["part", "#points", "#weight", "why", "the posting says"], rows))
    skills = [*(("has", each) for each in found.matched), *(("lacks", each) for each in found.missing)]
    if skills:
        lines = [[how, each.skill, each.own, _quoted(each.quote)] for how, each in skills]
        out.print(table(["", "skill", "as the candidate says", "the posting says"], lines))


def _kept(found: "FitDetail") -> str:
    """What is written down of the pair. A match in somebody's hand keeps its score where it fits no longer,
    so the two may differ.
    """
    if found.kept is None:
        return "not kept"
    was = (
        f" with {found.kept.score:.1f}, what it was when it was last matched"
        if abs(found.kept.score - found.score) >= VISIBLE
        else ""
    )
    return f"kept as {found.kept.status}{was}"


def _quoted(quote: "Quote | None") -> str | None:

    return f"“{short(quote.text, 80)}”" if quote else None


@app.command("set-status")
def set_status(
    ctx: typer.Context,
    key: Key,
    posting: PostingName,
    status: Annotated[
        str,
        typer.Argument(metavar="STATUS", help="Status: suggested, viewed, applied, rejected or shortlisted."),
    ],
    note: Annotated[str | None, typer.Option(help="Note to store with the match.")] = None,
) -> None:
    """Say what was done about a match. It is yours: no later matching removes it or changes the status.

    Its score is that of the last matching in which it still fitted; thresher candidates match says what it
    would be now.
    """
    call = call_of(ctx)
    with call.store(migrate=True) as store:
        done = set_pair_status(store, key, posting_named(posting), status, note)
    say(call, done, f"{done.candidate} and {posting}: {done.status} (was {done.was}).")
