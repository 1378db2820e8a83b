"""The profile over HTTP: as YAML, like the file that a person writes, or as JSON."""

import json
from typing import Any

import yaml
from starlette.requests import Request

from thresher.admin.keys import READ, WRITE
from thresher.admin.records import maybe
from thresher.apps.jobs.service.companies import ask_review
from thresher.apps.jobs.service.postings import ME, PROFILE, set_profile
from thresher.core.errors import InvalidPayload, UnknownName
from thresher.runtime import Runtime
from thresher.store.store import Store
from thresher.web.answer import Answer, answer
from thresher.web.route import CurrentRuntime, Route

NAME = "profile"
_PROFILE = {"city": "Portland", "country": "US", "skills": {"python": {"rank": "required"}}}
BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"type": "object"}, "example": _PROFILE},
            "application/yaml": {"example": yaml.safe_dump(_PROFILE)},
        },
    }
}


async def profile(runtime: CurrentRuntime) -> Answer[dict[str, Any]]:
    """Show the profile in use."""
    return await answer(runtime.store, _shown, runtime.store)


def _shown(store: Store) -> dict[str, Any]:
    found = maybe(store, PROFILE, ME)
    if found is None:
        raise UnknownName("there is no profile yet: send one with PUT, or use thresher jobs profile set FILE")
    return dict(found.data)


async def put_profile(runtime: CurrentRuntime, request: Request) -> Answer[dict[str, Any]]:
    """Replace the profile. Companies and boards are ranked by it again; postings that were judged before keep
    their decisions.
    """
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    text = _text(await request.body(), kind)
    return await answer(runtime.store, _set, runtime, text)


def _set(runtime: Runtime, text: str) -> dict[str, Any]:
    set_profile(runtime.store, text, NAME)
    ask_review(runtime.store, runtime.registry)
    return _shown(runtime.store)


def _text(body: bytes, kind: str) -> str:
    """The profile as YAML. JSON is read as what it is: a few of its escapes mean something else in YAML."""
    if not body.strip():
        raise InvalidPayload(
            "there is no profile in the body; nothing was changed"
        )  # an empty one would mean the defaults
    try:
        if not kind.endswith("json"):
            return body.decode("utf-8")
        given = json.loads(body.decode("utf-8"), parse_constant=_no_number)
        if not isinstance(given, dict):
            raise InvalidPayload("a profile must be an object; nothing was changed")
        return yaml.safe_dump(given, allow_unicode=True, sort_keys=False)
    except (ValueError, RecursionError, yaml.YAMLError) as problem:
        raise InvalidPayload(f"the profile cannot be read: {' '.join(str(problem).split())[:200]}") from None


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


ROUTES = (
    Route("GET", "/api/profile", profile, READ, status=(200, 404), example=_PROFILE, name="get_profile"),
    Route("PUT", "/api/profile", put_profile, WRITE, BODY, example=_PROFILE, name="replace_profile"),
)
