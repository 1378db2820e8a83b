"""The `match_postings` pipeline: read the facts of new postings, then match them with the candidates of their
roles.

A posting that belongs to two roles is matched with the candidates of both, whichever role brought it.
Candidates are processed in batches, each with its own settlement, so that a role with ten thousand of them
does not hold up the others.

The matching of one arrival is a run: its counters show its progress.
"""

from thresher.apps.roles.keep import PORTION, is_read, offers_with, with_facts
from thresher.apps.roles.matching.matched import matched
from thresher.apps.roles.matching.points import points_of
from thresher.apps.roles.matching.seeker import seeker_of
from thresher.apps.roles.model import CANDIDATE, WANTS
from thresher.core.clock import day_of
from thresher.core.context import Context
from thresher.core.errors import Permanent
from thresher.core.event import NewEvent
from thresher.core.group import Run
from thresher.core.outcome import Done, Next, Outcome
from thresher.core.pipeline import Pipeline, Stage
from thresher.core.record import Found, Link
from thresher.hiring.kinds import POSTING

KIND = "match_postings"
MAX_POSTINGS = 1_000  # postings of one task
RESULT = ("candidates_matched", "matches_created")  # what the effects count


def read(ctx: Context) -> Outcome:
    """File the facts of postings that have none, a portion at a time."""
    ids, at = _postings(ctx), int(ctx.task.checkpoint.get("at", 0))
    run = Run(str(ctx.task.id), subject=f"{len(ids)} postings")
    while at < len(ids):
        found = ctx.wait(ctx.records_of(POSTING, ids[at : at + PORTION]))
        at += PORTION
        new = tuple(with_facts(each, day_of(ctx.now())) for each in found if not is_read(each))
        if new:
            return Next({"at": at}, again=True, records=new, group=run, counts={"read": len(new)})
    return Next(group=run)


def match(ctx: Context) -> Outcome:
    """Match the next slice of candidates; the task goes on until every role of the postings is through."""
    points = points_of(ctx.setting)
    offers, roles = ctx.wait(offers_with(ctx, _postings(ctx)))
    left = sorted(role for role in roles if role >= int(ctx.task.checkpoint.get("role", 0)))
    before = ctx.task.checkpoint.get("before")
    for role in left:
        wanted = [offer for offer in offers if offer.id in roles[role]]
        people = _slice(ctx, role, before) if wanted else []
        if people:
            effect = matched(ctx, role, [seeker_of(each) for each in people], wanted, points)
            return Next(
                {"role": role, "before": people[-1].id},
                again=True,
                effects=(effect,),
                counts={"candidates": len(people)},
            )
        before = None
    run = ctx.wait(ctx.group())
    result = {name: run.counts.get(name, 0) if run else 0 for name in RESULT}
    matched_text = (
        f"{len(offers):,} {'posting' if len(offers) == 1 else 'postings'} compared with the candidates of "
        f"{len(roles):,} {'role' if len(roles) == 1 else 'roles'}"
    )
    candidates, made = result["candidates_matched"], result["matches_created"]
    told = (
        f"{made:,} {'match' if made == 1 else 'matches'} created, for {candidates:,} "
        f"{'candidate' if candidates == 1 else 'candidates'}"
    )
    detail = {**result, "postings": len(offers), "session_id": ctx.task.payload.get("session")}
    return Done(
        f"{matched_text}: {told}",
        result=result,
        events=(NewEvent("candidates_matched", detail),),
        counts={"postings": len(offers), "roles": len(roles)},
    )


def _slice(ctx: Context, role: int, before: int | None) -> list[Found]:
    """Candidates of a role, the newest first."""
    most = int(ctx.setting("roles.match.slice"))
    return ctx.wait(ctx.records(CANDIDATE, link=Link(WANTS, str(role)), before=before, limit=most))


def _postings(ctx: Context) -> list[int]:
    ids = ctx.task.payload.get("postings")
    if not isinstance(ids, list) or len(ids) > MAX_POSTINGS or not all(isinstance(each, int) for each in ids):
        raise Permanent(
            f'a {KIND} task needs the records of at most {MAX_POSTINGS:,} postings: {{"role": 7, '
            '"postings": [1, 2]}'
        )
    return ids


match_postings = Pipeline(KIND, Stage(read), Stage(match))
