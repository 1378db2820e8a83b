"""What happens to a role's turn on a platform, and to the platform, when a search has ended.

Only a search that found something, or proved that there is nothing, ends a turn; with
`roles.any_post_completes`, every search whose scraper reported back without naming a problem does. Others
return to the queue: immediately the first time, then after a wait that doubles. A session that timed out has
waited long enough.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from thresher.core.backoff import doubled
from thresher.core.clock import to_us
from thresher.core.gate import tripped_until

SETTINGS = (
    "roles.retry_base",
    "roles.retry_cap",
    "roles.platform_failures",
    "roles.platform_pause",
    "roles.platform_pause_cap",
    "roles.any_post_completes",
)
TAG = "failures"  # of a pause that nobody asked for


class Verdict(StrEnum):
    """How a look ended. `unknown`: nothing was found, and nothing proves that there is nothing."""

    FOUND = "found"
    EMPTY = "empty"
    BLOCKED = "blocked"
    FAILED = "failed"
    UNKNOWN = "unknown"
    TIMEOUT = "timeout"

    @property
    def is_final(self) -> bool:
        """Whether the turn is done with it."""
        return self in (Verdict.FOUND, Verdict.EMPTY)


@dataclass(frozen=True, slots=True)
class Pace:
    """How long turns and platforms wait after trouble, and whether a look that proves nothing ends its
    turn.
    """

    retry_base_us: int
    retry_cap_us: int
    platform_failures: int
    platform_pause_us: int
    platform_pause_cap_us: int
    any_post_completes: bool = False

    @classmethod
    def of(cls, settings: Mapping[str, int | float]) -> "Pace":
        base, cap, failures, pause, longest, any_post = (settings[name] for name in SETTINGS)
        return cls(to_us(base), to_us(cap), int(failures), to_us(pause), to_us(longest), bool(any_post))


@dataclass(frozen=True, slots=True)
class Ended:
    """A turn after a look: done until `due_at`, or waiting for another one from then on."""

    done: bool
    due_at: int
    failures: int


def after_look(verdict: Verdict, failures: int, looked_at: int, every_us: int, now: int, pace: Pace) -> Ended:
    """What becomes of a turn with so many failures in a row, whose look began at `looked_at`."""
    if verdict.is_final or (verdict is Verdict.UNKNOWN and pace.any_post_completes):
        return Ended(done=True, due_at=looked_at + every_us, failures=0)
    failures += 1
    return Ended(done=False, due_at=now + _delay(verdict, failures, pace), failures=failures)


def _delay(verdict: Verdict, failures: int, pace: Pace) -> int:
    if failures == 1 or verdict is Verdict.TIMEOUT:
        return 0
    return doubled(pace.retry_base_us, failures - 2, pace.retry_cap_us)


@dataclass(frozen=True, slots=True)
class Health:
    """A platform's failures in a row, and until when and why it is paused."""

    failures: int = 0
    paused_until: int = 0
    tag: str | None = None
    reason: str | None = None


def after_platform(health: Health, verdict: Verdict, now: int, pace: Pace) -> Health:
    """What a look says about its platform. Only a person ends a pause that a person made."""
    if verdict is Verdict.FOUND:
        own = health.tag not in (None, TAG)
        return replace(health, failures=0) if own else Health()
    if verdict not in (Verdict.BLOCKED, Verdict.FAILED) or health.paused_until > now:
        return health  # whoever was on the way when it was paused says nothing new
    failures = health.failures + 1
    until = tripped_until(
        failures, pace.platform_failures, pace.platform_pause_us, now, cap_us=pace.platform_pause_cap_us
    )
    if not until:
        return replace(health, failures=failures)
    return Health(
        failures, until, TAG, f"{failures} searches in a row ended without a result, the last as {verdict}"
    )
