"""What the demo tells at its end: found, empty, unknown, blocked, company by company, and how the web was treated meanwhile."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from careers import COMPANIES
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from thresher.insight.costs import dollars, list_calls
from thresher.insight.events import list_events
from thresher.insight.records import list_records
from thresher.insight.tasks import list_tasks
from thresher.practice.web import Entry, gaps, peak
from thresher.store.store import Store

MOST = 10_000
COLOURS = {"found": "green", "confirmed empty": "cyan", "unknown": "yellow", "refused": "yellow", "blocked": "red"}
MODEL = "127.0.0.1"  # the practice web's model has no name, only an address
READERS = {"model": "read by a model", "learned": "by what was learned from its answers", "data": "from their own data"}
LIVE = ("pending", "retryable", "running")


@dataclass(frozen=True, slots=True)
class Finding:
    """One company: how the look at it ended and why, and its postings: open now, new since the last time, gone."""

    company: str
    verdict: str
    why: str
    open: int = 0
    new: int = 0
    gone: int = 0


def report(out: Console, store: Store, since: tuple[int, int], log: Sequence[Entry], port: int) -> None:
    """`since` is when the last round began and when this one did."""
    tasks = list_tasks(store, limit=MOST)
    found = [finding(store, name, [each for each in tasks if each["payload"].get("company") == name], since) for name in COMPANIES]
    out.print(table_of(found, with_news=since[0] > 0))
    out.print(lessons(store, since[1], [each for each in log if each.host == MODEL]))
    out.print(manners(store, since[1], [each for each in log if each.host != MODEL]))
    out.print(NEXT.format(port=port), soft_wrap=True)


def finding(store: Store, company: str, tasks: Sequence[dict[str, Any]], since: tuple[int, int]) -> Finding:
    """Only a look that proves something may call a posting gone: behind a wall nobody knows."""
    last, began = since
    for task in tasks:
        if task["state"] in LIVE:
            return Finding(company, "blocked" if task["error"] == "Blocked" else "unknown", task["reason"] or "still to be looked at")
        if task["state"] == "failed" and task["created_at"] >= began:
            why = task["reason"].partition(";")[0].removeprefix("unknown: ")
            return Finding(company, "refused" if task["error"] == "Refused" else "unknown", why)
    link = f"company={company}"
    postings = list_records(store, kind="posting", link=link, limit=MOST)
    looks = [each["data"] for each in list_records(store, kind="look", link=link, limit=MOST) if each["updated_at"] >= began]
    if not looks:
        return Finding(company, "unknown", "nobody has looked yet")
    seen = sum(each["updated_at"] >= began for each in postings)
    new = sum(each["created_at"] >= began for each in postings)
    gone = sum(last <= each["updated_at"] < began for each in postings)
    why = looks[0]["reason"] if len(looks) == 1 else f"{sum(each['postings'] for each in looks)} postings on {len(looks)} pages"
    return Finding(company, "found" if seen else "confirmed empty", why, seen, new, gone)


def table_of(found: Sequence[Finding], *, with_news: bool) -> Table:
    table = Table(title="\nWhat was found", title_justify="left", title_style="bold", box=None, pad_edge=False)
    for name in ("company", "postings", *(("new", "gone") if with_news else ()), "verdict", "why"):
        table.add_column(name, justify="right" if name in ("postings", "new", "gone") else "left", style="dim" if name == "why" else None)
    for each in found:
        news = (str(each.new or "–"), str(each.gone or "–")) if with_news else ()
        colour = COLOURS[each.verdict]
        table.add_row(each.company, str(each.open or "–"), *news, f"[{colour}]{each.verdict}[/{colour}]", escape(each.why))
    return table


def lessons(store: Store, began: int, calls: Sequence[Entry]) -> str:
    """Who read the courses, and what that cost."""
    courses = [each for each in list_records(store, kind="course", limit=MOST) if each["updated_at"] >= began]
    by = Counter(each["data"]["read_by"] for each in courses)
    proven = sum(place is not None for each in courses for place in each["evidence"]["places"].values())
    spent = sum(each["spent"] or 0 for each in list_calls(store, limit=MOST) if each["at"] >= began)
    readers = [f"{by[name]} {words}" for name, words in READERS.items() if by[name]]
    return (
        f"\n[bold]What reading a catalogue cost[/bold]\n{len(courses)} courses: {', '.join(readers) or 'none yet'}. "
        f"{len(calls)} calls of a model, {dollars(spent)}. {proven} values, each with its place in the page."
    )


def manners(store: Store, began: int, log: Sequence[Entry]) -> str:
    """How it looked from the other side."""
    hosts = Counter(each.host for each in log)
    busiest, most = (hosts.most_common(1) or [("nobody", 0)])[0]
    closest = min((gap for host in hosts for gap in gaps(each for each in log if each.host == host)), default=0.0)
    waits = [each for each in list_events(store, kind="gate_paused", limit=MOST) if each["at"] >= began]
    asked = f" {waits[0]['gate']} asked us to wait, and we did." if waits else ""
    rules, same = sum(each.path == "/robots.txt" for each in log), sum(each.status == 304 for each in log)
    first = f"{rules} of them for robots.txt and " if rules else ""
    unchanged = f" {same} pages had not changed and were not sent again." if same else ""
    return (
        f"\n[bold]How the web saw it[/bold]\n{len(log)} requests to {len(hosts)} hosts, {first}{most} to "
        f"{busiest}; at every host {peak(log)} at a time, never closer than {closest:.2f} s.{asked}{unchanged}"
    )


NEXT = """
[bold]Look around[/bold]
  .venv/bin/thresher --project examples/harvest records --kind posting --link company=acme
  .venv/bin/thresher --project examples/harvest tasks tree 9
  .venv/bin/thresher --project examples/harvest sources list --all
  .venv/bin/thresher --project examples/harvest failures list
  .venv/bin/thresher --project examples/harvest extractors show courses.practice.example course
  .venv/bin/thresher --project examples/harvest costs
[bold]Look for news[/bold] (it will be tomorrow there): make run
[bold]Ask what Thresher makes of a page[/bold], with the practice web running in another terminal:
  .venv/bin/python -m thresher.practice.web --port {port}
  .venv/bin/thresher --project examples/harvest inspect https://www.kestrel.example/career"""
