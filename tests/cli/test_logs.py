"""Log lines: one for one event, in two formats, with their context, and without what nobody may read."""

import io
import json
import logging
import signal
import sqlite3
import threading
import warnings
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.conftest import PROJECT, Thresher, start
from thresher.cli.logs import (
    MAX_LINE,
    JsonFormatter,
    LogFormat,
    StderrHandler,
    TextFormatter,
    log_to_stderr,
    named_format,
    secrets_of,
)
from thresher.core import redaction
from thresher.core.log_context import log_context, log_fields, set_log_context

FORMATS = (TextFormatter(), JsonFormatter())
EVIL = "\x1b[31m\x9b2J\0\r\n2026-01-01 00:00:00,000 INFO thresher: forged\u2028{}\n\u202e\ud800"
SECRET = "Gr8-Horse_Battery9"


def record(message: object, *args: object, **more: object) -> logging.LogRecord:
    logger = logging.getLogger("thresher.test")
    return logger.makeRecord("thresher.test", logging.WARNING, __file__, 1, message, args, None, extra=more)


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Logging as the tests have it."""
    root, hook = logging.getLogger(), threading.excepthook
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(False)
    threading.excepthook = hook


def test_a_line_says_when_where_what_and_on_whose_behalf():
    about = {
        "task_id": 12,
        "tracking_id": 7,
        "kind": "scrape",
        "stage": "fetch",
        "attempt": 2,
        "source": None,
    }
    with log_context(worker="crawler-1"), log_context(**about):
        text, line = (each.format(record("%s rows", 3, event="rows_read", rows=3)) for each in FORMATS)
    assert text.endswith(" WARNING thresher.test [worker crawler-1, task 12 scrape/fetch, attempt 2]: 3 rows")
    said = json.loads(line)
    assert said.pop("time").endswith("+00:00")
    assert said == {
        "level": "warning",
        "logger": "thresher.test",
        "message": "3 rows",
        "worker": "crawler-1",
        **{name: value for name, value in about.items() if value is not None},
        "event": "rows_read",
        "rows": 3,
    }
    assert log_fields() == {}


def test_what_a_caller_adds_takes_no_name_of_ours():
    with log_context(task_id=12):
        said = json.loads(JsonFormatter().format(record("x", task_id=99, level="critical")))
    assert (said["task_id"], said["task_id_"], said["level"]) == (12, 99, "warning")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("text", [EVIL, EVIL * 50_000, "x" * 1_000_000, "ö" * 1_000_000])
def test_a_stranger_neither_forges_a_line_nor_steers_a_terminal_nor_floods_the_log(form, text):
    try:
        raise ValueError(text)
    except ValueError as problem:
        error = (type(problem), problem, problem.__traceback__)
    with log_context(kind=EVIL, task_id=1):
        for shown in (
            record("%s", text),
            record("%r", text, extra_field=text),
            record(text, nested={"a": [text]}),
        ):
            shown.exc_info = error
            line = form.format(shown)
            assert len(line) <= MAX_LINE
            assert all(char.isprintable() or char == "\n" for char in line)
            if isinstance(form, JsonFormatter):
                assert "\n" not in line
                assert json.loads(line)["task_id"] == 1
            else:
                assert all(each.startswith("    ") for each in line.split("\n")[1:])


class Rude:
    def __str__(self) -> str:
        raise RuntimeError("I will not be written")

    __repr__ = __str__


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "args",
    [("%d", "five"), ("%s and %s", 1), ("%s", Rude()), (Rude(),)],
    ids=("type", "count", "arg", "message"),
)
def test_a_line_that_cannot_be_written_harms_nobody(form, args, monkeypatch):
    handler, err = StderrHandler(), io.StringIO()
    handler.setFormatter(form)
    monkeypatch.setattr("sys.stderr", err)
    handler.handle(record(*args))
    assert "cannot be written" in err.getvalue()
    monkeypatch.setattr("sys.stderr", closed := io.StringIO())
    closed.close()
    handler.handle(record("nobody reads"))


@pytest.mark.parametrize("form", FORMATS)
@given(
    secret=st.text("abcdefghjkmnpqrstuvwxyz23456789-_", min_size=12, max_size=40),
    where=st.sampled_from(
        ("message", "args", "extra", "nested", "exception", "cause", "url", "encoded", "stack")
    ),
)
def test_a_secret_never_comes_out_wherever_it_goes_in(form, secret, where):
    redaction.KNOWN = redaction.KnownSecrets([secret])
    shown = record("all is well")
    if where == "message":
        shown = record(f"it is {secret}.")
    elif where == "args":
        shown = record("%s %r", {"Authorization": f"Bearer {secret}"}, [secret])
    elif where == "extra":
        shown = record(secret, headers={"cookie": secret}, token=secret, said=f"({secret})")
    elif where == "nested":
        shown = record("%s", {"x": secret}, body={"a": [{"b": ({secret: secret},)}]})
    elif where in ("exception", "cause"):
        try:
            try:
                raise KeyError(secret)
            except KeyError as inner:
                raise ValueError(f"{secret!r} is wrong" if where == "exception" else "x") from inner
        except ValueError as problem:
            shown.exc_info = (type(problem), problem, problem.__traceback__)
    elif where == "url":
        shown = record("GET https://u:%s@h/?api_key=%s", secret, secret)
    elif where == "encoded":
        shown = record("".join(f"%25{ord(char):02X}" for char in secret) + quote(quote(secret)))
    else:
        shown.stack_info = f"line of code {secret}"
    line = form.format(shown)
    assert secret not in line
    assert "***" in line


def test_which_format_is_used(monkeypatch, capsys):
    monkeypatch.setenv("THRESHER_LOG_FORMAT", "json")
    log_to_stderr(verbose=False)
    logging.getLogger("some.library").warning("hello")
    assert json.loads(capsys.readouterr().err)["logger"] == "some.library"
    log_to_stderr(verbose=False, form=LogFormat.TEXT)
    logging.getLogger("some.library").warning("hello")
    assert capsys.readouterr().err.endswith(" WARNING some.library: hello\n")
    assert named_format({}) is LogFormat.TEXT


def test_a_format_that_is_none_is_refused_by_name(queue: Thresher, monkeypatch):
    monkeypatch.setenv("THRESHER_LOG_FORMAT", "xml")
    told = queue("run")
    assert (told.code, "THRESHER_LOG_FORMAT is 'xml'; set it to one of text, json" in told.err) == (3, True)


def test_warnings_of_python_and_errors_of_threads_are_lines_too(capsys):
    log_to_stderr(verbose=False, form=LogFormat.JSON)

    def fails() -> None:
        raise ValueError(f"password={SECRET}")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(True)
        warnings.warn(f"token={SECRET}", stacklevel=1)
    thread = threading.Thread(target=fails, name="helper")
    thread.start()
    thread.join()
    one, two = map(json.loads, capsys.readouterr().err.splitlines())
    assert (one["logger"], two["error"], two["message"]) == (
        "py.warnings",
        "ValueError",
        "helper ended with an error",
    )
    assert SECRET not in json.dumps([one, two])


def test_the_end_of_a_command_is_a_line_like_the_others(queue: Thresher, monkeypatch):
    monkeypatch.setenv("THRESHER_LOG_FORMAT", "json")
    told = queue("run", "--only", "nobody")
    said = json.loads(told.err.splitlines()[-1])
    assert (told.code != 0, said["event"], said["level"]) == (True, "command_failed", "error")
    assert "nobody" in said["message"]


def test_variables_that_are_secrets_by_their_names():
    environ = {
        "ACME_API_KEY": "one-secret",
        "PGPASSWORD": "two-secret",
        "QUEUE": "redis://:three-secret@h",
        "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer four-secret,x=y",
        "PLACE": "/var/lib/acme",
    }
    assert secrets_of(environ) == ["one-secret", "two-secret", "three-secret", "Bearer four-secret", "y"]


def test_context_ends_with_the_thread_that_set_it():
    thread = threading.Thread(target=set_log_context, args=(lambda: {"task_id": 1},))
    thread.start()
    thread.join()
    assert log_fields() == {}


# A real worker, whose app says its secrets in every way there is.

APP = """
import logging, os, urllib.parse
from thresher import *

log = logging.getLogger("some.library")
SECRET = os.environ["HOOK_CODE"]


def apart(ctx):
    log.warning("apart: %s", SECRET, extra={"event": "apart"})
    raise ValueError(f"apart with {SECRET}")


def threaded(ctx):
    log.warning("threaded: %s\\n2026 INFO forged", {"Authorization": f"Bearer {SECRET}"}, extra={"event": "threaded"})
    raise KeyError(SECRET)


def look(session, data, now):
    log.warning("looked: https://acme.example/?q=%s", urllib.parse.quote(SECRET, safe=""), extra={"event": "looked"})
    return 1


async def awaited(ctx):
    await ctx.read("look")
    log.error("awaited", extra={"event": "awaited", "headers": {"X-Acme-Key": SECRET, "nested": [SECRET]}})
    code = SECRET
    raise RuntimeError(f"https://ann:{SECRET}@acme.example/ " + "".join(f"%{byte:02x}" for byte in SECRET.encode()))


async def last(ctx):
    log.warning("last", extra={"event": "last"})
    return Done(events=(NewEvent("told", {"url": f"https://h/?token={SECRET}", "said": SECRET}),))


app = App(
    "test",
    pipelines=(
        Pipeline("apart", Stage(apart, isolation="process")),
        Pipeline("threaded", Stage(threaded)),
        Pipeline("awaited", Stage(awaited)),
        Pipeline("last", Stage(last)),
    ),
    reads={"look": look},
    events={"told": "Something was told."},
)
"""
KINDS = ("apart", "threaded", "awaited", "last")


@pytest.mark.promise(17)
@pytest.mark.parametrize("form", list(LogFormat))
def test_a_worker_tells_whose_lines_they_are_and_no_secret(
    project: Path, thresher: Thresher, monkeypatch, form: LogFormat
):
    monkeypatch.setenv("HOOK_CODE", SECRET)
    (project / "app.py").write_text(APP)
    (project / "thresher.yaml").write_text(f'{PROJECT}notify: ["json://hook.example/${{HOOK_CODE}}"]\n')
    for kind in KINDS:
        assert thresher("add", kind).code == 0
    process = start("worker", "--name", "w1", "--log-format", form, "--verbose", cwd=project)
    assert process.stderr is not None
    lines = list[str]()
    while (
        sum("some.library" in line for line in lines) < len(KINDS) + 1
        or sum("failed and is tried again" in line for line in lines) < 3
    ):
        lines.append(process.stderr.readline())
        assert lines[-1], lines
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    whole = out + "".join(lines) + err
    assert process.returncode == 0, whole
    with closing(sqlite3.connect(project / "thresher.db")) as base:
        whole += "\n".join(line for line in base.iterdump() if "HOOK_CODE" not in line)
    assert SECRET not in whole
    assert quote(SECRET, safe="") not in whole
    if form is LogFormat.JSON:
        said = [json.loads(line) for line in [*lines, *err.splitlines()]]
        by_event = {each["event"]: each for each in said if "event" in each}
        for number, kind in enumerate(KINDS, 1):
            about = {name: by_event[kind][name] for name in ("worker", "task_id", "kind", "app", "logger")}
            assert list(about.values()) == ["w1", number, kind, "test", "some.library"]
        assert by_event["looked"]["task_id"] == 3, "also on a thread of the database"
        failed = [each for each in said if each.get("event") == "attempt_failed"]
        assert sorted(
            (each["task_id"], each["attempt"], each["error"], each["level"]) for each in failed
        ) == [
            (1, 1, "ValueError", "info"),
            (2, 1, "KeyError", "info"),
            (3, 1, "RuntimeError", "info"),
        ]
    else:
        assert "    2026 INFO forged\n" in whole
        assert "[worker w1, task 2 threaded/threaded]: threaded: " in whole
