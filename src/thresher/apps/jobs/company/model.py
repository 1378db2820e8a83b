"""What a model is asked about a company: only what rules did not find, only where one can be asked, and never
a reason to fail.
"""

from collections.abc import Mapping
from typing import Any

from thresher.core.answer import Answer
from thresher.core.context import Context
from thresher.core.errors import BudgetExhausted, Permanent
from thresher.core.evidence import Material
from thresher.core.schema import Field, Kind, Schema

# characters of the dossier that are shown: what is said of the company itself stands at its beginning
MAX_TEXT = 20_000
MAX_LENGTH = 2_000  # characters of one value
_FIELDS: Mapping[str, Field] = {
    "about": Field("about", says="What the company is and does, in its own words: one paragraph, copied."),
    "culture": Field("culture", says="What it says about its culture and values: one paragraph, copied."),
    "mission": Field("mission", says="Its mission, in its own words: one sentence, copied."),
    "size": Field("size", says="How many people work there, as it is written: 240, 51-200, 1,000+."),
    "headquarters": Field(
        "headquarters",
        says="The city of its headquarters, with region and country as far as they are written.",
    ),
    "industry": Field("industry", says="Its industry, in the page's own words."),
    "founded": Field("founded", Kind.INTEGER, says="The year in which it was founded."),
}


async def ask_for(ctx: Context, missing: tuple[str, ...], text: str, source: str) -> Answer | None:
    """What a model reads in the dossier; None where nobody can be asked, or the answer was none."""
    wanted = tuple(_FIELDS[name] for name in missing if name in _FIELDS)
    if not wanted or not ctx.setting("jobs.company.ask") or not await ctx.can_ask("cheap"):
        return None
    schema = Schema("company", wanted)
    try:
        return await ctx.ask(
            "extract", schema, {"page": Material(text[:MAX_TEXT], hash=source)}, tier="cheap"
        )
    except (BudgetExhausted, Permanent):
        # A company without these is a company all the same; waiting for money would hold up its board.
        return None


def values_of(answer: Answer | None) -> dict[str, dict[str, Any]]:
    """The values that it gives, with their places; `start` is None for one that stands nowhere in the
    text.
    """
    if answer is None or not isinstance(answer.value, Mapping):
        return {}
    found: dict[str, dict[str, Any]] = {}
    for name, value in answer.value.items():
        if name in _FIELDS and value not in (None, "", []):
            place = answer.evidence.places.get(name)
            start, end = (place.start, place.end) if place else (None, None)
            found[name] = {
                "value": value[:MAX_LENGTH] if isinstance(value, str) else value,
                "start": start,
                "end": end,
            }
    return found
