"""The pages of the extractions app: recipes with their proof, extractions with their steps, pages beside the
evidence, data sets and what changed between two.
"""

from starlette.responses import Response

from thresher.apps.extractions.service import datasets, extractions, recipes
from thresher.apps.extractions.service.marked import marked_text, picture
from thresher.apps.extractions.store.pages import PAGE_STATES
from thresher.core.errors import UnknownName, UsageError
from thresher.web.pages.page import DashboardPage, PageRequest

EXTRACTIONS = 20
ITEMS = 50
ROWS = 100
COLUMNS = 5  # fields that a table of items shows


def recipe_list(page_request: PageRequest) -> Response:
    """Show all recipes, and the latest extractions."""
    store = page_request.runtime.store
    retired = page_request.request.query_params.get("retired") == "1"
    return page_request.show(
        "extractions/recipes.html",
        recipes=recipes.list_views(store, retired=retired),
        retired=retired,
        extractions=extractions.list_views(store, limit=EXTRACTIONS),
    )


def recipe(page_request: PageRequest) -> Response:
    """Show one recipe: its configuration, what proves it, a preview, and its extractions."""
    store, name = page_request.runtime.store, page_request.request.path_params["name"]
    detail = recipes.show_recipe(store, name)
    return page_request.show(
        "extractions/recipe.html",
        detail=detail,
        extractions=extractions.list_views(store, detail.recipe.name, limit=EXTRACTIONS),
    )


def change_recipe(page_request: PageRequest) -> Response:
    """Detect the configuration of a recipe again, or start an extraction by it."""
    runtime, name = page_request.runtime, page_request.request.path_params["name"]
    match page_request.request.path_params["change"]:
        case "detect":
            recipes.reconfigure(runtime.store, runtime.registry, name)
            return page_request.go(f"/recipes/{recipes.show_recipe(runtime.store, name).recipe.name}")
        case "extract":
            started = extractions.start(runtime.store, runtime.registry, name)
            return page_request.go(f"/extractions/{started.extraction}")
        case other:
            raise UsageError(f"{other[:40]!r} is no change of a recipe")


def extraction(page_request: PageRequest) -> Response:
    """Show one extraction: its steps, its items, its cost, and what it waits for."""
    found = extractions.show_extraction(page_request.runtime.store, _number(page_request, "extraction"))
    return page_request.show("extractions/extraction.html", each=found)


def change_extraction(page_request: PageRequest) -> Response:
    """Cancel an extraction, go on with it, retry its failed pages, or read its stored pages again."""
    runtime, number = page_request.runtime, _number(page_request, "extraction")
    match page_request.request.path_params["change"]:
        case "cancel":
            extractions.cancel(runtime.store, number, "cancelled on the dashboard")
        case "resume":
            extractions.resume(runtime.store, runtime.registry, number)
        case "retry":
            extractions.retry(runtime.store, runtime.registry, number)
        case "reread":
            extractions.reextract(runtime.store, runtime.registry, number)
        case other:
            raise UsageError(f"{other[:40]!r} is no change of an extraction")
    return page_request.go(f"/extractions/{number}")


def page_list(page_request: PageRequest) -> Response:
    """Show the pages of an extraction, all or those in one state."""
    asked, number = page_request.request.query_params, _number(page_request, "extraction")
    state, after = asked.get("state") or None, asked.get("after", "")
    store = page_request.runtime.store
    found = extractions.list_pages(store, number, state=state, after=after, limit=ROWS)
    return page_request.show(
        "extractions/pages.html",
        extraction=number,
        pages=found,
        state=state,
        states=PAGE_STATES,
        next=found[-1].page.page if len(found) == ROWS else None,
    )


def page(page_request: PageRequest) -> Response:
    """Show one page: its screenshot beside its text with the evidence, and its items."""
    store, number = page_request.runtime.store, _number(page_request, "extraction")
    view = extractions.show_page(store, number, page_request.request.path_params["page"])
    text = marked_text(store, view.items, view.page.markdown)
    return page_request.show("extractions/page.html", extraction=number, view=view, text=text)


def screenshot(page_request: PageRequest) -> Response:
    """Send the picture of a page."""
    store, number = page_request.runtime.store, _number(page_request, "extraction")
    view = extractions.show_page(store, number, page_request.request.path_params["page"])
    body = picture(store, view.page.screenshot)
    if body is None:
        raise UnknownName("there is no screenshot of this page")
    return Response(body, media_type="image/png", headers={"X-Content-Type-Options": "nosniff"})


def dataset_list(page_request: PageRequest) -> Response:
    """Show all data sets."""
    return page_request.show(
        "extractions/datasets.html", datasets=datasets.list_views(page_request.runtime.store)
    )


def dataset(page_request: PageRequest) -> Response:
    """Show one data set: its fields, and its items, all or those that are verified or not."""
    store, asked = page_request.runtime.store, page_request.request.query_params
    name = page_request.request.path_params["dataset"]
    only = {"1": True, "0": False}.get(asked.get("verified", ""))
    after = int(asked["after"]) if asked.get("after", "").isdecimal() else 0
    view = datasets.show_dataset(store, name)
    found = datasets.list_items(store, name, verified=only, after=after, limit=ITEMS)
    return page_request.show(
        "extractions/dataset.html",
        view=view,
        items=found,
        columns=[each.field for each in view.fields if each.items][:COLUMNS],
        verified=asked.get("verified", ""),
        next=found[-1].id if len(found) == ITEMS else None,
        previous=datasets.previous_dataset(store, name),
    )


def diff(page_request: PageRequest) -> Response:
    """Show what changed from one data set to another."""
    asked, params = page_request.request.query_params, page_request.request.path_params
    only = asked.get("only") or None
    found = datasets.diff(page_request.runtime.store, params["old"], params["new"], what=only, limit=ROWS)
    return page_request.show("extractions/diff.html", diff=found, only=only, changes=datasets.CHANGES)


def _number(page_request: PageRequest, name: str) -> int:
    said = page_request.request.path_params[name]
    if not (said.isascii() and said.isdecimal() and len(said) < 19):
        raise UnknownName(f"there is no extraction {said[:40]!r}")
    return int(said)


PAGES = (
    DashboardPage("GET", "/recipes", recipe_list, "Recipes", asks=frozenset(("retired",))),
    DashboardPage("GET", "/recipes/{name}", recipe),
    DashboardPage("POST", "/recipes/{name}/{change}", change_recipe),
    DashboardPage("GET", "/extractions/{extraction}", extraction),
    DashboardPage("POST", "/extractions/{extraction}/{change}", change_extraction),
    DashboardPage("GET", "/extractions/{extraction}/pages", page_list, asks=frozenset(("state", "after"))),
    DashboardPage("GET", "/extractions/{extraction}/pages/{page}", page),
    DashboardPage("GET", "/extractions/{extraction}/pages/{page}/screenshot", screenshot),
    DashboardPage("GET", "/datasets", dataset_list, "Data sets"),
    DashboardPage("GET", "/datasets/{dataset}", dataset, asks=frozenset(("verified", "after"))),
    DashboardPage("GET", "/datasets/{old}/diff/{new}", diff, asks=frozenset(("only",))),
)
