"""What sort of page it is."""

from enum import StrEnum


class Kind(StrEnum):
    """In a person's words, because they are shown to people."""

    LISTING = "listing"
    DETAIL = "detail"
    COMPANY = "company"
    BOARD = "board"
    FEED = "feed"
    SHELL = "shell"
    WALL = "bot wall"
    ARTICLE = "article"
    OTHER = "other"
