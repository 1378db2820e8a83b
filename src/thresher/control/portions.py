"""The postings of one body, filed a portion at a time: what became of each, counted, and the first reasons in
full.

Memory holds one portion, the keys of the whole body (so that no posting counts twice), and the ids of what
has to be matched.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from thresher.apps.roles.arrival import Arrival, Reason, Skip, read_arrival
from thresher.core.json_stream import elements
from thresher.store.roles.arrivals import AT_ONCE, Ending, file_arrivals
from thresher.store.session import Session
from thresher.store.store import Store

LISTED = "jobs"  # what the contract calls them
MAX_TOLD = 100  # skips and notes that are told in full; all are counted


@dataclass(slots=True)
class Brought:
    """What a body has brought. `found` is the sum of the others; `seen` counts real postings by platform,
    known ones too.
    """

    tally: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("found", "imported", "updated", "linked", "skipped"), 0)
    )
    reasons: dict[str, int] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)
    skips: list[dict[str, Any]] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)
    changed: list[int] = field(default_factory=list)

    def count(self, ending: str, number: int = 1) -> None:
        self.tally["found"] += number
        self.tally[ending] += number

    def skip(self, skip: Skip) -> None:
        self.count("skipped")
        self.reasons[skip.reason.value] = self.reasons.get(skip.reason.value, 0) + 1
        if len(self.skips) < MAX_TOLD:
            told = {
                "index": skip.index,
                "external_job_id": skip.number,
                "reason": skip.reason.value,
                "detail": skip.detail or None,
            }
            self.skips.append(told)

    def note(self, arrival: Arrival) -> None:
        for note in arrival.notes[: MAX_TOLD - len(self.notes)]:
            self.notes.append({"index": arrival.at, "external_job_id": arrival.number, "note": note})


def bring(
    store: Store,
    session: Session,
    role_id: int,
    pieces: Iterable[bytes],
    now: int,
    *,
    platform: str | None = None,
    allowed: Collection[str] | None = None,
) -> Brought:
    """File all postings of a body for a role. The caller holds the arrivals; a body that is no JSON raises,
    and then nothing counts.
    """
    brought, keys, touched = Brought(), set[str](), set[int]()
    values = enumerate(elements(pieces, LISTED))
    while portion := [
        read_arrival(index, value, platform, allowed) for index, value in islice(values, AT_ONCE)
    ]:
        _file(store, session, role_id, _different(portion, keys, brought), now, brought, touched)
    return brought


def _different(portion: Sequence[Arrival | Skip], keys: set[str], brought: Brought) -> list[Arrival]:
    """Those that are real postings, and whose keys this body has not brought before."""
    arrivals, seen = [], brought.seen
    for each in portion:
        if isinstance(each, Skip):
            brought.skip(each)
            continue
        seen[each.platform] = seen.get(each.platform, 0) + 1
        if each.notes:
            brought.note(each)
        if each.key in keys:
            brought.skip(_twice(each))
            continue
        keys.add(each.key)
        arrivals.append(each)
    return arrivals


def _file(
    store: Store,
    session: Session,
    role_id: int,
    arrivals: list[Arrival],
    now: int,
    brought: Brought,
    touched: set[int],
) -> None:
    endings, unchanged = [], Ending.UNCHANGED
    for each, (record_id, ending) in zip(
        arrivals, file_arrivals(store.backend.dialect, session, role_id, arrivals, now), strict=True
    ):
        if record_id in touched:  # the same posting under another number
            brought.skip(_twice(each))
            continue
        touched.add(record_id)
        if ending is unchanged:
            brought.skip(Skip(each.at, each.number, Reason.UNCHANGED))
            continue
        endings.append(ending)
        brought.changed.append(record_id)
    for ending in (Ending.IMPORTED, Ending.LINKED, Ending.UPDATED):
        brought.count(ending.value, endings.count(ending))


def _twice(arrival: Arrival) -> Skip:
    return Skip(arrival.at, arrival.number, Reason.DUPLICATE_IN_BATCH)
