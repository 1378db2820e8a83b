"""The text of a stored page with the places of its values: what a person checks an item against."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from thresher.apps.extractions.store.datasets import DataItem
from thresher.core.errors import ThresherError
from thresher.store import blobs
from thresher.store.store import Store

MAX_TEXT = 200_000  # characters that a person is shown
MAX_PLACES = 5_000
MAX_PICTURE = 8_000_000  # bytes


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a text; `field` is what stands there, if anything does."""

    text: str
    field: str | None = None


def marked_text(store: Store, items: Sequence[DataItem], fallback: str | None) -> list[Segment]:
    """The text that the evidence of these items counts in, cut at the places of their values; without
    evidence the page's Markdown, whole.
    """
    source = next((each.evidence.get("source") for each in items if each.evidence.get("source")), fallback)
    text = body_text(store, source)
    found = [
        place for each in items if each.evidence.get("source") == source for place in _places(each.evidence)
    ]
    return list(segments(text[:MAX_TEXT], found[:MAX_PLACES]))


def body_text(store: Store, name: str | None) -> str:
    """A stored body as text; empty where it is not stored any more."""
    try:
        return blobs.get(store, name).decode("utf-8", "replace") if name else ""
    except ThresherError:
        return ""


def picture(store: Store, name: str | None) -> bytes | None:
    """A stored screenshot, unless it is gone or too large to send."""
    try:
        body = blobs.get(store, name) if name else b""
    except ThresherError:
        return None
    return body if 0 < len(body) <= MAX_PICTURE else None


def _places(evidence: Any) -> Iterator[tuple[int, int, str]]:
    for name, place in (evidence.get("places") or {}).items():
        if place and isinstance(place.get("start"), int) and isinstance(place.get("end"), int):
            yield place["start"], place["end"], name.partition(".")[0]


def segments(text: str, places: Iterable[tuple[int, int, str]]) -> Iterator[Segment]:
    """Cut a text at places, in their order; of two that overlap the first counts."""
    at = 0
    for start, end, name in sorted(places):
        if start < at or not start < end <= len(text):
            continue
        if start > at:
            yield Segment(text[at:start])
        yield Segment(text[start:end], name)
        at = end
    if at < len(text):
        yield Segment(text[at:])
