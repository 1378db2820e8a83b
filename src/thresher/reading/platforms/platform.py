"""Hiring platforms as data: one file each, so that a board can be added without code.

A file says how the addresses of a platform look, what its boards leave behind in the pages of companies that
use it, how to ask for the list of postings, for one of them and for the owner, and where in the answers
everything stands. A project may bring files of its own: they come before the built-in ones, and replace those
of the same name.
"""

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from threading import Lock

from thresher.core.errors import ConfigError
from thresher.reading.platforms.definition import (
    AnswerShape,
    Auth,
    Confidence,
    Facet,
    Mark,
    Owner,
    Paging,
    Platform,
    PlatformEndpoint,
)
from thresher.reading.platforms.platform_file import FIELDS, read_platform

__all__ = [
    "FIELDS",
    "AnswerShape",
    "Auth",
    "Confidence",
    "Facet",
    "Mark",
    "Owner",
    "Paging",
    "Platform",
    "PlatformEndpoint",
    "guessable",
    "platform_named",
    "platforms",
    "read_platform",
    "read_platforms",
    "use_platforms",
]


class _Catalogue:
    """The platforms by name. The mapping is replaced whole, never changed: another thread sees the old one or
    the new one.
    """

    def __init__(self) -> None:
        self._writing, self._known = Lock(), dict[str, Platform]()

    def known(self) -> dict[str, Platform]:
        if not self._known:
            with self._writing:
                self._known = self._known or {each.name: each for each in _built_in()}
        return self._known

    def keep(self, own: dict[str, Platform]) -> None:
        with self._writing:
            self._known = own | {each.name: each for each in _built_in() if each.name not in own}


_catalogue = _Catalogue()


def platforms() -> tuple[Platform, ...]:
    """Every platform we know: a project's own first, then the built-in ones by name."""
    return tuple(_catalogue.known().values())


def platform_named(name: str) -> Platform | None:
    return _catalogue.known().get(name)


def guessable() -> tuple[Platform, ...]:
    """The platforms on which a company's name may be tried as a token, the cheapest first."""
    return tuple(
        sorted(
            (each for each in platforms() if each.guess is not None),
            key=lambda each: (each.guess or 0, each.name),
        )
    )


def read_platforms(texts: Iterable[tuple[str, str]]) -> tuple[Platform, ...]:
    """Platforms from pairs of (name of the file, its text). Raises ConfigError for the first mistake."""
    return tuple(read_platform(text, name) for name, text in texts)


def use_platforms(own: Iterable[Platform]) -> None:
    """Let a project's own platforms count in this process, and only these: calling it again replaces what it
    said before.
    """
    found: dict[str, Platform] = {}
    for platform in own:
        if platform.name in found:
            raise ConfigError(
                f"two files describe the platform {platform.name}; give one of them another name"
            )
        found[platform.name] = platform
    _catalogue.keep(found)


@cache
def _built_in() -> tuple[Platform, ...]:
    folder = files("thresher.reading") / "platforms"
    found = sorted(
        (each for each in folder.iterdir() if each.name.endswith(".yaml")), key=lambda each: each.name
    )
    return read_platforms((each.name, each.read_text("utf-8")) for each in found)
