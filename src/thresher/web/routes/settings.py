"""Settings over HTTP: see them all, change one."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from thresher.admin.keys import READ, WRITE
from thresher.admin.settings import (
    SettingView,
    list_settings,
    scope_needed,
    set_setting,
    show_setting,
    unset_setting,
)
from thresher.runtime import Runtime
from thresher.web.answer import Answer, answer
from thresher.web.auth import holder
from thresher.web.refresh import refresh
from thresher.web.route import CurrentRuntime, Route, without_scope
from thresher.web.schemas import Value


async def settings(runtime: CurrentRuntime) -> Answer[list[SettingView]]:
    """List every setting: its value, its origin, its unit and its description."""
    return await answer(runtime.store, list_settings, runtime.store)


async def put_setting(
    runtime: CurrentRuntime,
    request: Request,
    name: Annotated[str, Path(description="Name of the setting.")],
    body: Value,
) -> Answer[SettingView] | Response:
    """Change a setting at run time. Workers apply it within settings.every. A setting whose `scope` is admin
    needs that scope.
    """
    refused = without_scope(request, scope_needed(runtime.store.settings.catalogue, name))
    if refused is not None:
        return refused.response()
    key = holder(request)
    return await answer(runtime.store, _changed, runtime, name, body, key.who if key else "nobody")


def _changed(runtime: Runtime, name: str, body: Value, by: str) -> SettingView:
    if body.value is None:
        unset_setting(runtime.store, name, by)
    else:
        set_setting(runtime.store, name, str(body.value), by)
    refresh(runtime)
    return show_setting(runtime.store, name)


_SETTING = {
    "name": "retry.max_retries",
    "value": 5,
    "origin": "file",
    "default": 3,
    "unit": "retries",
    "low": 0,
    "high": 100,
    "scope": "write",
    "sentence": "How often a task is tried again.",
}

ROUTES = (
    Route("GET", "/api/settings", settings, READ, example=[_SETTING], name="list_settings"),
    Route(
        "PUT",
        "/api/settings/{name}",
        put_setting,
        WRITE,
        shows=("value",),
        example=_SETTING,
        name="change_setting",
    ),
)
