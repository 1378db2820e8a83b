"""The review: what is known, judged again by the profile and the settings as they are now.

    companies   their score and tier, what is excluded by now, and what is no longer excluded
    boards      the same, the tier of their company, and when they are due

It runs when the profile was set, and when a round of scraping finds that the profile or the points of a
company's score have changed. It reads stored facts only: no page is requested, and no model is asked.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256

import orjson

from thresher.apps.jobs.company.verdict import points, ranked_again, stored_signs
from thresher.apps.jobs.filtering.exclusion import EVENT, EXCLUDED, StopList
from thresher.apps.jobs.model import REVIEW, ReviewRecord
from thresher.apps.jobs.person.profile_record import readable_profile
from thresher.apps.jobs.person.wants import Profile
from thresher.apps.jobs.scraping.pace import Pace, pace_of
from thresher.core.context import Context
from thresher.core.event import NewEvent
from thresher.core.outcome import Done, Next, Outcome
from thresher.core.pipeline import Pipeline, Stage
from thresher.core.record import Found, Link, Record
from thresher.core.task import NewTask
from thresher.hiring.company.facts import Completeness
from thresher.hiring.company.priority import CompanyPriority
from thresher.hiring.kinds import BOARD, COMPANY
from thresher.hiring.records import (
    BoardFields,
    BoardRecord,
    CompanyFields,
    CompanyRecord,
    board_entry,
    company_entry,
)

KIND, ME = "review", "me"
READMITTED = "readmitted"
AT_ONCE = 25
REQUEST = NewTask(KIND, key=KIND, detached=True)


async def review_if_changed(ctx: Context) -> tuple[NewTask, ...]:
    """A review, if what companies are judged by is not what it was at the last one."""
    known = await ctx.record(REVIEW, ME)
    return () if known and ReviewRecord.of(known).digest == await _digest(ctx) else (REQUEST,)


async def _digest(ctx: Context) -> str:
    profile = await readable_profile(ctx)
    said = [profile.digest if profile else None, asdict(points(ctx.setting))]
    return sha256(orjson.dumps(said)).hexdigest()


@dataclass(frozen=True, slots=True)
class Change:
    """What the review changes of one company or board, and what follows from it."""

    record: Record
    event: NewEvent | None = None
    child: NewTask | None = None


async def companies(ctx: Context) -> Outcome:
    """Judge some of the companies, and go on with the next."""
    said = dict(ctx.task.checkpoint) or {"digest": await _digest(ctx), "changed": 0}
    found = await ctx.records(COMPANY, before=said.get("before"), limit=AT_ONCE)
    profile = await readable_profile(ctx)
    worth = await _worth(ctx, profile, found)
    stops = StopList(profile)
    changes = [
        change
        for each in found
        if (change := _company(each, worth.get(each.key), stops, await _has_board(ctx, each)))
    ]
    return _part(said, found, changes)


async def boards(ctx: Context) -> Outcome:
    """Judge some of the boards, and go on with the next."""
    said = dict(ctx.task.checkpoint)
    found = await ctx.records(BOARD, before=said.get("before"), limit=AT_ONCE)
    known = list(map(BoardRecord.of, found))
    keys = [each.company for each in known if each.company]
    owned = await ctx.records(COMPANY, keys=keys, limit=len(keys)) if keys else []
    owners = {each.key: CompanyRecord.of(each) for each in owned}
    stops, pace = StopList(await readable_profile(ctx)), pace_of(ctx.setting)
    changes = [
        change
        for each in known
        if (change := _board(each, owners.get(each.company or ""), stops, pace, ctx.now()))
    ]
    return _part(said, found, changes)


async def finish(ctx: Context) -> Outcome:
    """Note by what everything was judged. What has changed meanwhile is found by the next round."""
    said = ctx.task.checkpoint
    last = ReviewRecord(ME, str(said["digest"]), ctx.now())
    return Done(f"{said['changed']} companies and boards have changed", records=(last.record(),))


def _part(said: dict[str, object], found: Sequence[Found], changes: Sequence[Change]) -> Next:
    more = len(found) == AT_ONCE
    checkpoint = {
        "digest": said["digest"],
        "changed": int(str(said["changed"])) + len(changes),
        **({"before": found[-1].id} if more else {}),
    }
    return Next(
        checkpoint=checkpoint,
        again=more,
        records=tuple(each.record for each in changes),
        events=tuple(each.event for each in changes if each.event),
        children=tuple(each.child for each in changes if each.child),
    )


async def _worth(ctx: Context, profile: Profile | None, found: Sequence[Found]) -> dict[str, CompanyPriority]:
    """Score those that were analysed, from their stored text."""
    read = [
        (each.key, each.evidence.source, stored_signs(each))
        for each in found
        if each.evidence and each.evidence.source and CompanyRecord.of(each).analyzed_at
    ]
    texts = [((await ctx.load(source)).decode("utf-8", "replace"), signs) for _, source, signs in read]
    ranked = await ctx.compute(ranked_again, profile, points(ctx.setting), texts) if texts else []
    return {key: worth for (key, _, _), worth in zip(read, ranked, strict=True)}


async def _has_board(ctx: Context, found: Found) -> bool:
    """Whether a board of a company that may be readmitted is known."""
    return bool(
        CompanyRecord.of(found).excluded
        and await ctx.records(BOARD, link=Link("company", found.key), limit=1)
    )


def _company(found: Found, worth: CompanyPriority | None, stops: StopList, has_board: bool) -> Change | None:
    company = CompanyRecord.of(found)
    fields = CompanyFields()
    if worth and (worth.tier, worth.score, worth.parts) != (
        company.tier,
        company.score,
        company.score_parts,
    ):
        fields |= {"tier": worth.tier, "score": worth.score, "score_parts": worth.parts}
    reason, event, child = stops.excludes_company(company), None, None
    if reason and reason != company.excluded:
        fields |= {"status": EXCLUDED, "excluded": reason}
        event = NewEvent(EVENT, {"company": company.key, "reason": reason}, warns=True)
    elif company.excluded and not reason:
        fields |= {"status": _status(company), "excluded": None}
        event = NewEvent(READMITTED, {"company": company.key, "was": company.excluded})
        child = None if company.analyzed_at and has_board else _read_again(company)
    return Change(company_entry(company.key, fields), event, child) if fields else None


def _status(company: CompanyRecord) -> str:
    if not company.analyzed_at:
        return "analyzing"
    return "partial" if company.completeness in (None, Completeness.NONE) else "complete"


def _read_again(company: CompanyRecord) -> NewTask:
    said = {"name": company.name, "website": company.website, "via": KIND, "force": True}
    payload = {name: value for name, value in said.items() if value}
    return NewTask(COMPANY, payload, url=company.website, key=company.key, detached=True)


def _board(
    board: BoardRecord, owner: CompanyRecord | None, stops: StopList, pace: Pace, now: int
) -> Change | None:
    fields = BoardFields()
    if owner and owner.tier and owner.tier != board.tier:
        fields |= {"tier": owner.tier, "due_at": _due(board, owner.tier, pace)}
    reason, event, child = stops.excludes_board(board, owner), None, None
    if reason and reason != board.excluded:
        fields["excluded"] = reason
        event = NewEvent(EVENT, {"board": board.key, "reason": reason}, warns=True)
    elif board.excluded and not reason:
        fields |= {"excluded": None, "due_at": now}
        event = NewEvent(READMITTED, {"board": board.key, "was": board.excluded})
        child = None if board.confidence else _discover(board)
    return Change(board_entry(board.key, fields), event, child) if fields else None


def _due(board: BoardRecord, tier: str, pace: Pace) -> int:
    """A better tier brings the next look forward; a worse one counts from the next look on."""
    return min(board.due_at, board.scraped_at + pace.interval(tier)) if board.scraped_at else board.due_at


def _discover(board: BoardRecord) -> NewTask:
    """The discovery of a board that was excluded before anybody looked at it."""
    said = {"company": board.company, "name": board.company_name, "via": board.discovered_via}
    payload = {name: value for name, value in said.items() if value}
    return NewTask("source_discovery", payload, url=board.url, key=board.key, detached=True)


review = Pipeline(KIND, Stage(companies), Stage(boards), Stage(finish))
