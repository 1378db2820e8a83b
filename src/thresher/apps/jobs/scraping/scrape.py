"""The `scrape` pipeline: one round over the boards that are due. Each board gets its own task.

A board counts as requested from here on: one that waits behind a closed gate is not requested again in every
round, and takes nobody's place.

A round is a run: it ends when the last board has been scraped and the last new posting has been judged. Its
key is the task's, so that a board that waits for days does not keep the next round from starting.
"""

from collections.abc import Sequence

from thresher.apps.jobs.scraping.pace import Pace, pace_of, turn
from thresher.apps.jobs.scraping.scrape_source import KIND as LOOK
from thresher.core.context import Context
from thresher.core.group import Run
from thresher.core.outcome import Done, Outcome
from thresher.core.pipeline import Pipeline, Stage
from thresher.core.record import Between, Is, Record, Where
from thresher.core.task import NewTask
from thresher.hiring.kinds import BOARD
from thresher.hiring.records import BoardRecord, board_entry

KIND = "scrape"
ACTIVE = Is("status", "active")


async def choose_boards(ctx: Context) -> Outcome:
    """The boards whose turn it is; with `boards` in the payload, these, whether they are due or not."""
    now, number, pace = ctx.now(), int(ctx.setting("jobs.scrape_batch")), pace_of(ctx.setting)
    named = [str(each) for each in ctx.task.payload.get("boards") or ()][:number]
    if named:
        found = await ctx.records(BOARD, keys=named, where=(ACTIVE,), limit=number)
        wanted = list(map(BoardRecord.of, found))
        return _asked_for(
            ctx,
            turn(wanted, pace, number),
            pace,
            f"of {len(named)} boards that were asked for {len(wanted)} are active",
        )
    # Those that were never looked at are asked for apart: many new boards must not hide the others, nor the
    # others the new.
    new = await _boards(ctx, number, Between("scraped_at", high=0))
    due = await _boards(ctx, number, Between("scraped_at", low=1), Between("due_at", high=now))
    chosen = turn([*(each for each in new if each.due_at <= now), *due], pace, number)
    return _asked_for(ctx, chosen, pace, f"{len(chosen)} boards are due")


async def _boards(ctx: Context, number: int, *where: Where) -> list[BoardRecord]:
    found = await ctx.records(BOARD, where=(ACTIVE, *where), order="due_at", limit=number)
    return list(map(BoardRecord.of, found))


def _asked_for(ctx: Context, boards: Sequence[BoardRecord], pace: Pace, note: str) -> Done:
    records = tuple(_asked(each, pace, ctx.now()) for each in boards)
    run = Run(str(ctx.task.id), subject=f"{len(boards)} boards") if boards else None
    return Done(note, records=records, children=tuple(map(_look, boards)), group=run)


def _asked(board: BoardRecord, pace: Pace, now: int) -> Record:
    return board_entry(board.key, {"due_at": now + pace.interval(board.tier)})


def _look(board: BoardRecord) -> NewTask:
    return NewTask(LOOK, {"board": board.key, "failures": board.failures}, key=board.key)


scrape = Pipeline(KIND, Stage(choose_boards))
