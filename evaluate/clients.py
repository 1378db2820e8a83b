"""Search clients: recorded answers of job APIs, each through the definition that comes with the app, or one
written here for a provider without; and a list of six days, once read as it is, once followed by a query."""

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from evaluate.manifest import TODAY, Entry, entries, plain, share
from evaluate.score import Score
from thresher.apps.hiring.app import app as hiring
from thresher.apps.queries.app import app as queries
from thresher.apps.queries.clients.api import api_client
from thresher.apps.queries.clients.catalogue import catalogue
from thresher.apps.queries.clients.client import Client, read_page
from thresher.apps.queries.clients.search import Offer, Search, SearchPage
from thresher.apps.queries.cycle import CYCLE, KEY
from thresher.apps.queries.model import IngestionRun
from thresher.apps.queries.service.queries import add_query, show_query
from thresher.apps.queries.store.options import save_clients
from thresher.core.clock import DAY, SECOND
from thresher.core.page import Page
from thresher.core.task import NewTask
from thresher.testing.web import Reply, Requested
from thresher.testing.world import World

NOON = int(datetime(2026, 8, 14, 12, tzinfo=UTC).timestamp()) * SECOND
COUNTS = ("distinct_ids", "jobs", "records", "items", "offers")
TITLES = ("first_title", "first")
COMPANIES = ("first_company", "first_org")
# By a part of the file's name; what a recording left out of the answer is said beside it.
SHIPPED = {
    "himalayas": "himalayas",
    "jobicy": "jobicy",
    "remoteok": "remoteok",
    "remotive": "remotive",
    "arbeitnow": "arbeitnow",
}
WRAPPED = {"adzuna": ("adzuna", '{"results": %s}')}  # kept without the object around its rows
REQUEST = "request: {url: https://api.example/search}"
WRITTEN = {
    "monster": f"""
name: monster
{REQUEST}
answer:
  rows: jobResults
  total: totalSize
  fields: {{id: jobId, title: jobPosting.title, url: [jobPosting.url, canonicalUrl], company: jobPosting.hiringOrganization.name, posted: jobPosting.datePosted}}
""",
    "apna": f"""
name: apna
{REQUEST}
answer:
  rows: pageProps.jobs
  total: pageProps.totalJobCount
  fields: {{id: id, title: title, url: public_url, company: organization.name, location: address.area.city.name, posted: created_on}}
""",
    "eures": f"""
name: eures
{REQUEST}
answer:
  rows: jvs
  total: numberRecords
  fields: {{id: id, title: title, company: employer.name, posted: creationDate, description: description}}
""",
    "nofluffjobs": f"""
name: nofluffjobs
{REQUEST}
answer:
  rows: postings
  total: totalCount
  fields: {{id: id, title: title, url: {{template: "https://nofluffjobs.com/job/{{url}}"}}, company: name, location: "location.places[0].city", posted: posted}}
""",
    "startupjobs": f"""
name: startupjobs
{REQUEST}
answer:
  rows: offers
  fields: {{id: id, title: position, url: url, company: startup, location: "cities[]", updated: lastUpdate, description: description}}
""",
    "eleduck": f"""
name: eleduck
{REQUEST}
answer:
  rows: posts
  fields: {{id: id, title: title, posted: published_at, description: content}}
""",
    "hn": f"""
name: hn
{REQUEST}
answer:
  rows: hits
  fields: {{id: objectID, title: comment_text, posted: created_at, description: comment_text}}
""",
    "v2ex": f"""
name: v2ex
{REQUEST}
answer:
  rows: topics
  fields: {{id: id, title: title, url: url, posted: created, description: content_rendered}}
""",
    "workingnomads": f"""
name: workingnomads
{REQUEST}
answer:
  rows: ""
  fields: {{title: title, url: url, company: company_name, location: location, posted: pub_date, description: description}}
""",
}
DAILY = """
name: daily
request: {url: https://api.example/days}
whole: true
answer:
  rows: ""
  fields:
    id: job_key
    title: title
    url: url
    company: company
    location: location
    posted: published_at
    employment_type: employment_type
    salary: salary
"""


def scores(corpus: Path) -> list[Score]:
    found = [
        (entry, _read(entry)) for entry in entries(corpus, "api/", "feeds/") if _count(entry) is not None
    ]
    read = [(entry, page) for entry, page in found if page is not None]
    snapshots = sorted(entries(corpus, "incremental/"), key=lambda entry: entry.file)
    days = [(entry, _page(_daily(), entry)) for entry in snapshots]
    return [
        _score("answers that a definition reads", found, lambda _, page: page is not None),
        _score("number of offers", read, _counts),
        _score("title of the first offer", [each for each in read if _of(each[0], TITLES)], _first_title),
        _score("company of the first offer", [each for each in read if _of(each[0], COMPANIES)], _company),
        _score("offers of each day", days, lambda entry, page: len(page.offers) == entry.truth["jobs"]),
        *_day_scores(snapshots),
    ]


def _score(name: str, cases: list[tuple[Entry, Any]], is_right: Any) -> Score:
    misses = tuple(f"{entry.file}: {_shown(page)}" for entry, page in cases if not is_right(entry, page))
    return Score("clients", name, share(len(cases) - len(misses), len(cases)), len(cases), 1.0, misses=misses)


def _shown(page: SearchPage | None) -> str:
    if page is None:
        return "no definition"
    first = page.offers[0].posting if page.offers else None
    return f"{len(page.offers)} of {page.rows}, {first and (first.title, first.company)}, {page.trouble}, {page.bad[:2]}"


def _read(entry: Entry) -> SearchPage | None:
    name = entry.file.partition("/")[2]
    for part, (client, wrap) in WRAPPED.items():
        if part in name:
            return _page(catalogue(None)[client], entry, wrap)
    for part, client in SHIPPED.items():
        if part in name:
            return _page(catalogue(None)[client], entry)
    if name.endswith(".xml"):
        return _page(catalogue(None)["feed"], entry)
    return next((_page(_written(part), entry) for part in WRITTEN if f"/{part}" in f"/{name}"), None)


@cache
def _written(part: str) -> Client:
    return api_client(WRITTEN[part], f"{part}.yaml")


@cache
def _daily() -> Client:
    return api_client(DAILY, "daily.yaml")


def _page(client: Client, entry: Entry, wrap: str | None = None) -> SearchPage:
    body = (wrap.encode() % entry.body()) if wrap else entry.body()
    kind = "application/xml" if entry.file.endswith(".xml") else "application/json"
    url = getattr(getattr(client, "api", None), "request", None)
    at = url.url.partition("{")[0] if url else "https://api.example/feed"
    return read_page(client, Search(today=TODAY), None, Page(at, at, 200, {"content-type": kind}, body))


# A list of days, served to a query one after the other: as they came, and back again.


def _day_scores(snapshots: list[Entry]) -> list[Score]:
    changes = [_changes(entry) for entry in snapshots[1:]]
    forth = list(zip(snapshots[1:], changes, _runs(snapshots)[1:], strict=True))
    back = [(entry, (gone, new)) for entry, (new, gone) in zip(snapshots, changes, strict=False)][::-1]
    runs = _runs(snapshots[::-1])[1:]
    return [
        _day_score("new and gone offers of each day", forth),
        _day_score("the same backwards", [(*each, run) for each, run in zip(back, runs, strict=True)]),
    ]


def _changes(entry: Entry) -> tuple[int, int]:
    return entry.truth["new_since_previous"], entry.truth["gone_since_previous"]


def _runs(snapshots: list[Entry]) -> list[IngestionRun]:
    """The run of each day of a query that follows the list."""
    bodies = [entry.body().decode() for entry in snapshots]

    def listed(request: Requested) -> Reply:
        return Reply(bodies[(request.at - NOON) // DAY], headers={"content-type": "application/json"})

    pages, settings = {"https://api.example/*": listed}, {"queries.pause": 3_600, "queries.jitter": 0}
    with World(hiring, queries, pages=pages, settings=settings, now=NOON) as world:
        with world.store.write() as session:
            save_clients(session, {"daily": DAILY}, world.clock.now())
        add_query(world.store, "daily", {"client": "daily"})
        return [_run_on(world, NOON + at * DAY) for at in range(len(bodies))]


def _run_on(world: World, now: int) -> IngestionRun:
    world.clock.advance(max(now - world.clock.now(), 0))
    world.enqueue(NewTask(CYCLE, key=KEY))
    world.run_until_idle(within=30)
    return show_query(world.store, "daily").runs[0]


def _day_score(name: str, days: list[tuple[Entry, tuple[int, int], IngestionRun]]) -> Score:
    misses = tuple(
        f"{entry.file}: {run.offers_new} new, {run.offers_gone} gone, {run.status}, {run.note}"
        for entry, wanted, run in days
        if (run.offers_new, run.offers_gone) != wanted
    )
    return Score("clients", name, share(len(days) - len(misses), len(days)), len(days), 1.0, misses=misses)


def _of(entry: Entry, names: tuple[str, ...]) -> str | None:
    return next((entry.truth[name] for name in names if isinstance(entry.truth.get(name), str)), None)


def _count(entry: Entry) -> int | None:
    return next((entry.truth[name] for name in COUNTS if isinstance(entry.truth.get(name), int)), None)


def _counts(entry: Entry, page: SearchPage) -> bool:
    """Exactly; but a label that counts records counts a notice among them, and an answer without rows that
    counts some is trouble."""
    wanted = _count(entry) or 0
    if not wanted:
        return not page.offers and bool(page.trouble)
    notices = 1 if entry.truth.get("records") == wanted > 4 else 0
    return wanted - notices <= len(page.offers) <= wanted and page.trouble is None


def _first(page: SearchPage) -> Offer | None:
    return next(iter(page.offers), None)


def _first_title(entry: Entry, page: SearchPage) -> bool:
    offer, wanted = _first(page), plain(_of(entry, TITLES))
    got = plain(offer.posting.title) if offer else ""
    return bool(got) and (got.startswith(wanted) or wanted.startswith(got))


def _company(entry: Entry, page: SearchPage) -> bool:
    offer = _first(page)
    return bool(offer) and plain(offer.posting.company) == plain(_of(entry, COMPANIES))
