"""What will go wrong, and when: made from a seed before anything starts, so that a campaign can be played
again."""

import random
from dataclasses import dataclass

from tests.chaos.worker import POINTS

# (what, how often it comes compared with the others)
ADVERSITY = {
    "sqlite": {
        "kill": 6,
        "freeze": 4,
        "stop": 2,
        "cancel": 2,
        "enqueue": 3,
        "lock": 2,
        "full": 2,
        "choke": 1,
    },
    "postgres": {
        "kill": 6,
        "freeze": 4,
        "stop": 2,
        "cancel": 2,
        "enqueue": 3,
        "restart": 1,
        "crash": 1,
        "hole": 2,
        "upgrade": 1,
    },
}
JUMP_EVERY = 25.0


@dataclass(frozen=True, slots=True)
class Step:
    """One misfortune. `luck` in [0, 1) chooses its victim, `size` how bad it is."""

    at: float
    what: str
    luck: float
    size: float


def make_plan(seed: int, seconds: float, store: str) -> list[Step]:
    """The misfortunes of a campaign, in order."""
    chance = random.Random(f"{seed}/{store}")
    kinds = ADVERSITY[store]
    # Each once, whatever the dice say; then at random.
    must = [what for what in kinds if what != "enqueue"]
    chance.shuffle(must)
    steps, at = [], 1.0
    while at < seconds:
        what = (
            must.pop()
            if must and chance.random() < 0.7
            else chance.choices(list(kinds), list(kinds.values()))[0]
        )
        steps.append(Step(at, what, chance.random(), chance.random()))
        at += chance.uniform(0.25, 1.1)
    if store == "sqlite":
        for number in range(max(1, int(seconds // JUMP_EVERY))):
            jump_at = min(seconds * 0.6, 8.0) + number * JUMP_EVERY
            steps.append(Step(jump_at, "jump", chance.random(), chance.random()))
    return sorted(steps, key=lambda step: step.at)


def doom(seed: int, number: int) -> str | None:
    """Where the n-th worker process of a campaign kills itself or freezes, if it does."""
    chance = random.Random(f"{seed}/worker/{number}")
    fate = chance.random()
    if fate < 0.3:
        return None
    # Frozen just before it writes: the worst moment for a zombie to wake up.
    how, points = ("kill", POINTS) if fate < 0.65 else ("freeze", ("turn.before", "settle.before"))
    return f"{how}@{chance.choice(points)}:{chance.randint(1, 60)}"
