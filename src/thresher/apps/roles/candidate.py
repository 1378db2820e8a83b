"""A candidate: who looks for work, their skills, and what they want. Personal data, kept only in their own
record.

None and the empty tuple mean that it is unknown, which is not no.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thresher.core.record import Found

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

    key: str
    name: str
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

    @property
    def titles(self) -> tuple[str, ...]:
        """Every title that leads to a role, each once."""
        return tuple(dict.fromkeys(title for title in (self.title, *self.roles) if title))


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


def as_data(candidate: Candidate) -> dict[str, Any]:
    """A candidate as its record has it, keywords included. What nobody said is left out."""
    said: dict[str, Any] = {
        name: list(value) if isinstance(value, tuple) else value
        for name in Candidate.__dataclass_fields__
        if name != "key" and (value := getattr(candidate, name)) not in (None, "", ())
    }
    return said | {"keywords": keywords(candidate)}


def of_record(found: Found) -> Candidate:
    """The way back."""
    return of_data(found.key, found.data)


def of_data(key: str, data: Mapping[str, Any]) -> Candidate:
    """A candidate from the data of its record. A record may be older than this code: what is not there is not
    known.
    """
    known: dict[str, Any] = {}
    for name in Candidate.__dataclass_fields__:
        if name != "key" and name in data:
            known[name] = tuple(data[name]) if isinstance(data[name], list) else data[name]
    return Candidate(key, **known)
