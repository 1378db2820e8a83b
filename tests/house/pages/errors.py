"""docs/reference/errors.md: the tree of errors, and what follows from each."""

import inspect
from collections.abc import Iterator

import thresher
from tests.house.pages.markdown import fence, first_paragraph, join, table
from thresher.cli.call import BUG, INTERRUPTED
from thresher.cli.tasks import EXIT_CODES, EXIT_LIVE
from thresher.core import errors
from thresher.core.decide import MISTAKES, POLICY, Ruling
from thresher.core.settlement import Health

INTRO = """\
Every error Thresher raises on purpose. What a class means for retries is an attribute of the class, never a word in its message."""
TASKS = """\
A stage raises these. The most specific class in the table wins. *Gate* is what the blamed gate hears: the one the error names
(`gate="host:acme.example"`), else the first of the stage. Names in bold can be imported from `thresher`, the others from
`thresher.core.errors`. *Exit code* is what `thresher run` ends with when a task has failed by it."""
TASKS_AFTER = """\
An error that is tried again without spending a failure leaves the task waiting in front of the closed gate. Without a gate to
close, `RateLimited` and `BudgetExhausted` wait for `retry_after` seconds (60 unless said; at least 1 second, at most 30 days);
`Blocked` and `Unauthorized` fail, so that someone looks.

With an error that is a mistake or a surprise, the last lines of the app's own code that led to it are stored: file, line and
function, the one that raised first. `thresher tasks show ID` shows them.

A task that spends more failures than `retry.max_retries` fails with its last error. Waits between tries grow from `retry.base` to
`retry.cap`.

Two names stand in the history without being classes: `Failed` (a stage returned `Failed`) and `Quarantined` (the task lost its
worker `retry.max_crashes` times)."""
USAGE = """\
Raised when a request is impossible, or when the database cannot do it. The message says what to do; except for
`PartlyEnqueued`, nothing was changed."""
CODES = {
    0: "All is well.",
    1: "It was done, and there is bad news: `run` saw a task fail, `doctor` found a failure, `migrate --check` found steps missing, "
    "a probe of `sources test` failed.",
    **{code: f"`tasks wait`: the task is {state}." for state, code in EXIT_CODES.items() if code},
    EXIT_LIVE: "`tasks wait`: the time is up, and the task has not ended.",
    BUG: "Unexpected: a bug in Thresher or in an app. `--verbose` shows where.",
    INTERRUPTED: "Interrupted by Ctrl-C. Running tasks were finished or handed back.",
}
EFFECTS = {
    Health.FAILURE: "counts towards its breaker",
    Health.PAUSE: "closed for `retry_after` seconds",
    Health.DISABLE: "disabled",
}


def page() -> str:
    return join(
        "Errors, and what follows from them",
        INTRO,
        fence("text", tree()),
        "## Raised by a stage",
        TASKS,
        table(["error", "tried again", "spends a failure", "gate", "exit code", "meaning"], _task_rows()),
        TASKS_AFTER,
        "## Raised when work is requested",
        USAGE,
        table(["error", "exit code", "meaning"], _usage_rows()),
        "## Exit codes",
        table(["code", "meaning"], _code_rows()),
    )


def tree() -> str:
    """The drawing at the top of the module."""
    paragraphs = inspect.cleandoc(errors.__doc__ or "").split("\n\n")
    drawn = next(text for text in paragraphs if text.lstrip().startswith("ThresherError"))
    return inspect.cleandoc("\n" + drawn)


def classes(root: type[BaseException]) -> Iterator[type[errors.ThresherError]]:
    """A class and all below it, in the order of the file; private ones are only their children's parents."""
    order = list(vars(errors).values())
    found = [each for each in order if isinstance(each, type) and issubclass(each, root)]
    return (each for each in found if not each.__name__.startswith("_"))


def _task_rows() -> list[list[str]]:
    rows = [
        [
            _name(each),
            _yes(each.retryable),
            _yes(each.spends_failure),
            _effect(each),
            str(each.exit_code),
            _sentence(each),
        ]
        for each in classes(errors.TaskError)
    ]
    died = errors.ProcessDied
    rows.append([_name(died), "yes", "yes", "hears nothing", str(died.exit_code), _sentence(died)])
    mistakes = ", ".join(f"`{each.__name__}`" for each in MISTAKES)
    return [
        *rows,
        [
            f"`UsageError` and all below it but `ConfigError`; {mistakes}",
            "no",
            "yes",
            "hears nothing",
            "1",
            "A mistake in the app, which the same code would make again. `None.something` is tried again.",
        ],
        [
            "any other exception",
            "yes",
            "yes",
            "hears nothing",
            "1",
            "A surprise: our own fault, not the source's.",
        ],
    ]


def _effect(cls: type[BaseException]) -> str:
    ruling = next((POLICY[each] for each in cls.__mro__ if each in POLICY), Ruling())
    if ruling.health is None:
        return "hears nothing"
    return EFFECTS[ruling.health] + (f", tag `{ruling.tag}`" if ruling.tag else "")


def _usage_rows() -> list[list[str]]:
    return [[_name(each), str(each.exit_code), _sentence(each)] for each in _at_the_door()]


def _at_the_door() -> Iterator[type[errors.ThresherError]]:
    yield from classes(errors.UsageError)
    yield from classes(errors.DatabaseProblem)


def _code_rows() -> list[list[str]]:
    known = dict(CODES)
    for each in _at_the_door():
        known.setdefault(each.exit_code, "")
        if not CODES.get(each.exit_code):
            known[each.exit_code] += f"{', ' if known[each.exit_code] else ''}`{each.__name__}`"
    return [[str(code), known[code]] for code in sorted(known)]


def _name(cls: type) -> str:
    return f"**`{cls.__name__}`**" if cls.__name__ in thresher.__all__ else f"`{cls.__name__}`"


def _sentence(cls: type) -> str:
    return first_paragraph(cls.__doc__ or "")


def _yes(value: bool) -> str:
    return "yes" if value else "no"
