"""Matches as cards: why each is one, what speaks against it, and what you have done about it."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from starlette.responses import Response

from thresher.admin.times import read_now
from thresher.apps.hiring.checks import none_yet, what_was_checked
from thresher.apps.jobs.model import Status
from thresher.apps.jobs.service.match_cards import match_cards, show_match
from thresher.apps.jobs.service.matches import (
    PRIORITIES,
    Search,
    check,
    found_since,
    list_matches,
    saved_views,
    search_of,
    set_status,
)
from thresher.core.errors import UsageError
from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.pages.visit import BrowserVisit

PATH = "/jobs/matches"
CARDS = 25
ALL = "all"
FILTERS = ("status", "priority", "min_score", "since", "company", "words")
ASKS = frozenset((*FILTERS, "fresh", "before"))
MAX_NOTE = 2_000


def matches(page_request: PageRequest) -> Response:
    """Show matches as cards, the best first: those you have not dealt with, or those that the filters name.
    `fresh=1`: only those found since your last visit, the newest first.
    """
    store, asked = page_request.runtime.store, _asked(page_request)
    now, search = read_now(store), _search(asked)
    visit = BrowserVisit.of(page_request.request, PATH, now)
    is_fresh, before = asked.get("fresh") == "1", page_request.request.query_params.get("before")
    if is_fresh:
        found = found_since(store, check(search, now), now, visit.since or 0, CARDS + 1, before)
    else:
        found = list_matches(store, check(search, now), now, CARDS + 1, before)
    shown = found[:CARDS]
    last = shown[-1].key if len(found) > CARDS else None
    checked = what_was_checked(store) if not shown else None
    response = page_request.show(
        "jobs/matches.html",
        cards=match_cards(store, shown),
        asked={name: asked.get(name, "") for name in FILTERS},
        query=_query(asked),
        links={each: _query({**asked, "status": each}) for each in (*Status, ALL)},
        chosen=search.status or ALL,
        statuses=(*Status, ALL),
        priorities=PRIORITIES,
        views={each.key: _query({"status": ALL, **search_of(each).filters}) for each in saved_views(store)},
        is_fresh=is_fresh,
        is_filtered=bool(search.filters.keys() - {"status"}) or is_fresh,
        since=visit.since,
        next=f"{PATH}?{_query({**asked, 'before': last})}" if last else None,
        is_first=before is None,
        empty=none_yet(checked, "matches") if checked else None,
        has_matches=bool(checked and checked.saved),
    )
    return visit.keep(page_request.request, response)


def _asked(page_request: PageRequest) -> dict[str, str]:
    """What the address asks for, without what is empty and without the place in the list."""
    query = page_request.request.query_params
    return {name: query[name].strip() for name in (*FILTERS, "fresh") if query.get(name, "").strip()}


def _search(asked: Mapping[str, str]) -> Search:
    status = asked.get("status", Status.NEW)
    return Search(
        None if status == ALL else status,
        asked.get("priority"),
        _score(asked["min_score"]) if "min_score" in asked else None,
        asked.get("since"),
        asked.get("company"),
        asked.get("words"),
    )


def _score(text: str) -> int:
    if not (text.isascii() and text.removeprefix("-").isdecimal() and len(text) <= 6):
        raise UsageError(f"the minimum score must be a whole number such as 80, got {text[:40]!r}")
    return int(text)


def _query(asked: Mapping[str, Any]) -> str:
    return urlencode({name: value for name, value in asked.items() if value not in (None, "")})


def match(page_request: PageRequest) -> Response:
    """Show one match: every point with its quote, what a model prepared, the explanation, its history."""
    store = page_request.runtime.store
    return page_request.show(
        "jobs/match.html",
        detail=show_match(store, page_request.request.path_params["key"]),
        statuses=tuple(Status),
        most_note=MAX_NOTE,
    )


def change_match(page_request: PageRequest) -> Response:
    """Record what you did about a match, and go back to the list it was in, or to its page."""
    form = page_request.form
    key, note = form.one("key"), form.one("note").replace("\r\n", "\n") if form.all("note") else None
    if note is not None and len(note) > MAX_NOTE:
        raise UsageError(f"a note may have at most {MAX_NOTE:,} characters. Nothing was changed.")
    set_status(page_request.runtime.store, [key], form.one("status"), note)
    if form.one("stay"):
        return page_request.go(f"{PATH}/{quote(key)}")
    query = _query(_asked(page_request))
    return page_request.go(f"{PATH}?{query}" if query else PATH)


PAGES = (
    DashboardPage("GET", PATH, matches, "Matches", asks=ASKS),
    DashboardPage("POST", PATH, change_match, asks=ASKS),
    DashboardPage("GET", f"{PATH}/{{key:path}}", match),
)
