"""Which apps are installed, which of them a project enables, and how a name leads to one.

An entry point of the group `thresher.apps` makes an app available. It does nothing until a project names the
app: nobody's tasks change because somebody installed a package.
"""

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from os import scandir
from pathlib import Path

from thresher.core.app import App
from thresher.core.errors import ConfigError, ThresherError, UnknownName
from thresher.core.trace import hide_secrets, own_frames

FILE_NAME = "thresher.yaml"
GROUP = "thresher.apps"
PACKAGE = "thresher"  # what comes with us is enabled where there is no project file
REINSTALL = "if this is a checkout newer than its installation, install it again: pip install -e ."


@dataclass(frozen=True, slots=True)
class Available:
    """An installed app: its short name, `package.module:attribute`, and the package it came with."""

    name: str
    target: str
    package: str


def available() -> tuple[Available, ...]:
    """Every installed app, in the order of their packages and names."""
    return _read(tuple(sys.path))


def own_apps() -> tuple[str, ...]:
    """The names of the apps that come with Thresher itself."""
    return tuple(each.name for each in available() if each.package == PACKAGE)


@cache
def _read(path: tuple[str, ...]) -> tuple[Available, ...]:
    """The entry points of our group.

    Not by importlib.metadata: that takes 70 ms in an environment of 200 packages, and every `--help` would
    wait for it. The first copy of a package on the path counts, as it does for Python.
    """
    found: dict[str, list[Available]] = {}
    for folder in path:
        for package, text in _metadata(folder or "."):
            found.setdefault(package, list(_points(package, text)))
    return tuple(sorted((each for some in found.values() for each in some), key=_order))


def _order(each: Available) -> tuple[bool, str, str]:
    return each.package != PACKAGE, each.package, each.name


def _metadata(folder: str) -> Iterator[tuple[str, str]]:
    """Each package in a folder of the path, with its list of entry points."""
    try:
        with scandir(folder) as entries:
            names = [each.name for each in entries if each.name.endswith((".dist-info", ".egg-info"))]
    except OSError:  # no folder, or a zip file
        return
    for name in names:
        try:
            with open(f"{folder}/{name}/entry_points.txt", "rb") as file:  # noqa: PTH123  a Path costs more than the file
                text = file.read().decode("utf-8", "replace")
        except OSError:
            continue
        yield name.rpartition(".")[0].partition("-")[0].lower().replace(".", "_"), text


def _points(package: str, text: str) -> Iterator[Available]:
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line.strip("[]").strip()
        elif group == GROUP and "=" in line and not line.startswith("#"):
            name, _, target = line.partition("=")
            yield Available(name.strip(), target.partition("[")[0].strip(), package)


def load_apps(
    names: Iterable[str],
    folder: Path,
    more: Iterable[str] = (),
    problems: list[ThresherError] | None = None,
) -> list[App]:
    """The apps of a project: those it names, those named besides (files from here), and those they need.

    What an app needs comes before it. None of what an app gives by its dotted name is imported. An app that
    cannot be loaded is an error; with `problems` the error is put there and the app left out.
    """
    place = str(folder.resolve())
    if place not in sys.path:
        # An app may have modules of its own beside it. Last, so that none of them passes for one of Python's.
        sys.path.append(place)
    found: dict[str, App] = {}
    for name, where in [*((name, folder) for name in names), *((name, Path()) for name in more)]:
        try:
            _add(load_app(name, where), found)
        except ThresherError as problem:
            if problems is None:
                raise
            problems.append(problem)
    return list(found.values())


def with_installed(apps: Iterable[App], folder: Path) -> list[App]:
    """These apps and every other one that is installed and can be loaded, whether a project enables it or
    not.
    """
    found = {app.name: app for app in apps}
    for each in available():
        if each.name not in found:
            with suppress(ThresherError):
                found[each.name] = load_app(each.name, folder)
    return list(found.values())


def _add(app: App, found: dict[str, App], asking: tuple[str, ...] = ()) -> None:
    if app.name in found or app.name in asking:
        if found.get(app.name, app) is not app:
            raise ConfigError(f"two apps of this project are named {app.name!r}; rename one of them")
        return
    for name in app.needs:
        try:
            _add(found[name] if name in found else load_app(name, Path()), found, (*asking, app.name))
        except UnknownName as problem:
            raise UnknownName(f"app {app.name!r} needs {name!r}: {problem}") from problem
    found[app.name] = app


def load_app(name: str, folder: Path) -> App:
    """An app by its short name, by `package.module:attribute`, or by the path of a file that has an `app`.

    Whatever goes wrong in it is told with its name.
    """
    return _load(name, partial(_find, name, folder))


def _load(name: str, load: Callable[[], object]) -> App:
    try:
        return _as_app(load(), name)
    except (ImportError, FileNotFoundError) as problem:
        raise UnknownName(f"app {name!r} cannot be loaded: {problem}{_at(problem)}") from problem
    except ThresherError as problem:
        raise type(problem)(f"app {name!r}: {problem}{_at(problem)}") from problem
    except Exception as problem:
        said = hide_secrets(f"{type(problem).__name__}: {problem}")
        raise ConfigError(f"app {name!r} fails with an error: {said}{_at(problem)}") from problem


def _at(problem: Exception) -> str:
    """Where in the app's file it was raised, if it was raised there."""
    frames = own_frames(problem)
    return f" ({frames[0].partition(' in ')[0]})" if frames else ""


def _find(name: str, folder: Path) -> object:
    place, _, attribute = _target(name).partition(":")
    module = _load_file(folder / place) if place.endswith(".py") else importlib.import_module(place)
    return getattr(module, attribute or "app", None)


def _target(name: str) -> str:
    """Where a short name leads; any other name leads to itself."""
    meant = [each for each in available() if each.name == name]
    if len(meant) > 1:
        packages = " and ".join(each.package for each in meant)
        raise ConfigError(f"{packages} both provide an app of this name; write package.module:attribute")
    if meant:
        return meant[0].target
    if name.isidentifier() and importlib.util.find_spec(name) is None:
        known = ", ".join(each.name for each in available()) or f"none ({REINSTALL})"
        raise UnknownName(
            f"no installed package provides an app of this name; available are: {known}. An app may "
            "also be a file (app.py) or package.module:attribute"
        )
    return name


def _load_file(path: Path) -> object:
    spec = importlib.util.spec_from_file_location(_module_name(path), path)
    if spec is None or spec.loader is None or not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(spec.name, module)
    spec.loader.exec_module(module)
    return module


def _module_name(path: Path) -> str:
    """What the module of an app's file is called: as the file, unless something else answers to that name,
    such as `json` or `requests`.
    """
    try:
        other = importlib.util.find_spec(path.stem)
    except (ImportError, ValueError):  # there is one by that name, and it does not say where it comes from
        other = None
    mine = other is None or other.origin in (None, str(path), str(path.resolve()))
    return path.stem if mine else f"{GROUP}.files.{path.stem}"


def _as_app(found: object, name: str) -> App:
    attribute = name.partition(":")[2] or "app"
    if found is None:
        raise ConfigError(f"it defines no {attribute!r}; write {attribute} = App(...) at its end")
    if not isinstance(found, App):
        raise ConfigError(f"its {attribute!r} must be a thresher.App, got {type(found).__name__}")
    return found
