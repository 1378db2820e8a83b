"""A thing: something a page describes in a form made for machines, whichever form that is.

JSON-LD, microdata, RDFa and Open Graph all say "this is a Product, its name is ...". Here they become one
shape, each with the path to where it stands, so that a value taken from it can be shown on the page.
"""

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_THINGS = 5_000
MAX_DEPTH = 40
MAX_TEXT = 100_000
# What a value may be wrapped in, and under which names the text then stands.
_TEXT_KEYS = ("@value", "name", "value", "text", "url", "@id")


@dataclass(frozen=True, slots=True)
class Thing:
    """`type` is the first of `types`, without its vocabulary: "JobPosting". Values are text, numbers, lists
    and mappings, as written.

    `path` leads to it: a CSS path, and behind `$` a JSON path. `syntax` is json-ld, microdata, rdfa or
    opengraph.
    """

    type: str
    properties: Mapping[str, Any]
    path: str
    syntax: str
    types: tuple[str, ...] = ()

    def text(self, *names: str) -> str | None:
        """The first of these properties that says something, as text without entities; of a mapping, its
        name.
        """
        return next((said for name in names for said in texts(self.properties.get(name)) if said), None)

    def texts(self, name: str) -> list[str]:
        """All that a property says."""
        return [said for said in texts(self.properties.get(name)) if said]

    def mapping(self, name: str) -> Mapping[str, Any]:
        """A property that is a mapping, or the first such of a list; else empty."""
        value = self.properties.get(name)
        found = value if isinstance(value, list) else [value]
        return next((each for each in found if isinstance(each, Mapping)), {})


@dataclass(frozen=True, slots=True)
class BadData:
    """Something made for machines that no machine can read: where it stands, and what is wrong."""

    path: str
    what: str


@dataclass(frozen=True, slots=True)
class Structured:
    """All things of a page in document order, and what could not be read."""

    things: tuple[Thing, ...] = ()
    troubles: tuple[BadData, ...] = field(default=())

    def of(self, *types: str) -> list[Thing]:
        """The things of these types, in order."""
        return [thing for thing in self.things if not set(types).isdisjoint(thing.types)]


def texts(value: Any, depth: int = 0) -> Iterator[str]:
    """What a value says, as text: of a list each entry, of a mapping its name."""
    if isinstance(value, str):
        yield html.unescape(value[:MAX_TEXT]).strip()
    elif isinstance(value, bool):
        yield "true" if value else "false"
    elif isinstance(value, int | float):
        yield str(value)
    elif isinstance(value, list) and depth < MAX_DEPTH:
        for each in value[:MAX_THINGS]:
            yield from texts(each, depth + 1)
    elif isinstance(value, Mapping) and depth < MAX_DEPTH:
        found = (said for key in _TEXT_KEYS for said in texts(value.get(key), depth + 1) if said)
        if (first := next(found, None)) is not None:
            yield first


def type_names(written: Any) -> tuple[str, ...]:
    """Types without their vocabulary: `https://schema.org/Product` and `schema:Product` are `Product`."""
    words = [
        word.strip().rstrip("/")
        for word in (written if isinstance(written, list) else [written])[:20]
        if isinstance(word, str)
    ]
    names = [re.split(r"[/#:]", word)[-1] for word in words]
    return tuple(dict.fromkeys(name for name in names if name))
