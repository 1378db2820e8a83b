"""What an app brings to the command line, the server and the doctor: values that are quick to import."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

from thresher.core.errors import ConfigError, UsageError
from thresher.core.named import check_name

if TYPE_CHECKING:
    from pathlib import Path

_COMMAND = re.compile(r"(add )?[a-z][a-z0-9]*(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Command:
    """A command or a group of commands: its name, its line in `thresher --help`, and where it is.

    `target` is a function, a Typer app, or `package.module:name` of one. A name is imported when somebody
    calls the command, and not for the help of the others. An app may add to `thresher add`: `add price`.
    """

    name: str
    help: str
    target: Any

    def __post_init__(self) -> None:
        if not _COMMAND.fullmatch(self.name):
            raise UsageError(
                f"{self.name!r} is not a command name; write lower-case words with hyphens, such as "
                "price-list"
            )
        if isinstance(self.target, str):
            check_name(self.target, f"the target of command {self.name!r}")


class CheckLevel(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One line of `thresher doctor`: what was found, and what to do about it. `page` is where the dashboard
    shows it.
    """

    name: str
    verdict: CheckLevel
    found: str
    advice: str | None = None
    page: str | None = None

    @classmethod
    def ok(cls, name: str, found: str, advice: str | None = None, page: str | None = None) -> Self:
        """All is well."""
        return cls(name, CheckLevel.OK, found, advice, page)

    @classmethod
    def warn(cls, name: str, found: str, advice: str | None = None, page: str | None = None) -> Self:
        """Something to know about. `thresher status` shows it too."""
        return cls(name, CheckLevel.WARN, found, advice, page)

    @classmethod
    def fail(cls, name: str, found: str, advice: str | None = None, page: str | None = None) -> Self:
        """It does not work. `thresher doctor` exits with 1."""
        return cls(name, CheckLevel.FAIL, found, advice, page)


@dataclass(frozen=True, slots=True)
class Highlight:
    """What an app has found for its people, for the first page of the dashboard: a number, the words after
    it, and the page with these rows. `says` is a short sentence below; where the number is 0, why.
    """

    number: int
    what: str
    page: str
    says: str = ""


Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Export:
    """A kind of thing that `thresher export` and `GET /api/export/KIND` write into a file.

    `rows` is given the store and the status that was asked for, and yields one mapping for each thing.
    `columns` are those of CSV and XLSX: a name, or `name=place|other.place`, where the first place that has a
    value counts and dots reach into mappings. `statuses` are what `--status` may name. `lines`, if given,
    yields what JSON lines show in place of `rows`. `separator` stands between the items of a list.
    """

    rows: Callable[[Any, str | None], Iterable[Row]]
    columns: tuple[str, ...]
    statuses: tuple[str, ...] = ()
    lines: Callable[[Any, str | None], Iterable[Row]] | None = None
    separator: str = ", "


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a project says of an app under the app's own key in `thresher.yaml`. `said` is None where the file
    has no such key; `error` makes an error that names the file and the line of a key, as `tea.cups`.
    """

    folder: Path
    said: Any
    error: Callable[[str, str], ConfigError]


@dataclass(frozen=True, slots=True)
class DemoRun:
    """One run of the demo, as the apps see it: each run is one `day` of the practice web.

    `sites` are the sites of the practice web that are followed, `web` is its address. `folder` is the
    project's. `last` and `began` are when the last run and this one began. `command` runs a command as a
    person would type it.
    """

    day: int
    last: int
    began: int
    sites: tuple[str, ...]
    web: str
    folder: Path
    database: str
    command: Callable[..., int]


@dataclass(frozen=True, slots=True)
class Demo:
    """What an app shows in the demo (`thresher demo`).

    `ask` asks for the work of the day. When the queue is empty, `finish`, if given, does what happens outside
    it, and returns an exit code. `report` is given the store and yields what is printed in the end: texts and
    tables. `counts` is the same for programs: how many there are of what the app brings. `settings` make it
    short enough to watch, `environ` are variables that its sources are opened with, unless they are set, and
    `look` are commands to try afterwards.
    """

    ask: Callable[[DemoRun], None]
    report: Callable[[DemoRun, Any], Iterable[Any]]
    counts: Callable[[DemoRun, Any], Mapping[str, int]] | None = None
    finish: Callable[[DemoRun], int] | None = None
    settings: Mapping[str, float] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    look: tuple[str, ...] = ()
