"""The second page of a list costs what the first does: it is found by an index, and no table is read from end
to end or sorted whole for it."""

from collections.abc import Callable
from functools import partial

import pytest

from tests.harness.costs import plans, scans, used
from tests.web.conftest import project
from thresher.admin.gates import list_gates
from thresher.admin.keys import list_keys
from thresher.apps.extractions.service import recipes
from thresher.apps.extractions.store.pages import list_pages
from thresher.apps.hiring.postings import list_postings
from thresher.apps.prices.service import monitoring, sources
from thresher.apps.queries.service import alarms, queries
from thresher.store.store import Store


def pages_of_a_step(store: Store) -> object:
    with store.read() as session:
        return list_pages(session, 1, step=2, state="fetch_failed", after="m", limit=50)


SORTED = "USE TEMP B-TREE FOR ORDER BY"
PAGES: dict[str, Callable[[Store], object]] = {
    "sources": partial(list_gates, after="source:m", limit=50),
    "gates": partial(list_gates, every=True, after="host:m", limit=50),
    "keys": partial(list_keys, before=1_000, limit=50),
    "every key": partial(list_keys, every=True, before=1_000, limit=50),
    "recipes": partial(recipes.list_views, after="m", limit=50),
    "pages of a step": pages_of_a_step,
    "postings of a query": partial(list_postings, query="docks", limit=50),
    "open postings of a query": partial(list_postings, query="docks", state="open", limit=50),
    "price sources": partial(sources.list_views, after="m", limit=50),
    "collections": partial(monitoring.recent_tasks, before=1_000),
    "runs of queries": partial(queries.runs_of_all, before=1_000),
    "alarms": partial(alarms.alarms_by_id, cleared=True, after=1_000, limit=50),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_later_page_is_found_by_an_index(tmp_path, monkeypatch, name):
    with project(tmp_path) as shop:
        found = plans(shop.store, monkeypatch, lambda: PAGES[name](shop.store))
    lists = {sql: plan for sql, plan in found.items() if "limit" in sql}
    assert lists
    assert scans(lists, but=("w",)) == {}
    assert SORTED not in used(lists), lists
