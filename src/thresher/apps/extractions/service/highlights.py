"""What the extractions app has read, for the first page of the dashboard."""

from thresher.apps.extractions.store.datasets import list_datasets
from thresher.core.extension import Highlight
from thresher.store.store import Store

MAX_COUNTED = 100  # data sets, the newest


def items(store: Store) -> list[Highlight]:
    """Items in the newest data set of each recipe."""
    with store.read() as session:
        found = list_datasets(session, limit=MAX_COUNTED)
    newest = {each.recipe_name: each.items for each in reversed(found) if each.items}
    number, recipes = sum(newest.values()), len(newest)
    says = (
        f"by {recipes:,} {'recipe' if recipes == 1 else 'recipes'}"
        if recipes
        else "no recipe has read an item yet; add one on the page Recipes"
    )
    return [Highlight(number, "item extracted" if number == 1 else "items extracted", "/datasets", says)]


HIGHLIGHTS = (items,)
