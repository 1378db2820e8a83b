"""The name of the point of a text: who keeps one, and who has it dropped, must mean the same."""

from thresher.core.keys import content_hash


def point_key(text: str) -> str:
    """The key under which the vector of a text is kept: a text is its own key, so a changed one simply has
    another point.
    """
    return content_hash(text.encode("utf-8", "replace"))
