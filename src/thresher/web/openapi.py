"""The OpenAPI document, made from the routes: what each answers by its type and its example, how it may
refuse, and how programs call it.

Nothing is written down twice. The framework reads parameters and bodies from the signature of an endpoint;
the answer is its return type; the refusals follow from what a request of the route goes through.
"""

import asyncio
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, get_args

from fastapi import FastAPI
from starlette.requests import Request

from thresher.core.app import App
from thresher.core.errors import ConfigError
from thresher.web.answer import JSON, Answer, written
from thresher.web.answer_types import AnswerSchemas, Json, answer_of, unwrapped
from thresher.web.auth import HARMLESS, SECURE_NAME, key_headers
from thresher.web.paging import NEXT
from thresher.web.problem import PROBLEM, TITLES, Problem
from thresher.web.route import OURS, Route

ABOUT = """A key opens the API: `Authorization: Bearer KEY`. Every error is a problem (RFC 9457) whose `detail` \
says what is wrong and what to do. A list that takes `cursor` names its next page in the headers `Next-Cursor` and \
`Link`. A POST may carry `Idempotency-Key`, and is then done once however often it is sent. The answer to a GET \
has an `ETag`; sent back as `If-None-Match`, it is answered 304 while nothing has changed."""

# How a request may be refused, each with what such a refusal reads like.
REFUSALS: Mapping[int, Problem] = {
    each.status: each
    for each in (
        Problem(400, "UsageError", "there is no parameter 'stat' here; the parameters are: limit, state"),
        Problem(401, "KeyRefused", "this needs a key: send Authorization: Bearer KEY"),
        Problem(403, "ScopeMissing", "this needs a key with the scope write; the key laptop has read"),
        Problem(404, "UnknownName", "there is no task 7"),
        Problem(408, "RequestTimeout", "the body did not arrive in time"),
        Problem(409, "NotAllowed", "task 7 is pending; only ended tasks can be retried"),
        Problem(413, "ContentTooLarge", "a body may have at most 1,000,000 bytes (web.body_limit)"),
        Problem(
            422, "InvalidPayload", "limit: Input should be greater than or equal to 1. Nothing was changed."
        ),
        Problem(
            429,
            "TooManyRequests",
            "the key laptop may ask 600 times a minute; wait for as long as Retry-After says",
        ),
        Problem(503, "DatabaseProblem", "the database does not answer; try again"),
    )
}
_WAITS = frozenset({429, 503})  # these say when to come back
_BODY = frozenset({400, 408, 413, 422})
_SENTENCE = re.compile(r"(?<=[.?!])\s")
_WORD = re.compile(r"[a-z0-9]+")


def document(api: FastAPI, routes: Iterable[tuple[str, Route]], apps: Iterable[App]) -> Json:
    """Describe an API with these routes and their owners."""
    said: Json = dict(api.openapi())
    known = said.get("components", {}).get("schemas", {})
    schemas = AnswerSchemas(known)
    taken: set[str] = set()
    tags: dict[str, str] = {}
    for owner, route in routes:
        operation = said["paths"][route.path.replace(":path", "")][route.method.lower()]
        tag, about = tag_of(owner, route)
        tags.setdefault(tag, about)
        says = unwrapped(operation.get("description", ""))
        operation |= {
            "tags": [tag],
            "operationId": _free(operation_name(route), owner, taken),
            "summary": _SENTENCE.split(says)[0].rstrip("."),
            "description": says,
            "responses": responses(route, owner, schemas, frozenset(operation)),
        }
    schemes = security_schemes(apps)
    return {
        **said,
        "info": {**said["info"], "description": ABOUT},
        "tags": [{"name": name, "description": about} for name, about in tags.items()],
        "components": {**components(known | schemas.named), "securitySchemes": schemes},
        "security": [{name: []} for name in schemes],
    }


async def described(request: Request, start: str = "") -> Answer[Json]:
    """Answer with the document of the API that serves a request, or with a part of it. It is made once."""
    make: Callable[[], Json] = request.app.state.document
    body = await asyncio.to_thread(lambda: written(below(make(), start) if start else make()))
    return Answer(body, media_type=JSON)


def below(said: Json, start: str) -> Json:
    """The part of a document that describes the routes below a path, with the schemas that it needs."""
    paths = {path: each for path, each in said["paths"].items() if path.startswith(start)}
    schemas: Json = said["components"]["schemas"]
    needed = {"Problem"}
    waiting: list[Any] = [paths]
    while waiting:
        for name in _references(waiting.pop()) - needed:
            needed.add(name)
            waiting.append(schemas[name])
    tags = {tag for each in paths.values() for operation in each.values() for tag in operation["tags"]}
    return {
        **said,
        "paths": paths,
        "tags": [each for each in said["tags"] if each["name"] in tags],
        "components": {
            **said["components"],
            "schemas": {name: each for name, each in schemas.items() if name in needed},
        },
    }


def _references(value: Any) -> set[str]:
    """The names of the schemas that something refers to."""
    if isinstance(value, dict):
        found = value.get("$ref", "")
        mine = {found.rpartition("/")[2]} if "/schemas/" in found else set[str]()
        return mine.union(*map(_references, value.values()))
    return set[str]().union(*map(_references, value)) if isinstance(value, list) else set()


def operation_name(route: Route) -> str:
    """What a generated client calls a route: its name, else its method and the words of its path."""
    return route.name or "_".join(
        [route.method.lower(), *_WORD.findall(route.path.removeprefix("/api").lower())]
    )


def _free(name: str, owner: str, taken: set[str]) -> str:
    found = name if name not in taken else f"{owner}_{name}"
    taken.add(found)
    return found


def tag_of(owner: str, route: Route) -> tuple[str, str]:
    """The group of a route, and what it is about: the module of one of ours, else the app."""
    if owner != OURS:
        return owner, f"Routes of the app {owner}."
    module = sys.modules[route.endpoint.__module__]
    return module.__name__.rpartition(".")[2], unwrapped(module.__doc__ or "").partition("\n\n")[0]


def responses(route: Route, owner: str, schemas: AnswerSchemas, takes: frozenset[str]) -> Json:
    """Everything that a route may answer, by status. What the route says of an answer besides is added.
    `takes` says whether it has parameters and a body.
    """
    schema = _answer(route, owner, schemas)
    found: Json = {}
    for status in (each for each in route.status if each < 300):
        found[str(status)] = {"description": HTTPStatus(status).phrase}
        if schema is not None and status != 204:
            told = {"schema": schema} | ({} if route.example is None else {"example": route.example})
            found[str(status)] |= {"content": {JSON: told}}
            if headers := dict(_headers(route)):
                found[str(status)]["headers"] = headers
    if route.method == "GET" and schema is not None:
        found["304"] = {"$ref": "#/components/responses/NotModified"}
    for status in sorted(refusals(route, takes)):
        found[str(status)] = {"$ref": f"#/components/responses/{_title(status)}"}
    found["default"] = {"$ref": "#/components/responses/Problem"}
    for status, said in route.extra.get("responses", {}).items():
        found[str(status)] = {**found.get(str(status), {"description": "OK"}), **said}
    return found


def _answer(route: Route, owner: str, schemas: AnswerSchemas) -> Json | None:
    """The schema of what a route answers; None if it answers nothing, or does not say what."""
    try:
        answer = answer_of(route.endpoint)
        if answer is None or get_args(answer) == (type(None),):
            return None
        return schemas.of_answer(answer, owner)
    except (TypeError, NameError) as problem:
        raise ConfigError(
            f"the return type of the route {route.method} {route.path} of {owner} cannot be described: {problem}; "
            "write Answer[...] of dataclasses, typed dictionaries, lists and plain values, defined in its module"
        ) from None


def _headers(route: Route) -> Iterator[tuple[str, Json]]:
    if route.method == "GET":
        yield "ETag", {"$ref": "#/components/headers/ETag"}
    if route.page_by:
        yield NEXT, {"$ref": "#/components/headers/NextCursor"}
        yield "Link", {"$ref": "#/components/headers/Link"}


def refusals(route: Route, takes: frozenset[str]) -> set[int]:
    """The statuses with which a request may be refused, by what it goes through."""
    found = {400, 503, *(each for each in route.status if each >= 400)}
    if route.scope is not None:
        found |= {401, 403, 429}
    if "parameters" in takes:
        found |= {404, 422}
    if route.method not in HARMLESS:
        found |= {404, 409, 422}
    return found | _BODY if "requestBody" in takes else found


def components(schemas: Json) -> Json:
    """What many operations refer to: schemas by their names, refusals, headers."""
    return {
        "schemas": {**schemas, "Problem": PROBLEM_SCHEMA},
        "responses": {
            "Problem": _refusal(
                "A problem", Problem(500, "Bug", "an unexpected error; the server's log has the details")
            ),
            "NotModified": {"description": "Not Modified: the answer is what `If-None-Match` names"},
            **{_title(status): _refusal(TITLES[status], each) for status, each in REFUSALS.items()},
        },
        "headers": {
            "ETag": _header("A digest of the answer, for If-None-Match."),
            "NextCursor": _header("The cursor of the next page; missing on the last."),
            "Link": _header('The address of the next page, as <...>; rel="next"; missing on the last.'),
            "RetryAfter": {"description": "Seconds to wait.", "schema": {"type": "integer"}},
        },
    }


def _header(says: str) -> Json:
    return {"description": says, "schema": {"type": "string"}}


def _refusal(says: str, problem: Problem) -> Json:
    schema = {"$ref": "#/components/schemas/Problem"}
    found: Json = {"description": says, "content": {PROBLEM: {"schema": schema, "example": problem.told()}}}
    if problem.status in _WAITS:
        found["headers"] = {"Retry-After": {"$ref": "#/components/headers/RetryAfter"}}
    return found


def _title(status: int) -> str:
    return TITLES[status].replace(" ", "")


PROBLEM_SCHEMA: Json = {
    "type": "object",
    "description": "An error (RFC 9457). `type` ends with its name, for programs; `detail` says what is wrong and what "
    "to do, and `error` repeats it. `request_id` is that of the header `X-Request-ID`, and stands in the server's log.",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "error": {"type": "string"},
        "request_id": {"type": "string"},
    },
    "required": ["type", "title", "status", "detail", "error"],
}


def security_schemes(apps: Iterable[App]) -> dict[str, dict[str, str]]:
    """The ways to show who asks: a key in one of its headers, or a login."""
    headers = {name.lower(): {"type": "apiKey", "in": "header", "name": name} for name in key_headers(apps)}
    return {
        "bearer": {"type": "http", "scheme": "bearer"},
        **headers,
        "login": {"type": "apiKey", "in": "cookie", "name": SECURE_NAME},
    }
