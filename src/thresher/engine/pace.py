"""How long a worker with nothing to do sleeps. Only ever until the next poll: a wake-up may be lost, a poll
is not.
"""

import random

from thresher.core.clock import SECOND
from thresher.store.backend import Turn

# After an empty turn that promised more (another claimer holds a lane or a gate).
NUDGE_SECONDS = 0.003
MIN_SECONDS = 0.0005


def seconds_to_wait(turn: Turn | None, poll: float) -> float:
    """Until the next timer or delayed task by the database's clock, or the poll, whichever comes first."""
    if turn is None:
        return poll
    if turn.more:
        return NUDGE_SECONDS * random.uniform(0.5, 1.5)
    if turn.next_at is None:
        return poll
    return min(poll, max(MIN_SECONDS, (turn.next_at - turn.now) / SECOND))
