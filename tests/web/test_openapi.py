"""The OpenAPI document: valid, and complete. That it is true is checked wherever a test asks the API
(`tests/web/conformance.py`), and below for a server on which everything has happened."""

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, get_args

import jsonschema_rs
import pytest
import schemathesis

from tests.web.conformance import differs, whole
from tests.web.conftest import ALL_ROUTES
from tests.web.test_reference import PAGE
from thresher.web.answer_types import answer_of
from thresher.web.schemas import RequestBody

pytestmark = pytest.mark.promise(17)

OPERATIONS = [
    (f"{method.upper()} {path}", operation)
    for path, methods in whole()["paths"].items()
    for method, operation in methods.items()
]
NAME = re.compile(r"[a-z]+(_[a-z]+)*")
COMPONENT = re.compile(r"([A-Z][a-z]+)+")
# What is no JSON, and is described as the text that it is.
TEXTS = {"get_metrics", "export", "export_dataset"}


def test_the_document_is_valid_openapi_3_1_and_its_schemas_are_valid():
    assert whole()["openapi"].startswith("3.1")
    schemathesis.openapi.from_dict(deepcopy(whole())).validate()
    wrong = [
        name
        for name, schema in whole()["components"]["schemas"].items()
        if not jsonschema_rs.meta.is_valid(
            {**schema, "$schema": "https://json-schema.org/draft/2020-12/schema"}
        )
    ]
    assert wrong == []


def test_every_reference_leads_somewhere_and_every_schema_is_referred_to():
    components = whole()["components"]
    found = {each.removeprefix("#/components/") for each in references(whole())}
    there = {f"{kind}/{name}" for kind in ("schemas", "responses", "headers") for name in components[kind]}
    assert found - there == set()
    assert there - found == set()


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for each in value.values():
            yield from references(each)
    elif isinstance(value, list):
        for each in value:
            yield from references(each)


def test_every_route_says_what_it_answers_with_an_example_that_is_such_an_answer():
    wrong = []
    for name, operation in OPERATIONS:
        for status, answer in operation["responses"].items():
            if not status.startswith("2") or status == "204" or operation["operationId"] in TEXTS:
                continue
            said = answer.get("content", {}).get("application/json", {})
            if not said.get("schema") or "example" not in said:
                wrong.append(
                    f"{name}: {status} is not described; give its endpoint a return type and the route an example"
                )
            else:
                wrong += [f"{name}: example: {each}" for each in differs(said["example"], said["schema"])]
    assert wrong == []


def test_every_route_says_how_it_refuses():
    wrong = [name for name, each in OPERATIONS if not {"400", "503", "default"} <= set(each["responses"])]
    assert wrong == []
    for _, route in ALL_ROUTES:
        said = whole()["paths"][route.path.replace(":path", "")][route.method.lower()]["responses"]
        assert (route.scope is not None) <= ({"401", "403", "429"} <= set(said)), route.path
        assert ("{" in route.path) <= ("404" in said), route.path


def test_every_refusal_is_a_problem_with_an_example():
    answers = whole()["components"]["responses"]
    for name, answer in answers.items():
        if name != "NotModified":
            said = answer["content"]["application/problem+json"]
            assert differs(said["example"], said["schema"]) == [], name
            kind = said["example"]["type"].removeprefix("urn:thresher:")
            assert f"| {said['example']['status']} | `{kind}` |" in PAGE.read_text("utf-8")


def test_every_parameter_is_described_in_a_sentence():
    wrong = [
        f"{name}: {each['name']}"
        for name, operation in OPERATIONS
        for each in operation.get("parameters", ())
        if not each.get("description", "").endswith(".")
    ]
    assert wrong == []


def test_every_body_has_an_example_that_is_such_a_body():
    wrong = []
    for name, operation in OPERATIONS:
        body = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if body is None:
            continue
        examples = list(examples_of(body))
        if not examples:
            wrong.append(f"{name}: its body has no example; write model_config = like(...)")
        for each in examples:
            wrong += [f"{name}: {slip}" for slip in differs(each, body["schema"])]
    assert wrong == []


def examples_of(body: dict[str, Any]) -> Iterator[Any]:
    """Those of the body, or of the schema that it refers to."""
    if "example" in body:
        yield body["example"]
    schemas = whole()["components"]["schemas"]
    for each in (body["schema"], *body["schema"].get("anyOf", ())):
        yield from schemas[each["$ref"].rpartition("/")[2]].get("examples", ()) if "$ref" in each else ()


def test_the_example_of_a_body_passes_its_own_checks():
    bodies = [each for each in every_body(RequestBody) if each.model_config.get("json_schema_extra")]
    assert len(bodies) > 40
    for body in bodies:
        for example in body.model_config["json_schema_extra"]["examples"]:  # type: ignore[index,call-overload]
            body.model_validate(example)


def every_body(kind: type[RequestBody]) -> Iterator[type[RequestBody]]:
    for each in kind.__subclasses__():
        yield each
        yield from every_body(each)


def test_no_route_is_listed_twice():
    shapes = [route.shape for _, route in ALL_ROUTES]
    assert [shape for shape in shapes if shapes.count(shape) > 1] == []


def test_every_operation_has_a_name_a_summary_and_a_tag_that_is_described():
    names = [operation["operationId"] for _, operation in OPERATIONS]
    assert sorted(names) == sorted(set(names))
    assert [name for name in names if not NAME.fullmatch(name)] == []
    assert [route.path for _, route in ALL_ROUTES if route.name is None] == []
    tags = {each["name"] for each in whole()["tags"] if each["description"].endswith(".")}
    for name, operation in OPERATIONS:
        assert 5 < len(operation["summary"]) < 160, name
        assert set(operation["tags"]) <= tags, name


def test_every_named_type_has_a_name_that_a_client_can_bear():
    wrong = [name for name in whole()["components"]["schemas"] if not COMPONENT.fullmatch(name)]
    assert wrong == []
    assert [name for name in whole()["components"]["schemas"] if name.endswith("Answer")] == []


def test_every_type_of_an_answer_says_what_it_is():
    bare = [name for name, each in whole()["components"]["schemas"].items() if not each.get("description")]
    assert bare == []


def test_no_answer_is_of_any_type():
    wide = [
        route.name
        for _, route in ALL_ROUTES
        if (answer := answer_of(route.endpoint)) and get_args(answer)[0] in (Any, dict, object)
    ]
    assert wide == []
    free = {
        route.name
        for _, route in ALL_ROUTES
        if (answer := answer_of(route.endpoint)) and get_args(answer)[0] == dict[str, Any]
    }
    assert free == {
        "get_openapi",
        "get_scraper_openapi",
        "get_dataset_schema",
        "get_profile",
        "replace_profile",
    }
