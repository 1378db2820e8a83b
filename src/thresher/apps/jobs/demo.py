"""The jobs app's part of the demo: follow the companies of the practice web, and tell what was found, company
by company, what suits the profile, and why the rest does not.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.markup import escape
from rich.table import Table

from thresher import Demo, DemoRun
from thresher.admin.records import count, list_records
from thresher.admin.tasks import list_tasks
from thresher.apps.jobs.service.boards import BoardView, list_boards
from thresher.apps.jobs.service.companies import list_companies
from thresher.apps.jobs.service.matches import Search, list_matches
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
ENDS = ("failed", "skipped")
SETTINGS = {
    "jobs.company.ask": 0,  # the rules read these sites, and the practice model can read but not judge
    "jobs.judge": 0,
    "jobs.interval": 0,  # hours: boards are due again at the next run
    "jobs.interval_a": 0,
    "jobs.interval_s": 0,
    "jobs.notify.delay": 0,
    "jobs.filter.age_limit": 36_500,  # it is March there, and always will be: no posting is too old
    "jobs.filter.age_points": 0,
    "jobs.score.fresh": 0,
    "jobs.score.stale": 0,
    "jobs.score.old": 0,
}
LOOK = (
    "jobs matches",
    "boards list",
    "companies show acme.example",
    "explain acme.example",
    "export matches -f csv -o matches.csv",
)
PROFILE = """# Who the demo looks for openings for. Write your own in five minutes: thresher jobs profile example
city: Denver
region: CO
country: US
timezone: America/Denver
titles: [analyst, engineer, product manager, designer, accountant, controller]
skills:
  sql: {rank: required, years: 6}
  python: {rank: required, years: 6}
  excel: {rank: ok, years: 8}
  tableau: {rank: ok, years: 4}
workplace: {remote: yes, hybrid_in: [Denver, Austin, Portland], onsite: yes}
salary: {floor: 60k, target: 110k, currency: USD}
size: large
experience: 2
levels: {wanted: [senior, staff, lead], unwanted: {principal: 1, director: 1}, excluded: [intern, junior]}
excluded: {types: [sales, recruiter, support], keywords: [clearance required, security clearance]}
"""


def ask(run: DemoRun) -> None:
    """On the first day, say who looks and at which companies. On every other, ask for news of all boards."""
    if run.day:
        run.command("add", "scrape", "--key", "scrape")
        return
    file = run.folder / "profile.yaml"
    file.write_text(PROFILE, "utf-8")
    run.command("jobs", "profile", "set", str(file))
    run.command("add", "company", *(f"https://www.{site}/" for site in run.sites))
    run.command("schedules", "pause", "jobs.scrape")  # a day passes there with every run, not with the clock


def report(run: DemoRun, store: Store) -> Iterator[Table | str]:
    """What was found at each company, the best matches, and how the postings were judged."""
    tasks = list_tasks(store, limit=MAX_ROWS)
    tiers = {each.key: each.tier for each in list_companies(store, limit=MAX_ROWS)}
    found = [
        finding(store, site, [each for each in tasks if is_about(each, site)], tiers) for site in run.sites
    ]
    yield table_of(found, with_news=run.last > 0)
    yield matches(store)
    yield decisions(store)


def counts(run: DemoRun, store: Store) -> dict[str, int]:  # noqa: ARG001  every app is asked alike
    """What there is of companies, boards and postings, and how the postings were judged."""
    boards = list_boards(store, limit=MAX_ROWS)
    return {
        "companies": len(list_companies(store, limit=MAX_ROWS)),
        "boards": len(boards),
        "postings": sum(each.open or 0 for each in boards),
        "decisions": count(store, "decision"),
        "matches": len(list_matches(store, Search(), 0, limit=MAX_ROWS)),
    }


@dataclass(frozen=True, slots=True)
class Finding:
    """One company: how the look at it ended and why, and its postings: open now, new since the last time,
    gone.
    """

    company: str
    verdict: str
    why: str
    tier: str = "–"
    open: int = 0
    new: int = 0
    gone: int = 0


def is_about(task: dict[str, Any], site: str) -> bool:
    said = task["payload"]
    return said.get("company") == site or f"//www.{site}/" in str(task["url"] or said.get("website") or "")


def finding(
    store: Store, site: str, tasks: Sequence[dict[str, Any]], tiers: dict[str, str | None]
) -> Finding:
    """Only a look that proves something says how many there are: behind a wall nobody knows."""
    name, boards = site.partition(".")[0], list_boards(store, company=site, limit=MAX_ROWS)
    tier = tiers.get(site) or "–"
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


DEMO = Demo(ask, report, counts, settings=SETTINGS, look=LOOK)
