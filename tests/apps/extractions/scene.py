"""The extractions app with a detection that knows the answer: what detects is another part of the app, and
these tests are about what asks for it."""

from copy import copy
from typing import Any

from thresher.apps.extractions.app import app as extractions
from thresher.apps.extractions.model import DETECT, Configuration, Level, PageType, Recipe
from thresher.core.app import App
from thresher.core.context import Context
from thresher.core.outcome import Done, Effect, Failed, Outcome, Skipped
from thresher.core.pipeline import Pipeline, Stage
from thresher.core.stored import written

FOUND = Configuration((Level(PageType.DETAIL_LINKS, "/courses/"), Level(PageType.DETAIL)))
REPORT = {
    "levels": [
        {
            "page_type": "DETAIL",
            "by": "rules",
            "reasons": ["5 of 5 pages declare one Course"],
            "samples": [{"url": "https://a.example/courses/1", "title": "One \x1b[31m", "reading": "DETAIL"}],
            "pages": {"likely": 60, "low": 58, "high": 60, "confidence": "checked"},
        }
    ],
    "pages": {"likely": 63, "low": 61, "high": 63, "confidence": "checked"},
    "preview": [{"url": "https://a.example/courses/1", "data": {"id": "MATH 101"}, "by": "data"}] * 3,
    "cost": {"dollars": 1.25, "says": "60 pages are read by a model"},
    "question": {"asks": "Which are courses?", "choices": [{"says": "those below /courses"}]},
    "notes": ["the list claims 60 pages"],
}
# The file of a project that has this app.
FILE = "from tests.apps.extractions.scene import app\n"
PROJECT = "apps: [recipes_app.py]\nsettings:\n  web.rate: 1000000\n"


async def detect(ctx: Context) -> Outcome:
    """Settle as a detection does: whoever is not the newest changes nothing."""
    said = {name: ctx.task.payload[name] for name in ("recipe", "detection")}
    recipe: Recipe = await ctx.read("extractions.recipe", said)
    if recipe.detection != said["detection"]:
        return Skipped("another detection was asked for since")
    if "broken" in recipe.url:
        reason = "pages are of several types"
        effect = Effect("extractions.undetected", {**said, "reason": reason, "report": REPORT})
        return Failed(reason, effects=(Effect("extractions.detection_began", said), effect))
    found: dict[str, Any] = {"configuration": written(FOUND), "report": REPORT, "made_by": "rules"}
    return Done(effects=(Effect("extractions.detected", {**said, **found, "reason": "proved"}),))


def with_detection(app: App) -> App:
    """The app, with this pipeline in the place of its own."""
    made = copy(app)
    stage = Stage(detect, through=lambda trip: (f"source:recipe.{trip.payload['name']}",))
    others = [each for each in app.pipelines if each.kind != DETECT]
    object.__setattr__(made, "pipelines", (*others, Pipeline(DETECT, stage)))
    return made


app = with_detection(extractions)
