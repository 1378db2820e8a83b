"""An API of courses whose answers can be made to misbehave: one dataclass, a recipe for it, and a world."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from thresher.apps.extractions.app import app
from thresher.apps.extractions.model import ApiSource, Configuration, Entity, Limits, Origin
from thresher.apps.extractions.recipe_file import RecipeSpec
from thresher.apps.extractions.service import extractions
from thresher.apps.extractions.service.extractions import ExtractionView
from thresher.apps.extractions.store.recipes import give_configuration, save_recipe
from thresher.core.schema import Field, Kind, Schema
from thresher.testing.web import Page, Reply, Requested
from thresher.testing.world import World

SITE = "https://school.example/courses"
HOST = "https://api.school.example"
LIST = f"{HOST}/v1/courses"
SIZE = 10
FIELDS = {
    "code": "code",
    "name": "title",
    "credits": "credits.min",
    "topics": "topics[].name",
    "open": "open",
}
ANSWER: dict[str, Any] = {"rows": "items", "total": "total", "id": "id", "url": "link", "fields": FIELDS}
COURSE = Entity(
    "course",
    Schema(
        "course",
        (
            Field("code", required=True),
            Field("name", required=True),
            Field("credits", Kind.NUMBER),
            Field("topics", many=True),
            Field("open", Kind.BOOLEAN),
            Field("summary"),
        ),
        key=("code",),
    ),
)
# How the list goes on: what is sent, and what the definition says of it.
PAGINGS: dict[str, tuple[dict[str, str], dict[str, Any], dict[str, Any]]] = {
    "page": ({"page": "{page}", "size": "{size}"}, {"kind": "page", "size": SIZE}, {}),
    "offset": ({"skip": "{offset}", "size": "{size}"}, {"kind": "offset", "first": 0, "size": SIZE}, {}),
    "cursor": ({"after": "{cursor}"}, {"kind": "cursor"}, {"next": "next"}),
    "link": ({}, {"kind": "link"}, {"next": "link"}),
    "none": ({}, {"kind": "none"}, {}),
}

Twist = Callable[["CourseApi", Requested, dict[str, Any]], Page | None]


@dataclass
class CourseApi:
    """`twist` may answer in another way, or change the answer, before it is sent."""

    number: int = 25
    paging: str = "page"
    twist: Twist | None = None
    asked: list[str] = field(default_factory=list)

    def pages(self) -> dict[str, Page]:
        return {f"{LIST}*": self._answer, f"{LIST}/*": self._detail}

    @property
    def size(self) -> int:
        return self.number if self.paging == "none" else SIZE

    def _answer(self, request: Requested) -> Page:
        self.asked.append(request.url)
        said = self.listing(self.first_row(request.url))
        other = self.twist(self, request, said) if self.twist else None
        return said_as_json(said) if other is None else other

    def first_row(self, url: str) -> int:
        query = {name: each[0] for name, each in parse_qs(urlsplit(url).query).items()}
        match self.paging:
            case "page":
                return (int(query["page"]) - 1) * SIZE
            case "offset":
                return int(query["skip"])
            case "cursor" | "link":
                return int(query.get("after", "0"))
        return 0

    def listing(self, start: int) -> dict[str, Any]:
        shown = range(start, min(start + self.size, self.number))
        said: dict[str, Any] = {"total": self.number, "items": [self.row(each) for each in shown]}
        if start + self.size < self.number:
            after = start + self.size
            said |= {"cursor": {"next": str(after)}, "link": {"link": f"/v1/courses?after={after}"}}.get(
                self.paging, {}
            )
        return said

    def row(self, number: int) -> dict[str, Any]:
        return {
            "id": 1000 + number,
            "code": f"C-{number}",
            "title": f"Course &amp; {number}",
            "link": f"/courses/{number}",
            "credits": {"min": number % 7 + 0.5},
            "topics": [{"name": "red"}, {"name": f"t{number}"}],
            "open": number % 2 == 0,
        }

    def _detail(self, request: Requested) -> Page:
        self.asked.append(request.url)
        last = request.url.rpartition("/")[2]
        number = int(last) - 1000 if last.isdigit() else -1
        said = {"course": {"id": 1000 + number, "text": f"All about course {number}."}}
        other = self.twist(self, request, said) if self.twist else None
        return said_as_json(said) if other is None else other


def said_as_json(data: Any, status: int = 200, **headers: str) -> Reply:
    return Reply(json.dumps(data), status, {"content-type": "application/json", **headers})


def definition(paging: str = "page", **more: Any) -> dict[str, Any]:
    query, how, of_answer = PAGINGS[paging]
    request = {"url": LIST, "query": query}
    return {"request": request, "paging": how, "answer": {**ANSWER, **of_answer}} | more


def with_detail(paging: str = "page") -> dict[str, Any]:
    answer = {"rows": "course", "id": "id", "fields": {"summary": "text"}}
    return definition(paging, detail={"request": {"url": f"{LIST}/{{id}}"}, "answer": answer})


def world(api: CourseApi, database: str | None = None, **more: Any) -> World:
    settings = {"host.interval": 0.0, "host.in_flight": 4}
    return World(app, pages=api.pages(), settings=settings, database=database, **more)


def add_recipe(
    made: World, said: dict[str, Any] | ApiSource, *, entity: Entity = COURSE, limits: Limits | None = None
) -> None:
    """A recipe whose API a person describes."""
    with made.store.write() as session:
        now = made.store.backend.now(session)
        spec = RecipeSpec(SITE, entity, None, limits or Limits())
        recipe = save_recipe(session, "school", spec, Origin.PERSON, "a person", now)
        source = said if isinstance(said, ApiSource) else ApiSource(definition=said)
        give_configuration(session, recipe.id, Configuration(api=source), "a person", now)


def extract(made: World) -> ExtractionView:
    """Start an extraction and let it run to its end."""
    started = extractions.start(made.store, made.registry, "school")
    made.run_until_idle()
    return extractions.show_extraction(made.store, started.extraction)
