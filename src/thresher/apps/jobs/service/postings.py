"""Postings that a person asks about: one they came across goes the way of all postings, and those that are
known are judged anew.
"""

from collections.abc import Sequence

from thresher.admin.requests import HEAD_START, PERSON, Answered, Asked, Request, ask, look_up
from thresher.core.keys import canonical_url
from thresher.core.record import Is
from thresher.core.task import NewTask
from thresher.engine.registry import Registry
from thresher.hiring.kinds import POSTING
from thresher.hiring.records import posting_key
from thresher.store.records import AT_ONCE, find_records
from thresher.store.store import Store

KIND = "job"


def ask_postings(store: Store, registry: Registry, urls: Sequence[str]) -> list[Asked]:
    """Have these postings read and judged. One that is known is judged anew."""
    keys = {url: posting_key("", None, url) for url in map(canonical_url, urls)}
    known = look_up(store, POSTING, keys.values())
    return ask(
        store,
        registry,
        [Request(_what(url, key in known), key, _task(key, url)) for url, key in keys.items()],
    )


def judge_again(store: Store, registry: Registry, *, every: bool = False) -> int:
    """Have open postings judged by the profile as it is now: those that nobody has judged yet, or all; how
    many.
    """
    number, before = 0, None
    while True:
        with store.read() as session:
            some = find_records(
                session, kind=POSTING, where=[Is("state", "open")], before=before, limit=AT_ONCE
            )
        judged = set() if every else set(look_up(store, "decision", [each.key for each in some]))
        wanted = [each.key for each in some if each.key not in judged]
        asked = ask(
            store,
            registry,
            [Request(key, key, NewTask(KIND, {"posting": key, "via": PERSON}, None, key)) for key in wanted],
        )
        number += sum(each.answer is Answered.ADDED for each in asked)
        if len(some) < AT_ONCE:
            return number
        before = some[-1].id


def _task(key: str, url: str) -> NewTask:
    return NewTask(
        KIND, {"posting": key, "url": url, "fetch": url, "fresh": True, "via": PERSON}, url, key, HEAD_START
    )


def _what(url: str, known: bool) -> str:
    return f"{url} (known; it is read again)" if known else url
