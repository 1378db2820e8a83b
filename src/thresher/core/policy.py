"""What follows from an error: one table, from its class to what happens to the task and to the gate.

The most specific class in the table wins. A surprise (any exception that is not a `TaskError`) is our own
fault, not the source's: it spends a failure and is tried again, but no gate hears of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from thresher.core import errors
from thresher.core.settlement import Health


@dataclass(frozen=True, slots=True)
class Ruling:
    """`health` is what the blamed gate hears; `tag` is the word a person sees beside a disabled source."""

    health: Health | None = None
    tag: str | None = None


POLICY: Mapping[type[BaseException], Ruling] = {
    errors.Transient: Ruling(Health.FAILURE),
    errors.RateLimited: Ruling(Health.PAUSE, "rate_limited"),
    errors.BudgetExhausted: Ruling(Health.PAUSE, "budget"),
    errors.NotYet: Ruling(),  # our own limits: nobody is to blame
    errors.ClaimLost: Ruling(),
    errors.Blocked: Ruling(Health.DISABLE, "anti_bot"),
    errors.Unauthorized: Ruling(Health.DISABLE, "auth"),
    errors.Forbidden: Ruling(Health.FAILURE),
    errors.Permanent: Ruling(),
    errors.TaskError: Ruling(),
    Exception: Ruling(),
}


def ruling_for(problem: BaseException) -> Ruling:
    """The row of the table for this error."""
    return next((POLICY[cls] for cls in type(problem).__mro__ if cls in POLICY), Ruling())
