"""The strike filter: stop lists before anything is fetched, rules that reject a posting outright, then rules
that cost it points.

Every rejection names its rule and its quote. What a posting does not say is no reason: without a salary, a
date or a workplace it passes those rules.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from thresher.apps.jobs.filtering import refusals
from thresher.apps.jobs.filtering.case import Case, case_of, pay_known
from thresher.apps.jobs.filtering.compiled_profile import CompiledProfile, sieve
from thresher.apps.jobs.filtering.negation import negated
from thresher.apps.jobs.filtering.phrase import counted, folded
from thresher.apps.jobs.filtering.refusals import stopped_company, top
from thresher.apps.jobs.filtering.rejection import Rejection, Rules, in_field, strike
from thresher.apps.jobs.person.wants import Profile, Rank
from thresher.core.errors import InvalidUrl
from thresher.hiring.opening import Opening
from thresher.reading.values.addresses import read_address

# Strikes: each costs points, and only their sum filters a posting.

Found = tuple[Rejection, ...]
NONE: Found = ()


def salary(case: Case, rules: Rules) -> Found:
    """It pays less than the person aims at."""
    pay, wants = pay_known(case), case.profile.salary
    most = top(pay, rules)
    if pay is None or most is None or most >= wants.target:
        return NONE
    reason = f"pays at most {most:,} {wants.currency} a year; you aim at {wants.target:,}"
    return (
        strike("salary", "salary_target", reason, case.fact("pay", "salary", pay.text), rules.salary_points),
    )


def experience(case: Case, rules: Rules) -> Found:
    """It asks for fewer years than work of the person's level would."""
    asked = case.opening.experience
    if asked is None:
        return NONE
    years = asked.low if asked.high is None else max(asked.low, asked.high)
    if years >= case.profile.experience:
        return NONE
    place = case.opening.evidence.places.get("experience")
    reason = (
        f"asks for {counted(years, 'year')} of experience; you look for {case.profile.experience} or more"
    )
    return (strike("experience", "little_experience", reason, place, rules.experience_points),)


def level(case: Case, rules: Rules) -> Found:
    """A level that the person would rather not have: the first that fits, by a word of the title or by what
    it was read to mean.
    """
    for phrase, points in case.sieve.unwanted:
        if place := case.in_title(phrase):
            return (
                strike(
                    "seniority",
                    "unwanted_level",
                    f"the title says {phrase.text}",
                    place,
                    _points(points, rules),
                ),
            )
    known = case.opening.level
    if known is None or known not in case.sieve.unwanted_levels:
        return NONE
    place, points = case.fact("level", "title", case.opening.title), case.sieve.unwanted_levels[known]
    return (strike("seniority", "unwanted_level", f"its level is {known}", place, _points(points, rules)),)


def _points(points: int | None, rules: Rules) -> int:
    return rules.level_points if points is None else points


def technologies(case: Case, rules: Rules) -> Found:
    """Each technology that the person dislikes."""
    return tuple(
        strike(
            "technology",
            "disliked_technology",
            f"names {each.name}, which you would rather avoid",
            each.place,
            rules.technology_points,
        )
        for each in case.ranked(Rank.STRIKE)
    )


def missing(case: Case, rules: Rules) -> Found:
    """None of the technologies that the person looks for. A description too short to name any proves
    nothing.
    """
    wanted = case.sieve.required
    if not wanted or len(case.opening.text) < rules.short_text or case.ranked(Rank.REQUIRED):
        return NONE
    reason = f"names none of {', '.join(sorted(wanted))}"
    return (strike("technology", "no_required_technology", reason, None, rules.missing_points),)


def short(case: Case, rules: Rules) -> Found:
    """A description that says next to nothing."""
    text = case.opening.text.strip()
    if len(text) >= rules.short_text:
        return NONE
    reason = (
        f"the description has {counted(len(text), 'character')}; fewer than {rules.short_text} say too little"
    )
    return (
        strike(
            "quality",
            "short_description",
            reason,
            in_field("description", text) if text else None,
            rules.short_points,
        ),
    )


def buzzword(case: Case, rules: Rules) -> Found:
    """Words that say more about the writer than about the work. Once, however many there are."""
    for phrase in case.sieve.buzzwords:
        if place := case.somewhere(phrase):
            return (strike("quality", "buzzword", f"says {phrase.text!r}", place, rules.buzzword_points),)
    return NONE


def age(case: Case, rules: Rules) -> Found:
    """Not fresh any more."""
    days, posted = case.age, case.opening.posted
    if days is None or posted is None or days <= rules.age_days:
        return NONE
    place = case.fact("posted", "posted", posted.isoformat())
    return (strike("age", "not_fresh", f"posted {counted(days, 'day')} ago", place, rules.age_points),)


# The first that applies is the answer.
REFUSALS: tuple[Callable[[Case, Rules], Rejection | None], ...] = (
    refusals.job_type,
    refusals.seniority,
    refusals.company,
    refusals.keyword,
    refusals.salary_floor,
    refusals.commission,
    refusals.workplace,
    refusals.age,
    refusals.technology,
)
# All of these are added up.
STRIKES: tuple[Callable[[Case, Rules], tuple[Rejection, ...]], ...] = (
    salary,
    experience,
    level,
    technologies,
    missing,
    short,
    buzzword,
    age,
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the filter found. `total` is the sum of the points of the strikes, which are not counted where
    something rejects outright.
    """

    hard: Rejection | None
    strikes: tuple[Rejection, ...]
    total: int
    threshold: int

    @property
    def passed(self) -> bool:
        return self.hard is None and self.total < self.threshold

    @property
    def rejections(self) -> tuple[Rejection, ...]:
        return self.strikes if self.hard is None else (self.hard,)

    @property
    def summary(self) -> str:
        """One line for the task that ends with it."""
        if self.hard is not None:
            return self.hard.reason
        reasons = "; ".join(each.reason for each in self.strikes)
        return (
            f"{self.total} of {self.threshold} points: {reasons}" if reasons else "nothing counts against it"
        )


def judge(opening: Opening, profile: Profile, rules: Rules, today: date) -> Judgement:
    """What speaks against a posting."""
    return weigh(case_of(opening, profile, today), rules)


def weigh(case: Case, rules: Rules) -> Judgement:
    """The same for a posting that is also to be scored: it is made ready once."""
    for refuse in REFUSALS:
        if (hard := refuse(case, rules)) is not None:
            return Judgement(hard, (), 0, rules.threshold)
    found = tuple(each for count in STRIKES for each in count(case, rules))
    return Judgement(None, found, sum(each.points for each in found), rules.threshold)


def all_against(case: Case, rules: Rules) -> tuple[Found, Found]:
    """Everything that speaks against a posting: each rule that rejects it outright, and each strike."""
    hard = tuple(found for refuse in REFUSALS if (found := refuse(case, rules)) is not None)
    return hard, tuple(each for count in STRIKES for each in count(case, rules))


# The stop lists, checked before anything is fetched: title, company name and URL.

MAX_ADDRESS = 4_000  # characters of an address that words are looked for in


def stopped(
    profile: Profile, *, title: str | None = None, company: str | None = None, url: str | None = None
) -> Rejection | None:
    """Why a posting is not looked at, or None."""
    ready = sieve(profile)
    return (
        stopped_company(ready, company)
        or stopped_domain(ready, url)
        or _keyword(ready, title, "title")
        or _in_address(ready, url)
    )


def stopped_domain(ready: CompiledProfile, url: str | None) -> Rejection | None:
    """An address on an excluded domain, or below it."""
    if not url or not ready.domains:
        return None
    try:
        host = read_address(url).hostname.rstrip(".")
    except InvalidUrl:
        return None  # whoever fetches it will say so
    for domain in ready.domains:
        if host == domain or host.endswith(f".{domain}"):
            return Rejection(
                "domain", "excluded_domain", f"you exclude the domain {domain}", in_field("url", url)
            )
    return None


def _keyword(ready: CompiledProfile, text: str | None, path: str) -> Rejection | None:
    if not text:
        return None
    low = folded(text)
    for phrase in ready.keywords:
        for start, end in phrase.hits(low):
            if not negated(text, start, end):
                return Rejection(
                    "keyword",
                    "excluded_keyword",
                    f"its {path} says {phrase.text!r}, which you exclude",
                    in_field(path, text),
                )
    return None


def _in_address(ready: CompiledProfile, url: str | None) -> Rejection | None:
    """Words of an address are divided by dashes, underscores and slashes."""
    if not url:
        return None
    found = _keyword(
        ready, url[:MAX_ADDRESS].replace("_", " ").replace("+", " ").replace("%20", "   "), "address"
    )
    return found and Rejection(found.category, found.name, found.reason, in_field("url", url))
