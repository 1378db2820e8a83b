"""The skills that an opening names: technologies, each once, with the place of its first mention."""

from collections.abc import Iterable
from functools import lru_cache

from thresher.hiring.finding import Finding
from thresher.hiring.technology import Mention, technologies

MAX_SKILLS = 60


def read_skills(text: str) -> tuple[Finding[str], ...]:
    """Each technology once, in the order of the text."""
    return _once(technologies(text))


@lru_cache(4_096)
def skills_of_title(title: str) -> tuple[Finding[str], ...]:
    """The same of a title: most titles are seen many times."""
    return _once(technologies(title))


def _once(mentions: Iterable[Mention]) -> tuple[Finding[str], ...]:
    found: dict[str, Finding[str]] = {}
    for each in mentions:
        if each.name not in found:
            found[each.name] = Finding(each.name, each.start, each.end)
    return tuple(found.values())[:MAX_SKILLS]
