"""Lines of `thresher doctor` and `thresher status`: recipes without a configuration, extractions that
stopped, and data sets that have lost a field.
"""

from collections.abc import Sequence

from thresher.apps.extractions.model import ExtractionStatus, Recipe, RecipeStatus
from thresher.apps.extractions.store.datasets import DataSet, datasets_of
from thresher.apps.extractions.store.extractions import list_extractions
from thresher.apps.extractions.store.recipes import list_recipes
from thresher.apps.extractions.store.totals import Drift, drift_of
from thresher.core.extension import Check
from thresher.store.session import Session
from thresher.store.store import Store

NAMED = 3  # that one line names


def check_recipes(store: Store) -> list[Check]:
    """Check that every recipe has a configuration."""
    with store.read() as session:
        found = list_recipes(session)
    if not found:
        return [Check.ok("recipes", "there are no recipes", "thresher recipes add --help")]
    broken = [each for each in found if each.status is RecipeStatus.ERROR]
    if not broken:
        return [Check.ok("recipes", _recipes(len(found)))]
    first = broken[0]
    return [
        Check.warn(
            "recipes",
            f"no configuration was detected for {_names([each.name for each in broken])}: {first.reason}",
            f"thresher recipes show {first.name}",
            f"/recipes/{first.name}",
        )
    ]


def check_extractions(store: Store) -> list[Check]:
    """Check that the last extraction of each recipe went to its end."""
    with store.read() as session:
        latest = [
            each.extraction
            for recipe in list_recipes(session)
            for each in list_extractions(session, recipe.id, limit=1)
        ]
    stopped = [each for each in latest if each.status in (ExtractionStatus.STALE, ExtractionStatus.ERROR)]
    if not stopped:
        were = "was" if len(latest) == 1 else "were"
        return [Check.ok("extractions", f"{_recipes(len(latest))} {were} extracted")] if latest else []
    return [
        Check.warn(
            "extractions",
            f"extraction {each.id} of {each.recipe_name} is {each.status}: {each.reason}",
            f"thresher extract resume {each.id}",
            f"/extractions/{each.id}",
        )
        for each in stopped[:NAMED]
    ]


def check_datasets(store: Store) -> list[Check]:
    """Check that the newest data set of each recipe has what the one before it had."""
    with store.read() as session:
        lost = [each for recipe in list_recipes(session) if (each := _lost(session, recipe))]
    return [
        Check.warn(
            "data sets",
            f"data set {dataset.id} ({dataset.recipe_name}) has lost something: {drift.says}",
            f"the site may have changed: thresher datasets show {dataset.id}",
            f"/datasets/{dataset.id}",
        )
        for dataset, drift in lost[:NAMED]
    ]


def _lost(session: Session, recipe: Recipe) -> tuple[DataSet, Drift] | None:
    """What stopped halfway is another line's business."""
    newest = next(iter(list_extractions(session, recipe.id, limit=1)), None)
    if newest is None or newest.extraction.status is not ExtractionStatus.COMPLETE:
        return None
    new = datasets_of(session, newest.extraction.id)[0]
    drift = drift_of(session, newest.extraction, new.coverage, new.items)
    return (new, drift) if drift is not None else None


def _recipes(number: int) -> str:
    return f"{number:,} recipe{'' if number == 1 else 's'}"


def _names(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more:,} more" if more > 0 else "")


CHECKS = (check_recipes, check_extractions, check_datasets)
