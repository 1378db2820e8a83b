"""The pages of the extractions app: recipes with their proof, extractions with their steps, pages beside the
evidence, data sets and what changed between two.
"""

from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from thresher.apps.extractions.differing import differing
from thresher.apps.extractions.forms import FIELDS, OWN_SCHEMA, FieldMistake, beside, read_form
from thresher.apps.extractions.recipe_file import read_recipe_text
from thresher.apps.extractions.service import datasets, extractions, recipes
from thresher.apps.extractions.service.marked import marked_text, picture
from thresher.apps.extractions.store.pages import PAGE_STATES
from thresher.core.errors import NotAllowed, ThresherError, UnknownName, UsageError
from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.problem import of_error

EXTRACTIONS = 20
ITEMS = 50
ROWS = 100
MAX_VALUE = 160  # characters of one value in a comparison
COLUMNS = 5  # fields that a table of items shows


def recipe_list(page_request: PageRequest) -> Response:
    """Show all recipes, the latest extractions, and the form to add a recipe."""
    return _recipes(page_request)


def _recipes(page_request: PageRequest, wrong: FieldMistake | None = None) -> Response:
    store = page_request.runtime.store
    retired = page_request.request.query_params.get("retired") == "1"
    return page_request.show(
        "extractions/recipes.html",
        of_error(wrong.error).status if wrong else 200,
        recipes=recipes.list_views(store, retired=retired),
        retired=retired,
        extractions=extractions.list_views(store, limit=EXTRACTIONS),
        entities=recipes.list_entities(),
        own=OWN_SCHEMA,
        wrong=wrong,
        filled={name: page_request.form.one(name) for name in FIELDS},
    )


def add_recipe(page_request: PageRequest) -> Response:
    """Add a recipe. If a field is wrong, show the form again as it was filled in, with the mistake beside
    its field.
    """
    runtime, by = page_request.runtime, _by(page_request)
    try:
        name, spec = read_form({name: page_request.form.one(name) for name in FIELDS})
        beside("url", lambda: recipes.refuse_unfetchable(runtime, spec.url))
        beside("name", lambda: recipes.add_recipe(runtime.store, runtime.registry, name, spec, by=by))
    except FieldMistake as wrong:
        return _recipes(page_request, wrong)
    return page_request.go(f"/recipes/{name}")


def recipe(page_request: PageRequest) -> Response:
    """Show one recipe: what proves it, a preview, its extractions, its versions, and the form to edit it."""
    return _recipe(page_request)


def _recipe(page_request: PageRequest, wrong: ThresherError | None = None) -> Response:
    """With a mistake the form has what was typed, and the page beside it what the recipe says now."""
    store, name = page_request.runtime.store, page_request.request.path_params["name"]
    detail = recipes.show_recipe(store, name)
    version = _whole(page_request.request.query_params.get("version", ""))
    return page_request.show(
        "extractions/recipe.html",
        of_error(wrong).status if wrong else 200,
        detail=detail,
        extractions=extractions.list_views(store, detail.recipe.name, limit=EXTRACTIONS),
        wrong=wrong,
        text=_typed(page_request) if wrong else detail.yaml,
        version=version,
        version_text=recipes.version_text(store, name, version) if version is not None else None,
    )


def _typed(page_request: PageRequest) -> str:
    """What was typed into the form, with line ends as files have them: browsers send two characters."""
    return page_request.form.one("recipe").replace("\r\n", "\n")


def edit_recipe(page_request: PageRequest) -> Response:
    """Replace what a recipe says by what was typed. If that is wrong, or somebody else was faster, show it
    again as it was typed.
    """
    runtime, name = page_request.runtime, page_request.request.path_params["name"]
    seen, by = _whole(page_request.form.one("version")), _by(page_request)
    known = recipes.show_recipe(runtime.store, name).recipe.name
    try:
        spec = read_recipe_text(_typed(page_request), "the recipe")
        if spec != recipes.spec_named(runtime.store, name):
            recipes.refuse_unfetchable(runtime, spec.url)
            recipes.update_recipe(runtime.store, runtime.registry, name, spec, by=by, seen=seen)
    except (UsageError, NotAllowed) as wrong:
        return _recipe(page_request, wrong)
    return page_request.go(f"/recipes/{known}")


def change_recipe(page_request: PageRequest) -> Response:
    """Detect the configuration of a recipe again, answer its question, take up an earlier version, retire
    it, or start an extraction by it.
    """
    runtime, name = page_request.runtime, page_request.request.path_params["name"]
    store, registry, by = runtime.store, runtime.registry, _by(page_request)
    match page_request.request.path_params["change"]:
        case "detect":
            changed = recipes.reconfigure(store, registry, name)
        case "answer":
            choice, asked = (_whole(page_request.form.one(each)) for each in ("choice", "detection"))
            if choice is None:
                raise UsageError("no answer was chosen; go back and choose one. Nothing was changed.")
            changed = recipes.answer_question(store, registry, name, choice, by=by, detection=asked)
        case "revert":
            version = _whole(page_request.form.one("version"))
            if version is None:
                raise UsageError("no version was named; go back and choose one. Nothing was changed.")
            changed = recipes.revert(store, registry, name, version, by=by)
        case "remove":
            recipes.remove_recipe(store, name)
            return page_request.go("/recipes")
        case "extract":
            return page_request.go(f"/extractions/{extractions.start(store, registry, name).extraction}")
        case other:
            raise UsageError(f"{other[:40]!r} is no change of a recipe")
    return page_request.go(f"/recipes/{changed.recipe.name}")


def _by(page_request: PageRequest) -> str:
    return page_request.who.who if page_request.who else "the dashboard"


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


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
    """Show the pages of an extraction: all, or those of one step or in one state."""
    asked, number = page_request.request.query_params, _number(page_request, "extraction")
    state, step, after = (
        asked.get("state") or None,
        _step(asked.get("step", "")),
        asked.get("after", ""),
    )
    store = page_request.runtime.store
    found = extractions.list_pages(store, number, state=state, step=step, after=after, limit=ROWS)
    where = f"/extractions/{number}/pages"
    more = found[-1].page.page if len(found) == ROWS else None
    return page_request.show(
        "extractions/pages.html",
        extraction=number,
        pages=found,
        state=state,
        states={each: _address(where, step=step, state=each) for each in (None, *PAGE_STATES)},
        step=step,
        next=_address(where, step=step, state=state, after=more) if more else None,
    )


def _step(said: str) -> int | None:
    step = _whole(said)
    if said and step is None:
        raise UsageError(f"step must be a whole number, got {said[:40]!r}")
    return step


def _address(path: str, **asked: object) -> str:
    given = {name: value for name, value in asked.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path


def page(page_request: PageRequest) -> Response:
    """Show one page: its screenshot beside its text with the evidence, and its items."""
    store, number = page_request.runtime.store, _number(page_request, "extraction")
    view = extractions.show_page(store, number, page_request.request.path_params["page"])
    text = marked_text(store, view.items, view.page.markdown)
    found_on = extractions.addresses_of(store, number, view.parents)
    return page_request.show(
        "extractions/page.html", extraction=number, view=view, text=text, found_on=found_on
    )


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
    only, after = asked.get("only") or None, asked.get("after", "")
    store = page_request.runtime.store
    found = datasets.diff(store, params["old"], params["new"], what=only, after=after, limit=ROWS)
    return page_request.show(
        "extractions/diff.html",
        diff=found,
        only=only,
        changes=datasets.CHANGES,
        value=_value,
        differing=lambda was, is_: differing(was, is_, MAX_VALUE),
    )


def _value(value: Any) -> str:
    if value is None:
        return "–"
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value)


def _number(page_request: PageRequest, name: str) -> int:
    said = page_request.request.path_params[name]
    if not (said.isascii() and said.isdecimal() and len(said) < 19):
        raise UnknownName(f"there is no extraction {said[:40]!r}")
    return int(said)


PAGES = (
    DashboardPage("GET", "/recipes", recipe_list, "Recipes", asks=frozenset(("retired",))),
    DashboardPage("POST", "/recipes", add_recipe, long_fields=frozenset(("schema",))),
    DashboardPage("GET", "/recipes/{name}", recipe, asks=frozenset(("version",))),
    DashboardPage("POST", "/recipes/{name}/edit", edit_recipe, long_fields=frozenset(("recipe",))),
    DashboardPage("POST", "/recipes/{name}/{change}", change_recipe),
    DashboardPage("GET", "/extractions/{extraction}", extraction),
    DashboardPage("POST", "/extractions/{extraction}/{change}", change_extraction),
    DashboardPage(
        "GET", "/extractions/{extraction}/pages", page_list, asks=frozenset(("state", "step", "after"))
    ),
    DashboardPage("GET", "/extractions/{extraction}/pages/{page}", page),
    DashboardPage("GET", "/extractions/{extraction}/pages/{page}/screenshot", screenshot),
    DashboardPage("GET", "/datasets", dataset_list, "Data sets"),
    DashboardPage("GET", "/datasets/{dataset}", dataset, asks=frozenset(("verified", "after"))),
    DashboardPage("GET", "/datasets/{old}/diff/{new}", diff, asks=frozenset(("only", "after"))),
)
