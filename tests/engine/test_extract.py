"""Reading a site into records: by a model until it is learned, for nothing from then on, and never wrong when
it changes."""

from typing import Any
from urllib.parse import urlsplit

import orjson
import pytest

from tests.engine.asking import Study, models
from tests.engine.workshop import Workshop
from tests.harness.databases import with_processes
from tests.harness.tasks import events, rows
from thresher import App, Done, Field, Kind, NewTask, Pipeline, Record, Schema, Stage
from thresher.admin import sources
from thresher.core.clock import SystemClock
from thresher.practice.web import DAY_ZERO, Knob, PracticeWeb, Trouble, robots
from thresher.practice.web.planted import catalogue, planted
from thresher.practice.web.sites.catalogue import Course, courses
from thresher.store import blobs, extractors

pytestmark = with_processes

HOST = "courses.practice.example"
COURSE = Schema(
    "course",
    (
        Field("title", required=True),
        Field("level"),
        Field("hours", Kind.INTEGER),
        Field("price", Kind.MONEY),
        Field("starts", Kind.DATE),
        Field("shelf"),
    ),
)


@pytest.fixture
def clock() -> SystemClock:
    """Real time: between two requests there is nothing else to wait for."""
    return SystemClock()


@pytest.fixture
def web(web: PracticeWeb) -> PracticeWeb:
    web.turn(robots(HOST, "User-agent: *\nAllow: /\n"))
    return web


class School(Study):
    """Tasks that read courses into records."""

    def __init__(self, workshop: Workshop, web: PracticeWeb, schema: Schema = COURSE) -> None:
        super().__init__(workshop, web)

        async def read(ctx: Any) -> Done:
            return await read_course(ctx, schema)

        stage = Stage(read, through=lambda trip: (f"host:{urlsplit(trip.url or HOST).hostname or HOST}",))
        self.app = App("school", pipelines=(Pipeline("course", stage),), schemas=(COURSE,))

    def read(self, wanted: list[Course], **settings: Any) -> None:
        registry = self.open(**settings)
        self.shop.put(registry, *(NewTask("course", url=f"https://{HOST}{each.path}") for each in wanted))
        self.drain(registry, patience=10)

    def records(self) -> dict[str, dict[str, Any]]:
        return {
            key: orjson.loads(data) for key, data in rows(self.shop.store, "select key, data from records")
        }

    def by(self) -> list[str]:
        return [
            reason
            for (reason,) in rows(
                self.shop.store, "select reason from tasks where state = 'succeeded' order by id"
            )
        ]

    @property
    def calls(self) -> int:
        return sum(entry.path.endswith("/completions") for entry in self.web.log())


async def read_course(ctx: Any, schema: Schema = COURSE) -> Done:
    page = await ctx.fetch(ctx.task.url, max_age=0)
    found = await ctx.extract(page, schema)
    record = Record(
        "course", ctx.task.url, {**found.value, "doubts": list(found.doubts)}, evidence=found.evidence
    )
    return Done(records=(record,), note=str(found.by))


@pytest.fixture
def school(workshop: Workshop, web: PracticeWeb) -> School:
    return School(workshop, web)


@pytest.fixture(scope="module")
def offered() -> list[Course]:
    found = [each for each in courses(7, DAY_ZERO) if each.cents]
    return found[:8]


def truth(course: Course) -> dict[str, Any]:
    return {
        "title": course.title,
        "level": course.level,
        "hours": course.hours,
        "price": course.price,
        "starts": f"{course.starts:%d %B %Y}",
        "shelf": "no course has one",
        "teacher": course.teacher,
    }


def wrong(school: School, wanted: list[Course]) -> list[tuple[str, str, Any, Any]]:
    """Values in the records that are not the truth. What was left out is not wrong."""
    found = school.records()
    return [
        (each.path, name, said, right)
        for each in wanted
        for name, right in truth(each).items()
        if (said := found.get(f"https://{HOST}{each.path}", {}).get(name)) is not None
        and str(said) != str(right)
    ]


@pytest.mark.promise(15)
def test_a_site_is_learned_from_three_answers_and_costs_nothing_from_then_on(
    school: School, offered: list[Course]
):
    school.read(offered)
    assert school.by() == ["model"] * 3 + ["learned"] * 5
    assert school.calls == 3
    assert wrong(school, offered) == []
    assert all(
        each[name]
        for each in school.records().values()
        for name in ("title", "level", "hours", "price", "starts")
    )
    school.read(offered)
    assert school.calls == 3


@pytest.mark.promise(14)
def test_every_value_of_a_record_stands_where_its_evidence_says(school: School, offered: list[Course]):
    school.read(offered)
    for key, data, evidence in rows(school.shop.store, "select key, data, evidence from records"):
        told, values = orjson.loads(evidence), orjson.loads(data)
        text = blobs.get(school.shop.store, told["source"]).decode()
        for field in COURSE.fields:
            place = told["places"].get(field.name)
            if values.get(field.name) is not None:
                assert place, (key, field.name)
                assert place.get("path") or text[place["start"] : place["end"]] == place["quote"], (
                    key,
                    field.name,
                )


@pytest.mark.promise(15)
@pytest.mark.promise(14)
def test_a_site_that_changes_is_noticed_asked_about_and_learned_anew(school: School, offered: list[Course]):
    school.read(offered[:4])
    assert school.calls == 3
    school.web.turn(Knob(Trouble.LAYOUT, HOST))
    school.read(offered)
    assert wrong(school, offered) == []
    learned = extractors.versions(school.shop.store, HOST)
    if school.calls > 3:  # it could not read the new pages for certain, so it asked, and learned them
        assert [each.version for each in learned][:1] == [2]
    after = school.calls
    school.read(offered)
    assert school.calls == after
    assert wrong(school, offered) == []


@pytest.mark.promise(14)
def test_what_a_model_invents_is_neither_verified_nor_taught(school: School, offered: list[Course]):
    school.web.turn(Knob(Trouble.INVENTED, "127.0.0.1", number=100))
    school.read(offered[:5])
    assert extractors.versions(school.shop.store, HOST) == []
    for evidence, data in rows(school.shop.store, "select evidence, data from records"):
        told, values = orjson.loads(evidence)["places"], orjson.loads(data)
        for course in offered[:5]:
            right = truth(course)
            verified = {name for name, place in told.items() if place}
            if values["title"] == right["title"]:
                assert all(str(values[name]) == str(right[name]) for name in verified)


def test_without_a_model_a_page_that_declares_too_little_says_what_is_missing(
    school: School, offered: list[Course]
):
    school.models = type(models(school.web))()
    school.read(offered[:2])
    assert school.calls == 0
    assert school.by() == ["data"] * 2
    for record in school.records().values():
        assert any("shelf" in doubt for doubt in record["doubts"])
        assert record["title"]


@pytest.mark.promise(15)
def test_a_learned_site_is_read_while_the_model_is_closed(school: School, offered: list[Course]):
    school.read(offered[:4])
    sources.disable(school.shop.store, "practice", "enough for today")
    school.read(offered[4:])
    assert school.by()[4:] == ["learned"] * 4
    assert school.calls == 3


def test_a_field_that_no_known_page_had_is_asked_about_where_a_page_names_it(
    workshop: Workshop, web: PracticeWeb
):
    """Three pages without an instructor teach nothing about instructors, and must not lose all others."""
    of = catalogue("n60.numbered")
    assert of is not None
    schema = Schema(
        "numbered", tuple(Field(each.name, Kind(each.type), required=each.required) for each in of.fields)
    )
    items = planted(of.host, 7, DAY_ZERO)
    without = [each for each in items if not each.fields["instructor"]][:4]
    having = [each for each in items if each.fields["instructor"]][:8]
    school = School(workshop, web, schema)
    registry = school.open()

    def read(urls: list[str]) -> None:
        for url in urls:
            school.shop.put(registry, NewTask("course", url=url))
            school.drain(registry, patience=10)

    read([each.url for each in without])
    assert school.by() == ["model"] * 3 + ["learned"]
    read([each.url for each in having])
    found = school.records()
    assert [found[each.url].get("instructor") for each in having] == [
        each.fields["instructor"] for each in having
    ]
    assert school.by()[4:8] == ["model"] * 3 + ["learned"], "three more pages teach it"
    assert [found[each.url]["doubts"] for each in having] == [[]] * 8
    # What was read once is known, and a label is asked about a few times, not for ever.
    read([each.url for each in having + without])
    assert school.by()[12:].count("model") <= 2, school.by()


def test_half_an_extractor_is_not_used(workshop: Workshop, web: PracticeWeb, offered: list[Course]):
    # It would lose, unseen, what the model has read. "Taught by E. Nakamura. Intermediate level": nothing on
    # the page tells where a name with a full stop in it ends.
    school = School(workshop, web, Schema("course", (Field("title", required=True), Field("teacher"))))
    school.read(offered[:5])
    assert school.by() == ["model"] * 5
    assert all(each["teacher"] for each in school.records().values())
    (refusal, *_) = events(workshop.store, "extractor_refused")
    assert refusal


LISTED = Schema(
    "listed", (Field("title", required=True), Field("price", Kind.MONEY)), many=True, key=("title", "price")
)


def listing(school: School) -> tuple[str, list[tuple[str, str]], int]:
    """Read the first page of the catalogue: by whom, its courses, and how many values stand in it."""
    seen: list[Any] = []

    async def look(ctx: Any) -> Done:
        seen.append(await ctx.extract(await ctx.fetch(f"https://{HOST}/catalogue", max_age=0), LISTED))
        return Done()

    school.app = App("school", pipelines=(Pipeline("list", Stage(look, through=(f"host:{HOST}",))),))
    registry = school.open()
    school.shop.put(registry, NewTask("list"))
    school.drain(registry)
    (found,) = seen
    values = [(thing["title"], thing["price"]) for thing in found.value["items"]]
    return str(found.by), values, sum(place is not None for place in found.evidence.places.values())


@pytest.mark.promise(14)
def test_the_things_of_a_list_each_keep_their_own_values(school: School):
    there = [(each.title, each.price) for each in courses(7, DAY_ZERO)[:12]]
    assert listing(school) == ("model", there, 24)


def test_without_a_model_a_list_is_told_by_the_likeness_of_its_rows(school: School):
    there = [(each.title, each.price) for each in courses(7, DAY_ZERO)[:12]]
    school.models = type(models(school.web))()
    by, found, _ = listing(school)
    assert (by, found, school.calls) == ("data", there, 0)
