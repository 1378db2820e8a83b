"""The status that a person gives a match. It is new once, and after that only the person changes it."""

from enum import StrEnum


class Status(StrEnum):
    """The four things that a person may have done about a match."""

    NEW = "new"
    VIEWED = "viewed"
    APPLIED = "applied"
    DISMISSED = "dismissed"
