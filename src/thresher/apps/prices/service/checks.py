"""Lines of `thresher doctor` and `thresher status`: sources that cannot be asked, items that cannot be looked
for or are never found, collections that fail or stop, alerts that nobody hears, and rates that are missing.
"""

import os
from collections.abc import Sequence
from urllib.parse import quote

from thresher.apps.prices.model import ItemStatus
from thresher.apps.prices.service.alert_checks import check_price_alerts
from thresher.apps.prices.service.items import list_views as list_items
from thresher.apps.prices.service.monitoring import duplicates, stuck_tasks
from thresher.apps.prices.service.rates import list_rates
from thresher.apps.prices.service.sources import SourceView, shut_sentence
from thresher.apps.prices.service.sources import list_views as list_sources
from thresher.apps.prices.store.overview import (
    ItemFilter,
    count_statuses,
    failed_collections,
    foreign_currencies,
    items_without_evidence,
)
from thresher.core.clock import DAY, SECOND, day_of, span
from thresher.core.extension import Check
from thresher.store.store import Store

NAMED = 3  # that one line names
SILENT = 7 * DAY  # a source that has worked and has not for so long
MAX_AGE = 31  # days of the latest rates


def check_price_sources(store: Store) -> list[Check]:
    """Check that every price source can be asked, and works."""
    found = list_sources(store, environ=os.environ)
    with store.read() as session:
        now = store.backend.now(session)
    if not found:
        return [Check.ok("price sources", "there are none", "thresher prices sources add --help")]
    lines = [check for each in found for check in _of_source(each, now)]
    return lines or [Check.ok("price sources", f"{_count(len(found), 'source')} can be asked")]


def _of_source(source: SourceView, now: int) -> list[Check]:
    name, page = "price sources", f"/price-sources/{quote(source.name, safe='')}"
    if source.missing:
        told = f"source {source.name} needs {', '.join(source.missing)}, which this process does not have"
        return [Check.warn(name, told, "set it where the workers run", page)]
    if (shut := shut_sentence(source)) is not None:
        advice = f"thresher sources enable {source.gate}" if not source.enabled else "nothing: it opens then"
        return [Check.warn(name, shut.partition("; thresher")[0], advice, page)]
    if source.last_success_at and now - source.last_success_at > SILENT and source.items:
        silent = span((now - source.last_success_at) / SECOND)
        told = f"source {source.name} has not worked for {silent}"
        return [Check.warn(name, told, f"thresher prices sources show {source.name}", page)]
    return []


def check_price_items(store: Store) -> list[Check]:
    """Check that every item says what is needed, and is found somewhere."""
    with store.read() as session:
        statuses = count_statuses(session)
        unfound = items_without_evidence(session, NAMED + 1)
    live = sum(number for status, number in statuses.items() if status != ItemStatus.ARCHIVED)
    if not live:
        return [Check.ok("price items", "there are none", "thresher prices add --help")]
    lines = []
    if pending := statuses.get(ItemStatus.PENDING, 0):
        first = list_items(store, ItemFilter(ItemStatus.PENDING), limit=NAMED)
        lacks = f"{first[0].name!r} lacks {', '.join(first[0].lacks)}" if first else "they lack attributes"
        told = f"{_count(pending, 'item')} cannot be looked for: {lacks}"
        lines.append(Check.warn("price items", told, "thresher prices list --status pending", "/prices"))
    if unfound:
        told = f"no source has listings of {_names([name for _, name in unfound])}"
        lines.append(
            Check.warn(
                "price items", told, f"thresher prices show {unfound[0][0]}", f"/prices/{unfound[0][0]}"
            )
        )
    priced = statuses.get(ItemStatus.PRICED, 0)
    return lines or [Check.ok("price items", f"{_count(live, 'item')}, {priced:,} of them priced")]


def check_price_collections(store: Store) -> list[Check]:
    """Check that collections work, prove something, and are not stuck, and that no price is stored twice."""
    with store.read() as session:
        failed = failed_collections(session, NAMED + 1)
    lines = []
    if failed:
        first = failed[0]
        which = _names([f"{each.item} at {each.source}" for each in failed])
        told = f"the last look for {which} proved nothing: {first.reason or 'no reason was given'}"
        lines.append(
            Check.warn(
                "price collections", told, f"thresher prices show {first.item_id}", "/price-collections"
            )
        )
    if stuck := stuck_tasks(store):
        told = f"{_count(len(stuck), 'collection')} run without a heartbeat"
        lines.append(Check.warn("price collections", told, "thresher prices stuck", "/price-collections"))
    if twice := duplicates(store):
        told = f"{_count(len(twice), 'price point')} are stored twice"
        lines.append(
            Check.fail(
                "price collections",
                told,
                "thresher prices duplicates; restore the database",
                "/price-collections",
            )
        )
    return lines


def check_exchange_rates(store: Store) -> list[Check]:
    """Check that there are recent rates for every currency that prices are in."""
    with store.read() as session:
        foreign = foreign_currencies(session)
        today = day_of(store.backend.now(session))
    if not foreign:
        return []
    known = list_rates(store)
    last = {each.currency: each.last for each in known}
    bases = {each.base for each in known}
    needed = sorted({currency for pair in foreign for currency in pair} - bases)
    if not known:
        needed = sorted({price for price, _ in foreign})
    missing = [each for each in needed if each not in last]
    old = [each for each in needed if each in last and (today - last[each]).days > MAX_AGE]
    if missing:
        told = f"there are no exchange rates for {_names(missing)}, so such prices do not count"
        return [Check.warn("exchange rates", told, "thresher prices rates import FILE.csv")]
    if old:
        told = f"the latest rates for {_names(old)} are of {min(last[each] for each in old)}"
        return [Check.warn("exchange rates", told, "thresher prices rates import FILE.csv")]
    return [Check.ok("exchange rates", f"there are recent ones for {_names(needed)}")] if needed else []


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _names(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (" and others" if more > 0 else "")


CHECKS = (
    check_price_sources,
    check_price_items,
    check_price_collections,
    check_price_alerts,
    check_exchange_rates,
)
