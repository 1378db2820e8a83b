"""What `thresher explain` answers for an item, by its name or by the id of a task about it."""

from dataclasses import asdict
from typing import Any

from thresher.admin.explain import Explanation
from thresher.admin.plain import jsonable
from thresher.admin.tasks import list_tasks, show_task
from thresher.apps.prices.service.items import show_item
from thresher.apps.prices.service.prices import PointEvidenceView, explain_item
from thresher.apps.prices.store.items import find_item
from thresher.apps.prices.store.overview import COLLECT, VALUE
from thresher.core.errors import UnknownName
from thresher.store.store import Store

SHOWN = 10  # points of each kind that are told
MAX_TASKS = 1_000  # that are looked through for those of an item


def explain_price(store: Store, what: str) -> Explanation | None:
    """Why an item is worth what it is said to be worth, by its name, or by the id of a task that looked for
    it or valued it. None: it is nothing of ours.
    """
    if what.isascii() and what.isdecimal():
        return _of_task(store, int(what))
    with store.read() as session:
        found = find_item(session, what)
    return None if found is None else _explained(store, found.name)


def _of_task(store: Store, number: int) -> Explanation | None:
    try:
        task = show_task(store, number).task
    except UnknownName:
        return None
    item = task["payload"].get("item") if task["kind"] in (COLLECT, VALUE) else None
    if not isinstance(item, int):
        return None
    with store.read() as session:
        found = find_item(session, str(item))
    return None if found is None else _explained(store, str(item), [task])


def _explained(store: Store, name: str, tasks: list[dict[str, Any]] | None = None) -> Explanation:
    found, detail = explain_item(store, name), show_item(store, name)
    item = found.item
    sentences = [found.explanation]
    sentences += [f"{each.name}: {each.points:+g}, because {each.because}." for each in found.confidence]
    sentences += [_sentence(each) for each in found.counted[:SHOWN]]
    sentences += [_sentence(each) for each in found.not_counted[:SHOWN]]
    sentences += [f"It waits: {each}." for each in detail.waits]
    if tasks is None:
        tasks = [
            each
            for kind in (COLLECT, VALUE)
            for each in list_tasks(store, kind=kind, limit=MAX_TASKS)
            if (each["dedupe_key"] or "").partition(":")[0] == str(item.id)
        ][:20]
    decision = jsonable(asdict(item.value)) if item.value else None
    return Explanation("price item", str(item.id), item.name, item.status, sentences, decision, tasks)


def _sentence(shown: PointEvidenceView) -> str:
    point = shown.point
    told = f"{point.unit} {point.price_type} at {point.source}, {point.title[:80]!r}"
    return (
        f"Counts: {told}."
        if point.counts
        else f"Does not count: {told}: {point.reason or 'it does not match'}."
    )


EXPLAIN = (explain_price,)
