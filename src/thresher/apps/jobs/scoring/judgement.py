"""What a model is asked about an opening that fits: an opinion on the score, and what an application should
stress.

The opinion adjusts the deterministic score only slightly. All of it is a judgement and counts as unverified.
"""

from collections.abc import Mapping
from typing import Any

from thresher.apps.jobs.person.wants import Profile, as_json
from thresher.apps.jobs.scoring.score import Score
from thresher.core.evidence import Material
from thresher.core.record import clean
from thresher.core.schema import Field, Kind, Schema
from thresher.hiring.opening import Opening

PROMPT = "match"
MAX_ITEMS, MAX_LENGTH, MAX_ITEM_LENGTH = 20, 2_000, 300
INTAKE = ("summary", "prioritised_skills", "highlights", "projects", "achievement_angles", "ats_keywords")


def judgement_schema() -> Schema:
    """The fields of the opinion."""
    return Schema(
        "match",
        (
            Field(
                "score_change",
                Kind.INTEGER,
                "How much better (to 15) or worse (to -15) it fits than the score says.",
                judged=True,
            ),
            Field("reasons", says="Why, one short sentence each, at most 5.", many=True, judged=True),
            Field(
                "skill_gaps",
                says="What the opening asks for and the profile does not show, at most 10.",
                many=True,
                judged=True,
            ),
            Field(
                "summary",
                says="Two or three sentences that a resume for this opening could begin with.",
                judged=True,
            ),
            Field(
                "prioritised_skills",
                says="Skills of the profile to put first, the most important first.",
                many=True,
                judged=True,
            ),
            Field("highlights", says="What to stress about the person's experience.", many=True, judged=True),
            Field("projects", says="Sorts of projects that would convince here.", many=True, judged=True),
            Field(
                "achievement_angles",
                says="From which side to tell of achievements: speed, cost, users.",
                many=True,
                judged=True,
            ),
            Field(
                "ats_keywords",
                says="Words of the opening that a resume should use as they stand.",
                many=True,
                judged=True,
            ),
        ),
    )


def judgement_inputs(
    opening: Opening, profile: Profile, score: Score, page: Material | None = None
) -> dict[str, Any]:
    """What the model is shown: the person, the score with its parts, and the posting as the page."""
    wants = as_json(profile)
    parts = [f"{each.points:+d} {each.name}: {each.reason}" for each in score.components]
    shown = {
        name: wants[name]
        for name in ("titles", "skills", "levels", "workplace", "salary", "city", "region", "country")
    }
    about = f"{opening.title}\n{opening.company or ''}\n\n{opening.text}"
    return {
        "profile": shown,
        "score": score.total,
        "score_parts": parts,
        "posting": page or Material(about, url=opening.url),
    }


def intake(answer: Mapping[str, Any]) -> dict[str, Any]:
    """What a resume for this opening needs, out of an answer."""
    return {name: _short(answer.get(name)) for name in INTAKE}


def kept(answer: Mapping[str, Any]) -> dict[str, Any]:
    """An answer as a decision keeps it: the fields that were asked for, and no more of each than a person
    reads.
    """
    return {field.name: _short(answer.get(field.name)) for field in judgement_schema().fields}


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value[:MAX_LENGTH])
    if isinstance(value, list):
        return [clean(str(each)[:MAX_ITEM_LENGTH]) for each in value[:MAX_ITEMS]]
    return value if isinstance(value, int) else None
