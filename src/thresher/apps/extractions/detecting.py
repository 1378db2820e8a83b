"""Ask for the configuration of a recipe: the one way in which a detection gets into the queue."""

from typing import Any

from thresher.admin.tasks import Added, add_within
from thresher.apps.extractions.model import DETECT, Configuration, Recipe, detect_key
from thresher.apps.extractions.store.recipes import ask_detection
from thresher.core.stored import written
from thresher.core.task import NewTask
from thresher.engine.registry import Registry
from thresher.store.store import Transaction


def detect_within(
    transaction: Transaction,
    registry: Registry,
    recipe: Recipe,
    why: str,
    now: int,
    given: Configuration | None = None,
) -> Added:
    """Let a recipe wait for its newest detection, and enqueue that, if and when this transaction commits. The
    source of the recipe must be there already: its gate is looked up aside. `given` is what a person has
    decided already: it is proved, not guessed again.
    """
    number = ask_detection(transaction.session, recipe.id, why, now)
    payload: dict[str, Any] = {"recipe": recipe.id, "detection": number, "name": recipe.name}
    if given is not None:
        payload["given"] = written(given)
    new = NewTask(DETECT, payload, url=recipe.url, key=detect_key(recipe.id, number))
    return add_within(transaction, [registry.admit(new)])[0]
