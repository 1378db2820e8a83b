"""The pipelines of scraping. `scrape` is one round over the boards that are due. `scrape_source` scrapes one
board: new postings get tasks, missing ones are counted, errors are reported.

    open_board   load the board and its first call
    walk_board   through the gate of its host: walk its list, and settle everything that follows

A scrape that proves nothing fails, with its reason and the page that could not be read; repeated failures
disable the board.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from thresher.apps.jobs.discovery.trial import first_call
from thresher.apps.jobs.filtering.exclusion import EVENT, refused, stop_list
from thresher.apps.jobs.review import review_if_changed
from thresher.apps.jobs.scraping import page_checks
from thresher.apps.jobs.scraping.board_crawl import BoardCrawl, IsKnown, Walker
from thresher.apps.jobs.scraping.board_diff import (
    BoardDiff,
    Marks,
    board_record,
    children,
    compare,
    keys_to_read,
    posting_records,
    unchanged_record,
)
from thresher.apps.jobs.scraping.learned_rows import read_openings
from thresher.apps.jobs.scraping.pace import Pace, bounds_of, limits_of, pace_of, rules_of, terms_of, turn
from thresher.apps.jobs.scraping.page_result import PageResult
from thresher.core.context import Context
from thresher.core.errors import InvalidUrl
from thresher.core.event import NewEvent
from thresher.core.group import Run
from thresher.core.keys import host_gate
from thresher.core.outcome import Done, Failed, Finds, Next, Outcome, Skipped
from thresher.core.page import Look, Page, Verdict
from thresher.core.pipeline import Pipeline, Stage, Trip
from thresher.core.record import Between, Found, Is, Link, Record, Where
from thresher.core.settlement import Error
from thresher.core.task import NewTask, Task
from thresher.hiring.coverage import health
from thresher.hiring.kinds import BOARD, COMPANY, POSTING
from thresher.hiring.lifecycle import CLOSED, Prints
from thresher.hiring.records import (
    BoardFields,
    BoardRecord,
    CompanyRecord,
    LastLook,
    PostingRecord,
    board_entry,
)
from thresher.hiring.row import key_of, listed
from thresher.reading.postings.posting import Posting

SCRAPE_SOURCE = "scrape_source"
ACTIVE, DISABLED, FAILING = "active", "disabled", "failing"
AT_ONCE = 500  # keys in one question
UNCHANGED = {
    "boards": 1,
    "unchanged": 1,
}  # what a look at an unchanged list adds to the counters of its round
# A walk over hundreds of pages, one per second. Pages already fetched come from the cache.
MAX_WALK = 3_600.0


async def open_board(ctx: Context) -> Outcome:
    """What is known of the board. One that is not active, or is excluded, is left alone."""
    board = await _board(ctx)
    if not isinstance(board, BoardRecord):
        return board
    call = first_call(board.address)
    return Next(
        checkpoint={
            "began": ctx.now(),
            "asks": call.url if call else None,
            "failures": board.failures,
            "tier": board.tier,
        }
    )


async def walk_board(ctx: Context) -> Outcome:
    """The look itself."""
    board = await _board(ctx)
    if not isinstance(board, BoardRecord):  # a person has disabled or excluded it while it waited
        return board
    last = board.last_look or LastLook()
    marks: dict[str, Marks] = {}

    async def knowledge() -> IsKnown:
        marks["all"] = await ctx.marks(POSTING, Link("board", board.key))
        return _known(board.key, marks["all"])

    async def read_more(page: Page, sight: PageResult) -> PageResult:
        return await read_openings(ctx, page, sight)

    bounds = bounds_of(ctx.setting, completed_at=board.completed_at, now=ctx.now())
    began, oldest, most = (
        int(ctx.task.checkpoint["began"]),
        float(ctx.setting("jobs.walk_age")),
        int(ctx.setting("jobs.walk_bytes")),
    )
    walker = Walker(ctx, board.address, since=began, oldest=oldest, bounds=bounds, most_bytes=most)
    trail = await walker.walk(last, knowledge, read_more)
    if trail.is_unchanged:
        return await _unchanged(ctx, board, last, trail)
    if trail.tally is None or not (trail.tally.found or trail.tally.complete):
        return _failed(ctx, board, trail)
    return await _settled(ctx, board, trail, marks["all"])


async def _unchanged(ctx: Context, board: BoardRecord, last: LastLook, trail: BoardCrawl) -> Outcome:
    """Nothing has changed in the list. What stands behind it may have: it is asked for where it is time."""
    now, due_at = ctx.now(), _due(ctx, board)
    if not page_checks.is_due(board, now):
        after = unchanged_record(board, last, now=now, due_at=due_at)
        return Done(trail.look.reason, records=(after,), counts=UNCHANGED)
    found = page_checks.unread_since(
        board, await ctx.marks(POSTING, Link("board", board.key)), terms_of(ctx.setting), now
    )
    after = unchanged_record(board, last, now=now, due_at=due_at, checks_due=found.due_at)
    return Done(
        trail.look.reason,
        records=(*page_checks.records(found, now), after),
        children=await _checked(ctx, found),
        counts=UNCHANGED,
    )


async def _settled(ctx: Context, board: BoardRecord, trail: BoardCrawl, marks: Marks) -> Outcome:
    """A look that proves something: what it leaves behind."""
    assert trail.tally is not None
    tally = trail.tally
    elsewhere = await _kept_elsewhere(
        ctx, board.key, [key_of(board.key, each) for each in tally.postings], marks
    )
    looked = compare(
        board,
        tally,
        marks,
        now=ctx.now(),
        rules=rules_of(ctx.setting),
        limits=limits_of(ctx.setting),
        stood=trail.stood,
        elsewhere=elsewhere,
    )
    before = {each.key: each for each in await _records(ctx, keys_to_read(looked))}
    reason = tally.ended if tally.found else f"{trail.look.reason} ({tally.ended})"
    least = int(ctx.setting("jobs.posting.description"))
    also = page_checks.after_look(looked, marks, terms_of(ctx.setting), rules_of(ctx.setting), least)
    records = (
        *posting_records(looked, before),
        *page_checks.records(also, looked.now),
        board_record(looked, hash=trail.hash, due_at=_due(ctx, board), checks_due=also.due_at, reason=reason),
    )
    return Done(
        _note(looked),
        records=records,
        children=(*children(looked, least), *await _checked(ctx, also)),
        counts=_counts(looked),
    )


async def _checked(ctx: Context, found: page_checks.Checks) -> tuple[NewTask, ...]:
    return page_checks.tasks(found, await _records(ctx, found.keys))


def _note(looked: BoardDiff) -> str:
    return "; ".join(
        [looked.tally.ended, *(f"{number} {name}" for name, number in _changes(looked).items() if number)]
    )


def _changes(looked: BoardDiff) -> dict[str, int]:
    found = looked.lives
    return {
        "new": len(found.new),
        "changed": len(found.changed),
        "relisted": len(found.relisted),
        "closed": len(found.closed),
    }


def _counts(looked: BoardDiff) -> dict[str, int]:
    """What this look adds to the counters of its round."""
    return {"boards": 1, "pages": looked.tally.pages, "postings": looked.tally.found, **_changes(looked)}


def _failed(ctx: Context, board: BoardRecord, trail: BoardCrawl) -> Failed:
    """A look that proves nothing. Its page is kept; nothing is concluded about any posting."""
    look = trail.look
    if trail.tally is not None:  # rows were promised, and none came
        look = Look(Verdict.UNKNOWN, f"{look.reason} ({trail.tally.ended})")
    seen = LastLook(
        verdict=look.verdict.value,
        reason=look.reason,
        total=trail.tally.total if trail.tally else None,
        pages=trail.tally.pages if trail.tally else 1,
        at=ctx.now(),
        hash=trail.hash,
    )
    well = health((), board.coverage, board.yields, complete=False, limits=limits_of(ctx.setting))
    fields: BoardFields = {
        "scraped_at": ctx.now(),
        "due_at": _due(ctx, board),
        "yields": well.yields,
        "alarms": well.alarms,
    }
    reason = f"{look.verdict}: {look.reason}"
    found = _failure(board.key, board.failures, reason, seen, ctx.setting("jobs.disable_after"), fields)
    counts = {"boards": 1, look.verdict.value: 1}
    return Failed(reason, records=found.records, events=found.events, counts=counts)


def failed(task: Task, error: Error, settings: Mapping[str, Any]) -> Finds:
    """The last words of a look that ended in an error for good: one failure more of its board."""
    began = int(task.checkpoint.get("began") or 0)
    if not began:
        return Finds()
    reason = f"{error.name}: {error.message}"
    seen = LastLook(verdict=Verdict.UNKNOWN.value, reason=reason, at=began)
    tier = task.checkpoint.get("tier")
    due = began + pace_of(settings).interval(str(tier) if tier else None)
    alarm = f"the last look failed: {reason}"
    fields: BoardFields = {"scraped_at": began, "due_at": due, "alarms": (alarm,)}
    failures = int(task.checkpoint.get("failures") or 0)
    most = settings["jobs.disable_after"]
    return _failure(str(task.payload["board"]), failures, reason, seen, most, fields)


def _failure(key: str, failures: int, reason: str, look: LastLook, most: float, fields: BoardFields) -> Finds:
    data: BoardFields = {**fields, "failures": failures + 1, "last_look": look}
    if failures + 1 < most:
        return Finds(records=(board_entry(key, data),))
    why = f"{failures + 1} failures in a row, the last: {reason}"
    data |= {"status": DISABLED, "disabled_tag": FAILING, "disabled_reason": why, "disabled_at": look.at}
    event = NewEvent("board_disabled", {"board": key, "tag": FAILING, "reason": why}, warns=True)
    return Finds(records=(board_entry(key, data),), events=(event,))


async def _board(ctx: Context) -> BoardRecord | Failed | Skipped:
    """The board, or why it is not looked at."""
    found = await ctx.record(BOARD, str(ctx.task.payload.get("board")))
    if found is None:
        return Failed(f"there is no board {ctx.task.payload.get('board')!r}")
    board = BoardRecord.of(found)
    if board.status != ACTIVE:
        why = board.disabled_reason or "it waits for a decision"
        return Skipped(f"{board.key} is {board.status}: {why}")
    owner = await ctx.record(COMPANY, board.company) if board.company else None
    company = CompanyRecord.of(owner) if owner else None
    if reason := (await stop_list(ctx)).excludes_board(board, company):
        return refused(reason, board_entry(board.key, {"excluded": reason}), board=board.key)
    return board


def _known(board: str, marks: Marks) -> IsKnown:
    """Whether a row reads as it did, of a posting that is open."""

    def is_known(posting: Posting) -> bool:
        known = marks.get(key_of(board, posting))
        return (
            known is not None
            and known.get("state") != CLOSED
            and Prints.of(str(known.get("listed", ""))).row == listed(posting)
        )

    return is_known


async def _kept_elsewhere(ctx: Context, board: str, keys: Sequence[str], marks: Marks) -> set[str]:
    """Those that are known by their address, and are open on another board."""
    strangers = [key for key in keys if key.startswith("url/") and key not in marks]
    found = map(PostingRecord.of, await _records(ctx, strangers))
    return {each.key for each in found if each.board not in (None, board) and each.state != CLOSED}


async def _records(ctx: Context, keys: Sequence[str]) -> list[Found]:
    found: list[Found] = []
    for at in range(0, len(keys), AT_ONCE):
        found += await ctx.records(POSTING, keys=keys[at : at + AT_ONCE], limit=AT_ONCE)
    return found


def _due(ctx: Context, board: BoardRecord) -> int:
    """Counted from the beginning of the look: one that had to wait does not come later every time."""
    return int(ctx.task.checkpoint["began"]) + pace_of(ctx.setting).interval(board.tier)


def _through(trip: Trip) -> tuple[str, ...]:
    """The host that is asked for the list."""
    try:
        return (host_gate(str(trip.checkpoint["asks"])),) if trip.checkpoint.get("asks") else ()
    except InvalidUrl:
        return ()


scrape_source = Pipeline(
    SCRAPE_SOURCE, Stage(open_board), Stage(walk_board, through=_through, timeout=MAX_WALK), failed=failed
)


# The `scrape` pipeline: one round over the boards that are due. Each board gets its own task.

SCRAPE = "scrape"
IS_ACTIVE = Is("status", "active")


async def choose_boards(ctx: Context) -> Outcome:
    """The boards whose turn it is; with `boards` in the payload, these, whether they are due or not."""
    now, number, pace = ctx.now(), int(ctx.setting("jobs.scrape_batch")), pace_of(ctx.setting)
    named = [str(each) for each in ctx.task.payload.get("boards") or ()][:number]
    if named:
        found = await ctx.records(BOARD, keys=named, where=(IS_ACTIVE,), limit=number)
        wanted = list(map(BoardRecord.of, found))
        note = f"{len(wanted)} of the {len(named)} requested boards are active"
        return await _asked_for(ctx, turn(wanted, pace, number), pace, note)
    # Those that were never looked at are asked for apart: many new boards must not hide the others, nor the
    # others the new.
    new = await _boards(ctx, number, Between("scraped_at", high=0))
    due = await _boards(ctx, number, Between("scraped_at", low=1), Between("due_at", high=now))
    chosen = turn([*(each for each in new if each.due_at <= now), *due], pace, number)
    return await _asked_for(ctx, chosen, pace, f"{len(chosen)} boards are due")


async def _boards(ctx: Context, number: int, *where: Where) -> list[BoardRecord]:
    found = await ctx.records(BOARD, where=(IS_ACTIVE, *where), order="due_at", limit=number)
    return list(map(BoardRecord.of, found))


async def _asked_for(ctx: Context, boards: Sequence[BoardRecord], pace: Pace, note: str) -> Done:
    """Ask for a look at each of them that the profile does not exclude."""
    why = await _exclusions(ctx, boards)
    wanted = [each for each in boards if each.key not in why]
    run = Run(str(ctx.task.id), subject=f"{len(wanted)} boards") if wanted else None
    out = f"; {len(why)} of them are excluded" if why else ""
    return Done(
        note + out,
        records=tuple(_asked(each, pace, ctx.now(), why.get(each.key)) for each in boards),
        children=(*map(_look, wanted), *await review_if_changed(ctx)),
        events=tuple(
            NewEvent(EVENT, {"board": each.key, "reason": why[each.key]}, warns=True)
            for each in boards
            if each.key in why and each.excluded is None
        ),
        group=run,
    )


async def _exclusions(ctx: Context, boards: Sequence[BoardRecord]) -> dict[str, str]:
    """Why boards are excluded, by key."""
    stops = await stop_list(ctx)
    keys = [each.company for each in boards if each.company]
    found = await ctx.records(COMPANY, keys=keys, limit=len(keys)) if keys and stops.profile else []
    owners = {each.key: CompanyRecord.of(each) for each in found}
    asked = {each.key: stops.excludes_board(each, owners.get(each.company or "")) for each in boards}
    return {key: reason for key, reason in asked.items() if reason}


def _asked(board: BoardRecord, pace: Pace, now: int, excluded: str | None) -> Record:
    return board_entry(board.key, {"due_at": now + pace.interval(board.tier), "excluded": excluded})


def _look(board: BoardRecord) -> NewTask:
    return NewTask(SCRAPE_SOURCE, {"board": board.key, "failures": board.failures}, key=board.key)


scrape = Pipeline(SCRAPE, Stage(choose_boards))
