"""The definition of an API that a recipe reads: its own, or that of a vendor.

    request: {url: https://api.acme.example/courses, query: {page: "{page}", per_page: "{size}"}}
    paging: {kind: page, size: 50}
    answer: {rows: items, total: count, id: code, url: link, fields: {name: title, credits_min: credits.min}}

Whoever may write a recipe is not trusted with this machine. So a recipe's own definition has no parameters
and no patterns, the host has no holes, and the secrets that it may name begin with `EXTRACTIONS_` and say
themselves which origin may see them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from thresher.apps.extractions.model import ApiSource, Entity
from thresher.core.credentials import Credentials, origin_of
from thresher.core.errors import ConfigError
from thresher.reading.apis.answer import list_place
from thresher.reading.apis.definition import (
    ANSWER_KEYS,
    OF_THE_LIST,
    Api,
    ApiAnswer,
    ApiRequest,
    answer_of,
    auth_of,
    check_detail_origin,
    check_holes,
    paging_of,
    parameters_of,
    request_of,
    sentence_at,
)
from thresher.reading.apis.request import (
    MAX_VALUE,
    bare_call,
    check_given,
    check_parameters,
    credentials_of,
    detail_call,
    list_call,
    listed,
)
from thresher.reading.platforms.calls import Call
from thresher.reading.platforms.platform_file import field_of
from thresher.reading.structured.checked_yaml import (
    Mistake,
    Path,
    list_at,
    mapping_of,
    read_checked,
    shown,
    text_at,
    written,
    wrong,
)

KEYS = ("request", "auth", "paging", "each", "answer", "detail")
VENDOR_KEYS = ("name", "title", "terms", "entities", "parameters", *KEYS)
DETAIL_KEYS = ("request", "answer")
ITEM_KEYS = (*ANSWER_KEYS, "id", "url")
NAMELESS = "the API of the recipe"
ID = "id"  # the hole of a detail's request that a row fills
SECRETS = "EXTRACTIONS_"  # how the names of environment variables begin that a recipe may name
MAX_TURNS = 1_000
MAX_DEPTH = 16

Parts = Mapping[str, str]  # what fills the holes of a request


@dataclass(frozen=True, slots=True)
class ItemAnswer(ApiAnswer):
    """One shape of an answer with items in it. `id` and `url` are fields, too, but of the row: what tells it
    from the others, and the address that people know it by.
    """

    id: Any = None
    url: Any = None


@dataclass(frozen=True, slots=True)
class Detail:
    """How to ask for one item, and where in the answer it stands."""

    request: ApiRequest
    answer: ItemAnswer


@dataclass(frozen=True, slots=True)
class Each:
    """A list that is asked for several times, once with each value. A vendor's values come out of the
    parameter of the same name.
    """

    name: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemApi(Api):
    """Everything that a definition says. `entities` are the kinds of things that a vendor has."""

    answers: tuple[ItemAnswer, ...]
    each: Each | None = None
    detail: Detail | None = None
    title: str = ""
    terms: str = ""
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenApi:
    """An API as one recipe asks it: its list is read once for each of `turns`."""

    api: ItemApi
    turns: tuple[Parts, ...] = ({},)

    def credentials(self, env: Mapping[str, str]) -> Credentials | None:
        """Everything secret that its requests carry. Raises ConfigError."""
        return credentials_of(self.api, secrets_of(self.api, env))

    def list_call(self, turn: int, cursor: str | None, env: Mapping[str, str]) -> Call:
        """The request for a page of the list. Raises ConfigError for a secret that is not set."""
        return list_call(self.api, list_place(self.api, cursor), self.turns[turn], secrets_of(self.api, env))

    def detail_call(self, turn: int, row_id: str | None, env: Mapping[str, str]) -> Call | None:
        """The request for one item; None where the API has none, or the row does not say its id."""
        if self.api.detail is None or not row_id:
            return None
        parts = {**self.turns[turn], ID: row_id}
        return detail_call(self.api, self.api.detail.request, parts, secrets_of(self.api, env))


def open_api(source: ApiSource, entity: Entity) -> OpenApi:
    """The API of a recipe. Raises ConfigError that names the key of a mistake."""
    try:
        return api_of(source, entity)
    except Mistake as mistake:
        said = ": ".join(filter(None, (written(mistake.path), mistake.advice)))
        raise ConfigError(f"{NAMELESS} cannot be used: {said}") from None


def api_of(source: ApiSource, entity: Entity | None, path: Path = ()) -> OpenApi:
    """The same for whoever reads a recipe. Without an entity, fields are not compared with it. Raises
    Mistake.
    """
    if source.vendor is not None:
        api = _vendor(source.vendor, (*path, "vendor"))
        if entity is not None:
            _check_vendor(api, entity, (*path, "vendor"))
    else:
        api = _definition(source.definition, (*path, "definition"))
        if entity is not None:
            _check_fields(api, entity, (*path, "definition"))
    return OpenApi(api, _turns(api, source.parameters, (*path, "parameters")))


def first_url(source: ApiSource, entity: Entity) -> str | None:
    """The address of the first request; None where the definition is wrong, which its task will say."""
    try:
        made = open_api(source, entity)
        return bare_call(made.api, list_place(made.api, None), made.turns[0]).url
    except ConfigError:
        return None


# A recipe's own definition


def _definition(data: Any, path: Path) -> ItemApi:
    said = mapping_of(data, KEYS, path)
    _check_depth(said, path)
    api = _api(said, NAMELESS, path)
    for secret in api.auth:
        for name in filter(None, (secret.env, secret.password_env)):
            if not name.startswith(SECRETS):
                wrong(
                    (*path, "auth"), f"{name} is not for recipes; name a variable that begins with {SECRETS}"
                )
    return api


def _check_depth(data: Any, path: Path) -> None:
    """Whatever reads a definition goes down into it: nobody needs one that is deeper than this."""
    level = [data]
    for _ in range(MAX_DEPTH):
        level = [
            each
            for outer in level
            if isinstance(outer, dict | list)
            for each in (outer.values() if isinstance(outer, dict) else outer)
        ]
    if level:
        wrong(path, f"is nested deeper than {MAX_DEPTH} levels")


def _api(said: Mapping[str, Any], name: str, path: Path, **more: Any) -> ItemApi:
    answers = said.get("answer")
    several = isinstance(answers, list)
    made = ItemApi(
        name=name,
        request=request_of(said.get("request"), (*path, "request")),
        answers=tuple(
            _answer(each, (*path, "answer", at) if several else (*path, "answer"))
            for at, each in enumerate(answers if isinstance(answers, list) else [answers])
        ),
        auth=auth_of(said.get("auth", []), (*path, "auth")),
        paging=paging_of(said.get("paging", {}), (*path, "paging")),
        each=_each(said["each"], (*path, "each")) if said.get("each") is not None else None,
        detail=_detail(said["detail"], (*path, "detail")) if said.get("detail") is not None else None,
        **more,
    )
    given = (made.each.name,) if made.each and made.each.values else ()
    check_holes(made, (made.each.name,) if made.each else (), path, given)
    _check_each(made, path)
    _check_detail(made, path)
    return made


def _answer(data: Any, path: Path) -> ItemAnswer:
    said = mapping_of(data, ITEM_KEYS, path)
    for key in ("id", "url"):
        if key in said:
            field_of(said[key], (*path, key))
    made = answer_of(ItemAnswer, said, path, id=said.get("id"), url=said.get("url"))
    if not made.fields:
        wrong((*path, "fields"), "names no field; write where the fields of the entity stand: {name: title}")
    return made


def _each(data: Any, path: Path) -> Each:
    """`each: {catalog: [a, b]}`, and in the file of a vendor the name of a parameter."""
    if isinstance(data, str):
        return Each(data)
    if not isinstance(data, dict) or len(data) != 1:
        wrong(path, f"{shown(data)} is wrong; write the hole and its values: {{catalog: [2025, 2026]}}")
    ((name, _),) = data.items()
    values = tuple(str(each) for each in list_at(data, name, path))
    if not 0 < len(values) <= MAX_TURNS or len(set(values)) < len(values):
        wrong((*path, name), f"must list 1 to {MAX_TURNS:,} values, each once")
    if any(not set(each) - {"."} or len(each) > MAX_VALUE or not each.isprintable() for each in values):
        wrong((*path, name), f"has a value that is not 1 to {MAX_VALUE} printable characters, or only dots")
    return Each(str(name), values)


def _check_each(made: ItemApi, path: Path) -> None:
    if made.each is None:
        return
    name = made.each.name
    if name in OF_THE_LIST or name == ID:
        wrong((*path, "each"), f"{{{name}}} has a meaning of its own; choose another name")
    if name not in made.request.holes:
        wrong((*path, "each"), f"{{{name}}} stands nowhere in the request")
    if not made.each.values and name not in made.parameters:
        wrong((*path, "each"), f"has no values for {{{name}}}; write {{{name}: [one, another]}}")


def _detail(data: Any, path: Path) -> Detail:
    said = mapping_of(data, DETAIL_KEYS, path)
    answer = _answer(said.get("answer"), (*path, "answer"))
    return Detail(request_of(said.get("request"), (*path, "request")), answer)


def _check_detail(made: ItemApi, path: Path) -> None:
    if made.detail is None:
        return
    place = (*path, "detail", "request")
    known = {ID, *made.parameters, *([made.each.name] if made.each else [])}
    if unknown := made.detail.request.holes - known:
        wrong(place, f"nothing fills {{{min(unknown)}}}; there are {', '.join(sorted(known))}")
    if ID not in made.detail.request.holes:
        wrong(place, f"{{{ID}}} stands nowhere in it, so every item would get the same detail")
    if any(answer.id is None for answer in made.answers):
        wrong((*path, "answer"), "id is missing: a detail is asked for by the id of its row")
    check_detail_origin(made.detail.request, made.request, place)


def _check_fields(api: ItemApi, entity: Entity, path: Path) -> None:
    """Every field is one of the entity."""
    names = [each.name for each in entity.schema.fields]
    shapes = [(answer, (*path, "answer")) for answer in api.answers]
    if api.detail is not None:
        shapes.append((api.detail.answer, (*path, "detail", "answer")))
    for answer, place in shapes:
        for name in answer.fields:
            if name not in names:
                wrong(
                    (*place, "fields", name),
                    f"{entity.name} has no field {shown(name)}; its fields are {', '.join(names)}",
                )


# Vendors


@cache
def vendors() -> Mapping[str, ItemApi]:
    """The vendors that come with the app, by name."""
    home = files("thresher.apps.extractions.api")
    found = sorted(
        (each for each in home.iterdir() if each.name.endswith(".yaml")), key=lambda each: each.name
    )
    made = (read_vendor(each.read_text("utf-8"), each.name) for each in found)
    return MappingProxyType({api.name: api for api in made})


def read_vendor(text: str, file: str) -> ItemApi:
    """A vendor from the text of its file. Raises ConfigError with the line of a mistake."""
    return read_checked(text, file, _vendor_of)


def _vendor_of(data: Any) -> ItemApi:
    said = mapping_of(data, VENDOR_KEYS, ())
    name = text_at(said, "name") or wrong((), "has no name")
    return _api(
        said,
        name,
        (),
        parameters=parameters_of(said.get("parameters", {}), ("parameters",), (ID,)),
        title=text_at(said, "title") or name,
        terms=sentence_at(said, "terms", ()),
        entities=tuple(map(str, list_at(said, "entities"))),
    )


def _vendor(name: str, path: Path) -> ItemApi:
    known = vendors()
    if name not in known:
        wrong(path, f"{shown(name)} is not a vendor; there is {', '.join(known)}, or write a definition")
    return known[name]


def _check_vendor(api: ItemApi, entity: Entity, path: Path) -> None:
    """A vendor has more fields than an entity wants, and must have some that it wants."""
    told = {name for answer in api.answers for name in answer.fields}
    if (api.entities and entity.name not in api.entities) or not told & {
        each.name for each in entity.schema.fields
    }:
        has = ", ".join(api.entities) or "other things"
        wrong(path, f"{api.title} has {has}, and the entity of the recipe is {entity.name}")


def _turns(api: ItemApi, given: Parts, path: Path) -> tuple[Parts, ...]:
    """What fills the holes in each turn."""
    try:
        check_given(api.name, api.parameters, given)
        said = {name: each.default for name, each in api.parameters.items() if each.default}
        said |= {name: value for name, value in given.items() if value}
        if api.each is None:
            check_parameters(api, said)
            return (said,)
        name = api.each.name
        values = api.each.values or listed(said.pop(name, "")) or ("",)
        turns = tuple({**said, **({name: each} if each else {})} for each in dict.fromkeys(values))
        for turn in turns:
            check_parameters(api, turn)
    except ConfigError as problem:
        wrong(path, str(problem))
    if len(turns) > MAX_TURNS:
        wrong((*path, name), f"has {len(turns):,} values; the limit is {MAX_TURNS:,}")
    return turns


# Secrets


def secrets_of(api: ItemApi, env: Mapping[str, str]) -> dict[str, str]:
    """The secrets that a recipe names. A variable holds the origin that may see its secret, a space and the
    secret, so that no recipe can send it elsewhere. Raises ConfigError.
    """
    return {name: _secret_for(api.request.origin, name, env) for name in api.env}


def _secret_for(origin: str, name: str, env: Mapping[str, str]) -> str:
    allowed, _, secret = env.get(name, "").strip().partition(" ")
    if not allowed:
        raise ConfigError(f"{NAMELESS} needs a key: set the environment variable {name} to '{origin} KEY'")
    # What stands there may be a bare secret, so it is not shown.
    if not secret.strip() or origin_of(allowed) != origin:
        raise ConfigError(
            f"the environment variable {name} is not for {origin}; it must hold the origin that may see the "
            f"key, a space and the key: '{origin} KEY'"
        )
    return secret.strip()
