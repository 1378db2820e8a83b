"""Two long texts beside each other: the part in which they differ, not their common beginning."""

MARK = "…"
BEFORE = 20  # characters of what both begin with, so that a reader finds the place


def differing(was: str, is_: str, most: int) -> tuple[str, str]:
    """Both texts in at most so many characters, from shortly before their first difference on."""
    if len(was) <= most and len(is_) <= most:
        return was, is_
    start = _start(was, is_)
    return _part(was, start, most), _part(is_, start, most)


def _start(was: str, is_: str) -> int:
    """Where a word begins, not too far before the first character that differs."""
    same = next(
        (at for at, (a, b) in enumerate(zip(was, is_, strict=False)) if a != b), min(len(was), len(is_))
    )
    earliest = max(0, same - BEFORE)
    if earliest == 0:
        return 0
    word = was.find(" ", earliest, same)
    return word + 1 if word >= 0 else earliest


def _part(text: str, start: int, most: int) -> str:
    before = MARK if start else ""
    room = most - len(before)
    rest = text[start:]
    return before + (rest if len(rest) <= room else rest[: room - 1].rstrip() + MARK)
