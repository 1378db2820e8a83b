"""Record a decision so that it can be explained later: every rule that applied, its points and its quote."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from thresher.apps.jobs.filtering.filter import Judgement
from thresher.apps.jobs.filtering.phrase import counted
from thresher.apps.jobs.filtering.rejection import Rejection, Severity, spoken_rejection
from thresher.apps.jobs.model import (
    FILTERED,
    SAVED,
    SKIPPED,
    UNKNOWN,
    AskedModel,
    DecisionRecord,
    MatchFields,
    SpokenRule,
    match_entry,
)
from thresher.apps.jobs.person.wants import Profile
from thresher.apps.jobs.scoring.judgement import intake, kept
from thresher.apps.jobs.scoring.points import spoken_component
from thresher.apps.jobs.scoring.score import Score
from thresher.core.record import Link, Record, clean
from thresher.hiring.opening import Opening

NEW = "new"
MAX_REJECTIONS = 50
MAX_SKILLS = 50
MAX_LENGTH = 500
MAX_PROBLEM = 1_000


def filtered(posting: str, judgement: Judgement, profile: Profile, at: int) -> Record:
    """The decision that a posting is not wanted."""
    return _decision(posting, FILTERED, judgement, None, None, profile, at)


def scored(
    posting: str,
    judgement: Judgement,
    score: Score,
    profile: Profile,
    at: int,
    model: AskedModel | None = None,
) -> Record:
    """The decision about a posting that passed the filter: saved, or skipped because it does not fit well
    enough.
    """
    return _decision(posting, SAVED if score.passed else SKIPPED, judgement, score, model, profile, at)


def stopped(posting: str, found: Rejection, profile: Profile, at: int, threshold: int) -> Record:
    """The decision of a stop list, taken before anything was read."""
    return filtered(posting, Judgement(found, (), 0, threshold), profile, at)


def unknown(posting: str, problem: str, missing: tuple[str, ...], at: int) -> Record:
    """The decision that a posting cannot be judged, because it says too little."""
    return _unknown(posting, problem, missing, at).record()


def unread(posting: str, problem: str, at: int) -> Record:
    """The same of a posting that could not be read. One that was judged before keeps its decision, and the
    problem beside it.
    """
    first = _unknown(posting, problem, (), at).record()
    return replace(first, data={"problem": clean(problem[:MAX_PROBLEM])}, merge=True, initial=first.data)


def _unknown(posting: str, problem: str, missing: tuple[str, ...], at: int) -> DecisionRecord:
    return DecisionRecord(
        posting,
        posting=posting,
        outcome=UNKNOWN,
        problem=clean(problem[:MAX_PROBLEM]),
        missing=missing,
        at=at,
    )


def match_fields(
    opening: Opening, score: Score, at: int, answer: Mapping[str, Any] | None = None
) -> MatchFields:
    """What is kept of a match; `answer` is what a model said about it."""
    gaps = kept(answer)["skill_gaps"] if answer else None
    return {
        "posting": opening.key,
        "title": clean(opening.title[:MAX_LENGTH]),
        "company": opening.company and clean(opening.company[:MAX_LENGTH]),
        "url": opening.url and clean(opening.url),
        "score": score.total,
        "priority": str(score.priority),
        "matched_skills": tuple(score.matched[:MAX_SKILLS]),
        "skill_gaps": tuple(gaps) if gaps and isinstance(gaps, list) else tuple(score.gaps[:MAX_SKILLS]),
        "resume_intake": intake(answer) if answer else None,
        "explanation": [_part(spoken_component(each)) for each in score.components if each.points],
        "withdrawn": None,
        "decided_at": at,
    }


def match(posting: str, fields: MatchFields) -> Record:
    """A match. Its status belongs to the person: it is `new` once, and a second look never sets it back, nor
    tells of it again.
    """
    return match_entry(posting, fields, Link("posting", posting), initial={"status": NEW, "notified_at": 0})


def withdrawn(posting: str, reason: str) -> Record:
    """A match that is none any more. Its status stays the person's."""
    return match_entry(posting, {"withdrawn": clean(reason[:MAX_PROBLEM])})


def _decision(
    posting: str,
    outcome: str,
    judgement: Judgement,
    score: Score | None,
    model: AskedModel | None,
    profile: Profile,
    at: int,
) -> Record:
    decided = DecisionRecord(
        posting,
        posting=posting,
        outcome=outcome,
        total_strikes=judgement.total,
        threshold=judgement.threshold,
        rejections=tuple(map(spoken_rejection, judgement.rejections[:MAX_REJECTIONS])),
        model=model and replace(model, answer=kept(model.answer)),
        at=at,
        profile=profile.digest,
    )
    if score is not None:
        decided = replace(
            decided,
            score=score.total,
            components=tuple(map(spoken_component, score.components)),
            needed=score.needed,
            city_bonus=score.city_bonus,
        )
    return decided.record()


def explain(decision: DecisionRecord) -> Iterator[str]:
    """Explain the decision in sentences."""
    if decision.outcome == UNKNOWN:
        yield f"Unknown: it could not be judged: {decision.problem or 'no reason is stored'}"
        yield "It is no match until it can be read; to try again: thresher jobs judge"
        return
    yield _verdict(decision)
    if decision.problem:
        yield f"It was decided earlier; the last attempt to read it failed: {decision.problem}"
    for each in decision.rejections:
        yield _rejection(each)
    if _mild(decision):
        yield (
            "No single strike is decisive; together they reach the threshold. Raise "
            "jobs.filter.threshold to see more of these."
        )
    if decision.score is not None:
        yield from (_part(each) for each in decision.components)
        lower = ", lower because of your city" if decision.city_bonus else ""
        yield f"Score {decision.score} of 100; {decision.needed} are needed{lower}."
    if decision.model:
        yield f"A model was asked for its judgement: {decision.model.name or 'unnamed'}."


def _verdict(decision: DecisionRecord) -> str:
    hard = any(each.severity == Severity.HARD for each in decision.rejections)
    if decision.outcome == FILTERED and hard:
        return "Filtered: something in it rules it out."
    strikes = f"{counted(decision.total_strikes, 'point')} of strikes, filtered from {decision.threshold} on"
    if decision.outcome == FILTERED:
        return f"Filtered: {strikes}."
    fate = "Saved as a match" if decision.outcome == SAVED else "Skipped: it does not fit well enough"
    return f"{fate}; it passed the filter ({strikes})."


def _rejection(each: SpokenRule) -> str:
    cost = "never" if each.severity == Severity.HARD else f"-{each.points}"
    return f"{cost}: {each.reason}{_quoted(each)}"


def _part(each: SpokenRule) -> str:
    return f"{each.points:+d} {each.name}: {each.reason}{_quoted(each)}"


def _quoted(each: SpokenRule) -> str:
    quote = " ".join((each.quote or "").split())
    return f" - '{quote}'" if quote else ""


def _mild(decision: DecisionRecord) -> bool:
    """Whether small things alone filtered it, as three of them do: age, salary and one technology."""
    points = [each.points for each in decision.rejections if each.severity == Severity.STRIKE]
    return decision.outcome == FILTERED and len(points) > 1 and max(points) * 2 < decision.threshold
