"""Log lines of the commands that run for long: their level, their format, and what no line may hold.

Only the command line sets up logging; a program that embeds Thresher does it as it likes (decision 095).
Lines may quote strangers, and secrets. So each is redacted, bounded, one line of its own, and steers no
terminal.
"""

import json
import logging
import os
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from traceback import format_exception
from typing import Annotated, Any

import typer

from thresher.cli.format import plain
from thresher.core.errors import ConfigError
from thresher.core.log_context import log_fields
from thresher.core.redaction import (
    HIDDEN,
    is_secret_name,
    learn_secrets,
    redact_end,
    redact_start,
    redact_value,
    secrets_in_url,
)

LOG_LEVEL, LOG_FORMAT = "THRESHER_LOG_LEVEL", "THRESHER_LOG_FORMAT"
LOG_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
MAX_MESSAGE = 8_000
MAX_TRACEBACK = 16_000
MAX_FIELD = 2_000
MAX_EXTRAS = 20
MAX_LINE = 64_000
# How a secret may be named in the environment although no file names it.
_SECRET_VARIABLES = ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS")
_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_SHORT = {
    "worker": "worker",
    "task_id": "task",
    "request_id": "request",
    "stage": "",
    "attempt": "attempt",
    "chore": "chore",
}


class LogFormat(StrEnum):
    """How a log line is written."""

    TEXT = "text"
    JSON = "json"


Format = Annotated[
    LogFormat | None,
    typer.Option(
        "--log-format",
        help="Format of log lines; json writes one object a line. Default: THRESHER_LOG_FORMAT, then text.",
        show_default=False,
    ),
]


def log_to_stderr(*, verbose: bool, usual: int = logging.INFO, form: LogFormat | None = None) -> None:
    """One line an event. With `verbose` a step more than usual; THRESHER_LOG_LEVEL comes before both.
    Warnings of Python and errors of threads become lines, too.
    """
    level = named_level(os.environ) or (max(logging.DEBUG, usual - 10) if verbose else usual)
    handler = StderrHandler()
    is_json = (form or named_format(os.environ)) is LogFormat.JSON
    handler.setFormatter(JsonFormatter() if is_json else TextFormatter())
    learn_secrets(secrets_of(os.environ))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.captureWarnings(True)
    threading.excepthook = _log_thread


def _log_thread(problem: threading.ExceptHookArgs) -> None:
    if problem.exc_value is not None:
        name = problem.thread.name if problem.thread else "a thread"
        logging.getLogger("thresher").error("%s ended with an error", name, exc_info=problem.exc_value)


def named_level(environ: Mapping[str, str]) -> int | None:
    """The log level that the environment names, if it does."""
    name = environ.get(LOG_LEVEL, "").strip().lower()
    if name and name not in LOG_LEVELS:
        raise ConfigError(f"{LOG_LEVEL} is {name[:40]!r}; set it to one of {', '.join(LOG_LEVELS)}")
    return LOG_LEVELS.get(name)


def named_format(environ: Mapping[str, str]) -> LogFormat:
    """The format that the environment names, else text."""
    name = environ.get(LOG_FORMAT, "").strip().lower() or LogFormat.TEXT
    if name not in set(LogFormat):
        raise ConfigError(f"{LOG_FORMAT} is {name[:40]!r}; set it to one of {', '.join(LogFormat)}")
    return LogFormat(name)


def secrets_of(environ: Mapping[str, str]) -> list[str]:
    """Values of the environment that are secrets by their names, and passwords in its addresses."""
    found = list[str]()
    for name, value in environ.items():
        if name in _SECRET_VARIABLES:
            found += (pair.partition("=")[2].strip() for pair in value.split(","))
        elif is_secret_name(name):
            found.append(value)
        elif "://" in value:
            found += secrets_in_url(value)
    return found


def is_json_log() -> bool:
    """Tell whether this process writes its log as JSON."""
    return any(isinstance(each.formatter, JsonFormatter) for each in logging.getLogger().handlers)


class StderrHandler(logging.Handler):
    """Writes to whatever stderr is at the moment: a live display puts its own in place. A line that cannot be
    written must not end whoever had something to say.
    """

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record)
        except Exception as problem:  # noqa: BLE001  an argument's own text may raise anything
            line = self.format(_unreadable(record, problem))
        with suppress(OSError, ValueError):  # nobody reads: the pipe is broken, or closed
            sys.stderr.write(f"{line}\n")


def _unreadable(record: logging.LogRecord, problem: Exception) -> logging.LogRecord:
    try:
        said = str(record.msg)
    except Exception:  # noqa: BLE001  the same
        said = "a log line"
    told = f"{said} (its arguments cannot be written: {type(problem).__name__})"
    line = logging.LogRecord(record.name, record.levelno, record.pathname, record.lineno, told, (), None)
    line.created = record.created
    return line


class TextFormatter(logging.Formatter):
    """A line for people. What follows a line break is indented, so it passes for no other line."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s")

    def format(self, record: logging.LogRecord) -> str:
        parts = [_message(record), *([_traceback(record)] if _has_error(record) else [])]
        about = _shortly(log_fields())
        head = f"{self.formatTime(record)} {record.levelname} {_told(record.name, 200)}{about}: "
        return _one_line(head + "\n".join(parts))[:MAX_LINE]


class JsonFormatter(logging.Formatter):
    """A line for programs: one JSON object in ASCII, whatever stands in it."""

    def format(self, record: logging.LogRecord) -> str:
        said: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="microseconds"),
            "level": record.levelname.lower(),
            "logger": _told(record.name, 200),
            "message": _message(record),
        }
        said |= {name: _field(value) for name, value in log_fields().items() if value is not None}
        said |= {
            f"{name}_" if name in said else name: _field(value, name)
            for name, value in _extras(record).items()
        }
        if _has_error(record):
            said["error"] = _error_name(record)
            said["traceback"] = _traceback(record)
        line = json.dumps(said)
        return line if len(line) <= MAX_LINE else json.dumps(_shrunk(said))


def _shrunk(said: dict[str, Any]) -> dict[str, Any]:
    """What is left of a line that is too long: letters beyond ASCII take six times the room in JSON."""
    room = MAX_LINE // 6 // 4
    return {
        name: each[:room] if isinstance(each, str) else each for name, each in list(said.items())[:20]
    } | {"shortened": True}


def _message(record: logging.LogRecord) -> str:
    return _told(record.getMessage(), MAX_MESSAGE)


def _told(text: str, most: int) -> str:
    """The beginning of a text, redacted, in letters that every reader of JSON takes."""
    return redact_start(text, most).encode("utf-8", "replace").decode()


def _has_error(record: logging.LogRecord) -> bool:
    return bool((record.exc_info and record.exc_info[0]) or record.exc_text or record.stack_info)


def _error_name(record: logging.LogRecord) -> str | None:
    return record.exc_info[0].__name__[:200] if record.exc_info and record.exc_info[0] else None


def _traceback(record: logging.LogRecord) -> str:
    """The end of a traceback is what says most. Not `exc_text`: another formatter may have left its own
    there.
    """
    told = (
        "".join(format_exception(record.exc_info[1])).rstrip()
        if record.exc_info and record.exc_info[0]
        else record.exc_text
    )
    text = "\n".join(each for each in (told, record.stack_info) if each)
    return redact_end(text, MAX_TRACEBACK).encode("utf-8", "replace").decode()


def _extras(record: logging.LogRecord) -> dict[str, Any]:
    """What a caller has added with `extra`."""
    found = ((str(name)[:100], value) for name, value in vars(record).items() if name not in _OWN)
    return dict(islice(found, MAX_EXTRAS))


def _field(value: Any, name: str = "") -> Any:
    """A value as JSON has it: redacted and bounded."""
    if name and is_secret_name(name):
        return HIDDEN
    if isinstance(value, str):
        return _told(value, MAX_FIELD)
    found = redact_value(value)
    text = json.dumps(found)
    return found if len(text) <= MAX_FIELD else f"{text[:MAX_FIELD]}…"


def _shortly(fields: Mapping[str, Any]) -> str:
    """The context of a line in a few words: `[task 12 scrape/fetch, attempt 2]`."""
    told = list[str]()
    for name, word in _SHORT.items():
        value = fields.get(name)
        if value is None or (name == "attempt" and value == 1):
            continue
        if name == "stage":
            told[-1:] = [f"{told[-1] if told else ''} {fields.get('kind')}/{value}".strip()]
        else:
            told.append(f"{word} {_told(str(value), 100)}")
    return f" [{', '.join(told)}]" if told else ""


def _one_line(text: str) -> str:
    return plain(text).replace("\n", "\n    ")
