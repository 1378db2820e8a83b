"""Recipes over HTTP. Members are in camelCase; a recipe may be sent in that spelling or in that of files.

Creating, reconfiguring and updating a recipe each enqueue a detection, unless a configuration is sent.
"""

from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import Field
from starlette.requests import Request

from thresher.admin.keys import READ, WRITE
from thresher.apps.extractions.http.answer import Camel, camel_answer
from thresher.apps.extractions.recipe_file import RecipeSpec, checked_name, read_recipe_json
from thresher.apps.extractions.service import recipes
from thresher.runtime import Runtime
from thresher.web.auth import holder
from thresher.web.route import AfterName, CurrentRuntime, Limit, Route
from thresher.web.schemas import RequestBody, Text, like

_CONFIGURATION = {
    "pageType": "DETAIL_LINKS",
    "linkPattern": "/courses/\\d+$",
    "pagination": {"kind": "page_num", "urlPattern": "{url}?page={page_num}", "startPage": 1},
    "links": {"pageType": "DETAIL"},
}

Name = Annotated[str, Path(description="Name or id of the recipe.")]


class RecipeSaid(RequestBody):
    """What is read from where. `entity` is the name of an entity type, or an object with a flat JSON Schema
    (`schema`), a `name` and a `key`. Without a `configuration` it is detected; with one, `detect` asks for a
    detection all the same.
    """

    model_config = like(
        url="https://catalog.acme.example/courses",
        entity="course",
        configuration=_CONFIGURATION,
        limits={"pages": 5000},
    )

    url: Text
    entity: Text | dict[str, Any]
    configuration: dict[str, Any] | None = None
    limits: dict[str, Any] | None = None
    detect: bool = False


class RecipeAsked(RecipeSaid):
    """A new recipe: the same, and its name."""

    model_config = like(
        name="acme-courses",
        url="https://catalog.acme.example/courses",
        entity="course",
        limits={"pages": 5000},
    )

    name: Text


class RevertAsked(RequestBody):
    """The version of a recipe that is taken up again."""

    model_config = like(version=2)

    version: Annotated[int, Field(ge=1)]


class AnswerAsked(RequestBody):
    """The number of an answer to what the detection of a recipe asks, from 1."""

    model_config = like(choice=1)

    choice: Annotated[int, Field(ge=1)]


async def listed(
    runtime: CurrentRuntime,
    retired: Annotated[bool, Query(description="Show retired recipes too.")] = False,
    limit: Limit = 1_000,
    after: AfterName = None,
) -> Camel[list[recipes.RecipeView]]:
    """List recipes by name: what each reads, how its configuration stands and why."""
    return await camel_answer(
        runtime, lambda: recipes.list_views(runtime.store, retired=retired, after=after, limit=limit)
    )


async def entities(runtime: CurrentRuntime) -> Camel[list[recipes.EntityView]]:
    """List the entity types that a recipe can name, with their fields."""
    return await camel_answer(runtime, recipes.list_entities)


async def shown(runtime: CurrentRuntime, name: Name) -> Camel[recipes.RecipeDetail]:
    """Show one recipe, by name or id: what it says, what its detection found, what it brings, and its
    versions.
    """
    return await camel_answer(runtime, lambda: recipes.show_recipe(runtime.store, name))


async def add(request: Request, runtime: CurrentRuntime, body: RecipeAsked) -> Camel[recipes.RecipeChanged]:
    """Add a recipe, and detect its configuration unless one is sent."""
    by = _by(request)

    def work() -> recipes.RecipeChanged:
        name, spec = checked_name(body.name), _spec(runtime, body)
        return recipes.add_recipe(runtime.store, runtime.registry, name, spec, by=by, detect=body.detect)

    return await camel_answer(runtime, work)


async def update(
    request: Request, runtime: CurrentRuntime, name: Name, body: RecipeSaid
) -> Camel[recipes.RecipeChanged]:
    """Replace what a recipe says, and detect its configuration unless one is sent."""
    by = _by(request)

    def work() -> recipes.RecipeChanged:
        spec = _spec(runtime, body)
        return recipes.update_recipe(runtime.store, runtime.registry, name, spec, by=by, detect=body.detect)

    return await camel_answer(runtime, work)


async def reconfigure(runtime: CurrentRuntime, name: Name) -> Camel[recipes.RecipeChanged]:
    """Detect the configuration of a recipe anew. The newest detection wins."""
    return await camel_answer(runtime, lambda: recipes.reconfigure(runtime.store, runtime.registry, name))


async def answer(
    request: Request, runtime: CurrentRuntime, name: Name, body: AnswerAsked
) -> Camel[recipes.RecipeChanged]:
    """Answer the question of a detection, and prove the configuration that was chosen."""
    by = _by(request)
    return await camel_answer(
        runtime, lambda: recipes.answer_question(runtime.store, runtime.registry, name, body.choice, by=by)
    )


async def revert(
    request: Request, runtime: CurrentRuntime, name: Name, body: RevertAsked
) -> Camel[recipes.RecipeChanged]:
    """Take up an earlier version of a recipe, as a new version."""
    by = _by(request)
    return await camel_answer(
        runtime, lambda: recipes.revert(runtime.store, runtime.registry, name, body.version, by=by)
    )


async def remove(runtime: CurrentRuntime, name: Name) -> Camel[recipes.RecipeView]:
    """Retire a recipe: it starts nothing more, and its versions and data sets are kept."""
    return await camel_answer(runtime, lambda: recipes.remove_recipe(runtime.store, name))


def _spec(runtime: Runtime, body: RecipeSaid) -> RecipeSpec:
    said = body.model_dump(include={"url", "entity", "configuration", "limits"})
    spec = read_recipe_json(said)
    recipes.refuse_unfetchable(runtime, spec.url)
    return spec


def _by(request: Request) -> str:
    found = holder(request)
    return found.who if found else "the API"


_RECIPE: dict[str, Any] = {
    "id": 3,
    "name": "acme-courses",
    "url": "https://catalog.acme.example/courses",
    "entity": "course",
    "status": "SUCCESS",
    "reason": "5 of 5 sampled pages are courses",
    "configured": True,
    "version": 2,
    "madeBy": "rules",
    "detection": 2,
    "source": "recipe.acme-courses",
    "closedUntil": "2026-03-02T16:15:00.000Z",
    "closedReason": "paused manually",
    "declaredIn": "person",
    "retiredAt": "2026-03-02T11:00:00.000Z",
    "createdAt": "2026-02-01T09:00:00.000Z",
    "updatedAt": "2026-02-01T09:03:00.000Z",
}
_SAID = {
    "url": "https://catalog.acme.example/courses",
    "entity": "course",
    "configuration": _CONFIGURATION,
    "limits": {"pages": 5000, "depth": 2, "budget": 5.0, "hours": 4.0, "rate": "30/m"},
}
_VERSION = {"version": 2, "madeBy": "rules", "madeAt": "2026-02-01T09:03:00.000Z", "recipe": _SAID}
_ESTIMATE = {"likely": 1_200, "low": 1_100, "high": 1_300, "confidence": "checked"}
_REPORT = {
    "levels": [
        {
            "pageType": "DETAIL",
            "by": "rules",
            "reasons": ["5 of 5 pages declare one Course"],
            "samples": [
                {
                    "url": "https://catalog.acme.example/courses/101",
                    "title": "MATH 101",
                    "reading": "DETAIL",
                    "trouble": "404 Not Found",
                }
            ],
            "pages": _ESTIMATE,
        }
    ],
    "pages": _ESTIMATE,
    "items": _ESTIMATE,
    "preview": [
        {
            "url": "https://catalog.acme.example/courses/101",
            "data": {"id": "MATH 101", "name": "Calculus"},
            "by": "data",
            "doubts": ["the page declares no ceu"],
        }
    ],
    "fieldsMissing": ["ceu"],
    "cost": {"dollars": 0.0, "says": "the pages say everything themselves"},
    "question": {"asks": "Which of these are courses?", "choices": [{"says": "the pages below /courses"}]},
    "notes": ["the list claims 60 pages and has 58"],
}
_TASK = {"id": 41, "kind": "detectConfiguration", "key": "detectConfiguration.3.2", "new": True}
_ENTITY = {
    "name": "course",
    "required": ["id", "name", "description"],
    "optional": ["ceu"],
    "key": ["id", "name"],
}
_DETAIL = {
    "recipe": _RECIPE,
    "said": _SAID,
    "yaml": "url: https://catalog.acme.example/courses\nentity: course\n",
    "schema": {"type": "object"},
    "report": _REPORT,
    "versions": [_VERSION],
}
_CHANGED = {"recipe": _RECIPE, "task": _TASK}


ROUTES = (
    Route(
        "GET",
        "/api/recipes",
        listed,
        READ,
        example=[_RECIPE],
        probe=True,
        page_by="name",
        name="list_recipes",
    ),
    Route("POST", "/api/recipes", add, WRITE, example=_CHANGED, name="add_recipe"),
    Route("GET", "/api/recipe-entities", entities, READ, example=[_ENTITY], name="list_recipe_entities"),
    Route(
        "POST",
        "/api/recipes/{name}/reconfigure",
        reconfigure,
        WRITE,
        example=_CHANGED,
        name="reconfigure_recipe",
    ),
    Route(
        "POST", "/api/recipes/{name}/answer", answer, WRITE, example=_CHANGED, name="answer_recipe_question"
    ),
    Route("POST", "/api/recipes/{name}/revert", revert, WRITE, example=_CHANGED, name="revert_recipe"),
    Route("PUT", "/api/recipes/{name}", update, WRITE, example=_CHANGED, name="replace_recipe"),
    Route("DELETE", "/api/recipes/{name}", remove, WRITE, example=_RECIPE, name="retire_recipe"),
    Route("GET", "/api/recipes/{name}", shown, READ, example=_DETAIL, name="get_recipe"),
)
