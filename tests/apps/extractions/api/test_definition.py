"""The definition of an API in a recipe: what may be written, which mistakes are named, and what a recipe must
not be able to do."""

import pickle
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.apps.extractions.course_api import ANSWER, COURSE, HOST, LIST, definition, with_detail
from thresher.apps.extractions.api.definition import (
    ITEM_KEYS,
    KEYS,
    first_url,
    open_api,
    read_vendor,
    secrets_of,
    vendors,
)
from thresher.apps.extractions.detection.endpoints import read_rows, source_of
from thresher.apps.extractions.entities import entity_types
from thresher.apps.extractions.model import ApiSource, Entity
from thresher.apps.extractions.recipe_file import (
    configuration_said,
    read_configuration_json,
    read_recipe_json,
    read_recipe_text,
)
from thresher.core.errors import ConfigError
from thresher.core.schema import Field, Schema

DOCS = Path(__file__).parents[4] / "docs"
SITE = "https://school.example/courses"
VENDOR = """
name: acme
entities: [course]
request: {url: "https://a.example/{school}", query: {c: "{catalogs}", skip: "{offset}"}}
parameters:
  school: {help: School., pattern: "[a-z]+"}
  catalogs: {help: Catalogues.}
each: catalogs
paging: {kind: offset, size: 10}
answer: {rows: data, id: id, fields: {name: name}}
"""


def changed(**changes: Any) -> dict[str, Any]:
    return {name: each for name, each in {**definition(), **changes}.items() if each is not None}


def opened(said: dict[str, Any], entity: Entity = COURSE) -> Any:
    return open_api(ApiSource(definition=said), entity)


def request(**more: Any) -> dict[str, Any]:
    return {**definition()["request"], **more}


def test_a_definition_becomes_the_requests_of_its_list():
    made = opened(definition())
    assert made.list_call(0, None, {}).url == f"{LIST}?page=1&size=10"
    assert first_url(ApiSource(definition=definition()), COURSE) == f"{LIST}?page=1&size=10"
    assert opened(with_detail()).detail_call(0, "a/b", {}).url == f"{LIST}/a%2Fb"
    assert opened(with_detail()).detail_call(0, None, {}) is None


@pytest.mark.parametrize(
    ("said", "says"),
    [
        (changed(nonsense=1), "definition.nonsense: nonsense is not a known key"),
        (changed(parameters={"a": {"help": "x"}}), "definition.parameters: parameters is not a known key"),
        (changed(request=None), "definition.request: None is not a mapping"),
        (
            changed(request=request(url="ftp://a.example")),
            "definition.request.url: 'ftp://a.example' is not a URL",
        ),
        (
            changed(request=request(url="https://{h}.example/")),
            "definition.request.url: the host must be written",
        ),
        (changed(request=request(query={"q": "{text}"})), "definition.request: nothing fills {text}"),
        (changed(paging={"kind": "page"}), "definition.paging: size is missing"),
        (changed(paging={"kind": "link"}), "definition.request: nothing fills {page}"),
        (changed(answer=None), "definition.answer: None is not a mapping"),
        (changed(answer={"rows": "a"}), "definition.answer.fields: None is not a mapping"),
        (changed(answer={"fields": {}}), "definition.answer.fields: names no field"),
        (changed(answer={**ANSWER, "fields": {"title": "t"}}), "fields.title: course has no field 'title'"),
        (
            changed(answer={**ANSWER, "fields": {"name": {}}}),
            "definition.answer.fields.name: {} is not a field",
        ),
        (changed(answer={**ANSWER, "id": {"x": 1}}), "definition.answer.id: {'x': 1} is not a field"),
        (changed(each={"catalog": ["a"]}), "definition.each: {catalog} stands nowhere"),
        (changed(each="catalog"), "definition.each: "),
        (changed(each={"page": ["a"]}), "{page} has a meaning of its own"),
        (changed(each={"c": []}), "definition.each.c: must list 1 to 1,000 values"),
        (changed(each={"c": ["a", "a"]}), "definition.each.c: must list 1 to 1,000 values, each once"),
        (changed(each={"c": [".."]}), "or only dots"),
        (changed(detail={"request": {"url": f"{LIST}/x"}, "answer": ANSWER}), "{id} stands nowhere in it"),
        (
            changed(detail={"request": {"url": "https://b.example/{id}"}, "answer": ANSWER}),
            "detail.request.url: a detail is asked for where the list is",
        ),
        (
            changed(detail={"request": {"url": f"{LIST}/{{key}}"}, "answer": ANSWER}),
            "detail.request: nothing fills {key}",
        ),
        (
            with_detail() | {"answer": {"rows": "items", "fields": {"name": "title"}}},
            "definition.answer: id is missing",
        ),
        (changed(auth={"env": "AWS_SECRET_ACCESS_KEY"}), "AWS_SECRET_ACCESS_KEY is not for recipes"),
        (
            changed(auth={"as": "basic", "env": "EXTRACTIONS_A", "password_env": "PGPASSWORD"}),
            "PGPASSWORD is not for recipes",
        ),
    ],
)
def test_a_mistake_is_named_with_its_key_wherever_the_recipe_comes_from(said, says):
    with pytest.raises(ConfigError) as problem:
        opened(said)
    assert says in str(problem.value)
    recipe = {"url": SITE, "entity": "course", "configuration": {"api": {"definition": said}}}
    for read in (read_recipe_json, lambda data: read_recipe_text(yaml.safe_dump(data), "acme.yaml")):
        with pytest.raises(ConfigError, match=r"configuration\.api\.definition"):
            read(recipe)


@pytest.mark.parametrize(
    "wrap", [lambda each: [each], lambda each: {"all": [each]}, lambda each: {"a": each}]
)
def test_a_definition_that_is_nested_without_end_is_a_mistake_and_no_crash(wrap):
    spec: Any = "title"
    for _ in range(200):
        spec = wrap(spec)
    for said in (
        changed(answer={**ANSWER, "fields": {"name": spec}}),
        changed(request=request(body={"x": spec})),
    ):
        with pytest.raises(ConfigError, match="nested deeper"):
            opened(said)


def test_an_api_can_be_sent_to_another_process():
    made = opened(with_detail())
    assert pickle.loads(pickle.dumps(made)) == made


def test_a_list_is_asked_for_once_with_each_value():
    said = changed(
        request=request(query={"c": "{catalog}", "page": "{page}"}), each={"catalog": [2025, "b c"]}
    )
    made = opened(said)
    assert [made.list_call(turn, None, {}).url for turn in (0, 1)] == [
        f"{LIST}?c=2025&page=1",
        f"{LIST}?c=b%20c&page=1",
    ]
    in_path = changed(request={"url": f"{HOST}/{{c}}", "query": {"page": "{page}"}}, each={"c": ["../x"]})
    assert opened(in_path).list_call(0, None, {}).url == f"{HOST}/..%2Fx?page=1"


# Secrets: whoever writes a recipe must not get at those of the machine, or send one elsewhere.


def with_key(**auth: str) -> dict[str, Any]:
    return changed(auth={"env": "EXTRACTIONS_KEY", **auth})


def test_a_secret_goes_to_the_origin_that_its_variable_names():
    made = opened(with_key())
    call = made.list_call(0, None, {"EXTRACTIONS_KEY": f"{HOST} s3cret-value"})
    assert call.credentials.origin == HOST
    assert call.credentials.headers == {"authorization": "Bearer s3cret-value"}
    assert "s3cret" not in call.url


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("", f"set the environment variable EXTRACTIONS_KEY to '{HOST} KEY'"),
        ("s3cret-value", "is not for https://api.school.example"),
        ("https://other.example s3cret-value", "is not for https://api.school.example"),
        (f"{HOST}.evil.example s3cret-value", "is not for https://api.school.example"),
        (f"http://{HOST.partition('//')[2]} s3cret-value", "is not for https://api.school.example"),
        (f"{HOST} ", "is not for https://api.school.example"),
    ],
)
def test_a_secret_of_another_origin_is_refused_and_not_shown(value, says):
    with pytest.raises(ConfigError) as problem:
        opened(with_key()).list_call(0, None, {"EXTRACTIONS_KEY": value})
    assert says in str(problem.value)
    assert "s3cret" not in str(problem.value)


def test_no_other_variable_is_ever_looked_at():
    class Watched(dict[str, str]):
        asked: list[str] = []

        def get(self, name: str, default: Any = None) -> Any:
            self.asked.append(name)
            return super().get(name, default)

    env = Watched(EXTRACTIONS_KEY=f"{HOST} s3cret-value", HOME="x")
    secrets_of(opened(with_key()).api, env)
    assert env.asked == ["EXTRACTIONS_KEY"]


# Vendors


def test_every_shipped_vendor_is_a_definition_for_its_entities():
    assert "coursedog" in vendors()
    for api in vendors().values():
        for name in api.entities:
            told = set(api.answers[0].fields)
            entity = entity_types()[name].entity
            assert told <= {each.name for each in entity.schema.fields}
            wanted = {each.name for each in entity.schema.fields if each.required}
            assert wanted <= told


def test_a_vendor_asks_for_each_catalogue_of_a_school():
    course = entity_types()["course"].entity
    source = ApiSource("coursedog", {"school": "acme_ps", "catalogs": "a, b"})
    made = open_api(source, course)
    first, second = (made.list_call(turn, None, {}).url for turn in range(len(made.turns)))
    base = "https://app.coursedog.com/api/v1/cm/acme_ps/courses/search/$filters"
    assert first.startswith(f"{base}?catalogId=a&skip=0&limit=100")
    assert "catalogId=b" in second
    whole = open_api(ApiSource("coursedog", {"school": "acme_ps"}), course)
    assert len(whole.turns) == 1
    assert "catalogId" not in whole.list_call(0, None, {}).url


@pytest.mark.parametrize(
    ("api", "says"),
    [
        ({"vendor": "nobody"}, "api.vendor: 'nobody' is not a vendor; there is coursedog"),
        ({"vendor": "coursedog"}, "api.parameters: coursedog needs the parameter school"),
        ({"vendor": "coursedog", "parameters": {"school": "a/b"}}, "does not fit"),
        ({"vendor": "coursedog", "parameters": {"school": ".."}}, "would change the path"),
        ({"vendor": "coursedog", "parameters": {"school": "a", "x": "y"}}, "has no parameter 'x'"),
        ({"vendor": "coursedog", "parameters": {"school": "a", "catalogs": "a,b c"}}, "does not fit"),
        ({"definition": definition(), "parameters": {"a": "b"}}, "has no parameter 'a'"),
    ],
)
def test_a_wrong_vendor_or_parameter_is_named(api, says):
    with pytest.raises(ConfigError) as problem:
        read_configuration_json({"page_type": "API", "api": api}, SITE)
    assert says in str(problem.value)


def test_a_vendor_of_other_things_is_refused():
    recipe = {
        "url": SITE,
        "entity": "product",
        "configuration": {"api": {"vendor": "coursedog", "parameters": {"school": "a"}}},
    }
    with pytest.raises(ConfigError, match="Coursedog has course, and the entity of the recipe is product"):
        read_recipe_json(recipe)


def test_the_file_of_a_vendor_is_checked_with_its_lines():
    assert read_vendor(VENDOR, "acme.yaml").name == "acme"
    with pytest.raises(
        ConfigError, match=r"acme\.yaml, line \d+: request\.url: .*must be a parameter with a pattern"
    ):
        read_vendor(VENDOR.replace(', pattern: "[a-z]+"', ""), "acme.yaml")
    with pytest.raises(ConfigError, match=r"each: has no values for \{catalogs\}"):
        read_vendor(VENDOR.replace("  catalogs: {help: Catalogues.}\n", ""), "acme.yaml")


# What detection writes


@pytest.mark.parametrize(
    ("url", "more", "kind"),
    [
        (f"{LIST}?page=1", {"total": 50}, "page"),
        (f"{LIST}?offset=0&limit=2", {"total": 50}, "offset"),
        (f"{LIST}?skip=0&limit=500", {"total": 50}, "offset"),
        (LIST, {"next": "/v1/courses?after=2"}, "link"),
        (f"{LIST}?limit=2", {"next_cursor": "abc"}, "cursor"),
        (LIST, {}, "none"),
    ],
)
def test_what_detection_writes_is_a_definition(url, more, kind):
    entity = Entity("course", Schema("course", (Field("name", required=True), Field("code"))))
    answer = {"items": [{"name": f"Course {at}", "code": f"C-{at}"} for at in range(2)], **more}
    rows = read_rows(answer, entity.schema)
    assert rows is not None
    source = source_of(url, rows)
    made = open_api(source, entity)
    assert made.api.paging.kind == kind
    assert (made.api.paging.size or 2) <= 2, "a page of two rows is full, whatever was asked for"
    once = open_api(source_of(url, rows, paged=False), entity)
    assert once.list_call(0, None, {}).url == url
    assert set(source.definition or {}) <= set(KEYS)
    said = {"page_type": "API", "api": {"definition": source.definition}}
    found = read_configuration_json(said, SITE, entity)
    assert configuration_said(found) == said


def test_what_detection_writes_tells_rows_apart_where_they_say_how():
    entity = Entity("course", Schema("course", (Field("name", required=True),)))
    rows = [{"name": "A", "id": at, "_id": "x", "url": f"/c/{at}", "a.b": 1} for at in range(3)]
    found = read_rows({"items": rows}, entity.schema)
    assert found is not None
    assert (found.id, found.url) == ("id", "url")
    assert open_api(source_of(LIST, found), entity).api.answers[0].id == "id"
    for odd in ({"id": 0}, {"id": None}, {"id": True}, {"id": [1]}):
        unsure = read_rows(
            {"items": [rows[0] | {"url": "javascript:x"}, rows[1] | odd, rows[2]]}, entity.schema
        )
        assert unsure is not None
        assert (unsure.id, unsure.url) == (None, None)


# The documentation


def examples(page: str) -> list[str]:
    return re.findall(r"```yaml\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)


def test_the_recipe_in_the_reference_uses_every_key_of_a_definition():
    (text,) = examples("reference/recipe-apis.md")
    spec = read_recipe_text(text, "acme.yaml")
    assert spec.configuration is not None
    assert spec.configuration.api is not None
    assert set(spec.configuration.api.definition or {}) == set(KEYS)
    page = (DOCS / "reference" / "recipe-apis.md").read_text("utf-8")
    assert all(f"`{name}`" in page for name in (*KEYS, *ITEM_KEYS, *vendors()))
    for api in vendors().values():
        assert all(f"`{name}`" in page for name in api.parameters)


def test_the_examples_of_the_guide_are_definitions_and_its_mistake_is_what_is_said():
    recipe, *parts = examples("how-to/extract-from-an-api.md")
    spec = read_recipe_text(recipe, "acme.yaml")
    assert spec.configuration is not None
    assert spec.configuration.api is not None
    said = spec.configuration.api.definition or {}
    for part in parts[1:]:
        open_api(ApiSource(definition={**said, **yaml.safe_load(part)}), spec.entity)
    guide = (DOCS / "how-to" / "extract-from-an-api.md").read_text("utf-8")
    with pytest.raises(ConfigError) as problem:
        read_recipe_text(recipe.replace("name: title", "titel: title"), "acme.yaml")
    assert str(problem.value).partition("description")[0] in guide
