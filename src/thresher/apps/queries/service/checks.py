"""Lines of `thresher doctor` and `thresher status`: queries that fail or never ran, clients that are stopped
or rest, open alarms, the sheet, and companies whose figures failed.
"""

from collections.abc import Mapping, Sequence

import orjson

from thresher.apps.queries.outputs.access import check_access, missing_access
from thresher.apps.queries.service.alarms import list_alarms
from thresher.apps.queries.service.queries import QueryView, list_clients, list_views
from thresher.apps.queries.store.companies import failed_companies
from thresher.apps.queries.store.options import option
from thresher.apps.queries.store.outputs import output_states
from thresher.core.clock import FOREVER, HOUR, SECOND, as_text, span
from thresher.core.extension import Check
from thresher.store.store import Store

NAMED = 3  # that one line names
NEVER_RUN = HOUR  # a query that is due for so long and has not run needs a worker


def check_queries(store: Store) -> list[Check]:
    """Check that every query runs, and does not fail."""
    found = [each for each in list_views(store) if not each.paused_at]
    with store.read() as session:
        now = store.backend.now(session)
    if not found:
        return [Check.ok("queries", "no queries are followed", "thresher queries add --help")]
    failing = [each for each in found if each.consecutive_failures]
    waiting = [
        each
        for each in found
        if not each.last_run_at
        and not each.client_closed_until
        and now - (each.created_at or now) > NEVER_RUN
    ]
    lines = [
        *(
            [
                Check.warn(
                    "queries",
                    f"{_some(failing, 'fails', 'fail')}",
                    f"thresher queries show {failing[0].query_key}",
                    "/queries",
                )
            ]
            if failing
            else []
        ),
        *(
            [
                Check.warn(
                    "queries",
                    f"{_some(waiting, 'has', 'have')} never run",
                    "thresher worker, or thresher run",
                    "/queries",
                )
            ]
            if waiting
            else []
        ),
    ]
    running = sum(each.running for each in found)
    return lines or [Check.ok("queries", f"{_queries(len(found))} in order, {running} running now")]


def _queries(number: int) -> str:
    return "1 query is" if number == 1 else f"{number:,} queries are"


def _some(found: Sequence[QueryView], one: str, many: str) -> str:
    """Who it is about, and what the first has to say."""
    names = ", ".join(repr(each.name) for each in found[:NAMED])
    more = f" and {len(found) - NAMED:,} more" if len(found) > NAMED else ""
    verb = one if len(found) == 1 else many
    why = next((f": {each.error}" for each in found if each.error), "")
    return f"{'query' if len(found) == 1 else 'queries'} {names}{more} {verb}{why}"


def check_clients(store: Store) -> list[Check]:
    """Check that no client that a query needs is stopped, rests, or lacks a variable."""
    views = list_views(store)
    with store.read() as session:
        now = store.backend.now(session)
    closed: Mapping[str, QueryView] = {
        each.client: each for each in views if each.client_closed_until is not None
    }
    needed = {each.client for each in views if not each.paused_at}
    lacking = [each for each in list_clients(store) if each.missing and each.name in needed]
    return [
        *(_closed(name, view, now) for name, view in closed.items()),
        *(
            Check.warn(
                "clients",
                f"client {each.name} needs {', '.join(each.missing)}, which this process does not have",
                "set it where the workers run; thresher queries clients",
                "/queries",
            )
            for each in lacking
            if each.name not in closed
        ),
    ] or [Check.ok("clients", "no client of a query is stopped or rests")]


def _closed(name: str, view: QueryView, now: int) -> Check:
    until = view.client_closed_until or now
    why = view.client_closed_reason or "no reason was given"
    if until >= FOREVER:
        advice = f"put right what it names, or: thresher sources enable {view.client_source}"
        return Check.warn(
            "clients", f"client {name} is stopped: {why}", advice, f"/sources/{view.client_source}"
        )
    left = span((until - now) / SECOND)
    told = f"client {name} rests for {left}, until {as_text(until)}: {why}"
    return Check.warn("clients", told, "nothing: its queries go on then", f"/sources/{view.client_source}")


def check_alarms(store: Store) -> list[Check]:
    """Check for alarms that are open."""
    found = list_alarms(store)
    if not found:
        return [Check.ok("alarms", "no alarm is open")]
    first = found[0]
    more = f", and {len(found) - 1:,} more" if len(found) > 1 else ""
    told = f"{first.name}/{first.subject}: {first.message}{more}"
    return [Check.warn("alarms", told, "thresher queries alarms", "/alarms")]


def check_sheet(store: Store) -> list[Check]:
    """Check that the sheet can be synced, and how the last sync ended."""
    with store.read() as session:
        states: Mapping[str, Mapping[str, object]] = output_states(session, {}, 0)
        declared = option(session, "sheet")
    failed = [
        Check.warn("sheet", f"the last {name} output failed: {each['note']}", "thresher queries sync")
        for name, each in sorted(states.items())
        if each["failures"]
    ]
    missing = missing_access()
    if missing is not None and declared and "folder" not in orjson.loads(declared):
        said = "Google Sheets is off, and the project file describes a sheet"
        return [Check.warn("sheet", said, missing), *failed]
    return [check_access(), *failed]


def check_companies(store: Store) -> list[Check]:
    """Check for companies whose figures could not be computed."""
    with store.read() as session:
        found = failed_companies(session, limit=1_000)
    if not found:
        return [Check.ok("signals", "the figures of all companies are computed")]
    number = "1 company" if len(found) == 1 else f"{len(found):,} companies"
    told = f"the figures of {number} could not be computed, first {found[0].company!r}: {found[0].problem}"
    return [Check.warn("signals", told, f"thresher signals show {found[0].company}")]


CHECKS = (check_queries, check_clients, check_alarms, check_sheet, check_companies)
