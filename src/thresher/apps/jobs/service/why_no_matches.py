"""Explain why there are no matches, or few: the reasons by count, the nearest misses, and the one change that
would bring the most.

The reasons are those of the stored decisions. The change is not guessed: every open posting is judged again
in memory, by all rules at once. What one rule alone keeps from being a match is what a change of it brings.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from itertools import islice

from thresher.admin.records import PORTION, every, maybe
from thresher.admin.requests import look_up
from thresher.admin.settings import set_setting
from thresher.apps.jobs.filtering.case import case_of
from thresher.apps.jobs.filtering.filter import all_against
from thresher.apps.jobs.filtering.refusals import top
from thresher.apps.jobs.filtering.rejection import Rules, Severity, rules_of
from thresher.apps.jobs.job import read_opening
from thresher.apps.jobs.model import DECISION, FILTERED, SAVED, SKIPPED, UNKNOWN, DecisionRecord
from thresher.apps.jobs.person.profile import Profile, profile_of
from thresher.apps.jobs.person.profile_record import ME, PROFILE
from thresher.apps.jobs.scoring.points import Points, employer_of, points_of
from thresher.apps.jobs.scoring.score import Score, rate, with_judgement
from thresher.apps.jobs.service.postings import judge_again
from thresher.core.clock import day_of
from thresher.core.errors import Malformed, UsageError
from thresher.core.record import Found, Is
from thresher.engine.registry import Registry
from thresher.hiring.kinds import COMPANY, POSTING
from thresher.hiring.lifecycle import OPEN
from thresher.hiring.records import CompanyRecord, PostingRecord
from thresher.store.store import Store

MAX_POSTINGS = 5_000  # open postings, the newest, that are counted and judged again
RECENT = 500  # of them, where somebody waits for a page
MAX_NEAREST = 5
MAX_LACKS = 3
SCORE, STRIKES, AGE = "score", "strikes", "too_old"
WAITING = "waiting"  # no rule has seen it yet
# How far a number may be changed at most: further away nothing is nearly a match.
SCORE_REACH, STRIKES_REACH, AGE_REACH = 15, 3, 60

_WORDS = {
    SCORE: "below the minimum score",
    STRIKES: "too many strike points",
    AGE: "too old",
    UNKNOWN: "unknown",
    WAITING: "not judged yet",
    "salary_floor": "salary below your floor",
    "excluded_type": "excluded type of work",
    "excluded_level": "excluded level",
    "excluded_company": "excluded company",
    "excluded_domain": "excluded domain",
    "excluded_keyword": "excluded keyword",
    "commission_only": "commission only",
    "remote_not_wanted": "remote",
    "hybrid_not_wanted": "hybrid elsewhere",
    "onsite_not_wanted": "in an office",
    "failed_technology": "technology out of the question",
}
# The part of the profile that a rule comes from.
_KEYS = {
    "salary_floor": "salary.floor",
    "excluded_type": "excluded.types",
    "excluded_level": "levels.excluded",
    "excluded_company": "excluded.companies",
    "excluded_keyword": "excluded.keywords",
    "commission_only": "excluded.commission",
    "remote_not_wanted": "workplace.remote",
    "hybrid_not_wanted": "workplace.hybrid_in",
    "onsite_not_wanted": "workplace.onsite",
    "failed_technology": "skills",
}


@dataclass(frozen=True, slots=True)
class Reason:
    """Why postings are no matches: the rule, in words, and how many."""

    rule: str
    reason: str
    postings: int


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A posting that nothing but its score keeps from being a match. `lacks` are the parts of the score that
    cost it most.
    """

    key: str
    title: str
    company: str | None
    score: int
    needed: int
    lacks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """One change: of the setting `name`, or of that key of the profile. `brings` is how many more postings
    would be matches; `commands` make the change and judge again.
    """

    name: str
    now: int | None
    then: int | None
    brings: int
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WhyNoMatches:
    """Why there are not more matches. `postings` are open; `waiting` of them have no decision yet. They are
    the newest, where not `all_looked_at`.
    """

    postings: int
    matches: int
    waiting: int
    reasons: tuple[Reason, ...] = ()
    nearest: tuple[NearMiss, ...] = ()
    change: Change | None = None
    profile: bool = True
    all_looked_at: bool = True

    @property
    def sentences(self) -> Iterator[str]:
        """The same for a person."""
        if self.reasons:
            yield f"Why: {', '.join(f'{each.postings:,} {each.reason}' for each in self.reasons)}."
        if self.waiting:
            yield f"Not judged yet: {self.waiting:,}. To judge them: thresher jobs judge, then thresher run"
        if any(each.rule == UNKNOWN for each in self.reasons):
            yield "What could not be read: thresher postings list --outcome unknown"
        if self.nearest:
            yield "Nearest misses:"
        for each in self.nearest:
            who = ", ".join(word for word in (each.title, each.company) if word)
            yield f"  {each.score} of {each.needed}  {who} ({'; '.join(each.lacks)})  {each.key}"
        if self.change:
            yield _advice(self.change)
            yield from (f"  {command}" for command in self.change.commands)


def _advice(change: Change) -> str:
    values = "" if change.then is None else f" from {change.now:,} to {change.then:,}"
    matches = "1 more match" if change.brings == 1 else f"{change.brings:,} more matches"
    whose = "" if change.name.startswith("jobs.") else " in your profile"
    return f"The one change that brings most: {change.name}{whose}{values} brings {matches}."


def why_no_matches(store: Store, now: int, most: int = MAX_POSTINGS) -> WhyNoMatches:
    """Why the open postings are no matches, and what would change that: of the newest `most` of them."""
    found = maybe(store, PROFILE, ME)
    if found is None:
        return WhyNoMatches(0, 0, 0, profile=False)
    replay = Replay(
        profile_of(found.data),
        rules_of(store.settings.__getitem__),
        points_of(store.settings.__getitem__),
        day_of(now),
    )
    decided: Counter[str] = Counter()
    waiting, postings, all_looked_at = 0, 0, True
    for posting, decision, employer in _judged(store, most + 1):
        if postings == most:
            all_looked_at = False
            break
        postings += 1
        if decision is None:
            waiting += _waits(posting)
            continue
        decided[_rule_of(decision)] += 1
        replay.add(posting, decision, employer)
    matches = decided.pop(SAVED, 0)
    reasons = tuple(Reason(rule, words_of(rule), number) for rule, number in decided.most_common())
    return WhyNoMatches(
        postings,
        matches,
        waiting,
        reasons,
        replay.nearest,
        replay.change,
        all_looked_at=all_looked_at,
    )


@dataclass(frozen=True, slots=True)
class Missed:
    """A posting that is no match: what was said of it, and its score where it has one."""

    key: str
    title: str
    company: str | None
    score: int | None
    why: str
    quote: str | None


def missed_by(store: Store, rule: str, limit: int, before: str | None = None) -> list[Missed]:
    """Open postings that are no matches by a rule, or `WAITING` for a decision, the newest first; those older
    than the one of the key `before`. So many are looked through as `why_no_matches` counts.
    """
    found = (
        _missed(posting, decision)
        for posting, decision, _ in _judged(store, MAX_POSTINGS, before)
        if (_rule_of(decision) == rule if decision else rule == WAITING and _waits(posting))
    )
    return list(islice(found, limit))


def _waits(posting: Found) -> bool:
    """Whether a posting without a decision will get one: of a group, one is judged."""
    return not PostingRecord.of(posting).group


def _missed(found: Found, decision: DecisionRecord | None) -> Missed:
    posting = PostingRecord.of(found)
    if decision is None:
        title = posting.title or posting.url or found.key
        return Missed(found.key, title, posting.company_name, None, "it has not been judged yet", None)
    hard = [each for each in decision.rejections if each.severity == Severity.HARD]
    said = next(iter(hard or sorted(decision.rejections, key=lambda each: -each.points)), None)
    why, quote = (said.reason, said.quote) if said else (decision.problem or "", None)
    if decision.score is not None:
        why, quote = f"{decision.score} of {decision.needed} points", None
    return Missed(
        found.key,
        posting.title or posting.url or found.key,
        posting.company_name,
        decision.score,
        why,
        quote,
    )


# What a change may be of: only these are set by `make_change`.
CHANGEABLE = (
    "jobs.score.needed",
    "jobs.score.needed_in_city",
    "jobs.filter.threshold",
    "jobs.filter.age_limit",
)


def make_change(store: Store, registry: Registry, name: str, value: str, by: str) -> int:
    """Set what a change is of, and have all open postings judged by it again. Return how many will be."""
    if name not in CHANGEABLE:
        raise UsageError(f"{name[:80]!r} is not set here; it is one of {', '.join(CHANGEABLE)}")
    set_setting(store, name, value, by)
    return judge_again(store, registry, every=True)


def _judged(
    store: Store, most: int, before: str | None = None
) -> Iterator[tuple[Found, DecisionRecord | None, CompanyRecord | None]]:
    """Open postings, the newest first, each with its decision and its company."""
    portion = min(PORTION, most)
    rest = islice(every(store, POSTING, where=[Is("state", OPEN)], before=before, portion=portion), most)
    while some := list(islice(rest, PORTION)):
        decisions = look_up(store, DECISION, [each.key for each in some])
        keys = {each.key: PostingRecord.of(each).company for each in some}
        companies = look_up(store, COMPANY, filter(None, keys.values()))
        for each in some:
            decision, company = decisions.get(each.key), companies.get(keys[each.key] or "")
            yield (
                each,
                DecisionRecord.of(decision) if decision else None,
                CompanyRecord.of(company) if company else None,
            )


def _rule_of(decision: DecisionRecord) -> str:
    """The rule that ended a posting."""
    if decision.outcome == SKIPPED:
        return SCORE
    if decision.outcome != FILTERED:
        return decision.outcome or UNKNOWN
    return next((each.name for each in decision.rejections if each.severity == Severity.HARD), STRIKES)


def words_of(rule: str) -> str:
    """A rule in words."""
    return _WORDS.get(rule, rule.replace("_", " "))


@dataclass(frozen=True, slots=True)
class Blocked:
    """A posting that one rule alone keeps from being a match, and the number at which it would not: a score,
    a sum of strikes, an age, a salary.
    """

    rule: str
    at: int | None
    score: Score
    key: str
    title: str
    company: str | None


@dataclass(slots=True)
class Replay:
    """Postings judged again by the rules as they are, and what each rule alone keeps away."""

    profile: Profile
    rules: Rules
    points: Points
    today: date
    alone: list[Blocked] = field(default_factory=list)

    def add(self, posting: Found, decision: DecisionRecord, employer: CompanyRecord | None) -> None:
        """Judge one posting again. What was never read has nothing to be judged by."""
        if decision.outcome == UNKNOWN:
            return
        try:
            opening = read_opening(posting)
        except Malformed:
            return
        case = case_of(opening, self.profile, self.today)
        hard, strikes = all_against(case, self.rules)
        score = rate(case, employer_of(employer), self.rules, self.points)
        if decision.model:
            score = with_judgement(score, decision.model.answer, self.points)
        total = sum(each.points for each in strikes)
        age = (
            case.age
            if case.known_for is None or not self.rules.age_first_look
            else min(case.age or 0, case.known_for)
        )
        numbers = {AGE: age, "salary_floor": top(opening.pay, self.rules)}
        against = [(each.name, numbers.get(each.name)) for each in hard]
        if total >= self.rules.threshold:
            against.append((STRIKES, total))
        if not score.passed:
            against.append((SCORE, score.total))
        if len(against) == 1:
            self.alone.append(Blocked(*against[0], score, opening.key, opening.title, opening.company))

    @property
    def nearest(self) -> tuple[NearMiss, ...]:
        missed = sorted(
            (each for each in self.alone if each.rule == SCORE),
            key=lambda each: each.score.needed - each.score.total,
        )
        return tuple(
            NearMiss(
                each.key, each.title, each.company, each.score.total, each.score.needed, _lacks(each.score)
            )
            for each in missed[:MAX_NEAREST]
        )

    @property
    def change(self) -> Change | None:
        """The change that brings most; of several, the first of this list."""
        possible = [each for each in (*self._settings(), *self._profile()) if each is not None]
        return max(possible, key=lambda each: each.brings, default=None)

    def _settings(self) -> Iterator[Change | None]:
        needed, in_city = self.points.needed, self.points.needed_in_city
        yield self._lower("jobs.score.needed", needed, lambda each: not each.score.city_bonus)
        yield self._lower("jobs.score.needed_in_city", in_city, lambda each: each.score.city_bonus)
        yield self._raise("jobs.filter.threshold", STRIKES, self.rules.threshold, STRIKES_REACH, 1)
        yield self._raise("jobs.filter.age_limit", AGE, self.rules.age_limit, AGE_REACH, 0)

    def _lower(self, name: str, now: int, counts: Callable[[Blocked], bool]) -> Change | None:
        near = [
            each.score.total
            for each in self.alone
            if each.rule == SCORE and counts(each) and each.score.total >= now - SCORE_REACH
        ]
        return _setting(name, now, min(near), len(near)) if near else None

    def _raise(self, name: str, rule: str, now: int, reach: int, more: int) -> Change | None:
        near = [
            each.at
            for each in self.alone
            if each.rule == rule and each.at is not None and each.at <= now + reach
        ]
        return _setting(name, now, max(near) + more, len(near)) if near else None

    def _profile(self) -> Iterator[Change]:
        kept = Counter(each.rule for each in self.alone if each.rule in _KEYS)
        for rule, number in kept.most_common():
            now = then = None
            if rule == "salary_floor":
                now = self.profile.salary.floor
                then = min(
                    (each.at for each in self.alone if each.rule == rule and each.at is not None),
                    default=None,
                )
            commands = (
                "thresher jobs profile show > profile.yaml",
                f"edit {_KEYS[rule]} in profile.yaml, then: thresher jobs profile set profile.yaml",
                *_AGAIN,
            )
            yield Change(_KEYS[rule], now, then, number, commands)


_AGAIN = ("thresher jobs judge --all", "thresher run")


def _setting(name: str, now: int, then: int, brings: int) -> Change:
    return Change(name, now, then, brings, (f"thresher config set {name} {then}", *_AGAIN))


def _lacks(score: Score) -> tuple[str, ...]:
    """What cost a score most; where nothing did, what brought it nothing."""
    worst = sorted((each for each in score.components if each.points < 0), key=lambda each: each.points)
    worst = worst or [each for each in score.components if not each.points]
    return tuple(f"{each.points:+d} {each.name}: {each.reason}" for each in worst[:MAX_LACKS])
