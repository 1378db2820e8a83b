"""What a person has done about a match. It is theirs: a match is new once, and after that only they change
it.
"""

from enum import StrEnum


class Status(StrEnum):
    """The four things that a person may have done about a match."""

    NEW = "new"
    VIEWED = "viewed"
    APPLIED = "applied"
    DISMISSED = "dismissed"
