"""Map the result or error of a command to an exit code and one clear line."""

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import typer

from thresher.cli.format import as_json, plain
from thresher.core.errors import ThresherError

INTERRUPTED = 130
BUG = 70


def exit_code(act: Callable[[], object], args: Sequence[str]) -> int:
    """Do it and return the exit code. `args` say whether the line about an error is JSON, and how much it
    tells.
    """
    try:
        result = act()
        sys.stdout.flush()
    except ThresherError as problem:
        return _tell(str(problem), type(problem).__name__, problem.exit_code, args)
    except typer.Exit as ending:
        return ending.exit_code
    except typer.TyperException as problem:
        return _usage(problem, args)
    except (KeyboardInterrupt, typer.Abort):
        return _tell("interrupted", "Interrupted", INTERRUPTED, args)
    except BrokenPipeError:
        # Whoever read our output has left (`| head`): nothing to tell them, and nothing more to flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as problem:  # noqa: BLE001  the last line of defence: a person gets advice, not a wall of text
        return _surprise(problem, args)
    return result if isinstance(result, int) else 0


def _usage(problem: Any, args: Sequence[str]) -> int:
    context = getattr(problem, "ctx", None)
    if type(problem).__name__ == "NoArgsIsHelpError":
        sys.stdout.write(f"{problem.format_message()}\n")
        return 0
    advice = f" (see: {context.command_path} --help)" if context is not None else ""
    return _tell(f"{problem.format_message()}{advice}", "UsageError", problem.exit_code, args)


def _surprise(problem: Exception, args: Sequence[str]) -> int:
    if "--verbose" in args:
        import traceback

        sys.stderr.write(plain("".join(traceback.format_exception(problem))))
    advice = "" if "--verbose" in args else " Run it again with --verbose to see where."
    said = f"{type(problem).__name__}: {problem}. This was not expected and may be a bug of Thresher or of an app; nothing is lost.{advice}"
    return _tell(said, type(problem).__name__, BUG, args)


def _tell(message: str, name: str, code: int, args: Sequence[str]) -> int:
    text = as_json({"error": message, "class": name}) if "--json" in args else plain(f"thresher: {message}")
    sys.stderr.write(f"{text}\n")
    return code
