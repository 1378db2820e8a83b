"""The `match_candidates` pipeline: match new or changed candidates with the open postings of their roles,
in batches.
"""

from thresher.apps.roles.keep import open_offers, roles_in
from thresher.apps.roles.matching.matched import matched
from thresher.apps.roles.matching.points import points_of
from thresher.apps.roles.matching.seeker import seeker_of
from thresher.apps.roles.model import CANDIDATE, WANTS
from thresher.core.context import Context
from thresher.core.errors import Permanent
from thresher.core.outcome import Done, Effect, Next, Outcome
from thresher.core.pipeline import Pipeline, Stage

KIND = "match_candidates"
MAX_CANDIDATES = 500  # candidates of one task
POSTINGS = 1_000  # postings that they are matched with at once


def match(ctx: Context) -> Outcome:
    """Match with the next portion of postings. At the end everything goes that is left from roles that they
    want no more.
    """
    points = points_of(ctx.setting)
    people = ctx.wait(ctx.records_of(CANDIDATE, _candidates(ctx)))
    roles = sorted({role for each in people for role in roles_in(each, WANTS)})
    before = ctx.task.checkpoint.get("before")
    for role in (each for each in roles if each >= int(ctx.task.checkpoint.get("role", 0))):
        offers, then = ctx.wait(open_offers(ctx, role, before, POSTINGS))
        before = None
        if offers or then:
            seekers = [seeker_of(each) for each in people if str(role) in each.linked(WANTS)]
            effect = matched(ctx, role, seekers, offers, points)
            # After the last portion of a role its successor is next: whichever of them has that number or a
            # larger one.
            return Next(
                {"role": role, "before": then} if then else {"role": role + 1}, again=True, effects=(effect,)
            )
    trim = Effect("matches.trim", {"candidates": [each.id for each in people], "best": points.best})
    return Done(
        f"{len(people)} candidates were matched with the postings of {len(roles)} roles", effects=(trim,)
    )


def _candidates(ctx: Context) -> list[int]:
    ids = ctx.task.payload.get("candidates")
    if (
        not isinstance(ids, list)
        or len(ids) > MAX_CANDIDATES
        or not all(isinstance(each, int) for each in ids)
    ):
        raise Permanent(
            f"a {KIND} task needs the records of at most {MAX_CANDIDATES} candidates: "
            '{"candidates": [1, 2]}'
        )
    return ids


match_candidates = Pipeline(KIND, Stage(match))
