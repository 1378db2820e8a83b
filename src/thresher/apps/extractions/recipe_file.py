r"""A recipe as people write it: YAML in a file, a part of `thresher.yaml`, or JSON for the API.

    url: https://catalog.example.edu/courses
    entity: course
    configuration:
      page_type: DETAIL_LINKS
      link_pattern: /courses/\d+$
      pagination: {kind: page_num, url_pattern: "{url}?page={page_num}"}
      links: {page_type: DETAIL}
    limits: {pages: 5000}

Without a configuration it is detected. `links` is the next level, and levels stand inside each other as the
pages of the site do. Everything is checked before it is stored, and a mistake is named with its key, its
line where there is one, and what to write.

A link pattern is a regular expression of a stranger's: it is compiled here and never run. Whoever runs one
does so in a process that can be killed (`ctx.compute`, `read_once`), because no check of its text tells
whether it ends.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any, NoReturn, TypeVar
from urllib.parse import urljoin, urlsplit

import ada_url
import orjson
import yaml

from thresher.apps.extractions.api.definition import api_of
from thresher.apps.extractions.entities import entity_said, read_entity
from thresher.apps.extractions.model import (
    MAX_LEVELS,
    ApiSource,
    Configuration,
    Entity,
    Level,
    Limits,
    PageSetup,
    PageType,
    Pagination,
    PagingKind,
)
from thresher.apps.extractions.recipe_spelling import plain_level, with_plain_names
from thresher.apps.extractions.walking.paging import HOLES, URL
from thresher.core.credentials import origin_of
from thresher.core.errors import ConfigError, InvalidUrl, UsageError
from thresher.core.gate import GateLimits, interval_us, per_second
from thresher.core.keys import MAX_URL, canonical_url, parse
from thresher.core.stored import written as stored
from thresher.reading.html.parser import Selector, written_selector
from thresher.reading.html.parser import parse as parse_html
from thresher.reading.structured.checked_yaml import (
    MAX_TEXT,
    Mistake,
    Path,
    choice_at,
    flag_at,
    list_at,
    mapping_of,
    number_at,
    read_checked,
    shown,
    text_at,
    texts_at,
    written,
    wrong,
)
from thresher.reading.structured.yaml_file import read_foreign_yaml

Made = TypeVar("Made")

MAX_NAME = 80
MAX_PATTERN = 500  # characters of a link pattern
MAX_SELECTOR = 500
MAX_STEPS = 50
MAX_WAIT = 120.0  # seconds
MAX_CLICKS = 10_000
MAX_PAGES = 10_000_000
MAX_DEPTH = 8
MAX_DEFINITION = 100_000  # bytes of an API's definition

KEYS = ("url", "entity", "configuration", "limits")
LEVEL_KEYS = (
    "page_type",
    "link_pattern",
    "exact_link_match",
    "follow_rows",
    "pagination",
    "content_selector",
    "click_selector",
    "click_limit",
    "setup",
    "render",
    "screenshot",
    "several",
    "explore",
    "links",
    "api",
)
PAGINATION_KEYS = ("kind", "url_pattern", "start_page", "page_size", "total_pages", "selector", "clicks")
SETUP_KEYS = ("click", "wait", "wait_for", "optional")
API_KEYS = ("vendor", "parameters", "definition")
LIMIT_KEYS = ("pages", "depth", "budget", "hours", "rate")
AUTO = "auto"  # render: only where a page turns out to be an empty shell

_NAME = re.compile(rf"[a-z][a-z0-9._-]{{0,{MAX_NAME - 1}}}")
_HOLE = re.compile(r"\{([^{}]*)\}")
_STANDS_FOR = "7hole7"
_SECRET = re.compile(
    r"(?i)(?:^|[_.-])(?:password|passwd|secret|token|api_?-?key|access_?-?key|authorization|cookie)$"
)
_SENT = ("headers", "query", "parameters")  # of an API: what a secret would be written under


@dataclass(frozen=True, slots=True)
class RecipeSpec:
    """A recipe as a person gives it. Without a configuration it is to be detected."""

    url: str
    entity: Entity
    configuration: Configuration | None = None
    limits: Limits = field(default_factory=Limits)


# Reading


def read_recipe_text(text: str, file: str = "the recipe", folder: FilePath | None = None) -> RecipeSpec:
    """A recipe out of YAML. Raises ConfigError that names the line and the key of a mistake."""
    return read_checked(text, file, lambda data: recipe_of(data, folder))


def read_recipe_json(data: Any) -> RecipeSpec:
    """A recipe out of JSON, in our spelling or in camelCase. Raises ConfigError that names the key."""
    return _named(lambda: recipe_of(with_plain_names(data), None))


def read_configuration_json(data: Any, url: str, entity: Entity | None = None) -> Configuration:
    """The same for a configuration alone."""
    return _named(lambda: configuration_of(plain_level(data), url, entity=entity))


def read_limits_json(data: Any) -> Limits:
    """The same for limits alone."""
    return _named(lambda: limits_of(data))


def _named(make: Callable[[], Made]) -> Made:
    try:
        return make()
    except Mistake as mistake:
        raise ConfigError(": ".join(filter(None, (written(mistake.path), mistake.advice)))) from None


def checked_name(name: str) -> str:
    """The name of a recipe. It is part of the name of a source and of addresses, so it is a plain word."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigError(
            f"{shown(name)} is not a name for a recipe; write 1 to {MAX_NAME} lower-case letters, digits, "
            "'.', '_' and '-', with a letter first: acme-courses"
        )
    return name


def recipe_of(data: Any, folder: FilePath | None, path: Path = ()) -> RecipeSpec:
    """A recipe out of plain data; `folder` is where files that it names are. Raises Mistake."""
    said = mapping_of(data, KEYS, path)
    url = _url(said, path)
    if said.get("entity") is None:
        wrong(path, "has no entity; write entity: course, or another: thresher recipes entities lists them")
    entity = read_entity(_with_file(said["entity"], folder, (*path, "entity")), (*path, "entity"))
    configuration = said.get("configuration")
    return RecipeSpec(
        url,
        entity,
        None
        if configuration is None
        else configuration_of(configuration, url, (*path, "configuration"), entity),
        limits_of(said.get("limits"), (*path, "limits")),
    )


def _url(said: Mapping[str, Any], path: Path) -> str:
    text = text_at(said, "url", path)
    if not text:
        wrong(path, "has no url; write url: https://example.com/courses")
    return checked_url(text, (*path, "url"))


def checked_url(text: str, path: Path = ("url",)) -> str:
    """The address that a recipe begins with, in a browser's spelling. Raises Mistake."""
    try:
        canonical_url(text)
        parsed = parse(text)
    except InvalidUrl as problem:
        wrong(path, str(problem))
    if parsed.username or parsed.password:
        wrong(path, "has a name or a password in it; a recipe is shown to people, so it holds no secrets")
    return str(parsed.href)


def _with_file(said: Any, folder: FilePath | None, path: Path) -> Any:
    """Put the content of a file in the place of its name."""
    if not isinstance(said, dict) or not isinstance(said.get("schema"), str):
        return said
    name, place = said["schema"], (*path, "schema")
    if folder is None:
        wrong(place, "names a file; write the JSON Schema itself here")
    file = (folder / name).resolve()
    if not file.is_relative_to(folder.resolve()):
        wrong(place, f"{shown(name)} is outside of the folder; put the file beside the recipe")
    return {**said, "schema": _file(file, name, place)}


def _file(file: FilePath, name: str, path: Path) -> Any:
    try:
        with file.open(encoding="utf-8") as opened:
            text = opened.read(MAX_TEXT + 1)
        if len(text) > MAX_TEXT:
            wrong(path, f"{shown(name)} is longer than {MAX_TEXT:,} characters; a schema is a page or two")
        return orjson.loads(text) if file.suffix == ".json" else read_foreign_yaml(text)
    except OSError as problem:
        wrong(path, f"{shown(name)} cannot be read: {problem.strerror or problem}")
    except (ValueError, yaml.YAMLError) as problem:
        wrong(path, f"{shown(name)} is not a JSON Schema: {problem}")


# The configuration


def configuration_of(
    data: Any, url: str, path: Path = ("configuration",), entity: Entity | None = None
) -> Configuration:
    """A configuration out of plain data: its levels, or an API, whose fields are those of the entity. Raises
    Mistake.
    """
    top = mapping_of(data, LEVEL_KEYS, path)
    if top.get("api") is not None or top.get("page_type") == PageType.API:
        return Configuration(api=_api(top, path, entity))
    levels: list[Level] = []
    said: Any = top
    while said is not None:
        if len(levels) == MAX_LEVELS:
            wrong(path, f"is level {MAX_LEVELS + 1}; a recipe has at most {MAX_LEVELS} levels")
        each = mapping_of(said, LEVEL_KEYS, path)
        levels.append(_level(each, url, path))
        said, path = each.get("links"), (*path, "links")
    _check_order(levels, path[: -len(levels)])
    return Configuration(tuple(levels))


def _level(said: Mapping[str, Any], url: str, path: Path) -> Level:
    type_ = PageType(choice_at(said, "page_type", tuple(PageType), "", path))
    if said.get("api") is not None or type_ is PageType.API:
        wrong(path, "is an API below pages; an API stands alone: configuration: {page_type: API, api: ...}")
    render = said.get("render", False)
    if render not in (True, False, AUTO):
        wrong((*path, "render"), f"{shown(render)} is wrong; write true, false or {AUTO}")
    level = Level(
        type_,
        _pattern(said, path),
        flag_at(said, "exact_link_match", False, path),
        _pagination(said.get("pagination"), url, (*path, "pagination")),
        _selector(said, "content_selector", path),
        _selector(said, "click_selector", path),
        _number(said, "click_limit", path, 1, MAX_CLICKS),
        _setup(said, path),
        None if render == AUTO else bool(render),
        flag_at(said, "screenshot", False, path),
        flag_at(said, "several", False, path),
        flag_at(said, "explore", False, path),
        flag_at(said, "follow_rows", False, path),
    )
    _check_level(level, said, path)
    return level


def _check_level(level: Level, said: Mapping[str, Any], path: Path) -> None:
    """Refuse what would have no effect on such a page: whoever wrote it expects one."""
    reads, follows = level.page_type.holds_data, not level.page_type.holds_data
    explores = level.explore or level.page_type is PageType.EXPLORATORY
    if level.link_pattern and reads and not explores:
        wrong(
            (*path, "link_pattern"), f"is of no use on {level.page_type} pages, whose links are not followed"
        )
    if level.exact_link_match and not level.link_pattern:
        wrong(
            (*path, "exact_link_match"),
            "needs a link_pattern: the part of a link that matches it is the address",
        )
    if level.follow_rows and not level.link_pattern:
        wrong((*path, "follow_rows"), "needs a link_pattern: its links tell which list is meant")
    if level.click_selector and not follows:
        wrong(
            (*path, "click_selector"),
            f"is of no use on {level.page_type} pages, whose links are not followed",
        )
    if level.click_limit and not level.click_selector:
        wrong((*path, "click_limit"), "needs a click_selector: it limits how many elements are clicked")
    for name in ("several", "explore"):
        if said.get(name) and not reads:
            wrong((*path, name), f"is for pages that hold data; {level.page_type} pages hold links")
    if said.get("render") is False and (why := _needs_browser(level)):
        wrong((*path, "render"), f"is false, but {why} needs a browser; write render: true, or leave it out")


def _needs_browser(level: Level) -> str | None:
    clicked = level.pagination is not None and level.pagination.kind is PagingKind.LOAD_MORE
    parts = (
        ("setup", bool(level.setup)),
        ("click_selector", bool(level.click_selector)),
        ("pagination by load_more", clicked),
        ("screenshot", level.screenshot),
    )
    return next((name for name, is_there in parts if is_there), None)


def _check_order(levels: list[Level], path: Path) -> None:
    """Each type says what its links lead to."""
    for at, level in enumerate(levels):
        here: Path = (*path, *["links"] * at)
        below = levels[at + 1].page_type if at + 1 < len(levels) else None
        match level.page_type:
            case PageType.DETAIL | PageType.EXPLORATORY:
                if below is not None:
                    wrong(
                        (*here, "links"),
                        f"stands below {level.page_type}, which is the last level; remove it",
                    )
            case PageType.DETAIL_LINKS:
                if below is not PageType.DETAIL:
                    _say_below(here, level, below, "links: {page_type: DETAIL}")
            case _:
                if below not in (PageType.CATEGORY_LINKS, PageType.DETAIL_LINKS):
                    _say_below(
                        here, level, below, "links: {page_type: DETAIL_LINKS, links: {page_type: DETAIL}}"
                    )


def _say_below(path: Path, level: Level, below: PageType | None, advice: str) -> NoReturn:
    found = f"{below} stands below it" if below else "nothing stands below it"
    wrong((*path, "links"), f"{level.page_type} pages lead to another level, and {found}; write {advice}")


def _pattern(said: Mapping[str, Any], path: Path) -> str | None:
    text, place = text_at(said, "link_pattern", path), (*path, "link_pattern")
    if text is None:
        return None
    if not 0 < len(text) <= MAX_PATTERN or not text.isprintable():
        wrong(place, f"must have 1 to {MAX_PATTERN} printable characters; it has {len(text):,}")
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as problem:
        wrong(place, f"{shown(text)} is not a regular expression: {problem}")
    return text


def _selector(said: Mapping[str, Any], key: str, path: Path) -> str | None:
    text = text_at(said, key, path)
    if text is None:
        return None
    if not 0 < len(text) <= MAX_SELECTOR or not text.isprintable():
        wrong((*path, key), f"must have 1 to {MAX_SELECTOR} printable characters; it has {len(text):,}")
    try:
        parse_html("<p>").select_first_by(selector_of(text))
    except UsageError as problem:
        wrong((*path, key), str(problem))
    return text


def selector_of(text: str) -> Selector:
    """A selector of a recipe, which a person wrote or a detection put together out of names that it has
    checked: the one door from recipes to pages.
    """
    return written_selector(text)


def _setup(said: Mapping[str, Any], path: Path) -> tuple[PageSetup, ...]:
    steps, place = list_at(said, "setup", path), (*path, "setup")
    if len(steps) > MAX_STEPS:
        wrong(place, f"has {len(steps):,} steps; the limit is {MAX_STEPS}")
    return tuple(_step(each, (*place, at)) for at, each in enumerate(steps))


def _step(data: Any, path: Path) -> PageSetup:
    said = mapping_of(data, SETUP_KEYS, path)
    if sum(said.get(name) is not None for name in ("click", "wait", "wait_for")) != 1:
        wrong(path, "must be one of {click: SELECTOR}, {wait_for: SELECTOR} and {wait: SECONDS}")
    wait = said.get("wait")
    if wait is not None and (
        isinstance(wait, bool) or not isinstance(wait, int | float) or not 0 < wait <= MAX_WAIT
    ):
        wrong((*path, "wait"), f"{shown(wait)} is wrong; write seconds, more than 0 and at most {MAX_WAIT:g}")
    optional = flag_at(said, "optional", False, path)
    if optional and wait is not None:
        wrong((*path, "optional"), "is for click and wait_for: nothing can be missing where one only waits")
    return PageSetup(
        _selector(said, "click", path),
        _selector(said, "wait_for", path),
        None if wait is None else float(wait),
        optional,
    )


# How a list goes on


def _pagination(data: Any, url: str, path: Path) -> Pagination | None:
    if data is None:
        return None
    said = mapping_of(data, PAGINATION_KEYS, path)
    kind = PagingKind(choice_at(said, "kind", tuple(PagingKind), "", path))
    clicks = _number(said, "clicks", path, 1, MAX_CLICKS)
    start = _number(said, "start_page", path, 0, MAX_PAGES)
    made = Pagination(
        kind,
        _url_pattern(said, kind, url, path),
        1 if start is None else start,
        _number(said, "page_size", path, 1, 100_000),
        _number(said, "total_pages", path, 1, MAX_PAGES),
        _selector(said, "selector", path),
        Pagination().clicks if clicks is None else clicks,
    )
    _check_pagination(made, said, path)
    return made


def _check_pagination(made: Pagination, said: Mapping[str, Any], path: Path) -> None:
    if made.kind is PagingKind.OFFSET and made.page_size is None:
        wrong(path, "goes on by offset and has no page_size; write how many rows a page has: page_size: 20")
    if made.kind is PagingKind.LOAD_MORE and made.selector is None:
        wrong(path, "has no selector; write what is clicked for more: selector: button.more")
    for name in ("selector", "clicks"):
        if made.kind is not PagingKind.LOAD_MORE and said.get(name) is not None:
            wrong((*path, name), f"is for load_more; this list goes on by {made.kind}")
    for name in ("start_page", "page_size", "total_pages"):
        if not made.kind.is_counted and said.get(name) is not None:
            wrong((*path, name), f"is for page_num and offset; this list goes on by {made.kind}")


def _url_pattern(said: Mapping[str, Any], kind: PagingKind, url: str, path: Path) -> str | None:
    text, place = text_at(said, "url_pattern", path), (*path, "url_pattern")
    if not kind.is_counted:
        if text is not None:
            wrong(place, f"is for page_num and offset; a list that goes on by {kind} says itself where")
        return None
    hole = HOLES[kind].strip("{}")
    if text is None:
        wrong(
            path, f"has no url_pattern; write the address of a page with {{{hole}}} in it: ?page={{{hole}}}"
        )
    if not 0 < len(text) <= MAX_URL or not text.isprintable() or text != text.strip():
        wrong(place, f"must have 1 to {MAX_URL:,} printable characters, without spaces around them")
    own = text.removeprefix(URL)
    if _HOLE.findall(own) != [hole]:
        wrong(place, f"{shown(text)} must have {{{hole}}} in it, once, and no other braces")
    if own == text and not text.startswith("?"):
        return _whole_address(text, hole, url, place)
    if not own.startswith(("?", "/", "-", "_")):
        wrong(place, f"{shown(text)} must go on with ? or / after {URL}, which is the address of the list")
    return text


def _whole_address(pattern: str, hole: str, url: str, path: Path) -> str:
    """A list goes on at its own site, and its number stands where it cannot change that."""
    _refuse_other_origin(pattern, hole, url, path)
    # A hole survives joining only where it looks like a word.
    whole = urljoin(url, pattern.replace(f"{{{hole}}}", _STANDS_FOR))
    return whole.replace(_STANDS_FOR, f"{{{hole}}}")


def _refuse_other_origin(pattern: str, hole: str, url: str, path: Path) -> None:
    filled = [pattern.replace(f"{{{hole}}}", number) for number in ("1", "27")]
    # Programs and browsers join some addresses differently (`/\\elsewhere`), so both must agree.
    made = {join(url, each) for each in filled for join in (urljoin, _joined_by_browsers)}
    if any(urlsplit(each).username or urlsplit(each).password for each in made):
        wrong(path, "has a name or a password in it; a recipe is shown to people, so it holds no secrets")
    wanted = origin_of(url)
    if {origin_of(each) for each in made} != {wanted}:
        wrong(path, f"{shown(pattern)} leads away from {wanted}; a list goes on where it began")


def _joined_by_browsers(base: str, address: str) -> str:
    try:
        return ada_url.join_url(base, address)
    except ValueError:
        return ""


# An API in place of pages


def _api(said: Mapping[str, Any], path: Path, entity: Entity | None) -> ApiSource:
    others = [name for name, value in said.items() if name not in ("page_type", "api") and value is not None]
    if said.get("page_type", PageType.API) != PageType.API or others:
        wrong(path, "has an API beside pages; an API stands alone: configuration: {page_type: API, api: ...}")
    place = (*path, "api")
    api = mapping_of(said.get("api"), API_KEYS, place)
    vendor, definition = text_at(api, "vendor", place), api.get("definition")
    if (vendor is None) == (definition is None):
        wrong(place, "needs either a vendor that is shipped or a definition of its own")
    if definition is not None and not isinstance(definition, dict):
        wrong((*place, "definition"), f"{shown(definition)} is not a mapping")
    _check_definition(definition, (*place, "definition"))
    parameters = texts_at(api, "parameters", place)
    _refuse_secrets({"parameters": parameters}, place)
    _refuse_secrets(definition, (*place, "definition"))
    made = ApiSource(vendor, parameters, definition)
    api_of(made, entity, place)
    return made


def _check_definition(definition: Any, path: Path) -> None:
    try:
        size = len(orjson.dumps(definition))
    except TypeError as problem:
        wrong(path, f"cannot be stored: {problem}; write dates in quotes")
    if size > MAX_DEFINITION:
        wrong(path, f"has {size:,} bytes; the limit is {MAX_DEFINITION:,}")


def _refuse_secrets(data: Any, path: Path, *, sent: bool = False) -> None:
    """Recipes are stored, shown and exported. What opens an account belongs into the environment."""
    if isinstance(data, list):
        for at, each in enumerate(data):
            _refuse_secrets(each, (*path, at), sent=sent)
    if not isinstance(data, dict):
        return
    for name, value in data.items():
        if (
            sent
            and isinstance(value, str)
            and value
            and _SECRET.search(str(name))
            and not _HOLE.search(value)
        ):
            wrong((*path, name), "looks like a secret; a recipe holds none: put it into the environment")
        _refuse_secrets(value, (*path, name), sent=sent or name in _SENT)


# Limits


def limits_of(data: Any, path: Path = ("limits",)) -> Limits:
    """Where an extraction stops. Raises Mistake."""
    said = mapping_of({} if data is None else data, LIMIT_KEYS, path)
    return Limits(
        _number(said, "pages", path, 1, MAX_PAGES),
        _number(said, "depth", path, 0, MAX_DEPTH),
        _amount(said, "budget", path, 0, 1_000_000),
        _amount(said, "hours", path, 0.01, 10_000),
        _rate(said, path),
    )


def _rate(said: Mapping[str, Any], path: Path) -> str | None:
    """How many requests may start in a time, as text: 2 (a second), 30/m, 500/h."""
    found = said.get("rate")
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, str | int | float):
        wrong((*path, "rate"), f"{shown(found)} is wrong; write 2 (a second), 30/m or 500/h")
    text = found.strip() if isinstance(found, str) else f"{found:.10g}"
    try:
        GateLimits(interval_us=interval_us(text))
    except UsageError as problem:
        wrong((*path, "rate"), str(problem))
    return text if per_second(text) is not None else None


def _number(said: Mapping[str, Any], key: str, path: Path, low: int, high: int) -> int | None:
    found = number_at(said, key, path, low)
    if found is not None and found > high:
        wrong((*path, key), f"{shown(found)} is wrong; write a whole number from {low} to {high:,}")
    return found


def _amount(said: Mapping[str, Any], key: str, path: Path, low: float, high: float) -> float | None:
    found = said.get(key)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float) or not low <= found <= high:
        wrong((*path, key), f"{shown(found)} is wrong; write a number from {low:g} to {high:,.0f}")
    return float(found)


# Writing: what is written is read back as it was.


def recipe_said(spec: RecipeSpec) -> dict[str, Any]:
    """A recipe as plain data, the opposite of `recipe_of`."""
    found: dict[str, Any] = {"url": spec.url, "entity": entity_said(spec.entity)}
    if spec.configuration is not None:
        found["configuration"] = configuration_said(spec.configuration)
    if limits := stored(spec.limits):
        found["limits"] = limits
    return found


def configuration_said(configuration: Configuration) -> dict[str, Any]:
    """A configuration as plain data, the opposite of `configuration_of`: levels stand inside each other."""
    if configuration.api is not None:
        api = {name: value for name, value in stored(configuration.api).items() if value}
        return {"page_type": PageType.API.value, "api": api}
    found: dict[str, Any] = {}
    for level in reversed(configuration.levels):
        found = _level_said(level) | ({"links": found} if found else {})
    return found


def _level_said(level: Level) -> dict[str, Any]:
    said: dict[str, Any] = stored(level)
    if level.render is None:
        said["render"] = AUTO
    if level.pagination is not None:
        said["pagination"] = _pagination_said(level.pagination)
    if level.setup:
        said["setup"] = [_step_said(each) for each in level.setup]
    return said


def _pagination_said(pagination: Pagination) -> dict[str, Any]:
    said: dict[str, Any] = stored(pagination)
    if not pagination.kind.is_counted:
        del said["start_page"]
    if pagination.kind is not PagingKind.LOAD_MORE:
        del said["clicks"]
    return said


def _step_said(step: PageSetup) -> dict[str, Any]:
    said: dict[str, Any] = stored(step)
    if not step.optional:
        del said["optional"]
    return said


def recipe_text(spec: RecipeSpec) -> str:
    """A recipe as YAML."""
    return yaml.safe_dump(recipe_said(spec), sort_keys=False, allow_unicode=True, width=100)
