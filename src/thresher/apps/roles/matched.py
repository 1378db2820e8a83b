"""A block of candidates against a block of postings: the matches as an effect, which the settlement writes
behind its fence.
"""

from collections.abc import Sequence

from thresher.apps.roles.matching.choice import Side, choose
from thresher.apps.roles.matching.offer import Offer
from thresher.apps.roles.matching.points import Points
from thresher.apps.roles.matching.seeker import Seeker
from thresher.core.context import Context
from thresher.core.outcome import Effect

# The kind of the vectors. One for both sides: they are compared with each other, and a text is a text.
FITTING = "fitting"


def matched(
    ctx: Context, role: int, seekers: Sequence[Seeker], offers: Sequence[Offer], points: Points
) -> Effect:
    """What becomes of these pairs. For stages on threads: scoring takes a while."""
    sides = Side()
    if points.semantic and seekers and offers:
        texts = [*(seeker.text for seeker in seekers), *(offer.text for offer in offers)]
        found = ctx.wait(ctx.points(FITTING, texts))
        sides = Side(found[: len(seekers)], found[len(seekers) :])
    rows = choose(seekers, offers, points, sides)
    people, postings = [seeker.id for seeker in seekers], [offer.id for offer in offers]
    return Effect("matches.replace", {"role": role, "candidates": people, "postings": postings, "rows": rows})
