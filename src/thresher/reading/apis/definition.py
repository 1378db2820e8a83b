"""The definition of an API, read and checked: the request, its parameters and secrets, how its list goes on,
and the shape of its answers. A mistake is named with its key.

What changes from request to request stands in braces: parameters by their names, `{page}`, `{offset}`,
`{cursor}` and `{size}` of the list. A pair whose value is one such hole is left out where there is nothing to
fill it with.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

from thresher.core.credentials import origin_of
from thresher.reading.platforms.platform_file import field_of
from thresher.reading.structured.checked_yaml import (
    Path,
    choice_at,
    flag_at,
    list_at,
    mapping_of,
    number_at,
    pattern_of,
    shown,
    text_at,
    texts_at,
    wrong,
)

METHODS = ("GET", "POST")
PAGINGS = ("none", "page", "offset", "cursor", "link")
AUTHS = ("bearer", "header", "query", "basic")
OAUTH_KEYS = ("url", "client_id", "client_secret", "scope")
OF_THE_LIST = frozenset({"page", "offset", "cursor", "size"})
NUMBERS = ("page", "offset", "size", "days")
ANSWER_KEYS = ("format", "root", "rows", "skip", "total", "pages", "next", "more", "fields")
HOLE = re.compile(r"\{(\w+)\}")
MAX_LENGTH = 300  # of a sentence
_REQUEST = ("url", "method", "headers", "query", "body")
_PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
_ENV = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER = re.compile(r"[A-Za-z0-9-]{1,60}")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A name that whoever asks may set. One that stands in the path of the address fits `pattern` whole. With
    `repeat`, a value that lists several is sent once for each.
    """

    help: str
    default: str = ""
    pattern: str | None = None
    choices: tuple[str, ...] = ()
    required: bool = False
    repeat: bool = False


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """What is sent. `body` is sent as JSON. A header may have the holes of parameters that only few values
    fit.
    """

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None

    @property
    def holes(self) -> frozenset[str]:
        said = (self.url, *self.headers.values(), *_texts((dict(self.query), self.body)))
        return frozenset(HOLE.findall("\n".join(said)))

    @property
    def path_holes(self) -> frozenset[str]:
        return frozenset(HOLE.findall(self.url))

    @property
    def header_holes(self) -> frozenset[str]:
        return frozenset(HOLE.findall("\n".join(self.headers.values())))

    @property
    def origin(self) -> str:
        """Where it goes, whatever fills its holes."""
        return origin_of(HOLE.sub("0", self.url))


@dataclass(frozen=True, slots=True)
class Secret:
    """One secret, by the names of its environment variables, and how it is sent."""

    how: str
    env: str
    name: str = "authorization"
    password_env: str = ""


@dataclass(frozen=True, slots=True)
class OAuth:
    """Where a token is had for the client's own credentials (RFC 6749, section 4.4), by the names of the
    environment variables that hold them. `scope` is what the token is asked for.
    """

    url: str
    client_id: str
    client_secret: str
    scope: str = ""

    @property
    def origin(self) -> str:
        return origin_of(self.url)


@dataclass(frozen=True, slots=True)
class ListPaging:
    """How a list goes on. The provider shows no more than `max_pages` pages or `max_rows` rows of it."""

    kind: str = "none"
    first: int = 1
    size: int | None = None
    max_pages: int | None = None
    max_rows: int | None = None


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """One shape of an answer. `rows` are the places where its rows may stand; a row in which one of `skip`
    leads somewhere is none. `fields` are as they are written: closures could not be sent to a process.
    """

    xml: bool = False
    root: str | None = None
    rows: tuple[str, ...] = ("",)
    skip: tuple[str, ...] = ()
    total: str | None = None
    pages: str | None = None
    next: str | None = None
    more: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)


AnswerT = TypeVar("AnswerT", bound=ApiAnswer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """What every definition says. `name` is what messages call it."""

    name: str
    request: ApiRequest
    answers: tuple[ApiAnswer, ...]
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    auth: tuple[Secret, ...] = ()
    paging: ListPaging = ListPaging()
    oauth: OAuth | None = None

    @property
    def env(self) -> tuple[str, ...]:
        """The environment variables that hold its secrets."""
        named = [name for each in self.auth for name in (each.env, each.password_env) if name]
        if self.oauth is not None:
            named += [self.oauth.client_id, self.oauth.client_secret]
        return tuple(dict.fromkeys(named))


def request_of(data: Any, path: Path) -> ApiRequest:
    """A request out of plain data. Raises Mistake."""
    data = mapping_of(data, _REQUEST, path)
    body = data.get("body")
    if body is not None and not isinstance(body, dict):
        wrong((*path, "body"), f"{shown(body)} is not a mapping; it is sent as JSON")
    query = data.get("query", {})
    if not isinstance(query, dict) or not all(isinstance(each, str | int) for each in query.values()):
        wrong((*path, "query"), f'{shown(query)} is wrong; write {{q: "{{text}}", per_page: "{{size}}"}}')
    return ApiRequest(
        _url(data, path),
        choice_at(data, "method", METHODS, "POST" if body is not None else "GET", path),
        _headers(data, path),
        {str(name): str(value) for name, value in query.items()},
        body,
    )


def _url(data: Mapping[str, Any], path: Path) -> str:
    url, place = text_at(data, "url", path), (*path, "url")
    if url is None or not url.startswith(("https://", "http://")):
        wrong(place, f"{shown(url)} is not a URL; write one that starts with https://")
    host = urlsplit(url).netloc
    if "{" in host or "@" in host or not origin_of(HOLE.sub("0", url)):
        wrong(place, "the host must be written out: no query may decide where requests are sent")
    if "?" in url or "#" in url:
        wrong(place, "write parameters under query, each with its name")
    return url


def _headers(data: Mapping[str, Any], path: Path) -> dict[str, str]:
    headers = texts_at(data, "headers", path)
    for name, value in headers.items():
        if not _HEADER.fullmatch(name) or not value.isprintable() or not value.isascii():
            wrong((*path, "headers", name), "write a header and its value in ASCII, on one line")
    return {name.lower(): value for name, value in headers.items()}


def parameters_of(data: Any, path: Path, reserved: Iterable[str]) -> dict[str, Parameter]:
    """Parameters out of plain data; `reserved` are holes with a meaning of their own. Raises Mistake."""
    if not isinstance(data, dict):
        wrong(path, f"{shown(data)} is not a mapping; write {{where: {{help: Town or region.}}}}")
    made = {}
    for name, said in data.items():
        if not isinstance(name, str) or not _PARAMETER.fullmatch(name):
            wrong((*path, name), f"{shown(name)} is not a name; write it with letters, digits and _")
        if name in OF_THE_LIST or name in reserved:
            wrong((*path, name), f"{{{name}}} has a meaning of its own; give the parameter another name")
        made[name] = _parameter(said, (*path, name))
    return made


def _parameter(data: Any, path: Path) -> Parameter:
    data = mapping_of(data, ("help", "default", "pattern", "choices", "required", "repeat"), path)
    pattern = text_at(data, "pattern", path)
    choices = tuple(map(str, list_at(data, "choices", path)))
    default = str(data.get("default", ""))
    said = sentence_at(data, "help", path)
    if not said:
        wrong(path, "help is missing: a sentence that says what the parameter does")
    fits = pattern_of(pattern, (*path, "pattern")).fullmatch if pattern is not None else None
    if fits and default and not fits(default):
        wrong((*path, "default"), f"{default!r} does not fit the pattern")
    if choices and default and default not in choices:
        wrong((*path, "default"), f"{default!r} is none of the choices")
    required, repeat = flag_at(data, "required", False, path), flag_at(data, "repeat", False, path)
    return Parameter(said, default, pattern, choices, required, repeat)


def auth_of(data: Any, path: Path) -> tuple[Secret, ...]:
    """One secret, or a list of them, out of plain data. Raises Mistake."""
    several = isinstance(data, list)
    return tuple(
        _secret(each, (*path, at) if several else path) for at, each in enumerate(data if several else [data])
    )


def _secret(data: Any, path: Path) -> Secret:
    data = mapping_of(data, ("as", "env", "name", "password_env"), path)
    how = choice_at(data, "as", AUTHS, "bearer", path)
    for key in ("env", "password_env") if how == "basic" else ("env",):
        if not _ENV.fullmatch(text_at(data, key, path) or ""):
            wrong(
                (*path, key),
                f"write {key}: the name of the environment variable that holds the secret, never the secret "
                "itself",
            )
    name = text_at(data, "name", path) or ("authorization" if how in ("bearer", "basic") else "")
    if not _HEADER.fullmatch(name) and (how != "query" or not name):
        wrong((*path, "name"), f"name is missing: the {how} that carries the secret")
    return Secret(how, data["env"], name.lower() if how != "query" else name, data.get("password_env", ""))


def oauth_of(data: Any, path: Path) -> OAuth:
    """Where a token is had, out of plain data. Raises Mistake."""
    data = mapping_of(data, OAUTH_KEYS, path)
    url = text_at(data, "url", path) or ""
    if not url.startswith(("https://", "http://")) or not origin_of(url) or HOLE.search(url) or "@" in url:
        wrong((*path, "url"), f"{shown(url)} is not the address of a token endpoint; write it out in full")
    for key in ("client_id", "client_secret"):
        if not _ENV.fullmatch(text_at(data, key, path) or ""):
            wrong(
                (*path, key),
                f"write {key}: the name of the environment variable that holds it, never the value itself",
            )
    scope = text_at(data, "scope", path) or ""
    if not scope.isprintable() or not scope.isascii():
        wrong((*path, "scope"), "write the scope in ASCII, on one line")
    return OAuth(url, data["client_id"], data["client_secret"], scope)


def paging_of(data: Any, path: Path) -> ListPaging:
    """How a list goes on, out of plain data. Raises Mistake."""
    data = mapping_of(data, ("kind", "first", "size", "max_pages", "max_rows"), path)
    kind = choice_at(data, "kind", PAGINGS, "none", path)
    first = number_at(data, "first", path, least=0)
    paging = ListPaging(
        kind,
        first if first is not None else int(kind == "page"),
        number_at(data, "size", path),
        number_at(data, "max_pages", path),
        number_at(data, "max_rows", path),
    )
    if kind in ("page", "offset") and paging.size is None:
        wrong(path, f"size is missing: how many rows a {kind} has; a shorter one is taken for the last")
    return paging


def answer_of(make: type[AnswerT], data: Mapping[str, Any], path: Path, **more: Any) -> AnswerT:
    """The shape of an answer out of a mapping whose keys are known; `more` is what only this kind of
    answer has. Raises Mistake.
    """
    rows = data.get("rows", "")
    xml = choice_at(data, "format", ("json", "xml"), "json", path) == "xml"
    if xml and not text_at(data, "root", path):
        wrong(path, "root is missing: the name of the outermost element, by which the answer is known")
    fields = data.get("fields")
    if not isinstance(fields, dict):
        wrong((*path, "fields"), f"{shown(fields)} is not a mapping; write {{title: name, id: id}}")
    for name, spec in fields.items():
        field_of(spec, (*path, "fields", name))
    return make(
        xml=xml,
        root=text_at(data, "root", path),
        rows=tuple(map(str, rows)) if isinstance(rows, list) else (str(rows),),
        skip=tuple(map(str, list_at(data, "skip", path))),
        total=text_at(data, "total", path),
        pages=text_at(data, "pages", path),
        next=text_at(data, "next", path),
        more=text_at(data, "more", path),
        fields=fields,
        **more,
    )


def sentence_at(data: Mapping[str, Any], key: str, path: Path) -> str:
    """A sentence on one line; empty where there is none."""
    said = " ".join((text_at(data, key, path) or "").split())
    if len(said) > MAX_LENGTH:
        wrong((*path, key), f"this has {len(said)} characters; the limit is {MAX_LENGTH}")
    return said


def check_holes(made: Api, others: Iterable[str], path: Path = (), in_path: Iterable[str] = ()) -> None:
    """What no single key shows: every hole can be filled, and everything that is declared is sent. `others`
    are holes that the caller fills, `in_path` those of them whose values it has checked. Raises Mistake.
    """
    holes, kind = made.request.holes, made.paging.kind
    position = {"page": "page", "offset": "offset", "cursor": "cursor"}.get(kind)
    known = {"size", *made.parameters, *others, *([position] if position else [])}
    if unknown := holes - known:
        wrong((*path, "request"), f"nothing fills {{{min(unknown)}}}; there are {', '.join(sorted(known))}")
    if position and position not in holes:
        wrong((*path, "paging"), f"{{{position}}} stands nowhere in the request, so the list could not go on")
    if "size" in holes and made.paging.size is None:
        wrong((*path, "paging"), "size is missing: the request has a {size}")
    if kind in ("cursor", "link") and not all(each.next for each in made.answers):
        wrong((*path, "answer"), f"next is missing: where the answer says the {kind} of the next page")
    _check_parameters(made, path, {"page", "offset", *in_path})


def _check_parameters(made: Api, path: Path, in_path: set[str]) -> None:
    for name in sorted(made.parameters.keys() - made.request.holes):
        wrong((*path, "parameters", name), f"{{{name}}} stands nowhere in the request")
    for name in sorted(made.request.header_holes):
        parameter = made.parameters.get(name)
        if parameter is None or not (parameter.choices or parameter.pattern):
            wrong(
                (*path, "request", "headers"),
                f"{{{name}}} stands in a header, so it must be a parameter with choices or a pattern",
            )
    for name in sorted(made.request.path_holes - in_path):
        if name not in made.parameters or not made.parameters[name].pattern:
            wrong(
                (*path, "request", "url"),
                f"{{{name}}} stands in the path, so it must be a parameter with a pattern that it fits, as in "
                "[a-z]{2}",
            )


def check_detail_origin(detail: ApiRequest, of: ApiRequest, path: Path) -> None:
    """Secrets and trust are those of one host. Raises Mistake."""
    if detail.origin != of.origin:
        wrong((*path, "url"), "a detail is asked for where the list is: on the same host")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for each in value.values() for text in _texts(each))
    elif isinstance(value, list | tuple):
        yield from (text for each in value for text in _texts(each))
