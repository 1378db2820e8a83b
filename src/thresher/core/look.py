"""How a look at a source ended. Nothing found is not nothing there.

    found             there is something, and we read it
    confirmed_empty   there is nothing, and the source itself said so
    unknown           we read nothing and cannot tell why: a changed layout, a script shell, a doubtful count
    blocked           a wall stood in front of it

Only the first two complete work, move watermarks or close postings.
"""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """The four ends of a look."""

    FOUND = "found"
    CONFIRMED_EMPTY = "confirmed_empty"
    UNKNOWN = "unknown"
    BLOCKED = "blocked"

    @property
    def is_proof(self) -> bool:
        """Whether something may be concluded from it."""
        return self in (Verdict.FOUND, Verdict.CONFIRMED_EMPTY)


@dataclass(frozen=True, slots=True)
class Look:
    """A verdict and the sentence a person is given for it; `quote` is what on the page caused it."""

    verdict: Verdict
    reason: str
    quote: str | None = None
