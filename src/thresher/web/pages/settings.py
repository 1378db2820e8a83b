"""Settings as a person sees and changes them: meaning, value, where that comes from, and history."""

from itertools import groupby

from starlette.responses import Response

from thresher.admin.settings import (
    SettingView,
    list_kept,
    list_settings,
    set_setting,
    setting_changes,
    show_setting,
    unset_setting,
)
from thresher.core.errors import ConfigError, UnknownName
from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.problem import Problem
from thresher.web.refresh import refresh

PATH = "/settings"
MAX_CHANGES = 50
MAX_SHOWN_NAME = 80


def settings(page_request: PageRequest) -> Response:
    """Show every setting by group: its value, unit, default, origin and meaning."""
    asked, store = page_request.request.query_params, page_request.runtime.store
    wanted, only_changed = asked.get("find", "").strip(), asked.get("changed") == "1"
    every = list_settings(store)
    found = [
        each for each in every if _fits(each, wanted) and not (only_changed and each.origin == "default")
    ]
    groups = {
        group: list(rows) for group, rows in groupby(found, key=lambda each: each.name.partition(".")[0])
    }
    return page_request.show(
        "settings.html",
        groups=groups,
        shown=len(found),
        total=len(every),
        wanted=wanted,
        only_changed=only_changed,
        kept=list_kept(store),
    )


def _fits(setting: SettingView, wanted: str) -> bool:
    said = f"{setting.name} {setting.sentence}".casefold()
    return all(word in said for word in wanted.casefold().split())


def setting(page_request: PageRequest) -> Response:
    """Show one setting with its limits and history, and the form to change it."""
    return _shown(page_request)


def _shown(page_request: PageRequest, problem: Problem | None = None) -> Response:
    store, found = page_request.runtime.store, _setting(page_request)
    return page_request.show(
        "setting.html",
        problem.status if problem else 200,
        setting=found,
        project=store.project_settings.get(found.name),
        changes=setting_changes(store, found.name, MAX_CHANGES),
        filled=page_request.form.one("value") if problem else f"{found.value}".removesuffix(".0"),
        problem=problem,
        most=MAX_CHANGES,
    )


def change(page_request: PageRequest) -> Response:
    """Change a setting at run time. One that is guarded needs an administrator."""
    found = _setting(page_request)
    return _changed(page_request, found, page_request.form.one("value").strip())


def restore(page_request: PageRequest) -> Response:
    """Go back to the project's value, or the default."""
    return _changed(page_request, _setting(page_request), None)


def _changed(page_request: PageRequest, setting: SettingView, text: str | None) -> Response:
    runtime, by = page_request.runtime, page_request.who.who if page_request.who else "nobody"
    if not page_request.may(setting.scope):
        says = f"{setting.name} is guarded: only an administrator may change it; nothing was changed"
        return _shown(page_request, Problem(403, "RoleMissing", says))
    try:
        if text is None:
            unset_setting(runtime.store, setting.name, by)
        else:
            set_setting(runtime.store, setting.name, text, by)
    except ConfigError as error:
        return _shown(page_request, Problem(400, "InvalidSetting", f"{error}; nothing was changed"))
    refresh(runtime)
    return page_request.go(f"{PATH}/{setting.name}")


def _setting(page_request: PageRequest) -> SettingView:
    name = page_request.request.path_params["name"]
    if name not in page_request.runtime.store.settings.catalogue:
        raise UnknownName(f"there is no setting {name[:MAX_SHOWN_NAME]!r}; see the list of settings")
    return show_setting(page_request.runtime.store, name)


PAGES = (
    DashboardPage("GET", PATH, settings, "Settings", "Admin", frozenset({"find", "changed"})),
    DashboardPage("GET", f"{PATH}/{{name}}", setting),
    DashboardPage("POST", f"{PATH}/{{name}}", change, shows=("value",)),
    DashboardPage("POST", f"{PATH}/{{name}}/restore", restore),
)
