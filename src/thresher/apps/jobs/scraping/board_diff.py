"""What one look at a board changes: new and changed postings, the board's record, and the tasks that
follow. Pure.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from thresher.core.page import Verdict
from thresher.core.record import Found, Link, Mark, Record
from thresher.core.task import NewTask
from thresher.hiring.coverage import CoverageFields, CoverageLimits, health
from thresher.hiring.lifecycle import CLOSED, OPEN, Known, LifecycleRules, Lifecycles, lives
from thresher.hiring.list_walk import Tally, name_of
from thresher.hiring.records import (
    BoardFields,
    BoardRecord,
    LastLook,
    PostingFields,
    PostingRecord,
    board_entry,
    posting_entry,
)
from thresher.hiring.row import address, evidence_of, fields, key_of, marked, owned_by
from thresher.reading.postings.posting import Posting

MAX_ALARMS = 10
Marks = Mapping[str, Mapping[str, Mark]]


@dataclass(frozen=True, slots=True)
class BoardDiff:
    """One look, put beside what was known. `rows` are the postings by the keys they are kept under."""

    board: BoardRecord
    tally: Tally
    lives: Lifecycles
    health: CoverageFields
    rows: Mapping[str, Posting]
    shared: tuple[str, ...]
    now: int
    stood: Mapping[str, str] = field(default_factory=dict)
    open: int = 0

    @property
    def is_first(self) -> bool:
        """Whether nobody knew this board before: it is the first look that proves something, or the first
        that is complete.
        """
        return self.board.open is None or (self.tally.complete and not self.board.completed_at)

    @property
    def fresh(self) -> tuple[str, ...]:
        """What has to be read and judged (again)."""
        return (*self.lives.new, *self.lives.changed, *self.lives.relisted)

    @property
    def moved(self) -> tuple[str, ...]:
        """What is to be judged with its new address. Not where most of a board moves from look to look: then
        addresses mean nothing.
        """
        last = self.board.last_look.moved if self.board.last_look else 0
        restless = min(last, len(self.lives.moved)) * 2 > self.open
        return () if restless else self.lives.moved


def compare(
    board: BoardRecord,
    tally: Tally,
    marks: Marks,
    *,
    now: int,
    rules: LifecycleRules,
    limits: CoverageLimits,
    stood: Mapping[str, str],
    elsewhere: Iterable[str] = (),
) -> BoardDiff:
    """Put a look beside what is known. `elsewhere` are keys of open postings that another board already
    keeps.
    """
    rows = {key_of(board.key, posting): posting for posting in tally.postings}
    shared = {key for key in rows if key in set(elsewhere) or _is_anothers(board.key, marks.get(key))}
    known = {key: Known.of(each) for key, each in marks.items() if not _is_anothers(board.key, each)}
    seen = {key: marked(posting) for key, posting in rows.items() if key not in shared}
    found = lives(known, seen, complete=tally.complete, rules=rules)
    well = health(
        tally.postings,
        board.coverage,
        board.yields,
        complete=tally.complete,
        limits=limits,
    )
    kept = {found.same.get(key, key): posting for key, posting in rows.items()}
    is_open = (
        sum(each.is_open for each in known.values())
        + len(found.new)
        + len(found.relisted)
        - len(found.closed)
    )
    return BoardDiff(board, tally, found, well, kept, tuple(sorted(shared)), now, stood, is_open)


def _is_anothers(board: str, marks: Mapping[str, Mark] | None) -> bool:
    """Whether a posting lives on another board, which alone may say that it has changed or gone."""
    return marks is not None and marks.get("board", board) != board and marks.get("state") != CLOSED


def posting_records(looked: BoardDiff, before: Mapping[str, Found]) -> Iterable[Record]:
    """Only what is new or different is written. `before` are the records of those that are known and have
    changed.
    """
    board, found, now = looked.board, looked.lives, looked.now
    mine = Link("board", board.key)
    for key in looked.fresh:
        yield _written(looked, key, before.get(key))
    for key in found.back:
        yield posting_entry(key, {"missed": 0, "seen_at": now})
    for key in (*found.rotated, *found.moved):  # its old number and its old address may lead nowhere by now
        yield posting_entry(key, _whereabouts(looked.rows[key], now))
    for key, count in found.missed.items():
        yield posting_entry(key, {"missed": count})
    for key in found.closed:
        yield posting_entry(key, {"state": CLOSED, "closed_at": now})
    for key in looked.shared:
        yield posting_entry(key, {}, mine)


def _whereabouts(posting: Posting, now: int) -> PostingFields:
    said, found = fields(posting), PostingFields(listed=marked(posting), seen_at=now)
    if "number" in said:
        found["number"] = said["number"]
    if "url" in said:
        found["url"] = said["url"]
    return found


def _written(looked: BoardDiff, key: str, before: Found | None) -> Record:
    posting, board = looked.rows[key], looked.board
    said = fields(posting)
    name, company = owned_by(posting, board)
    old = PostingRecord.of(before) if before else PostingRecord(key)
    # What the row says no more is forgotten, unless the whole board has stopped saying it: then it is we who
    # cannot read it.
    forgotten = cast(
        "PostingFields",
        {each: None for each in old.said if each not in said and each not in looked.health.fallen},
    )
    data: PostingFields = {
        **forgotten,
        **said,
        "said": tuple(sorted(said)),
        "company_name": name,
        "board": board.key,
        "state": OPEN,
        "missed": 0,
        "seen_at": looked.now,
        "listed": marked(posting),
        "relisted": old.relisted + (key in looked.lives.relisted),
        "revision": old.revision + (key in looked.lives.changed),
    }
    if company:
        data["company"] = company
    if key in looked.lives.relisted:
        data["closed_at"] = None
    links = (Link("board", board.key), *((Link("company", company),) if company else ()))
    evidence = evidence_of(posting, said, looked.stood.get(name_of(posting)))
    first = PostingFields(first_seen=looked.now)
    if looked.is_first:
        first["first_look"] = True
    return posting_entry(key, data, *links, evidence=evidence, initial=first)


def children(looked: BoardDiff, least: int) -> tuple[NewTask, ...]:
    """A task for each posting that has to be read and judged. One whose row says no more than `least`
    characters has its page read.
    """
    urls = {key: address(looked.rows[key]) for key in (*looked.fresh, *looked.moved)}
    uses = Counter(urls.values())
    return tuple(_child(looked, key, url, least, alone=uses[url] == 1) for key, url in urls.items())


def _child(looked: BoardDiff, key: str, url: str | None, least: int, *, alone: bool) -> NewTask:
    payload: dict[str, Any] = {"posting": key, "url": url}
    if len(looked.rows[key].description or "") <= least and key not in looked.moved:
        payload |= {"fetch": url, "fresh": key not in looked.lives.new}
    # An address that several rows share tells none of them from the others; the loop guard would let only one
    # of them through.
    return NewTask("job", payload, url=url if alone else None, key=key)


def board_record(looked: BoardDiff, *, hash: str, due_at: int, checks_due: int, reason: str) -> Record:  # noqa: A002  the field's name
    """The board after a look that proves something."""
    tally, found, now = looked.tally, looked.lives, looked.now
    look = LastLook(
        verdict=Verdict.FOUND.value if tally.found else Verdict.CONFIRMED_EMPTY.value,
        reason=reason,
        found=tally.found,
        total=tally.total,
        complete=tally.complete,
        alone=tally.alone,
        pages=tally.pages,
        at=now,
        hash=hash,
        missed=len(found.missed),
        new=len(found.new),
        changed=len(found.changed),
        closed=len(found.closed),
        relisted=len(found.relisted),
        moved=len(found.moved),
    )
    fields: BoardFields = {
        "last_look": look,
        "open": looked.open,
        "checks_due": checks_due,
        "coverage": looked.health.coverage,
        "yields": looked.health.yields,
        "alarms": (*found.alarms, *looked.health.alarms)[:MAX_ALARMS],
        "scraped_at": now,
        "succeeded_at": now,
        "due_at": due_at,
        "failures": 0,
    }
    if tally.complete:
        fields["completed_at"] = now
    return board_entry(looked.board.key, fields)


def unchanged_record(
    board: BoardRecord, look: LastLook, *, now: int, due_at: int, checks_due: int | None = None
) -> Record:
    """The board after a look at the very page of the last time: nothing is read, and nothing else is
    written.
    """
    last = replace(look, at=now, new=0, changed=0, closed=0, relisted=0, moved=0)
    fields = BoardFields(
        last_look=last, scraped_at=now, succeeded_at=now, due_at=due_at, failures=0, completed_at=now
    )
    if checks_due is not None:
        fields["checks_due"] = checks_due
    return board_entry(board.key, fields)


def keys_to_read(looked: BoardDiff) -> Sequence[str]:
    """The postings whose records are needed, because theirs is a history."""
    return (*looked.lives.changed, *looked.lives.relisted)
