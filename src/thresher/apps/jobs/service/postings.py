"""Add a posting by URL, judge known postings again, and read or replace the profile."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thresher.admin.records import count, write_records
from thresher.admin.requests import HEAD_START, PERSON, Answered, RequestResult, TaskRequest, ask, look_up
from thresher.admin.times import read_now
from thresher.apps.jobs.model import DECISION, UNKNOWN, DecisionRecord
from thresher.core.extension import Check
from thresher.core.keys import canonical_url
from thresher.core.record import Is, Record
from thresher.core.task import NewTask
from thresher.engine.registry import Registry
from thresher.hiring.kinds import POSTING
from thresher.hiring.lifecycle import OPEN
from thresher.hiring.records import PostingFields, posting_entry, posting_key
from thresher.store.records import AT_ONCE, find_records
from thresher.store.store import Store

if TYPE_CHECKING:
    from thresher.apps.jobs.person.profile import Profile


KIND = "job"


def ask_postings(store: Store, registry: Registry, urls: Sequence[str]) -> list[RequestResult]:
    """Request that these postings are read and judged. A known posting is judged again."""
    keys = {url: posting_key("", None, url) for url in map(canonical_url, urls)}
    known = look_up(store, POSTING, keys.values())
    asked = ask(
        store,
        registry,
        [TaskRequest(_what(url, key in known), key, _task(key, url)) for url, key in keys.items()],
    )
    # It can be shown from now on, whatever becomes of its task. One that is known stays as it is.
    now = read_now(store)
    begun: dict[str, PostingFields] = {
        key: {"url": url, "state": OPEN, "first_seen": now} for url, key in keys.items() if key not in known
    }
    write_records(store, [posting_entry(key, {}, initial=first) for key, first in begun.items()])
    return asked


def judge_again(store: Store, registry: Registry, *, every: bool = False) -> int:
    """Request that open postings are judged by the current profile: those not judged yet, unknown ones among
    them, or all. Return how many.
    """
    number, before = 0, None
    while True:
        with store.read() as session:
            some = find_records(
                session, kind=POSTING, where=[Is("state", "open")], before=before, limit=AT_ONCE
            )
        decided = {} if every else look_up(store, DECISION, [each.key for each in some])
        judged = {key for key, each in decided.items() if DecisionRecord.of(each).outcome != UNKNOWN}
        wanted = [each.key for each in some if each.key not in judged]
        asked = ask(
            store,
            registry,
            [
                TaskRequest(key, key, NewTask(KIND, {"posting": key, "via": PERSON}, None, key))
                for key in wanted
            ],
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
    return f"{url} (known; read again)" if known else url


def check_postings(store: Store) -> list[Check]:
    """Check for postings that could not be judged."""
    unknown = count(store, DECISION, where=[Is("outcome", UNKNOWN)])
    if not unknown:
        return [Check.ok("postings", "none is unknown")]
    are = "1 posting is" if unknown == 1 else f"{unknown:,} postings are"
    said = f"{are} unknown: they could not be read, or say too little to be judged"
    advice = "thresher postings list --outcome unknown"
    return [Check.warn("postings", said, advice, "/hiring/postings?outcome=unknown")]


# The profile, checked before it is stored.

PROFILE, ME = "profile", "me"


def check_profile(text: str, name: str) -> "Profile":
    """The profile that a text is. Raises `ConfigError` with the line and the key that is wrong."""
    from thresher.apps.jobs.person.profile import read_profile  # noqa: PLC0415  it brings YAML along, and few commands need it

    return read_profile(text, name)


def set_profile(store: Store, text: str, name: str) -> "Profile":
    """Store the profile of a text. Postings are judged by it from now on; those judged before keep their
    decisions.
    """
    from thresher.apps.jobs.person.profile import as_json  # noqa: PLC0415

    profile = check_profile(text, name)
    write_records(store, [Record(PROFILE, ME, as_json(profile))])
    return profile
