"""What a look at a board leaves behind: the postings that are new or have changed, the board itself, and the work that follows. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from thresher.core.found import Found, Mark
from thresher.core.look import Verdict
from thresher.core.record import Link, Record
from thresher.core.task import NewTask
from thresher.hiring.coverage import Health, Limits, health
from thresher.hiring.leg import name_of
from thresher.hiring.life import CLOSED, OPEN, Known, Lives, Rules, lives
from thresher.hiring.records import BOARD, POSTING, entry
from thresher.hiring.row import address, evidence_of, fields, key_of, listed, owned_by
from thresher.hiring.walk import Tally
from thresher.reading.posting import Posting

MOST_ALARMS = 10
Marks = Mapping[str, Mapping[str, Mark]]


@dataclass(frozen=True, slots=True)
class Looked:
    """One look, put beside what was known. `rows` are the postings by the keys they are kept under."""

    board: Found
    tally: Tally
    lives: Lives
    health: Health
    rows: Mapping[str, Posting]
    shared: tuple[str, ...]
    now: int
    stood: Mapping[str, str] = field(default_factory=dict)

    @property
    def fresh(self) -> tuple[str, ...]:
        """What has to be read and judged (again)."""
        return (*self.lives.new, *self.lives.changed, *self.lives.relisted)


def compare(
    board: Found, tally: Tally, marks: Marks, *,
    now: int, rules: Rules, limits: Limits, stood: Mapping[str, str], elsewhere: Iterable[str] = (),
) -> Looked:  # fmt: skip
    """Put a look beside what is known. `elsewhere` are keys of open postings that another board already keeps."""
    rows = {key_of(board.key, posting): posting for posting in tally.postings}
    shared = {key for key in rows if key in set(elsewhere) or _is_anothers(board.key, marks.get(key))}
    known = {key: Known.of(each) for key, each in marks.items() if not _is_anothers(board.key, each)}
    seen = {key: listed(posting) for key, posting in rows.items() if key not in shared}
    found = lives(known, seen, complete=tally.complete, rules=rules)
    well = health(
        tally.postings, board.data.get("coverage") or {}, board.data.get("yields") or (), complete=tally.complete, limits=limits
    )  # fmt: skip
    kept = {found.same.get(key, key): posting for key, posting in rows.items()}
    return Looked(board, tally, found, well, kept, tuple(sorted(shared)), now, stood)


def _is_anothers(board: str, marks: Mapping[str, Mark] | None) -> bool:
    """Whether a posting lives on another board, which alone may say that it has changed or gone."""
    return marks is not None and marks.get("board", board) != board and marks.get("state") != CLOSED


def posting_records(looked: Looked, before: Mapping[str, Found]) -> Iterable[Record]:
    """Only what is new or different is written. `before` are the records of those that are known and have changed."""
    board, found, now = looked.board, looked.lives, looked.now
    mine = Link("board", board.key)
    for key in looked.fresh:
        yield _written(looked, key, before.get(key))
    for key in found.back:
        yield entry(POSTING, key, {"missed": 0, "seen_at": now})
    for key in set(found.same.values()) - set(looked.fresh):  # its old number may lead nowhere by now
        said = fields(looked.rows[key])
        yield entry(POSTING, key, {name: said[name] for name in ("number", "url") if name in said} | {"seen_at": now})
    for key, count in found.missed.items():
        yield entry(POSTING, key, {"missed": count})
    for key in found.closed:
        yield entry(POSTING, key, {"state": CLOSED, "closed_at": now})
    for key in looked.shared:
        yield entry(POSTING, key, {}, mine)


def _written(looked: Looked, key: str, before: Found | None) -> Record:
    posting, board = looked.rows[key], looked.board
    said = fields(posting)
    name, company = owned_by(posting, board.data)
    old = before.data if before else {}
    # What the row says no more is forgotten, unless the whole board has stopped saying it: then it is we who cannot read it.
    forgotten = {name: None for name in old.get("said", ()) if name not in said and name not in looked.health.fallen}
    data: dict[str, Any] = {
        **forgotten, **said, "said": sorted(said), "company_name": name, **({"company": company} if company else {}),
        "board": board.key, "state": OPEN, "missed": 0, "seen_at": looked.now, "listed": listed(posting),
        "relisted": int(old.get("relisted") or 0) + (key in looked.lives.relisted),
        "revision": int(old.get("revision") or 0) + (key in looked.lives.changed),
        **({"closed_at": None} if key in looked.lives.relisted else {}),
    }  # fmt: skip
    links = (Link("board", board.key), *((Link("company", company),) if company else ()))
    evidence = evidence_of(posting, said, looked.stood.get(name_of(posting)))
    return entry(POSTING, key, data, *links, evidence=evidence, initial={"first_seen": looked.now})


def children(looked: Looked, least: int) -> tuple[NewTask, ...]:
    """A task for each posting that has to be read and judged. One whose row says less than `least` characters has its page read."""
    urls = {key: address(looked.rows[key]) for key in looked.fresh}
    uses = Counter(urls.values())
    return tuple(_child(looked, key, url, least, alone=uses[url] == 1) for key, url in urls.items())


def _child(looked: Looked, key: str, url: str | None, least: int, *, alone: bool) -> NewTask:
    payload: dict[str, Any] = {"posting": key, "url": url}
    if len(looked.rows[key].description or "") < least:
        payload |= {"fetch": url, "fresh": key not in looked.lives.new}
    # An address that several rows share tells none of them from the others; the loop guard would let only one of them through.
    return NewTask("job", payload, url=url if alone else None, key=key)


def board_record(looked: Looked, *, hash: str, due_at: int, reason: str) -> Record:  # noqa: A002  it is what the field is called
    """The board after a look that proves something."""
    tally, found, now = looked.tally, looked.lives, looked.now
    is_open = _count_open(looked)
    return entry(BOARD, looked.board.key, {
        "last_look": {
            "verdict": Verdict.FOUND.value if tally.found else Verdict.CONFIRMED_EMPTY.value, "reason": reason, "found": tally.found,
            "total": tally.total, "complete": tally.complete, "alone": tally.alone, "pages": tally.pages, "at": now, "hash": hash,
            "missed": len(found.missed), "new": len(found.new), "changed": len(found.changed), "closed": len(found.closed),
            "relisted": len(found.relisted),
        },
        "open": is_open, "coverage": dict(looked.health.coverage), "yields": list(looked.health.yields),
        "alarms": [*found.alarms, *looked.health.alarms][:MOST_ALARMS],
        "scraped_at": now, "due_at": due_at, "failures": 0, **({"completed_at": now} if tally.complete else {}),
    })  # fmt: skip


def _count_open(looked: Looked) -> int:
    """How many postings of this board are open now: those that were seen, and those that are not given up."""
    found = looked.lives
    seen = len(found.new) + len(found.changed) + len(found.relisted) + len(found.back) + len(found.unchanged)
    was = int(looked.board.data.get("open") or 0)
    return seen + len(found.missed) if looked.tally.complete else max(seen, was + len(found.new) + len(found.relisted))


def unchanged_record(board: Found, *, now: int, due_at: int) -> Record:
    """The board after a look at the very page of the last time: nothing is read, and nothing else is written."""
    last = {**(board.data.get("last_look") or {}), "at": now, "new": 0, "changed": 0, "closed": 0, "relisted": 0}
    return entry(BOARD, board.key, {"last_look": last, "scraped_at": now, "due_at": due_at, "failures": 0, "completed_at": now})


def keys_to_read(looked: Looked) -> Sequence[str]:
    """The postings whose records are needed, because theirs is a history."""
    return (*looked.lives.changed, *looked.lives.relisted)
