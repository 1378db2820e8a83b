"""docs/reference/logs.md: what a log line says."""

from tests.house.pages.markdown import join, table
from thresher.cli.logs import MAX_FIELD, MAX_LINE, MAX_MESSAGE, MAX_TRACEBACK
from thresher.core.log_context import FIELDS
from thresher.core.redaction import MAX_KNOWN, MIN_HIDDEN, MIN_WORD

INTRO = """\
`thresher worker`, `serve`, `up` and `run` write their log to standard error: Python's own `logging`, set up by these commands and
by nothing else (`--log-format`, `THRESHER_LOG_FORMAT`; `THRESHER_LOG_LEVEL`, `--verbose`). As `text` a line is for people, as `json` it is
one JSON object in ASCII. How to collect them: [monitor it](../how-to/monitor.md#logs)."""

ALWAYS = {
    "time": "UTC, ISO 8601 with microseconds",
    "level": "`debug`, `info`, `warning`, `error` or `critical`",
    "logger": "who writes: `thresher.worker`, `thresher.web`, a library, an app",
    "message": f"the sentence; at most {MAX_MESSAGE:,} characters",
}
SOMETIMES = {
    "event": "name of what happened, where it has one: `request`, `enqueued`, `attempt_failed`, `command_failed`, or what an app says",
    "error": "class of the error that the line is about",
    "traceback": f"its traceback; the last {MAX_TRACEBACK:,} characters",
    "shortened": f"the line was longer than {MAX_LINE:,} characters, so each field has only its beginning",
}
REQUEST = {
    "method, path, status": "of an HTTP request, where `event` is `request`; the path is without its query",
    "by": "whose key or login it came with",
    "tasks": "the first 20 tasks that a request has asked for, where `event` is `enqueued`",
}


def page() -> str:
    return join(
        "Log lines",
        INTRO,
        "## In each line",
        _table(ALWAYS),
        "## Where they apply",
        _table(SOMETIMES),
        "## On whose behalf",
        (
            "Carried along with the work: each line that is written inside says it, also those of libraries, of threads, of\n"
            "stages in processes of their own, and of the database's threads. As text a line has the most important in brackets."
        ),
        _table(FIELDS),
        "## Of requests",
        _table(REQUEST),
        "## What callers add",
        (
            'A stage logs as any program does: `logging.getLogger("my.app").info("%d rows", 3, extra={"event": "rows_read", "rows": 3})`.\n'
            f"What `extra` has becomes fields, at most {MAX_FIELD:,} characters each; one with a name from above gets a `_` behind it."
        ),
        "## What no line has",
        (
            "Secrets are replaced by `***` in messages, arguments, fields and tracebacks, and in the same way in the errors of attempts, the\n"
            "reasons of gates and the details of events before these are stored:"
        ),
        _list(
            "values under the names of secrets, in text, JSON, headers and addresses: `Authorization`, `Cookie`, `X-…-Key`, names that end in `password`, `secret`, `token`, `api_key`, `signature` and the like; in an address also `key`, `sig`, `auth`",
            "logins in addresses, private keys in PEM, JSON web tokens, our own keys (`thr_…`), secrets of webhooks (`whsec_…`), and tokens that vendors mark by their first letters",
            f"wherever they stand, and however they are encoded: keys, addresses of `notify` and passwords in the project file; the variables that it names with `${{NAME}}`, unless their value is plainly a host, a path, a number or an address without a login; variables of the environment whose names are those of secrets; passwords in addresses that variables hold. At most {MAX_KNOWN}; one of fewer than {MIN_HIDDEN} characters, or a word of fewer than {MIN_WORD} letters, would be found in ordinary text and is only hidden where secrets stand",
        ),
        (
            "A secret that is none of these is not recognised, such as a token of an app in the middle of a sentence: do not log it. Neither is what\n"
            "an app writes to standard output itself, nor the stacks that Python's `faulthandler` writes when a worker hangs, which have no values."
        ),
        "Control characters, line breaks and what steers a terminal never reach it: as text they are replaced, and what follows a line break is indented; as JSON they are escaped.",
    )


def _table(rows: dict[str, str]) -> str:
    return table(
        ["field", ""],
        [[", ".join(f"`{each}`" for each in name.split(", ")), says] for name, says in rows.items()],
    )


def _list(*items: str) -> str:
    return "\n".join(f"- {each}" for each in items)
