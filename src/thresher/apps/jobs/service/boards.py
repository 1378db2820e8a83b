"""Boards: add one by URL, confirm or reject a discovered one, test one without storing anything, list and
show them.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from thresher.admin.records import among, count, find, moment, one, write_records
from thresher.admin.requests import HEAD_START, PERSON, RequestResult, TaskRequest, ask, look_up
from thresher.admin.times import read_now
from thresher.apps.jobs.service.postings import check_postings
from thresher.core.clock import day_of
from thresher.core.errors import NotAllowed, UnknownName, UsageError
from thresher.core.event import NewEvent
from thresher.core.extension import Check
from thresher.core.keys import canonical_url
from thresher.core.page import Verdict
from thresher.core.record import Found, Is, Link
from thresher.core.stored import read
from thresher.core.task import NewTask
from thresher.engine.registry import Registry
from thresher.hiring.kinds import BOARD, POSTING
from thresher.hiring.records import BoardFields, BoardRecord, LastLook, board_entry, board_key
from thresher.reading.platforms.boards import recognise
from thresher.runtime import DirectFetch
from thresher.store.store import Store

DISCOVERY, SCRAPE = "source_discovery", "scrape_source"
BY_A_PERSON, BY_ADMIN = "manual", "admin"
MAX_DISABLED = 10_000
NAMED = 3  # that one line names
MAX_REASON = 120
DISABLED_PAGE = "/jobs/boards?status=disabled"
T = TypeVar("T")


def ask_boards(
    store: Store,
    registry: Registry,
    urls: Sequence[str],
    *,
    company: str | None = None,
    name: str | None = None,
    hint: str = "auto",
) -> list[RequestResult]:
    """Have these addresses looked at as boards. One that is a board already is left alone."""
    wanted = {url: _key(url) for url in map(canonical_url, urls)}
    known = look_up(store, BOARD, [key for key in wanted.values() if key])
    said = {"company": company, "name": name, "type_hint": hint, "via": PERSON}
    payload = {field: value for field, value in said.items() if value}
    requests = [
        TaskRequest(
            url,
            key,
            NewTask(DISCOVERY, {"url": url, **payload}, url, key, HEAD_START),
            _known(url, known.get(key)),
        )
        for url, key in wanted.items()
    ]
    return ask(store, registry, requests)


def _key(url: str) -> str:
    board = recognise(url)
    return board_key(board) if board else f"site:{url}"


def _known(url: str, found: Found | None) -> str | None:
    if found is None:
        return None
    board = BoardRecord.of(found)
    status = board.status
    advice = "" if status == "active" else f"; to have it read: thresher boards enable {board.key}"
    return f"{url} is known as {board.key}, {status}{advice}"


def find_board(store: Store, key: str) -> BoardRecord:
    """The board of that key, or of that address."""
    found = look_up(store, BOARD, [key])
    if not found and "://" in key:
        found = look_up(store, BOARD, [_key(canonical_url(key))])
    if not found:
        raise UnknownName(f"there is no board {key!r}; thresher boards list shows them")
    return BoardRecord.of(next(iter(found.values())))


def enable_board(store: Store, registry: Registry, key: str, *, by_admin: bool = True) -> RequestResult:
    """Read a board from now on: one that waits for your decision, or a disabled one. Reset its failures. What
    an administrator has disabled, an administrator enables; whoever has the command line is one.
    """
    board = find_board(store, key)
    if not by_admin:
        _refuse_admins(board)
    now = read_now(store)
    fields: BoardFields = {
        "status": "active",
        "validation_required": False,
        "failures": 0,
        "disabled_tag": None,
        "disabled_reason": None,
        "disabled_at": 0,
        "due_at": now,
        "enabled_at": now,
        "enabled_by": PERSON,
    }
    new = NewTask(SCRAPE, {"board": board.key, "failures": 0}, None, board.key, HEAD_START)
    if registry.pipeline(SCRAPE) is None:
        raise UnknownName(
            f"no app of this project reads boards; add the jobs app to thresher.yaml. {board.key} "
            "was not changed."
        )
    event = NewEvent("board_enabled", {"board": board.key})
    write_records(store, [board_entry(board.key, fields)], events=[event])
    return ask(store, registry, [TaskRequest(board.key, board.key, new)])[0]


def _refuse_admins(board: BoardRecord) -> None:
    if board.status == "disabled" and board.disabled_tag == BY_ADMIN:
        raise NotAllowed(
            f"an administrator has disabled {board.key} ({board.disabled_reason}); to enable it, log in as an "
            f"administrator, use a key with the scope admin, or run: thresher boards enable {board.key}"
        )


def disable_board(store: Store, key: str, reason: str, *, by_admin: bool = True) -> BoardRecord:
    """Stop reading a board until it is enabled. Its postings stay as they are: no one looks, so nothing is
    closed. An administrator may disable one that is disabled already, and then nobody else enables it.
    """
    board = find_board(store, key)
    tag = BY_ADMIN if by_admin else BY_A_PERSON
    if not reason.strip():
        raise UsageError("give a reason for disabling the board: --reason TEXT")
    if board.status == "disabled" and (not by_admin or board.disabled_tag == BY_ADMIN):
        raise NotAllowed(f"{board.key} is already disabled: {board.disabled_reason}")
    fields = BoardFields(
        status="disabled", disabled_tag=tag, disabled_reason=reason.strip(), disabled_at=read_now(store)
    )
    event = NewEvent("board_disabled", {"board": board.key, "tag": tag, "reason": reason.strip()})
    write_records(store, [board_entry(board.key, fields)], events=[event])
    return find_board(store, board.key)


@dataclass(frozen=True, slots=True)
class TriedBoard:
    """What one call for a board's list brought. `sample` are the first titles, so that a person sees whose
    openings these are.
    """

    board: str
    url: str
    status: int | None
    verdict: str
    reason: str
    count: int
    total: int | None
    sample: tuple[str, ...]

    @property
    def readable(self) -> bool:
        return self.verdict in (Verdict.FOUND, Verdict.CONFIRMED_EMPTY)


async def try_board(board: BoardRecord, fetch: DirectFetch) -> TriedBoard:
    """Read a board as the next look would begin, and write nothing."""
    from thresher.apps.jobs.discovery.trial import trial  # noqa: PLC0415  only this needs the app's reading

    found = await trial(fetch, board)
    look = found.look
    return TriedBoard(
        board.key,
        found.url,
        found.status,
        look.verdict.value,
        look.reason or "",
        found.count,
        found.total,
        found.sample,
    )


SHOWN_BY = "thresher boards list"
STATUSES = ("pending", "active", "disabled")


@dataclass(frozen=True, slots=True)
class BoardView:
    """One board in a list. `reason` is why it stands so: excluded, disabled, its last look, or, before any,
    the proof of whose it is. `last_success_at` is the last look that proved something.
    """

    key: str
    platform: str | None
    url: str | None
    company: str | None
    company_name: str | None
    status: str | None
    confidence: str | None
    verdict: str | None
    reason: str | None
    open: int | None
    failures: int
    alarms: tuple[str, ...]
    scraped_at: int | None
    due_at: int | None
    last_success_at: int | None = None
    excluded: str | None = None


@dataclass(frozen=True, slots=True)
class BoardDetail:
    """One board with everything that is known of it. `postings` are those that are open and those that are
    closed.
    """

    board: BoardView
    data: dict[str, Any]
    postings: dict[str, int]
    tasks: list[int]

    @property
    def record(self) -> BoardRecord:
        return read(BoardRecord, self.data, key=self.board.key)


def list_boards(
    store: Store,
    *,
    status: str | None = None,
    platform: str | None = None,
    company: str | None = None,
    before: str | None = None,
    limit: int = 50,
) -> list[BoardView]:
    """Boards, the newest first; those after the one of the key `before`."""
    found = list_board_records(
        store, status=status, platform=platform, company=company, before=before, limit=limit
    )
    return list(map(board_view, found))


def list_board_records(
    store: Store,
    *,
    status: str | None = None,
    platform: str | None = None,
    company: str | None = None,
    before: str | None = None,
    limit: int = 50,
) -> list[BoardRecord]:
    """The same with everything that is known of each: whoever decides about one wants to see its proof."""
    wanted = among(status, STATUSES, "the status of a board")
    where = [Is(name, value) for name, value in (("status", wanted), ("platform", platform)) if value]
    link = Link("company", company) if company else None
    return list(map(BoardRecord.of, find(store, BOARD, link=link, where=where, before=before, limit=limit)))


def show_board(store: Store, key: str) -> BoardDetail:
    """One board."""
    found = one(store, BOARD, key, SHOWN_BY)
    own = Link("board", key)
    postings = {
        state: count(store, POSTING, link=own, where=[Is("state", state)]) for state in ("open", "closed")
    }
    return BoardDetail(
        board_view(BoardRecord.of(found)),
        dict(found.data),
        postings,
        sorted({found.first_task, found.last_task} - {0}),
    )


def board_view(board: BoardRecord) -> BoardView:
    """A board as a line of a list."""
    look = board.last_look or LastLook()
    return BoardView(
        board.key,
        board.platform,
        board.url,
        board.company,
        board.company_name,
        board.status,
        board.confidence,
        look.verdict,
        f"excluded: {board.excluded}"
        if board.excluded
        else board.disabled_reason or look.reason or board.proof,
        board.open,
        board.failures,
        board.alarms,
        moment(board.scraped_at),
        moment(board.due_at),
        moment(board.succeeded_at),
        board.excluded,
    )


def check_boards(store: Store) -> list[Check]:
    """Check for boards that wait for your decision, and for those that are disabled: why, and since when."""
    pending = count(store, BOARD, where=[Is("status", "pending")])
    disabled = [
        BoardRecord.of(each)
        for each in find(store, BOARD, where=[Is("status", "disabled")], limit=MAX_DISABLED)
    ]
    by_people = [each for each in disabled if each.disabled_tag in (BY_A_PERSON, BY_ADMIN)]
    failed = [each for each in disabled if each.disabled_tag not in (BY_A_PERSON, BY_ADMIN)]
    found = []
    if pending:
        wait = "1 board waits" if pending == 1 else f"{pending:,} boards wait"
        found.append(
            Check.warn(
                "boards",
                f"{wait} for your decision",
                "thresher boards list --status pending",
                "/jobs/boards?status=pending",
            )
        )
    if failed:
        newest = max(failed, key=_disabled_at).key
        advice = f"try one: thresher boards test {newest}; to read it again: thresher boards enable {newest}"
        found.append(
            Check.warn("boards", f"{_disabled(failed)} by trouble {_since(failed)}", advice, DISABLED_PAGE)
        )
    found = found or [Check.ok("boards", "none waits for a decision, none is disabled by trouble")]
    if by_people:
        told = f"{_disabled(by_people)} by people {_since(by_people)}"
        found.append(Check.ok("boards", told, "thresher boards list --status disabled", DISABLED_PAGE))
    return found


def _disabled(boards: Sequence[BoardRecord]) -> str:
    return "1 board is disabled" if len(boards) == 1 else f"{len(boards):,} boards are disabled"


def _since(boards: Sequence[BoardRecord]) -> str:
    """How many with which tag, and the last ones with the day and the reason."""
    tags = Counter(each.disabled_tag or "unknown" for each in boards)
    why = ", ".join(f"{tag} {number:,}" for tag, number in sorted(tags.items()))
    last = sorted(boards, key=_disabled_at, reverse=True)[:NAMED]
    named = "; ".join(f"{each.key} since {_day(each)}: {_reason(each)}" for each in last)
    more = f"; and {len(boards) - NAMED:,} more" if len(boards) > NAMED else ""
    return f"({why}): {named}{more}"


def _reason(board: BoardRecord) -> str:
    reason = " ".join((board.disabled_reason or "no reason is kept").split())
    return reason if len(reason) <= MAX_REASON else f"{reason[: MAX_REASON - 1]}…"


def _disabled_at(board: BoardRecord) -> int:
    """When it was disabled. Boards of earlier releases do not say; then it is their last look."""
    return board.disabled_at or (board.last_look.at if board.last_look else 0)


def _day(board: BoardRecord) -> str:
    at = _disabled_at(board)
    return day_of(at).isoformat() if at else "an unknown day"


CHECKS = (check_boards, check_postings)
