"""A search API described in a YAML file: what to request, how its list goes on, and where in the answer
everything stands. The file is read and checked whole, and a mistake is named with its line.

What changes from request to request stands in braces: `{text}` of the query, its parameters by their names,
`{page}`, `{offset}`, `{cursor}` and `{size}` of the list, `{since}`, `{until}`, `{days}` and `{bucket}` of
the window. A pair whose value is one such hole is left out where there is nothing to fill it with.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from thresher.apps.queries.clients.search import Reach, WindowKind
from thresher.core.credentials import origin_of
from thresher.reading.platforms.definition import Workplaces
from thresher.reading.platforms.platform_file import WORKPLACES, field_of, workplaces_of
from thresher.reading.structured.checked_yaml import (
    Path,
    choice_at,
    flag_at,
    list_at,
    mapping_of,
    number_at,
    pattern_of,
    read_checked,
    shown,
    text_at,
    texts_at,
    wrong,
)

FIELDS = (
    "id",
    "title",
    "url",
    "company",
    "company_id",
    "company_url",
    "location",
    "posted",
    "updated",
    "employment_type",
    "salary",
    "low",
    "high",
    "currency",
    "period",
    "description",
    "requirements",
)
METHODS = ("GET", "POST")
PAGINGS = ("none", "page", "offset", "cursor", "link")
AUTHS = ("bearer", "header", "query", "basic")
OF_THE_LIST = frozenset({"page", "offset", "cursor", "size"})
OF_THE_WINDOW = frozenset({"since", "until", "days", "bucket"})
NUMBERS = ("page", "offset", "size", "days")
ANY = "any"
_KEYS = (
    "name",
    "title",
    "terms",
    "request",
    "parameters",
    "auth",
    "paging",
    "window",
    "newest_first",
    "whole",
    "timezone",
    "pause",
    "day_first",
    "answer",
    "detail",
)
_REQUEST = ("url", "method", "headers", "query", "body")
_ANSWER = ("format", "root", "rows", "skip", "total", "pages", "next", "more", "fields", "remote", "escaped")
_WINDOW = ("kind", "format", "exclusive", "max_days", "min_days", "values")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
_ENV = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HOLE = re.compile(r"\{(\w+)\}")
_FORMAT = re.compile(r"(?:%[YmdHMSyjB]|[^%])+")
_HEADER = re.compile(r"[A-Za-z0-9-]{1,60}")
MAX_LENGTH = 300  # of a sentence


@dataclass(frozen=True, slots=True)
class Parameter:
    """A name that a query may set. One that stands in the path of the address fits `pattern` whole. With
    `repeat`, a value that lists several is sent once for each.
    """

    help: str
    default: str = ""
    pattern: str | None = None
    choices: tuple[str, ...] = ()
    required: bool = False
    repeat: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent. `body` is sent as JSON."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None

    @property
    def holes(self) -> frozenset[str]:
        return frozenset(_HOLE.findall("\n".join((self.url, *_texts((dict(self.query), self.body))))))

    @property
    def path_holes(self) -> frozenset[str]:
        return frozenset(_HOLE.findall(self.url))


@dataclass(frozen=True, slots=True)
class Secret:
    """One secret, by the names of its environment variables, and how it is sent."""

    how: str
    env: str
    name: str = "authorization"
    password_env: str = ""


@dataclass(frozen=True, slots=True)
class ListPaging:
    """How a list goes on. The provider shows no more than `max_pages` pages or `max_rows` rows of it."""

    kind: str = "none"
    first: int = 1
    size: int | None = None
    max_pages: int | None = None
    max_rows: int | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """How a search is kept to a time. `format` writes a day: strftime, `epoch` or `epoch_ms`. Where the
    provider leaves the last day out, `exclusive`, the day behind it is sent. `buckets` are the provider's
    words by days, with `any` for everything.
    """

    kind: WindowKind = WindowKind.NONE
    format: str = "%Y-%m-%d"
    exclusive: bool = False
    max_days: int | None = None
    min_days: int = 1
    buckets: Mapping[int, str] = field(default_factory=dict)
    any: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
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
    remote: Workplaces = ()
    always: str | None = None
    escaped: bool = False


@dataclass(frozen=True, slots=True)
class Detail:
    """How to ask for one offer, and where in the answer it stands."""

    request: Request
    answer: Answer


@dataclass(frozen=True, slots=True)
class Definition:
    """Everything that one file says. `pause` is the least number of minutes between two runs of a query that
    the provider asks for. `written` is the file's data, for its fingerprint.
    """

    name: str
    title: str
    request: Request
    answers: tuple[Answer, ...]
    terms: str = ""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    auth: tuple[Secret, ...] = ()
    paging: ListPaging = ListPaging()
    window: Window = Window()
    newest_first: bool = False
    whole: bool = False
    timezone: str = "UTC"
    pause: int = 0
    day_first: bool | None = None
    detail: Detail | None = None
    written: Any = None

    @property
    def reach(self) -> Reach:
        return Reach(
            window=self.window.kind,
            buckets=tuple(sorted(self.window.buckets)),
            any=self.window.kind is not WindowKind.BUCKETS or self.window.any is not None,
            max_days=self.window.max_days,
            newest_first=self.newest_first,
            whole=self.whole,
        )

    @property
    def env(self) -> tuple[str, ...]:
        named = (name for each in self.auth for name in (each.env, each.password_env) if name)
        return tuple(dict.fromkeys(named))


def read_definition(text: str, file: str) -> Definition:
    """One client from the text of its file. Raises ConfigError."""
    return read_checked(text, file, _definition)


def _definition(data: Any) -> Definition:
    data = mapping_of(data, _KEYS, ())
    name = data.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        wrong(("name",), f"{shown(name)} is not a valid name; write it with a-z, 0-9, - and _")
    answers = data.get("answer")
    made = Definition(
        name=name,
        title=text_at(data, "title") or name,
        terms=_sentence(data, "terms", ()),
        request=_request(data.get("request"), ("request",)),
        answers=tuple(
            _answer(each, ("answer", at) if isinstance(answers, list) else ("answer",))
            for at, each in enumerate(answers if isinstance(answers, list) else [answers])
        ),
        parameters=_parameters(data.get("parameters", {}), ("parameters",)),
        auth=_auth(data.get("auth", []), ("auth",)),
        paging=_paging(data.get("paging", {}), ("paging",)),
        window=_window(data.get("window", {}), ("window",)),
        newest_first=flag_at(data, "newest_first", False, ()),
        whole=flag_at(data, "whole", False, ()),
        timezone=_timezone(data),
        pause=number_at(data, "pause", (), least=0) or 0,
        day_first=flag_at(data, "day_first", False, ()) if "day_first" in data else None,
        detail=_detail(data["detail"], ("detail",)) if "detail" in data else None,
        written=data,
    )
    _check_holes(made)
    _check_detail(made)
    return made


def _request(data: Any, path: Path) -> Request:
    data = mapping_of(data, _REQUEST, path)
    url = text_at(data, "url", path)
    if url is None or not url.startswith(("https://", "http://")):
        wrong((*path, "url"), f"{shown(url)} is not a URL; write one that starts with https://")
    parts = urlsplit(url)
    if "{" in parts.netloc or "@" in parts.netloc or not origin_of(_HOLE.sub("0", url)):
        wrong((*path, "url"), "the host must be written out: no query may decide where requests are sent")
    if "?" in url or "#" in url:
        wrong((*path, "url"), "write parameters under query, each with its name")
    body = data.get("body")
    if body is not None and not isinstance(body, dict):
        wrong((*path, "body"), f"{shown(body)} is not a mapping; it is sent as JSON")
    query = data.get("query", {})
    if not isinstance(query, dict) or not all(isinstance(each, str | int) for each in query.values()):
        wrong((*path, "query"), f'{shown(query)} is wrong; write {{q: "{{text}}", per_page: "{{size}}"}}')
    headers = texts_at(data, "headers", path)
    for name, value in headers.items():
        if not _HEADER.fullmatch(name) or not value.isprintable() or not value.isascii():
            wrong((*path, "headers", name), "write a header and its value in ASCII, on one line")
    return Request(
        url,
        choice_at(data, "method", METHODS, "POST" if body is not None else "GET", path),
        {name.lower(): value for name, value in headers.items()},
        {str(name): str(value) for name, value in query.items()},
        body,
    )


def _parameters(data: Any, path: Path) -> dict[str, Parameter]:
    if not isinstance(data, dict):
        wrong(path, f"{shown(data)} is not a mapping; write {{where: {{help: Town or region.}}}}")
    made = {}
    for name, said in data.items():
        if not isinstance(name, str) or not _PARAMETER.fullmatch(name):
            wrong((*path, name), f"{shown(name)} is not a name; write it with letters, digits and _")
        if name == "text" or name in OF_THE_LIST | OF_THE_WINDOW:
            wrong((*path, name), f"{{{name}}} has a meaning of its own; give the parameter another name")
        made[name] = _parameter(said, (*path, name))
    return made


def _parameter(data: Any, path: Path) -> Parameter:
    data = mapping_of(data, ("help", "default", "pattern", "choices", "required", "repeat"), path)
    pattern = text_at(data, "pattern", path)
    choices = tuple(map(str, list_at(data, "choices", path)))
    default = str(data.get("default", ""))
    said = _sentence(data, "help", path)
    if not said:
        wrong(path, "help is missing: a sentence that says what the parameter does")
    fits = pattern_of(pattern, (*path, "pattern")).fullmatch if pattern is not None else None
    if fits and default and not fits(default):
        wrong((*path, "default"), f"{default!r} does not fit the pattern")
    if choices and default and default not in choices:
        wrong((*path, "default"), f"{default!r} is none of the choices")
    required, repeat = flag_at(data, "required", False, path), flag_at(data, "repeat", False, path)
    return Parameter(said, default, pattern, choices, required, repeat)


def _auth(data: Any, path: Path) -> tuple[Secret, ...]:
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


def _paging(data: Any, path: Path) -> ListPaging:
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


def _window(data: Any, path: Path) -> Window:
    data = mapping_of(data, _WINDOW, path)
    kind = WindowKind(choice_at(data, "kind", tuple(WindowKind), "none", path))
    written = text_at(data, "format", path) or "%Y-%m-%d"
    if written not in ("epoch", "epoch_ms") and not _FORMAT.fullmatch(written):
        wrong((*path, "format"), f"{written!r} is no format of a day; write %Y-%m-%d, epoch or epoch_ms")
    values = data.get("values", {})
    if not isinstance(values, dict) or (kind is WindowKind.BUCKETS) != bool(values):
        wrong((*path, "values"), "buckets, and only they, need values, as in {1: last_day, any: all}")
    days = [each for each in values if each != ANY]
    if not all(isinstance(each, int) and not isinstance(each, bool) and each > 0 for each in days):
        wrong((*path, "values"), "write numbers of days before the provider's words, and any for everything")
    return Window(
        kind,
        written,
        flag_at(data, "exclusive", False, path),
        number_at(data, "max_days", path),
        number_at(data, "min_days", path, least=0) if "min_days" in data else 1,  # type: ignore[arg-type]
        {each: str(values[each]) for each in days},
        str(values[ANY]) if ANY in values else None,
    )


def _answer(data: Any, path: Path) -> Answer:
    data = mapping_of(data, _ANSWER, path)
    rows = data.get("rows", "")
    xml = choice_at(data, "format", ("json", "xml"), "json", path) == "xml"
    if xml and not text_at(data, "root", path):
        wrong(path, "root is missing: the name of the outermost element, by which the answer is known")
    fields = mapping_of(data.get("fields"), FIELDS, (*path, "fields"))
    for name, spec in fields.items():
        field_of(spec, (*path, "fields", name))
    if "title" not in fields or not {"id", "url"} & set(fields):
        wrong((*path, "fields"), "title is needed, and id or url: without them no offer can be told apart")
    remote = data.get("remote", [])
    always = remote if remote in WORKPLACES else None
    return Answer(
        xml=xml,
        root=text_at(data, "root", path),
        rows=tuple(map(str, rows)) if isinstance(rows, list) else (str(rows),),
        skip=tuple(map(str, list_at(data, "skip", path))),
        total=text_at(data, "total", path),
        pages=text_at(data, "pages", path),
        next=text_at(data, "next", path),
        more=text_at(data, "more", path),
        fields=fields,
        remote=() if always else workplaces_of(remote, (*path, "remote")),
        always=always,
        escaped=flag_at(data, "escaped", False, path),
    )


def _detail(data: Any, path: Path) -> Detail:
    data = mapping_of(data, ("request", "answer"), path)
    answer = data.get("answer")
    if isinstance(answer, dict):  # a detail need not repeat what the list has said
        answer = {**answer, "fields": {"title": "title", "id": "id", **(answer.get("fields") or {})}}
    return Detail(_request(data.get("request"), (*path, "request")), _answer(answer, (*path, "answer")))


def _timezone(data: Mapping[str, Any]) -> str:
    name = text_at(data, "timezone") or "UTC"
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        wrong(("timezone",), f"{name!r} is not a time zone; write one as in Europe/Madrid")
    return name


def _sentence(data: Mapping[str, Any], key: str, path: Path) -> str:
    said = " ".join((text_at(data, key, path) or "").split())
    if len(said) > MAX_LENGTH:
        wrong((*path, key), f"this has {len(said)} characters; the limit is {MAX_LENGTH}")
    return said


def _check_holes(made: Definition) -> None:
    """What no single key shows: every hole can be filled, and everything that is declared is sent."""
    holes, kind = made.request.holes, made.paging.kind
    of_the_window = {
        WindowKind.NONE: frozenset[str](),
        WindowKind.RANGE: frozenset({"since", "until"}),
        WindowKind.SINCE: frozenset({"since", "days"}),
        WindowKind.BUCKETS: frozenset({"bucket"}),
    }[made.window.kind]
    position = {"page": "page", "offset": "offset", "cursor": "cursor"}.get(kind)
    known = {"text", "size", *made.parameters, *of_the_window, *([position] if position else [])}
    if unknown := holes - known:
        wrong(("request",), f"nothing fills {{{min(unknown)}}}; there are {', '.join(sorted(known))}")
    if position and position not in holes:
        wrong(("paging",), f"{{{position}}} stands nowhere in the request, so the list could not go on")
    if "size" in holes and made.paging.size is None:
        wrong(("paging",), "size is missing: the request has a {size}")
    if made.window.kind is not WindowKind.NONE and not holes & of_the_window:
        wrong(("window",), f"none of {', '.join(sorted(of_the_window))} stands in the request")
    if kind in ("cursor", "link") and not all(each.next for each in made.answers):
        wrong(("answer",), f"next is missing: where the answer says the {kind} of the next page")
    for name in sorted(made.parameters.keys() - holes):
        wrong(("parameters", name), f"{{{name}}} stands nowhere in the request")
    for name in sorted(made.request.path_holes - {"page", "offset"}):
        if name not in made.parameters or not made.parameters[name].pattern:
            wrong(
                ("request", "url"),
                f"{{{name}}} stands in the path, so it must be a parameter with a pattern that it fits, as in "
                "[a-z]{2}",
            )


def _check_detail(made: Definition) -> None:
    if made.detail is None:
        return
    if unknown := made.detail.request.holes - {"id", "company_id"}:
        wrong(("detail", "request"), f"nothing fills {{{min(unknown)}}}; there are id and company_id")
    if origin_of(_HOLE.sub("0", made.detail.request.url)) != origin_of(_HOLE.sub("0", made.request.url)):
        wrong(("detail", "request", "url"), "a detail is asked for where the list is: on the same host")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for each in value.values() for text in _texts(each))
    elif isinstance(value, list | tuple):
        yield from (text for each in value for text in _texts(each))


def written_day(day: date, form: str) -> str:
    """A day as a provider wants it."""
    if form in ("epoch", "epoch_ms"):
        seconds = (day - date(1970, 1, 1)).days * 86_400
        return str(seconds * 1_000 if form == "epoch_ms" else seconds)
    return day.strftime(form)
