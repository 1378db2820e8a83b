"""The records of the roles app: candidates, and postings as scrapers bring them. How each is read and
written.

A candidate is who looks for work, their skills and what they want: personal data, kept only in their own
record. None and the empty tuple mean that it is unknown, which is not no.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from operator import itemgetter
from typing import Any, ClassVar, Self

from thresher.apps.roles.matching.skill import is_known_skill, skill_key
from thresher.core.record import Found
from thresher.core.stored import read, written
from thresher.hiring.records import PostingFields

CANDIDATE = "candidate"
WANTS = "wants"  # the link of a candidate to a role, by the role's id
ROLE = "role"  # the same of a posting
ASKS = "asks"  # of a candidate to the key of a title that waits for a model's answer
SKILLS, STACK = 5, 3  # how many of each become keywords


@dataclass(frozen=True, slots=True)
class Candidate:
    """`key` is that of the record; `roles` are titles that are wanted besides the present one; `salary_min`
    is for a year.
    """

    NOT_STORED: ClassVar = (None, "", ())

    key: str
    name: str = ""
    title: str = ""
    roles: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    tech_stack: tuple[str, ...] = ()
    specializations: tuple[str, ...] = ()
    experience_years: float | None = None
    locations: tuple[str, ...] = ()
    salary_min: int | None = None
    currency: str | None = None
    remote: bool | None = None

    @classmethod
    def of(cls, found: Found) -> Self:
        return read(cls, found.data, key=found.key)

    @property
    def role_titles(self) -> tuple[str, ...]:
        """Every title that leads to a role, each once."""
        return tuple(dict.fromkeys(title for title in (self.title, *self.roles) if title))


@dataclass(frozen=True, slots=True)
class WantedTitle:
    """A title of a candidate, and the role that it was understood as: None while a model is asked, or where
    it says nothing.
    """

    title: str = ""
    key: str = ""
    role: str | None = None
    role_id: int | None = None
    similarity: float | None = None
    method: str = ""
    reason: str = ""
    unknown: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CandidateRecord(Candidate):
    """A candidate with all that is stored of them. `name_key` is the name as names are compared; `titles` is
    how their titles were understood.
    """

    email: str | None = None
    name_key: str = ""
    keywords: tuple[str, ...] = ()
    titles: tuple[WantedTitle, ...] = ()
    unknown: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def made(cls, candidate: Candidate, **more: Any) -> Self:
        """The record of a candidate; `more` are the fields that only the record has."""
        said = {each.name: getattr(candidate, each.name) for each in fields(Candidate)}
        return cls(**said, keywords=tuple(keywords(candidate)), **more)

    def stored(self) -> dict[str, Any]:
        """The data of the record: what nobody said is left out, empty keywords and titles are not."""
        return {"keywords": [], "titles": [], **written(self)}


def keywords(candidate: Candidate) -> list[str]:
    """What to search for on a candidate's behalf: the title, then the first skills, then the tools, then what
    they specialise in.
    """
    found = [
        candidate.title,
        *candidate.skills[:SKILLS],
        *candidate.tech_stack[:STACK],
        *candidate.specializations,
    ]
    once: dict[str, str] = {}
    for word in found:
        once.setdefault(word.casefold(), word)
    return [word for word in once.values() if word]


def role_keywords(name: str, people: Iterable[Sequence[str]], least: int, most: int) -> tuple[str, ...]:
    """What to search for on behalf of all candidates of a role: its name, then the keywords that most of them
    have, at most `most`. `people` has the keywords of each.

    Scrapers belong to others, so a word that few candidates wrote is not told: it may say who they are. Only
    what our vocabulary knows as a skill is told whoever has it.
    """
    spelt: dict[str, Counter[str]] = {}
    places: dict[str, int] = {}
    for words in people:
        mine = dict(zip(map(skill_key, reversed(words)), reversed(list(enumerate(words))), strict=True))
        for key, (place, word) in mine.items():
            spelt.setdefault(key, Counter())[word] += 1
            places[key] = min(place, places.get(key, place))
    for key in ("", skill_key(name)):
        spelt.pop(key, None)
    told = [key for key, found in spelt.items() if found.total() >= least or is_known_skill(key)]
    told.sort(key=lambda key: (-spelt[key].total(), places[key], key))
    words = (name, *(max(sorted(spelt[key].items()), key=itemgetter(1))[0] for key in told))
    return words[:most]


# Postings


@dataclass(frozen=True, slots=True)
class StatedYears:
    """The experience that a posting asks for, as its scraper stated it."""

    text: str | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class ScrapedPosting:
    """A posting as matching reads it, thousands at a time: of the whole (`PostingRecord`) only what is
    compared, and what scrapers state besides. Entries of `skills` keep their places, whatever they are,
    because evidence counts them.
    """

    key: str
    state: str | None = None
    description: str | None = None
    facts: Mapping[str, Any] | None = None
    skills: tuple[Any, ...] = ()
    experience: StatedYears | None = None

    @classmethod
    def of(cls, found: Found) -> Self:
        return read(cls, found.data, key=found.key)


class ScrapedFields(PostingFields, total=False):
    """What is stored of a posting that a scraper brought, as JSON: it is written as it comes. `content` is
    what a twin is known by; `session` is the id of the session that brought it first.
    """

    platform: str
    content: str
    session: str
    skills: list[str]
    experience: Mapping[str, Any]
    is_remote: bool
