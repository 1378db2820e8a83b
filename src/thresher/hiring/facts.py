"""The facts of a posting: what it says of pay, place, level, experience and the rest, each with where it says
so.

A field that is about one thing is asked before the description, which is about everything. What nobody says
is not known. Every character of a posting may be hostile; at most `MAX_LENGTH` of them are read, each a
bounded number of times.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from thresher.core.evidence import Evidence, Place
from thresher.hiring import employment, pay, workplace
from thresher.hiring.experience import read_experience
from thresher.hiring.finding import flat, place
from thresher.hiring.level import read_level
from thresher.hiring.opening import Employment, Experience, Level, Opening, Pay, Spot, Workplace
from thresher.hiring.skills import read_skills, skills_of_title
from thresher.hiring.spots import read_spots
from thresher.reading.values.dates import posted_on

MAX_LENGTH = 30_000  # characters of a description that are read
MAX_LINE = 1_000  # of a title, a location, a field
_LOCATED = ("location:", "locations:", "standort:", "arbeitsort:", "work location:", "job location:")


def read_facts(key: str, data: Mapping[str, Any], *, today: date, source: str | None = None) -> Opening:
    """The opening that a posting describes. `source` names the stored text that the places of the description
    count in.
    """
    sheet = _Sheet(
        _text(data, "title"), _text(data, "location"), _text(data, "description", MAX_LENGTH), data
    )
    spots = sheet.spots()
    return Opening(
        key=key,
        title=sheet.title,
        text=sheet.text,
        company=_text(data, "company_name") or None,
        url=_text(data, "url", 8_192) or None,
        posted=sheet.posted(today),
        pay=sheet.pay(spots),
        spots=spots,
        workplace=sheet.workplace(),
        level=sheet.level(),
        experience=sheet.experience(),
        employment=sheet.employment(),
        skills=sheet.skills(),
        evidence=Evidence(sheet.places, source),
    )


def _text(data: Mapping[str, Any], name: str, most: int = MAX_LINE) -> str:
    value = data.get(name)
    return value[:most] if isinstance(value, str) else ""


@dataclass(slots=True)
class _Sheet:
    """One posting while it is read. Every answer leaves its place in `places`."""

    title: str
    location: str
    text: str
    data: Mapping[str, Any]
    low: str = ""
    places: dict[str, Place | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.low = flat(self.text)

    def posted(self, today: date) -> date | None:
        said = _text(self.data, "posted", 100)
        day = _iso(said) or (posted_on(said, today) if said else None)
        if day is not None:
            self.places["posted"] = Place(said, path="posted")
        return day

    def pay(self, spots: tuple[Spot, ...]) -> Pay | None:
        countries = {spot.country for spot in spots if spot.country}
        country = next(iter(countries)) if len(countries) == 1 else None
        said = pay.of_field(self.data.get("salary"), country)
        found = (
            pay.in_text(self.low, self.text, country=country)
            if said is None or said.low is said.high is None
            else None
        )
        if found is not None:
            self.places["pay"] = place(found, self.text)
            return found.value
        if said is not None:
            self.places["pay"] = _place_of_salary(self.data["salary"])
        return said

    def spots(self) -> tuple[Spot, ...]:
        if self.location:
            found = read_spots(self.location)
            for at in range(len(found)):
                self.places[f"spots.{at}"] = Place(self.location, path="location")
            return found
        return self._labelled_spots()

    def _labelled_spots(self) -> tuple[Spot, ...]:
        """A line of the description that says where: "Location: Leeds"."""
        for label in _LOCATED:
            at = self.low.find(label)
            if at >= 0 and (at == 0 or not self.low[at - 1].isalnum()):
                start = at + len(label)
                end = self.low.find("\n", start, start + 200)
                line = self.text[start : end if end >= 0 else start + 100].strip(" *_\t")
                start = self.text.index(line, start) if line else start
                found = tuple(
                    spot
                    for spot in read_spots(line)
                    if spot.city or spot.region or spot.country or spot.remote
                )
                for number in range(len(found)):
                    self.places[f"spots.{number}"] = Place(line, start, start + len(line))
                return found
        return ()

    def workplace(self) -> Workplace | None:
        for name in ("workplace", "workplace_type", "remote"):
            value = self.data.get(name)
            said = "true" if value is True else value
            if isinstance(said, str) and (meant := workplace.of_field(said)) is not None:
                self.places["workplace"] = Place(str(value), path=name)
                return meant
        for path, line, read in (
            ("location", self.location, workplace.in_location),
            ("title", self.title, workplace.in_title),
        ):
            if line and (found := read(line)) is not None:
                self.places["workplace"] = place(found, line, path)
                return found.value
        if (found := workplace.in_text(self.low)) is None:
            return None
        self.places["workplace"] = place(found, self.text)
        return found.value

    def level(self) -> Level | None:
        if (found := read_level(self.title)) is None:
            return None
        self.places["level"] = place(found, self.title, "title")
        return found.value

    def experience(self) -> Experience | None:
        if (found := read_experience(self.low)) is None:
            return None
        self.places["experience"] = place(found, self.text)
        return found.value

    def employment(self) -> tuple[Employment, ...]:
        said = _text(self.data, "employment_type", 300)
        if said and (meant := employment.of_field(said)):
            self.places |= {
                f"employment.{at}": Place(said, path="employment_type") for at in range(len(meant))
            }
            # A field may be about the hours alone: an intern who works full time is an intern.
            extra = [
                each
                for each in employment.in_title(self.title)
                if each.value not in (*meant, *employment.HOURS)
            ]
            self.places |= {
                f"employment.{len(meant) + at}": place(each, self.title, "title")
                for at, each in enumerate(extra)
            }
            return (*meant, *(each.value for each in extra))
        path, line = "title", self.title
        found = employment.in_title(self.title)
        if not found:
            path, line = "", self.text
            found = employment.in_text(self.low)
        self.places |= {f"employment.{at}": place(each, line, path or None) for at, each in enumerate(found)}
        return tuple(each.value for each in found)

    def skills(self) -> tuple[str, ...]:
        found = read_skills(self.text)
        self.places |= {f"skills.{at}": place(each, self.text) for at, each in enumerate(found)}
        named = {each.value for each in found}
        extra = [each for each in skills_of_title(self.title) if each.value not in named]
        self.places |= {
            f"skills.{len(found) + at}": place(each, self.title, "title") for at, each in enumerate(extra)
        }
        return tuple(each.value for each in (*found, *extra))


def _place_of_salary(salary: Any) -> Place:
    """Its words where it has some, else the number that was written."""
    if isinstance(salary, str):
        return Place(salary[: pay.MAX_LENGTH], path="salary")
    if text := str(salary.get("text") or ""):
        return Place(text[: pay.MAX_LENGTH], path="salary.text")
    name = "low" if salary.get("low") is not None else "high"
    return Place(str(salary[name])[: pay.MAX_LENGTH], path=f"salary.{name}")


def _iso(text: str) -> date | None:
    try:
        day = date.fromisoformat(text[:10]) if len(text) >= 10 else None
    except ValueError:
        return None
    return day if day is not None and 1990 <= day.year <= 2200 else None
