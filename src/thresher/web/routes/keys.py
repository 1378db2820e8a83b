"""Keys over HTTP: see them, make one, switch one off and on, take one back."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import Field
from starlette.requests import Request

from thresher.admin import keys as control
from thresher.admin.keys import (
    ADMIN,
    MAX_SCOPES,
    MAX_SOURCES,
    KeyView,
    default_scopes,
    key_view,
    list_keys,
    made_view,
)
from thresher.admin.rows import Fields, MadeKey
from thresher.admin.times import read_now, seconds
from thresher.core.app import App
from thresher.store.store import Store
from thresher.web.answer import JSON, Answer, answer, written
from thresher.web.auth import holder
from thresher.web.route import MAX_ID, BeforeId, CurrentRuntime, Limit, Route
from thresher.web.routes.examples import AT
from thresher.web.schemas import RequestBody, Text, like

KeyId = Annotated[int, Path(ge=1, le=MAX_ID, description="Id of the key.")]


class KeyAsked(RequestBody):
    """A new key: its owner, scopes, platforms (null: all), lifetime (such as 90d) and requests per minute."""

    model_config = like(name="dashboard", scopes=["read"], expires="90d", rate=60)

    name: Text
    scopes: list[Text] | None = Field(None, max_length=MAX_SCOPES)
    sources: list[Text] | None = Field(None, max_length=MAX_SOURCES)
    expires: Text | None = None
    rate: int | None = None


async def keys(
    runtime: CurrentRuntime,
    every: Annotated[bool, Query(alias="all", description="Include expired and revoked keys.")] = False,
    limit: Limit = 1_000,
    before: BeforeId = None,
) -> Answer[list[KeyView]]:
    """List keys, newest first, with their scopes, expiry and last use."""
    return await answer(runtime.store, list_keys, runtime.store, every=every, before=before, limit=limit)


async def create_key(
    runtime: CurrentRuntime, request: Request, body: KeyAsked
) -> Answer[Annotated[Fields, MadeKey]]:
    """Create a key. The response contains it as `key`; it cannot be read again."""
    made = await runtime.store.run(_made, runtime.store, runtime.registry.apps, body, _who(request))
    return Answer(made, 201, {"Cache-Control": "no-store"}, JSON)


def _made(store: Store, apps: Sequence[App], body: KeyAsked, by: str | None) -> bytes:
    lasts = None if body.expires is None else seconds(body.expires)
    made = control.create_key(
        store,
        body.name,
        default_scopes(apps) if body.scopes is None else body.scopes,
        apps=apps,
        sources=body.sources,
        lasts=lasts,
        rate=body.rate,
        made_by=by,
    )
    return written(made_view(made.key, made.token))


async def revoke_key(runtime: CurrentRuntime, request: Request, key_id: KeyId) -> Answer[KeyView]:
    """Revoke a key."""
    return await answer(runtime.store, _revoked, runtime.store, key_id, _who(request))


def _revoked(store: Store, key_id: int, by: str | None) -> KeyView:
    return key_view(control.revoke_key_id(store, key_id, by), read_now(store))


async def disable_key(runtime: CurrentRuntime, request: Request, key_id: KeyId) -> Answer[KeyView]:
    """Switch a key off: every server refuses it until it is enabled."""
    return await answer(runtime.store, _switched, runtime.store, key_id, False, _who(request))


async def enable_key(runtime: CurrentRuntime, request: Request, key_id: KeyId) -> Answer[KeyView]:
    """Switch a key on again that was disabled."""
    return await answer(runtime.store, _switched, runtime.store, key_id, True, _who(request))


def _switched(store: Store, key_id: int, active: bool, by: str | None) -> KeyView:
    return key_view(control.switch_key_id(store, key_id, active=active, by=by), read_now(store))


def _who(request: Request) -> str | None:
    found = holder(request)
    return found.who if found else None


_KEY: dict[str, Any] = {
    "id": 3,
    "name": "dashboard",
    "prefix": "thr_4aa4cbf279a2",
    "scopes": ["read"],
    "sources": None,
    "state": "live",
    "is_active": True,
    "rate": 60,
    "used": 120,
    "created_at": AT,
    "used_at": AT,
    "expires_at": AT,
    "revoked_at": None,
    "made_by": "ada",
}

ROUTES = (
    Route("GET", "/api/keys", keys, ADMIN, probe=True, page_by="id", example=[_KEY], name="list_keys"),
    Route(
        "POST",
        "/api/keys",
        create_key,
        ADMIN,
        status=(201,),
        shows=("name", "scopes", "sources", "expires", "rate"),
        example={**_KEY, "key": "thr_4aa4cbf279a2_5f…"},
        name="create_key",
    ),
    Route(
        "DELETE",
        "/api/keys/{key_id}",
        revoke_key,
        ADMIN,
        example={**_KEY, "state": "revoked", "is_active": False, "revoked_at": AT},
        name="revoke_key",
    ),
    Route(
        "POST",
        "/api/keys/{key_id}/disable",
        disable_key,
        ADMIN,
        example={**_KEY, "state": "disabled", "is_active": False},
        name="disable_key",
    ),
    Route("POST", "/api/keys/{key_id}/enable", enable_key, ADMIN, example=_KEY, name="enable_key"),
)
