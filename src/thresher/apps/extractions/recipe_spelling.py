"""Other spellings of a recipe, as whoever wrote the first of these systems sent them to its API: `pageType`,
`linkRegexp`, `urlPatternType`, `pageSetup`. They become the names that files use, and are checked as those.
"""

from collections.abc import Mapping
from typing import Any

from thresher.apps.extractions.model import MAX_LEVELS, PageType
from thresher.reading.structured.checked_yaml import Path, list_at, mapping_of, shown, wrong

_OTHER_NAMES = {
    "pageType": "page_type",
    "linkRegexp": "link_pattern",
    "linkPattern": "link_pattern",
    "exactLinkPatternMatch": "exact_link_match",
    "exactLinkMatch": "exact_link_match",
    "followRows": "follow_rows",
    "contentSelector": "content_selector",
    "clickSelector": "click_selector",
    "clickLimit": "click_limit",
}
_OTHER_PAGINATION = {
    "urlPatternType": "kind",
    "urlPattern": "url_pattern",
    "startPage": "start_page",
    "pageSize": "page_size",
    "totalPages": "total_pages",
}
_OTHER_STEPS = {"waitFor": "wait_for"}
_OTHER_PARAMETERS = {"schoolId": "school", "catalogIds": "catalogs"}


def with_plain_names(data: Any, path: Path = ()) -> Any:
    """A recipe of the API with the names that files use. What is no mapping is left to the checks."""
    if not isinstance(data, dict) or data.get("configuration") is None:
        return data
    return {**data, "configuration": plain_level(data["configuration"], (*path, "configuration"))}


def plain_level(data: Any, path: Path = ("configuration",), depth: int = 0) -> Any:
    if not isinstance(data, dict) or depth > MAX_LEVELS:
        return data
    said = _renamed(data, _OTHER_NAMES, path)
    if said.get("page_type") == "API_REQUEST":
        said["page_type"] = PageType.API.value
    if isinstance(said.get("pagination"), dict):
        said["pagination"] = _renamed(said["pagination"], _OTHER_PAGINATION, (*path, "pagination"))
    _plain_clicks(said, path)
    _plain_setup(said, path)
    _plain_api(said, path)
    if said.get("links") is not None:
        said["links"] = plain_level(said["links"], (*path, "links"), depth + 1)
    return said


def _renamed(said: Mapping[str, Any], names: Mapping[str, str], path: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in said.items():
        plain = names.get(name, name)
        if plain in found:
            wrong((*path, name), f"is {plain}, which is there already; write it once")
        found[plain] = value
    return found


def _plain_clicks(said: dict[str, Any], path: Path) -> None:
    options = said.pop("clickOptions", None)
    if options is None:
        return
    place = (*path, "clickOptions")
    limit = mapping_of(options, ("limit", "waitMs"), place).get("limit")
    if options.get("waitMs") is not None:
        wrong(
            (*place, "waitMs"), "is not needed: a click is waited for until its page has settled; remove it"
        )
    if limit is not None:
        said["click_limit"] = limit


def _plain_setup(said: dict[str, Any], path: Path) -> None:
    """`pageSetup` with its steps, and `pageLoadWaitTime`, which is one more wait."""
    setup, wait, place = said.pop("pageSetup", None), said.pop("pageLoadWaitTime", None), (*path, "pageSetup")
    steps: list[Any] = list(said["setup"]) if isinstance(said.get("setup"), list) else []
    if wait:
        steps.append({"wait": wait})
    if setup is not None:
        listed = mapping_of(setup, ("enabled", "steps"), place)
        said_steps = list_at(listed, "steps", place) if listed.get("enabled", True) else []
        steps += [_plain_step(each, (*place, "steps", at)) for at, each in enumerate(said_steps)]
    if steps:
        said["setup"] = [
            _renamed(each, _OTHER_STEPS, (*path, "setup", at)) if isinstance(each, dict) else each
            for at, each in enumerate(steps)
        ]


def _plain_step(data: Any, path: Path) -> Any:
    """`{type: click, selector}` and `{type: wait, waitMs}`."""
    if not isinstance(data, dict) or "type" not in data:
        return data
    said = mapping_of(data, ("type", "selector", "waitMs", "ms", "optional"), path)
    kept = {"optional": said["optional"]} if "optional" in said else {}
    ms = said.get("waitMs", said.get("ms"))
    if said["type"] == "click":
        return {"click": said.get("selector"), **kept}
    if said["type"] == "wait" and isinstance(ms, int | float):
        return {"wait": ms / 1_000, **kept}
    return wrong(path, "must be {type: click, selector: SELECTOR} or {type: wait, waitMs: MILLISECONDS}")


def _plain_api(said: dict[str, Any], path: Path) -> None:
    """`apiProvider` with `apiConfig`, whose values are texts or lists of them."""
    vendor, options = said.pop("apiProvider", None), said.pop("apiConfig", None)
    if vendor is None and options is None:
        return
    if not isinstance(options or {}, dict):
        wrong((*path, "apiConfig"), f"{shown(options)} is not a mapping")
    parameters = {
        name: ",".join(map(str, each)) if isinstance(each, list) else str(each)
        for name, each in _renamed(options or {}, _OTHER_PARAMETERS, (*path, "apiConfig")).items()
    }
    name = vendor.lower() if isinstance(vendor, str) else vendor
    said["api"] = {"vendor": name, "parameters": parameters}
