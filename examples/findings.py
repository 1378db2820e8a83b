"""What the demo tells at its end: company by company what was found or why not, the matches, and how the web
was treated meanwhile."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from thresher.admin.costs import dollars, list_calls
from thresher.admin.events import list_events
from thresher.admin.records import list_records
from thresher.admin.tasks import list_tasks
from thresher.apps.jobs.service.boards import BoardView, list_boards
from thresher.apps.jobs.service.companies import list_companies
from thresher.apps.jobs.service.matches import Search, list_matches
from thresher.practice.web import LogEntry, gaps, peak
from thresher.store.store import Store

MAX_ROWS = 10_000
BEST = 8  # matches that are shown
COLOURS = {
    "found": "green",
    "confirmed empty": "cyan",
    "waits for you": "magenta",
    "unknown": "yellow",
    "refused": "yellow",
    "blocked": "red",
}
MODEL = "127.0.0.1"  # the practice web's model has no name, only an address
BY_ITSELF = ("/static/", "/api/openings")  # what a page loads that a browser has to build
READERS = {
    "model": "read by a model",
    "learned": "by what was learned from its answers",
    "data": "from their own data",
}
ENDS = ("failed", "skipped")


@dataclass(frozen=True, slots=True)
class Finding:
    """One company: how the look at it ended and why, and its postings: open now, new since the last time,
    gone."""

    company: str
    verdict: str
    why: str
    tier: str = "–"
    open: int = 0
    new: int = 0
    gone: int = 0


def report(
    out: Console,
    store: Store,
    names: Sequence[str],
    since: tuple[int, int],
    log: Sequence[LogEntry],
    port: int,
    callings: Table,
) -> None:
    """`since` is when the last round began and when this one did."""
    tasks = list_tasks(store, limit=MAX_ROWS)
    tiers = {each.key: each.tier for each in list_companies(store, limit=MAX_ROWS)}
    found = [finding(store, name, [each for each in tasks if is_about(each, name)], tiers) for name in names]
    out.print(table_of(found, with_news=since[0] > 0))
    out.print(matches(store))
    out.print(decisions(store))
    out.print(callings)
    out.print(lessons(store, since[1], [each for each in log if each.host == MODEL]))
    out.print(manners(store, since[1], [each for each in log if each.host != MODEL]))
    out.print(NEXT.format(port=port), soft_wrap=True)


def is_about(task: dict[str, Any], name: str) -> bool:
    said = task["payload"]
    return said.get("company") == f"{name}.example" or f"//www.{name}.example/" in str(
        task["url"] or said.get("website") or ""
    )


def finding(
    store: Store, name: str, tasks: Sequence[dict[str, Any]], tiers: dict[str, str | None]
) -> Finding:
    """Only a look that proves something says how many there are: behind a wall nobody knows."""
    key = f"{name}.example"
    boards = list_boards(store, company=key, limit=MAX_ROWS)
    tier = tiers.get(key) or "–"
    if boards:
        return looked(store, name, tier, boards[0])
    live = next((each for each in tasks if each["state"] in ("pending", "retryable", "running")), None)
    if live is not None:
        return Finding(
            name,
            "blocked" if live["error"] == "Blocked" else "unknown",
            live["reason"] or "still to be looked at",
            tier,
        )
    ended = next(
        (each for each in tasks if each["state"] in ENDS and each["kind"] in ("source_discovery", "company")),
        None,
    )
    why = ended["reason"] if ended else "nobody has looked yet"
    return Finding(name, "refused" if "robots.txt forbids" in why else "unknown", why.partition(";")[0], tier)


def looked(store: Store, name: str, tier: str, board: BoardView) -> Finding:
    if board.status == "pending":
        return Finding(name, "waits for you", f"thresher boards enable {board.key}", tier)
    if not board.verdict:
        return Finding(name, "unknown", "nobody has looked yet", tier)
    last = next(each["data"]["last_look"] for each in list_records(store, kind="board", key=board.key))
    verdict = str(last["verdict"]).replace("_", " ")
    return Finding(
        name,
        verdict,
        f"{last['reason']}, on {board.key}",
        tier,
        board.open or 0,
        last.get("new", 0),
        last.get("closed", 0),
    )


def table_of(found: Sequence[Finding], *, with_news: bool) -> Table:
    table = Table(
        title="\nWhat was found", title_justify="left", title_style="bold", box=None, pad_edge=False
    )
    for name in ("company", "tier", "postings", *(("new", "gone") if with_news else ()), "verdict", "why"):
        table.add_column(
            name,
            justify="right" if name in ("postings", "new", "gone") else "left",
            style="dim" if name == "why" else None,
        )
    for each in found:
        news = (str(each.new or "–"), str(each.gone or "–")) if with_news else ()
        colour = COLOURS[each.verdict]
        verdict = f"[{colour}]{each.verdict}[/{colour}]"
        table.add_row(each.company, each.tier, str(each.open or "–"), *news, verdict, escape(each.why))
    return table


def matches(store: Store) -> Table:
    """The best of them, and what spoke for each."""
    table = Table(
        title="\nWhat fits the profile", title_justify="left", title_style="bold", box=None, pad_edge=False
    )
    for name in ("score", "opening", "company", "where", "because"):
        table.add_column(
            name, justify="right" if name == "score" else "left", style="dim" if name == "because" else None
        )
    for each in list_matches(store, Search(), 0, limit=BEST):
        table.add_row(
            str(each.score), each.title, each.company, each.location or "–", escape(reasons(each.explanation))
        )
    return table


def reasons(parts: Any) -> str:
    """The three parts of a score that brought most."""
    told = [str(part) for part in parts or () if str(part).startswith("+") and " start:" not in str(part)]
    best = sorted(told, key=lambda part: -int(part.split()[0]))[:3]
    return "; ".join(part.split(":")[0] for part in best)


def decisions(store: Store) -> str:
    """Nothing disappears without a reason."""
    found = [each["data"] for each in list_records(store, kind="decision", limit=MAX_ROWS)]
    ends = Counter(each["outcome"] for each in found)
    rules = Counter(
        each["rejections"][0]["name"].replace("_", " ") for each in found if each["outcome"] == "filtered"
    )
    often = ", ".join(f"{name} {count}" for name, count in rules.most_common(4))
    counts = f"{ends['filtered']} filtered ({often}), {ends['skipped']} skipped, {ends['saved']} saved"
    return f"{len(found)} postings were judged: {counts}. Each with its reason: thresher explain KEY."


def lessons(store: Store, began: int, calls: Sequence[LogEntry]) -> str:
    """Who read the courses, and what that cost."""
    courses = [
        each for each in list_records(store, kind="course", limit=MAX_ROWS) if each["updated_at"] >= began
    ]
    by = Counter(each["data"]["read_by"] for each in courses)
    proven = sum(place is not None for each in courses for place in each["evidence"]["places"].values())
    spent = sum(each["spent"] or 0 for each in list_calls(store, limit=MAX_ROWS) if each["at"] >= began)
    readers = [f"{by[name]} {words}" for name, words in READERS.items() if by[name]]
    return (
        f"\n[bold]What reading a catalogue cost[/bold]\n{len(courses)} courses: {', '.join(readers) or 'none yet'}. "
        f"{len(calls)} calls of a model, {dollars(spent)}. {proven} values, each with its place in the page."
    )


def manners(store: Store, began: int, log: Sequence[LogEntry]) -> str:
    """How it looked from the other side."""
    hosts = Counter(each.host for each in log)
    busiest, most = (hosts.most_common(1) or [("nobody", 0)])[0]
    asked_for = [each for each in log if not each.path.startswith(BY_ITSELF)]
    closest = min(
        (gap for host in hosts for gap in gaps(each for each in asked_for if each.host == host)), default=0.0
    )
    waits = [each for each in list_events(store, kind="gate_paused", limit=MAX_ROWS) if each["at"] >= began]
    asked = f" {waits[0]['gate']} asked us to wait, and we did." if waits else ""
    rules, same = sum(each.path == "/robots.txt" for each in log), sum(each.status == 304 for each in log)
    first = f"{rules} of them for robots.txt and " if rules else ""
    unchanged = f" {same} pages had not changed and were not sent again." if same else ""
    return (
        f"\n[bold]How the web saw it[/bold]\n{len(log)} requests to {len(hosts)} hosts, {first}{most} to "
        f"{busiest}; at every host {peak(asked_for)} at a time, never closer than {closest:.2f} s.{asked}{unchanged}"
    )


NEXT = """
[bold]Look around[/bold]
  .venv/bin/thresher --project examples/harvest jobs matches
  .venv/bin/thresher --project examples/harvest boards list
  .venv/bin/thresher --project examples/harvest companies show acme.example
  .venv/bin/thresher --project examples/harvest explain acme.example
  .venv/bin/thresher --project examples/harvest export matches -f csv -o matches.csv
  .venv/bin/thresher --project examples/harvest sources list --all
  .venv/bin/thresher --project examples/harvest extractors show courses.practice.example course
  .venv/bin/thresher --project examples/harvest costs
[bold]In a browser[/bold]: the line that this prints leads to the dashboard
  .venv/bin/thresher --project examples/harvest serve
[bold]Look for news[/bold] (it will be tomorrow there): make run
[bold]Ask what Thresher makes of a page[/bold], with the practice web running in another terminal:
  .venv/bin/python -m thresher.practice.web --port {port}
  .venv/bin/thresher --project examples/harvest inspect https://www.kestrel.example/career"""
