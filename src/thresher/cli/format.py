"""Format numbers, durations and times for people, and escape text for a terminal."""

import json
from collections.abc import Sequence
from typing import Any

from thresher.core.clock import FOREVER, SECOND, as_text, span
from thresher.core.limits import escape_unseen

__all__ = ["ago", "as_json", "bars", "clock_time", "number", "opens", "plain", "short", "span", "when"]


def when(at: int | None, now: int) -> str:
    """A time seen from now, with the time itself."""
    if at is None:
        return "–"
    if at >= FOREVER:
        return "for ever"
    ahead = (at - now) / SECOND
    near = f"in {span(ahead)}" if ahead > 0 else f"{span(-ahead)} ago"
    return f"{near} ({clock_time(at, now)})"


def ago(at: int | None, now: int) -> str:
    """How long since."""
    return "–" if at is None else span(max(0.0, (now - at) / SECOND))


def opens(state: str, at: int | None, now: int) -> str:
    """When a gate opens."""
    words = {"open": "–", "full": "when a slot is free", "disabled": "when you enable it"}
    return words.get(state) or when(at, now)


def clock_time(at: int, now: int) -> str:
    """The time in UTC; with its date if it is not today's."""
    text = as_text(at) or ""
    today = (as_text(now) or "")[:10]
    return f"{text[11:19]}Z" if text[:10] == today else f"{text[:10]} {text[11:19]}Z"


def number(count: int, one: str, many: str | None = None) -> str:
    """A count with its word: 1 task, 1,200 tasks."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


BARS = " ▁▂▃▄▅▆▇█"


def bars(values: Sequence[int]) -> str | None:
    """Numbers as small bars beside each other, the largest as high as a line; None where all are 0."""
    most = max(values, default=0)
    if not most:
        return None
    return "".join(BARS[-(-each * (len(BARS) - 1) // most)] for each in values)


def short(text: str | None, most: int = 80) -> str:
    """The beginning of a text, on one line."""
    line = " ".join((text or "").split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def as_json(value: Any, indent: int | None = None) -> str:
    r"""A value as JSON for a terminal: what is not seen is written as \uXXXX, so it is carried and nobody
    obeys it.
    """
    return escape_unseen(json.dumps(value, indent=indent, ensure_ascii=False, default=str))


def plain(text: str) -> str:
    """Text without control characters: a message from a hostile page must not steer the terminal."""
    return "".join(
        char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in text
    )
