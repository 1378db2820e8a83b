"""One posting in the form that the filter's rules use."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from thresher.apps.jobs.filtering.compiled_profile import CompiledProfile, sieve
from thresher.apps.jobs.filtering.negation import negated
from thresher.apps.jobs.filtering.phrase import Phrase, folded
from thresher.apps.jobs.filtering.rejection import in_field, in_text
from thresher.apps.jobs.person.wants import Profile, Rank
from thresher.core.evidence import Place
from thresher.hiring.opening import Opening, Pay

MAX_TEXT = 100_000  # characters of a description that are looked at


@dataclass(frozen=True, slots=True)
class Named:
    """A skill that the posting names, and where."""

    name: str
    rank: Rank
    place: Place | None


@dataclass(frozen=True, slots=True)
class Case:
    """`title` and `text` are folded: in lower case, every character at its place."""

    opening: Opening
    sieve: CompiledProfile
    today: date
    title: str
    text: str
    skills: tuple[Named, ...] = ()

    @property
    def profile(self) -> Profile:
        return self.sieve.profile

    @property
    def age(self) -> int | None:
        """In days. A date in the future is one that says nothing."""
        posted = self.opening.posted
        return None if posted is None or posted > self.today else (self.today - posted).days

    @property
    def known_for(self) -> int | None:
        """Days since the first look at its board found it; None of a posting that came later."""
        found = self.opening.found
        return None if found is None else max(0, (self.today - found).days)

    def in_title(self, phrase: Phrase) -> Place | None:
        """The title, if the phrase stands in it and is meant."""
        for start, end in phrase.hits(self.title) if phrase.anchor in self.title else ():
            if not negated(self.opening.title, start, end):
                return in_field("title", self.opening.title)
        return None

    def in_text(self, phrase: Phrase) -> Place | None:
        """The first place of the description where the phrase stands and is meant."""
        for start, end in phrase.hits(self.text) if phrase.anchor in self.text else ():
            if not negated(self.opening.text, start, end):
                return in_text(self.opening.text, start, end)
        return None

    def ranked(self, *ranks: Rank) -> list[Named]:
        """The skills of these ranks that the posting names."""
        return [each for each in self.skills if each.rank in ranks]

    def somewhere(self, phrase: Phrase) -> Place | None:
        return self.in_title(phrase) or self.in_text(phrase)

    def fact(self, name: str, path: str, said: str) -> Place:
        """Where a fact was read; where nobody noted it, its own words stand for it."""
        return self.opening.evidence.places.get(name) or in_field(path, said)


def case_of(opening: Opening, profile: Profile, today: date) -> Case:
    """A posting, ready to be judged."""
    bare = Case(opening, sieve(profile), today, folded(opening.title), folded(opening.text[:MAX_TEXT]))
    named = tuple(_named(bare))
    return Case(opening, bare.sieve, today, bare.title, bare.text, named) if named else bare


def _named(case: Case) -> Iterator[Named]:
    """The person's skills that the posting names and does not take back."""
    skills, places = case.sieve.skills, case.opening.evidence.places
    found: set[str] = set()
    for number, name in enumerate(case.opening.skills):
        if name in skills:
            place = places.get(f"skills.{number}")
            if place is None or place.start is None:
                found.add(name)
                yield Named(name, skills[name].rank, place)
            elif (meant := _meant(case, place)) is not None:
                found.add(name)
                yield Named(name, skills[name].rank, meant)
    for name, phrase in case.sieve.unread:
        if name not in found and (stands := case.somewhere(phrase)):
            yield Named(name, skills[name].rank, stands)


def _meant(case: Case, place: Place) -> Place | None:
    """The place of a mention that is not taken back: this one, or the next that says the same words."""
    text, start, end = case.opening.text, place.start or 0, place.end or 0
    if text[start:end] != place.quote or not negated(text, start, end):
        return place
    return case.in_text(Phrase(place.quote))


def pay_known(case: Case) -> Pay | None:
    """What is paid, where it can be compared with what the person wants: in their currency, or in none where
    it is their country.
    """
    pay, profile = case.opening.pay, case.profile
    if pay is None or pay.currency == profile.salary.currency:
        return pay
    at_home = pay.currency is None and any(
        spot.country is not None and spot.country == profile.country for spot in case.opening.spots
    )
    return pay if at_home else None
