"""Which Chromium renders pages, and how to come by one.

Rendering is optional, and a Chromium is large, so none is bundled. The one a person named wins, then
Playwright's own (a headless shell needs half the memory), then whatever stands on the PATH. `python -m
thresher.fetch.chromium` makes sure that there is one and says what it tried; with one in place it only looks.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from thresher.core.errors import NoBrowser

VARIABLE = "THRESHER_CHROMIUM"
SANDBOX_VARIABLE = "THRESHER_CHROMIUM_SANDBOX"
CACHE_VARIABLE = "PLAYWRIGHT_BROWSERS_PATH"
# The small one first: it starts faster and needs half the memory.
NAMES = (
    "chromium-headless-shell",
    "chrome-headless-shell",
    "headless_shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
CACHED = (
    "chromium_headless_shell-*/*/headless_shell",
    "chromium_headless_shell-*/*/chrome-headless-shell*",
    "chromium-*/*/chrome",
    "chromium-*/*/chrome.exe",
    "chromium-*/*/*.app/Contents/MacOS/*",
)
VERSION_SECONDS = 10.0
DOWNLOAD_SECONDS = 600.0
SUDO_SECONDS = 5.0
EXTRA = "pip install 'thresher[browser]'"
ADVICE = f"python -m thresher.fetch.chromium, or install Chromium yourself, or name one in {VARIABLE}"
SANDBOX_ADVICE = (
    "this machine may not allow a sandbox (user namespaces): allow them, or disable the sandbox with "
    f"{SANDBOX_VARIABLE}=off"
)

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Chromium:
    """A program that renders, and why it was chosen."""

    path: Path
    origin: str


@dataclass(frozen=True, slots=True)
class Packager:
    """A system's package manager, and how it is asked for Chromium."""

    program: str
    prepare: tuple[str, ...]
    install: tuple[str, ...]


PACKAGERS = (
    Packager("apt-get", ("update", "-q"), ("install", "-q", "-y", "--no-install-recommends", "chromium")),
    Packager("dnf", (), ("install", "-q", "-y", "chromium-headless")),
    Packager("apk", (), ("add", "--quiet", "chromium")),
)


def find(environ: Mapping[str, str] | None = None) -> Chromium | None:
    """Return the Chromium to use, or None. A configured one that is missing is an error, because a substitute
    is not wanted.
    """
    environ = os.environ if environ is None else environ
    return _named(environ) or _cached(environ) or _on_path(environ)


def version(chromium: Chromium) -> str:
    """What it says about itself, such as `Chromium 150.0.7871.100`. Raises NoBrowser if it cannot even say
    that.
    """
    try:
        done = _run([str(chromium.path), "--version"], VERSION_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise NoBrowser(f"{chromium.path} ({chromium.origin}) does not start: {problem}; {ADVICE}") from None
    if done.returncode:
        raise NoBrowser(f"{chromium.path} ({chromium.origin}) does not start: {_last_line(done)}; {ADVICE}")
    words = done.stdout.split()
    number = next((place for place, word in enumerate(words) if word[:1].isdigit()), len(words) - 1)
    return " ".join(words[: number + 1])


def sandboxed(environ: Mapping[str, str] | None = None) -> bool:
    """Whether Chromium runs in its sandbox, which keeps a hostile page away from this machine. Only a person
    switches it off.
    """
    said = (os.environ if environ is None else environ).get(SANDBOX_VARIABLE, "").strip().lower() or "on"
    if said not in ("on", "off"):
        raise NoBrowser(f"{SANDBOX_VARIABLE} must be on or off, got {said[:50]!r}")
    if said == "on" and _is_root():
        raise NoBrowser(
            "Chromium has no sandbox when root starts it, so no page is rendered: run Thresher as "
            f"another user, or disable the sandbox with {SANDBOX_VARIABLE}=off"
        )
    return said == "on"


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0  # Windows has no root


def extra_is_installed() -> bool:
    """Whether the library that drives a browser is there."""
    return find_spec("playwright") is not None


def install(say: Say, environ: Mapping[str, str] | None = None) -> Chromium | None:
    """Find one, else bring one: by Playwright, else by the system's package manager. Says each step and why
    it failed.
    """
    environ = os.environ if environ is None else environ
    for step in (_already, _by_playwright, _by_packager):
        step(say, environ)
        if found := find(environ):
            say(f"{version(found)} renders pages: {found.path} ({found.origin})")
            return found
    say(
        "No Chromium was found, so pages cannot be rendered. Install one yourself, or set its path in "
        f"{VARIABLE}."
    )
    return None


def _named(environ: Mapping[str, str]) -> Chromium | None:
    name = environ.get(VARIABLE, "")
    if not name:
        return None
    path = shutil.which(name, path=environ.get("PATH", ""))
    if path is None:
        raise NoBrowser(
            f"{VARIABLE} is {name!r}, which is not a program; set it to the full path of a Chromium, "
            "or unset it"
        )
    return Chromium(Path(path), f"named by {VARIABLE}")


def _cached(environ: Mapping[str, str]) -> Chromium | None:
    folder = _cache(environ)
    for pattern in CACHED:
        programs = [path for path in folder.glob(pattern) if path.is_file() and os.access(path, os.X_OK)]
        if programs:
            return Chromium(max(programs, key=_revision), "Playwright's own")
    return None


def _cache(environ: Mapping[str, str]) -> Path:
    """Where Playwright keeps its browsers; `0` means beside its own code."""
    named = environ.get(CACHE_VARIABLE, "")
    if named == "0":
        spec = find_spec("playwright")
        return Path(spec.origin or ".").parent / "driver/package/.local-browsers" if spec else Path("nowhere")
    if named:
        return Path(named)
    home = Path(environ.get("HOME") or Path.home())
    places = {
        "darwin": home / "Library/Caches",
        "win32": Path(environ.get("LOCALAPPDATA") or home / "AppData/Local"),
    }
    return places.get(sys.platform, Path(environ.get("XDG_CACHE_HOME") or home / ".cache")) / "ms-playwright"


def _revision(path: Path) -> int:
    """The number in `chromium-1254`: the highest is the newest."""
    names = (parent.name.rpartition("-")[2] for parent in path.parents if parent.name.startswith("chromium"))
    return next((int(number) for number in names if number.isdecimal()), 0)


def _on_path(environ: Mapping[str, str]) -> Chromium | None:
    found = (shutil.which(name, path=environ.get("PATH", "")) for name in NAMES)
    return next((Chromium(Path(path), "on the PATH") for path in found if path), None)


def _already(say: Say, environ: Mapping[str, str]) -> None:
    """The first step is to look; `install` does that after every step."""


def _by_playwright(say: Say, environ: Mapping[str, str]) -> None:
    say("No Chromium was found. Asking Playwright for its headless shell ...")
    if not extra_is_installed():
        say(f"  Playwright is not installed: {EXTRA}")
        return
    _try([sys.executable, "-m", "playwright", "install", "chromium-headless-shell"], say, environ)


def _by_packager(say: Say, environ: Mapping[str, str]) -> None:
    known = ((each, shutil.which(each.program, path=environ.get("PATH", ""))) for each in PACKAGERS)
    packager, program = next(((each, path) for each, path in known if path), (None, None))
    if packager is None or program is None:
        say(f"  No supported package manager was found ({', '.join(each.program for each in PACKAGERS)}).")
        return
    rights = _rights(environ)
    if rights is None:
        say(
            f"  {packager.program} needs an administrator: sudo {packager.program} {' '.join(packager.install)}"
        )
        return
    say(f"Asking {packager.program} for Chromium ...")
    if packager.prepare:
        _try(
            [*rights, program, *packager.prepare], say, environ
        )  # a stale list may still do: go on if it fails
    _try([*rights, program, *packager.install], say, environ)


def _rights(environ: Mapping[str, str]) -> list[str] | None:
    """What to put before a command so that it may install, or None if nobody lets us."""
    if _is_root():
        return []
    sudo = shutil.which("sudo", path=environ.get("PATH", ""))
    if sudo is None:
        return None
    try:
        allowed = _run([sudo, "-n", "true"], SUDO_SECONDS, environ).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return None
    return [sudo, "-n"] if allowed else None


def _try(command: Sequence[str], say: Say, environ: Mapping[str, str]) -> None:
    try:
        done = _run(command, DOWNLOAD_SECONDS, environ)
    except (OSError, subprocess.TimeoutExpired) as problem:
        say(f"  {problem}")
        return
    if done.returncode:
        say(f"  {' '.join(command)} ended with {done.returncode}: {_last_line(done)}")


def _run(
    command: Sequence[str], seconds: float, environ: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - fixed commands, no shell, and programs a person named
        command,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=seconds,
        check=False,
        stdin=subprocess.DEVNULL,
        env=environ,
    )


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    lines: Iterator[str] = (line.strip() for line in reversed((done.stderr or done.stdout).splitlines()))
    return next((line for line in lines if line), "it said nothing")[:300]


def main() -> int:
    """Make sure that there is a Chromium; 0 if so."""
    try:
        return 0 if install(lambda line: print(line, flush=True)) else 1
    except NoBrowser as problem:
        print(problem)
        return 1


if __name__ == "__main__":
    sys.exit(main())
