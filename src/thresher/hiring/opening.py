"""An opening: a posting's facts in the terms that filters, scores and matches use, and its JSON form.

None and the empty tuple mean that the posting does not say, which is not no. Every fact has its position in
the posting, under its own name, in `evidence`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any, Protocol

from thresher.core import evidence
from thresher.core.errors import Malformed
from thresher.core.evidence import Evidence
from thresher.core.stored import made


class Workplace(StrEnum):
    """Where the work is done."""

    REMOTE = "remote"
    HYBRID = "hybrid"
    ONSITE = "onsite"


class Level(StrEnum):
    """How senior the work is, from low to high."""

    INTERN = "intern"
    JUNIOR = "junior"
    MID = "mid"
    SENIOR = "senior"
    STAFF = "staff"
    PRINCIPAL = "principal"
    LEAD = "lead"
    MANAGER = "manager"
    DIRECTOR = "director"
    EXECUTIVE = "executive"


class Employment(StrEnum):
    """The sort of contract."""

    FULL_TIME = "full_time"
    PART_TIME = "part_time"
    CONTRACT = "contract"
    TEMPORARY = "temporary"
    INTERNSHIP = "internship"
    VOLUNTEER = "volunteer"


@dataclass(frozen=True, slots=True)
class Pay:
    """What is paid a year, in whole units of the currency, and how it was written. `period` is the one that
    it was written for.
    """

    text: str
    low: Decimal | None = None
    high: Decimal | None = None
    currency: str | None = None
    period: str | None = None
    year_low: int | None = None
    year_high: int | None = None


@dataclass(frozen=True, slots=True)
class Spot:
    """One place of work, as far as it is said: a country alone is a place too. `region` and `country` are
    codes where known (OR, US).
    """

    text: str
    city: str | None = None
    region: str | None = None
    country: str | None = None
    remote: bool = False


@dataclass(frozen=True, slots=True)
class Experience:
    """The years that are asked for."""

    low: int
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Opening:
    """`key` is that of the posting's record; `text` is the whole description, without mark-up.

    `found` is the day on which the first look at its board found it; it is no fact of the posting, and None
    for all others.
    """

    key: str
    title: str
    text: str = ""
    company: str | None = None
    url: str | None = None
    posted: date | None = None
    pay: Pay | None = None
    spots: tuple[Spot, ...] = ()
    workplace: Workplace | None = None
    level: Level | None = None
    experience: Experience | None = None
    employment: tuple[Employment, ...] = ()
    skills: tuple[str, ...] = ()
    evidence: Evidence = field(default_factory=Evidence)
    found: date | None = None


# To JSON and back. What a posting does not say is left out.

FACTS = "facts."  # where the facts stand in the data of a posting's record


def facts_of(opening: Opening) -> dict[str, Any]:
    """The facts as they are kept in the record of the posting, whose evidence is kept beside them
    (`places_of`).
    """
    return {name: value for name, value in as_json(opening).items() if name not in ("key", "evidence")}


def places_of(opening: Opening) -> Evidence:
    """The evidence of the facts, under the names that they have in the record."""
    places = {FACTS + name: place for name, place in opening.evidence.places.items()}
    return Evidence(places, opening.evidence.source)


class ReadPosting(Protocol):
    """A posting whose facts may have been read."""

    @property
    def key(self) -> str: ...
    @property
    def description(self) -> str | None: ...
    @property
    def facts(self) -> Mapping[str, Any] | None: ...


def opening_of(posting: ReadPosting, kept: Evidence | None) -> Opening:
    """The opening that was read from a posting, with the evidence of its record. Raises Malformed."""
    kept = kept or Evidence()
    places = {
        name.removeprefix(FACTS): place for name, place in kept.places.items() if name.startswith(FACTS)
    }
    if posting.facts is None:
        raise Malformed(f"posting {posting.key} has no facts yet; read them first")
    found = {**posting.facts, "key": posting.key, "evidence": evidence.as_json(Evidence(places, kept.source))}
    return of_json(found, posting.description or "")


def as_json(opening: Opening) -> dict[str, Any]:
    """An opening as plain data. The description is not repeated: the posting has it."""
    found: dict[str, Any] = {
        "title": opening.title,
        "company": opening.company,
        "url": opening.url,
        "posted": opening.posted.isoformat() if opening.posted else None,
        "pay": _pay_as_json(opening.pay) if opening.pay else None,
        "spots": [_spot_as_json(spot) for spot in opening.spots],
        "workplace": opening.workplace,
        "level": opening.level,
        "experience": {"low": opening.experience.low, "high": opening.experience.high}
        if opening.experience
        else None,
        "employment": list(opening.employment),
        "skills": list(opening.skills),
        "evidence": evidence.as_json(opening.evidence) if opening.evidence.places else None,
    }
    return {"key": opening.key} | {
        name: _plain(value) for name, value in found.items() if value not in (None, [], {})
    }


def of_json(data: Mapping[str, Any], text: str = "") -> Opening:
    """The way back. `text` is the description of the posting, which is kept there. Raises Malformed."""
    try:
        return Opening(
            key=str(data["key"]),
            title=str(data.get("title") or ""),
            text=text,
            company=data.get("company"),
            url=data.get("url"),
            posted=date.fromisoformat(data["posted"]) if data.get("posted") else None,
            pay=_pay(data["pay"]) if data.get("pay") else None,
            spots=tuple(made(Spot, spot) for spot in data.get("spots", ())),
            workplace=Workplace(data["workplace"]) if data.get("workplace") else None,
            level=Level(data["level"]) if data.get("level") else None,
            experience=made(Experience, data["experience"]) if data.get("experience") else None,
            employment=tuple(Employment(each) for each in data.get("employment", ())),
            skills=tuple(map(str, data.get("skills", ()))),
            evidence=evidence.of_json(data["evidence"]) if data.get("evidence") else evidence.Evidence(),
        )
    except (KeyError, TypeError, ValueError, AttributeError, InvalidOperation) as problem:
        raise Malformed(
            f"the facts stored with a posting are not an opening ({problem}); read them again from "
            "the posting"
        ) from None


def _plain(value: Any) -> Any:
    """Enumerations as the words they are."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.value if isinstance(value, Workplace | Level | Employment) else value


def _pay_as_json(pay: Pay) -> dict[str, Any]:
    amounts = {"low": pay.low, "high": pay.high}
    written = {
        name: str(value) for name, value in amounts.items() if value is not None
    }  # exact, as it was written
    others = {
        "currency": pay.currency,
        "period": pay.period,
        "year_low": pay.year_low,
        "year_high": pay.year_high,
    }
    return {"text": pay.text} | written | {name: value for name, value in others.items() if value is not None}


def _pay(data: Mapping[str, Any]) -> Pay:
    amounts = {name: Decimal(data[name]) for name in ("low", "high") if data.get(name) is not None}
    return made(Pay, {**data, **amounts})


def _spot_as_json(spot: Spot) -> dict[str, Any]:
    said = {"city": spot.city, "region": spot.region, "country": spot.country, "remote": spot.remote or None}
    return {"text": spot.text} | {name: value for name, value in said.items() if value is not None}
