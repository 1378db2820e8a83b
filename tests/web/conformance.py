"""What a real answer of the API is held to: the document that describes it. Every test that asks the API
holds the answers it gets to it (`tests.web.conftest.Api`), so each of them tests the description, too."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
from fastapi import FastAPI
from starlette.routing import compile_path

from thresher.config.apps import load_apps, own_apps
from thresher.core.app import App
from thresher.web.openapi import document
from thresher.web.route import OURS, Guarded, app_routes
from thresher.web.routes import ROUTES

JSON, PROBLEM, TEXT = "application/json", "application/problem+json", "text/plain"
UNDESCRIBED = {405, 500}  # no route answers these, but what stands before and behind all of them


@cache
def _apps() -> list[App]:
    return load_apps(own_apps(), Path())


@cache
def whole() -> dict[str, Any]:
    """The document of a server with all apps, as JSON."""
    apps = _apps()
    routes = [*((OURS, route) for route in ROUTES), *app_routes(apps, ROUTES)]
    api = FastAPI(title="Thresher", version="1", openapi_url=None)
    api.router.route_class = Guarded
    for owner, route in routes:
        route.add_to(api, owner)
    found: dict[str, Any] = json.loads(json.dumps(document(api, routes, apps)))
    return found


@cache
def _strict() -> dict[str, Any]:
    """Its components, with no member allowed that is not described."""
    found: dict[str, Any] = json.loads(json.dumps(whole()["components"]["schemas"]))
    for schema in found.values():
        if "properties" in schema and "additionalProperties" not in schema:
            schema["additionalProperties"] = False
    return found


@cache
def _validator(schema: str) -> jsonschema_rs.Draft202012Validator:
    said = {**json.loads(schema), "components": {"schemas": _strict()}}
    return jsonschema_rs.Draft202012Validator(said, validate_formats=True)


def differs(value: Any, schema: Mapping[str, Any]) -> list[str]:
    """Where a value is not what a schema of the document says, undescribed members included."""
    found = _validator(json.dumps(schema, sort_keys=True)).iter_errors(value)
    return [f"{'/'.join(map(str, each.instance_path))}: {each.message}" for each in found]


@cache
def _shapes() -> list[tuple[str, Any, str]]:
    routes = [*ROUTES, *(route for _, route in app_routes(_apps(), ROUTES))]
    return [(each.method, compile_path(each.path)[0], each.path.replace(":path", "")) for each in routes]


def operation(method: str, path: str) -> dict[str, Any] | None:
    """What the document says of a request; None for one of no route of ours."""
    wanted = "GET" if method == "HEAD" else method
    for own, pattern, shape in _shapes():
        if own == wanted and pattern.match(path):
            found: dict[str, Any] = whole()["paths"][shape][own.lower()]
            return found
    return None


def slips(method: str, path: str, status: int, media: str, body: bytes) -> list[str]:
    """How an answer differs from what the document says of it."""
    said, kind = operation(method, path), media.partition(";")[0]
    if said is None or status in UNDESCRIBED or kind == TEXT:
        return []
    answer = said["responses"].get(str(status))
    if answer is None:
        return [f"{method} {path}: {status} is not described"]
    if "$ref" in answer:
        answer = whole()["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    schema = answer.get("content", {}).get(kind, {}).get("schema")
    if kind not in (JSON, PROBLEM) or method == "HEAD" or not body:
        return []
    if schema is None:
        return [f"{method} {path}: {status} has a body of {kind}, which is not described"]
    return [f"{method} {path}: {each}" for each in differs(json.loads(body), schema)]
