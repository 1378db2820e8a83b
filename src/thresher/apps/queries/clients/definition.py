"""A search API described in a YAML file: what to request, how its list goes on, and where in the answer
everything stands. The file is read and checked whole, and a mistake is named with its line.

What changes from request to request stands in braces: `{text}` of the query, its parameters by their names,
`{page}`, `{offset}`, `{cursor}` and `{size}` of the list, `{since}`, `{until}`, `{days}` and `{bucket}` of
the window. A pair whose value is one such hole is left out where there is nothing to fill it with.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from thresher.apps.queries.clients.search import Reach, WindowKind
from thresher.reading.apis.definition import (
    ANSWER_KEYS,
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
from thresher.reading.platforms.definition import Workplaces
from thresher.reading.platforms.platform_file import WORKPLACES, workplaces_of
from thresher.reading.structured.checked_yaml import (
    Path,
    choice_at,
    flag_at,
    mapping_of,
    number_at,
    read_checked,
    shown,
    text_at,
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
OF_THE_WINDOW = frozenset({"since", "until", "days", "bucket"})
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
_WINDOW = ("kind", "format", "exclusive", "max_days", "min_days", "values")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_FORMAT = re.compile(r"(?:%[YmdHMSyjB]|[^%])+")


@dataclass(frozen=True, slots=True)
class WindowParameters:
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
class OfferAnswer(ApiAnswer):
    """One shape of an answer with offers in it. `remote` says in which words it tells where the work is done,
    `always` that it is the same for all.
    """

    remote: Workplaces = ()
    always: str | None = None
    escaped: bool = False


@dataclass(frozen=True, slots=True)
class Detail:
    """How to ask for one offer, and where in the answer it stands."""

    request: ApiRequest
    answer: OfferAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition(Api):
    """Everything that one file says. `pause` is the least number of minutes between two runs of a query that
    the provider asks for. `written` is the file's data, for its fingerprint.
    """

    title: str
    answers: tuple[OfferAnswer, ...]
    terms: str = ""
    window: WindowParameters = WindowParameters()
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
        terms=sentence_at(data, "terms", ()),
        request=request_of(data.get("request"), ("request",)),
        answers=tuple(
            _answer(each, ("answer", at) if isinstance(answers, list) else ("answer",))
            for at, each in enumerate(answers if isinstance(answers, list) else [answers])
        ),
        parameters=parameters_of(data.get("parameters", {}), ("parameters",), ("text", *OF_THE_WINDOW)),
        auth=auth_of(data.get("auth", []), ("auth",)),
        paging=paging_of(data.get("paging", {}), ("paging",)),
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


def _window(data: Any, path: Path) -> WindowParameters:
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
    return WindowParameters(
        kind,
        written,
        flag_at(data, "exclusive", False, path),
        number_at(data, "max_days", path),
        number_at(data, "min_days", path, least=0) if "min_days" in data else 1,  # type: ignore[arg-type]
        {each: str(values[each]) for each in days},
        str(values[ANY]) if ANY in values else None,
    )


def _answer(data: Any, path: Path) -> OfferAnswer:
    data = mapping_of(data, (*ANSWER_KEYS, "remote", "escaped"), path)
    fields = mapping_of(data.get("fields"), FIELDS, (*path, "fields"))
    remote = data.get("remote", [])
    always = remote if remote in WORKPLACES else None
    made = answer_of(
        OfferAnswer,
        data,
        path,
        remote=() if always else workplaces_of(remote, (*path, "remote")),
        always=always,
        escaped=flag_at(data, "escaped", False, path),
    )
    if "title" not in fields or not {"id", "url"} & set(fields):
        wrong((*path, "fields"), "title is needed, and id or url: without them no offer can be told apart")
    return made


def _detail(data: Any, path: Path) -> Detail:
    data = mapping_of(data, ("request", "answer"), path)
    answer = data.get("answer")
    if isinstance(answer, dict):  # a detail need not repeat what the list has said
        answer = {**answer, "fields": {"title": "title", "id": "id", **(answer.get("fields") or {})}}
    return Detail(request_of(data.get("request"), (*path, "request")), _answer(answer, (*path, "answer")))


def _timezone(data: Mapping[str, Any]) -> str:
    name = text_at(data, "timezone") or "UTC"
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        wrong(("timezone",), f"{name!r} is not a time zone; write one as in Europe/Madrid")
    return name


def _check_holes(made: Definition) -> None:
    """The holes of the request, and those of the window, which must be there where the window is to work."""
    of_the_window = {
        WindowKind.NONE: frozenset[str](),
        WindowKind.RANGE: frozenset({"since", "until"}),
        WindowKind.SINCE: frozenset({"since", "days"}),
        WindowKind.BUCKETS: frozenset({"bucket"}),
    }[made.window.kind]
    check_holes(made, {"text", *of_the_window})
    if made.window.kind is not WindowKind.NONE and not made.request.holes & of_the_window:
        wrong(("window",), f"none of {', '.join(sorted(of_the_window))} stands in the request")


def _check_detail(made: Definition) -> None:
    if made.detail is None:
        return
    if unknown := made.detail.request.holes - {"id", "company_id"}:
        wrong(("detail", "request"), f"nothing fills {{{min(unknown)}}}; there are id and company_id")
    check_detail_origin(made.detail.request, made.request, ("detail", "request"))


def written_day(day: date, form: str) -> str:
    """A day as a provider wants it."""
    if form in ("epoch", "epoch_ms"):
        seconds = (day - date(1970, 1, 1)).days * 86_400
        return str(seconds * 1_000 if form == "epoch_ms" else seconds)
    return day.strftime(form)
