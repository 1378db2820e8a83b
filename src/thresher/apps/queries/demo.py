"""The queries app's part of the demo: three searches at the practice web's search API, and the companies
whose offers say that they need payroll software.

The search is described as a project would describe its own: a file in `clients`, and the rules beside it.
"""

from collections.abc import Iterator, Sequence

from rich.markup import escape
from rich.table import Table

from thresher import Demo, DemoRun
from thresher.apps.queries.cli.queries import day_strip
from thresher.apps.queries.service.queries import list_views, recent_runs, run_sentence, show_query
from thresher.apps.queries.service.signals import list_companies
from thresher.apps.queries.template import CLIENT
from thresher.store.store import Store

BEST = 6  # companies that are shown
SHOWN_DAYS = 31
MAX_ROWS = 10_000
SETTINGS = {"queries.pause": 3_600}  # seconds: a day passes there with every run, not with the clock
LOOK = ("queries list", "queries show 'payroll, us'", "signals list", "queries watch")
SEARCHES = {
    "payroll, us": ("payroll", "us"),
    "accountants, us": ("accountant", "us"),
    "people partners, gb": ("people partner", "gb"),
}
RULES = """purpose: Companies that are likely to need payroll software
scale: {max: 10, strong: 6}
fields: {title: 1.5, description: 1}
tiers:
  category: {high: 4, medium: 2.5, low: 1}
  phrase: {high: 2, medium: 1.2, low: 0.6}
buckets: {payroll: 7, people: 4, money: 3}
categories:
  - {id: payroll, title: Payroll itself, bucket: payroll, tier: high, keywords: [payroll]}
  - {id: people, title: A growing people team, bucket: people, tier: medium, keywords: [people partner, recruiter]}
  - {id: accounting, title: Accounting, bucket: money, tier: low, keywords: [accountant, controller]}
phrases:
  - {bucket: payroll, tier: high, phrases: [lead payroll, senior payroll, principal payroll]}
"""


def ask(run: DemoRun) -> None:
    """On the first day, describe the search, say what makes a signal, and add the queries. On every day, make
    them due.
    """
    folder = run.folder / "clients"
    folder.mkdir(exist_ok=True)
    (folder / "practice.yaml").write_text(CLIENT, "utf-8")
    (run.folder / "signals.yaml").write_text(RULES, "utf-8")
    if not run.day:
        for name, (text, country) in SEARCHES.items():
            how = ("--client", "practice", "--text", text, "--parameter", f"country={country}")
            run.command("queries", "add", name, *how)
        run.command("schedules", "pause", "queries.cycle")
    run.command("queries", "run")


def report(run: DemoRun, store: Store) -> Iterator[Table | str]:
    """The queries with their days, what each run of today brought, and the strongest companies."""
    yield queries(store)
    yield from runs(store, run.began)
    yield companies(store)


def counts(run: DemoRun, store: Store) -> dict[str, int]:  # noqa: ARG001  every app is asked alike
    """How many queries have found how many offers of how many companies."""
    found = list_views(store)
    return {
        "queries": len(found),
        "runs": len(recent_runs(store)),
        "offers": sum(each.offers for each in found),
        "companies": len(list_companies(store, limit=MAX_ROWS)),
    }


def queries(store: Store) -> Table:
    table = _table("What was searched", ("query", "status", "days", "offers", "asks next since"), ("offers",))
    for each in list_views(store):
        days = show_query(store, each.query_key).days[-SHOWN_DAYS:]
        since = str(each.next_updated_since or "–")
        table.add_row(escape(each.name), each.status, day_strip(days), f"{each.offers:,}", since)
    return table


def runs(store: Store, since: int) -> Iterator[str]:
    names = {each.query_key: each.name for each in list_views(store, retired=True)}
    found = [each for each in recent_runs(store) if each.started_at >= since]
    yield from (escape(run_sentence(each, names[each.query_key])) for each in found[::-1])


def companies(store: Store) -> Table:
    names = ("score", "company", "strong", "offers", "because", "top offer")
    table = _table("Who needs payroll software", names, ("score", "strong", "offers"))
    for each in list_companies(store, limit=BEST):
        table.add_row(
            str(each.max_score),
            escape(each.name),
            str(each.strong_offer_count),
            str(each.unique_offer_count),
            each.top_category or "–",
            escape(each.top_offer_url or "–"),
        )
    return table


def _table(title: str, names: Sequence[str], numbers: Sequence[str]) -> Table:
    table = Table(title=f"\n{title}", title_justify="left", title_style="bold", box=None, pad_edge=False)
    for name in names:
        table.add_column(name, justify="right" if name in numbers else "left")
    return table


DEMO = Demo(ask, report, counts, settings=SETTINGS, look=LOOK)
