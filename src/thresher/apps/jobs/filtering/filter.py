"""The strike filter: first what rejects a posting outright, then what costs it points. Every rejection names
its rule and its quote.

What a posting does not say is no reason: without a salary, a date or a workplace it passes those rules.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from thresher.apps.jobs.filtering import refusals, strikes
from thresher.apps.jobs.filtering.case import Case, case_of
from thresher.apps.jobs.filtering.rejection import Rejection
from thresher.apps.jobs.filtering.rules import Rules
from thresher.apps.jobs.person.wants import Profile
from thresher.hiring.opening import Opening

# The first that hits is the answer.
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
# All of these are counted.
STRIKES: tuple[Callable[[Case, Rules], tuple[Rejection, ...]], ...] = (
    strikes.salary,
    strikes.experience,
    strikes.level,
    strikes.technologies,
    strikes.missing,
    strikes.short,
    strikes.buzzword,
    strikes.age,
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
            f"{self.total} of {self.threshold} points: {reasons}" if reasons else "nothing speaks against it"
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
