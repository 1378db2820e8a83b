"""`thresher.yaml`: a project's apps, its database, how it goes out, the models it asks, whom it tells, its
settings.

Errors name file, line and key.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from thresher.config.apps import FILE_NAME, own_apps
from thresher.config.models import Models, read_models
from thresher.config.notify import Notify, read_notify
from thresher.config.outward import Outward, read_outward
from thresher.config.settings import MACHINE, SECTIONS, Catalogue, Settings
from thresher.config.variable import VARIABLE, looked_up
from thresher.core.app import App
from thresher.core.backoff import Retry
from thresher.core.errors import ConfigError, UsageError
from thresher.core.extension import Declaration
from thresher.core.redaction import secrets_in_url
from thresher.core.setting import Number

DEFAULT_DATABASE = "sqlite:///thresher.db"
DATABASE_VARIABLE = "THRESHER_DATABASE_URL"
KEYS = ("apps", "database", "fetch", "models", "notify", "retry", "settings")

# Up to the last @, wherever that is: a password that nobody has encoded may hold any character.
_PASSWORD = re.compile(r"(//[^/@:?#]*|^[^/@:?#]*(?=:[^/])):.*@", re.DOTALL)
_PASSWORD_OPTION = re.compile(r"(password|passwd|pwd)=[^&]*", re.IGNORECASE)
_BRACKETED = re.compile(r"\[[^\]]*\]")
# Values of variables that differ by machine and are no secret: a number, a path, a host, an address without
# a login.
_PLACE = re.compile(
    r"[\d.:]*|localhost|~?\.{0,2}/[^\s@]*|(?:[a-z][a-z0-9+.-]*://)[^@?#]*|(?:[a-z0-9-]+\.)+[a-z]{2,20}(?::\d+)?"
)
_RELATIVE_FILE = re.compile(r"^sqlite:///(?!/|:memory:)([^?]+)")


@dataclass(frozen=True, slots=True)
class Project:
    """What a project folder says."""

    folder: Path
    apps: tuple[str, ...] = ()
    database: str | None = None
    settings: Mapping[str, Any] = field(
        default_factory=dict
    )  # as written: only the apps know which there are
    fetch: Outward = field(default_factory=Outward)
    models: Models = field(default_factory=Models)
    notify: Notify = field(default_factory=Notify)
    retry: Mapping[str, Retry] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)  # file and line of each key
    sections: Mapping[str, Any] = field(default_factory=dict)  # keys of apps, as written
    secrets: tuple[str, ...] = field(default=(), repr=False)  # what no log line and no stored error may show

    def checked_settings(self, catalogue: Catalogue, *, apps_are_missing: bool = False) -> dict[str, Number]:
        """Check the settings of the file; errors name file and line.

        With `apps_are_missing` the settings of unknown apps are left out instead: nobody can check them here.
        """
        sections = {*SECTIONS, *catalogue.apps}
        return {
            name: self._checked(catalogue, name, value)
            for name, value in self.settings.items()
            if not apps_are_missing or name.partition(".")[0] in sections
        }

    def machine_settings(self) -> Settings:
        """The machine's settings alone, for whoever works without apps and without a database."""
        return Settings(self.checked_settings(MACHINE, apps_are_missing=True))

    def check_sections(self, apps: Iterable[App]) -> None:
        """Refuse a key of the file that neither Thresher nor one of these apps has a use for."""
        if not self.sections:
            return  # to know who declares something, every app has to be imported
        own = {app.name for app in apps if app.declare is not None}
        for key in self.sections:
            if key not in own:
                known = ", ".join((*KEYS, *sorted(own)))
                raise self.error(key, f"is not a known key; the keys are {known}")

    def declaration(self, app: App) -> Declaration:
        """What the file says of an app."""
        return Declaration(self.folder, self.sections.get(app.name), self.error)

    def error(self, key: str, says: str) -> ConfigError:
        """An error that names the file and the line of a key."""
        place = next((self.places[each] for each in _upwards(key) if each in self.places), FILE_NAME)
        return ConfigError(f"{place}: {key} {says}")

    def _checked(self, catalogue: Catalogue, name: str, value: Any) -> Number:
        try:
            return catalogue[name].parse(value)
        except UsageError as problem:
            raise ConfigError(
                f"{self.places.get(f'settings.{name}', 'settings')}: settings.{name} is wrong: {problem}"
            ) from None


def _upwards(key: str) -> Iterator[str]:
    """A key, and those that it stands in."""
    while key:
        yield key
        key = key.rpartition(".")[0]


def read_project(folder: Path) -> Project:
    """The project in this folder; where there is no file, one with all the apps that come with us."""
    if not folder.is_dir():
        raise ConfigError(f"there is no project folder {folder}; name an existing one with --project")
    path = folder / FILE_NAME
    if not path.exists():
        return Project(folder, own_apps())
    return _Reader(path).project()


def enabled_apps(folder: Path) -> tuple[str, ...]:
    """The apps that a project names, without a look at the rest of its file."""
    path = folder / FILE_NAME
    return _Reader(path).apps() if path.exists() else own_apps()


def database_url(flag: str | None, project: Project, environ: Mapping[str, str] = os.environ) -> str:
    """Where the database is: the flag, else the environment, else the project file, else a file in the
    project's folder.

    A relative path is meant from where it was written: the project file's from its folder, the others from
    here.
    """
    return (
        flag
        or environ.get(DATABASE_VARIABLE)
        or _anchored(project.database or DEFAULT_DATABASE, project.folder)
    )


def hide_password(url: str) -> str:
    """A database URL that may be shown."""
    return _PASSWORD_OPTION.sub(r"\1=***", _PASSWORD.sub(r"\1:***@", url))


def check_server(url: str) -> None:
    """Refuse the URL of a server that cannot be read, before a driver does: what a driver says quotes a part
    of the password.
    """
    try:
        user, _, place = urlsplit(url).netloc.rpartition("@")
        ports = (host.partition(":")[2] for host in _BRACKETED.sub("", place).split(","))
        readable = "@" not in user and all(port == "" or port.isdecimal() for port in ports)
    except ValueError:
        readable = False
    if not readable:
        raise ConfigError(
            f"the database URL {hide_password(url)!r} is invalid: the port after the host must be a "
            "number. In a password, percent-encode everything but letters and digits: %2F for /, "
            "%3F for ?, %23 for #, %40 for @, %5B for ["
        )


def _secrets(text: str, database: Any, outward: Outward, models: Models, notify: Notify) -> Iterator[str]:
    """What the file holds or names that is secret: keys, addresses of people, passwords in other addresses,
    and the variables of the environment that it names (decision 023), unless they are plainly a place or a
    number.
    """
    yield from (thinker.key for thinker in models.providers.values() if thinker.key)
    yield from notify.urls
    for url in (database, outward.proxy, *notify.urls):
        yield from secrets_in_url(url) if isinstance(url, str) else ()
    for match in VARIABLE.finditer(text):
        value = os.environ.get(match[1], "")
        yield from secrets_in_url(value)
        if not _PLACE.fullmatch(value):
            yield value


def _anchored(url: str, folder: Path) -> str:
    return _RELATIVE_FILE.sub(lambda match: f"sqlite:///{folder / match[1]}", url)


class _Reader:
    """Reads one file and knows on which line each key stands."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: dict[str, int] = {}

    def project(self) -> Project:
        text, data = self._text(), self._load()
        outward = read_outward(data.get("fetch"), self._error)
        models = read_models(data.get("models"), self._error)
        notify = read_notify(data.get("notify"), self._error)
        apps, retry = self._apps(data), self._retry(data)
        return Project(
            self.path.parent,
            apps,
            self._database(data),
            self._settings(data),
            outward,
            models,
            notify,
            retry,
            {key: self._place(key) for key in self.lines},
            {key: value for key, value in data.items() if key not in KEYS},
            tuple(_secrets(text, data.get("database"), outward, models, notify)),
        )

    def apps(self) -> tuple[str, ...]:
        return self._apps(self._load())

    def _text(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8")
        except OSError as problem:
            raise ConfigError(f"{self.path} cannot be read: {problem.strerror}") from None
        except UnicodeDecodeError:
            raise ConfigError(f"{self.path} is not UTF-8 text") from None

    def _load(self) -> dict[str, Any]:
        text = self._text()
        try:
            root = yaml.compose(text, Loader=yaml.SafeLoader)
            data = yaml.safe_load(text)
        except yaml.YAMLError as problem:
            mark = getattr(problem, "problem_mark", None)
            where = f":{mark.line + 1}" if mark else ""
            said = " ".join(str(getattr(problem, "problem", None) or problem).split())
            tabs = "; YAML takes no tabs, so indent with spaces" if "'\\t'" in said else ""
            raise ConfigError(f"{self.path}{where} is not YAML: {said}{tabs}") from None
        if root is not None:
            self._note_lines(root, "")
        if data is None:
            return {}
        if not isinstance(data, dict):
            raise ConfigError(
                f"{self.path}:1 must be a mapping with the keys {', '.join(KEYS)}, got {type(data).__name__}"
            )
        return {str(key): value for key, value in data.items()}

    def _note_lines(self, node: yaml.Node, prefix: str) -> None:
        if not isinstance(node, yaml.MappingNode):
            return
        for key, value in node.value:
            name = f"{prefix}{key.value}"
            self.lines[name] = key.start_mark.line + 1
            self._note_lines(value, f"{name}.")

    def _error(self, key: str, says: str) -> ConfigError:
        return ConfigError(f"{self._place(key)}: {key} {says}")

    def _place(self, key: str) -> str:
        return f"{self.path}:{self.lines.get(key, 1)}"

    def _apps(self, data: dict[str, Any]) -> tuple[str, ...]:
        apps = data.get("apps") or []
        if not isinstance(apps, list) or not all(isinstance(app, str) for app in apps):
            raise self._error(
                "apps", f"must be a list of names such as ['orchard.py', 'package.module:app'], got {apps!r}"
            )
        return tuple(apps)

    def _database(self, data: dict[str, Any]) -> str | None:
        url = data.get("database")
        if url is None:
            return None
        if not isinstance(url, str):
            raise self._error("database", f"must be text: a URL such as {DEFAULT_DATABASE}")
        return VARIABLE.sub(self._variable, url)

    def _variable(self, match: re.Match[str]) -> str:
        value = looked_up(match)
        if value is None:
            raise self._error("database", f"names the environment variable {match[1]}, which is not set")
        return value

    def _settings(self, data: dict[str, Any]) -> dict[str, Any]:
        given = data.get("settings") or {}
        if not isinstance(given, dict):
            raise self._error("settings", f"must map names to numbers, got {given!r}")
        return {str(name): value for name, value in given.items()}

    def _retry(self, data: dict[str, Any]) -> dict[str, Retry]:
        """The retries of single apps, by name."""
        given = data.get("retry") or {}
        if not isinstance(given, dict) or not all(
            isinstance(said, dict) and said.keys() <= {"base", "limit"} for said in given.values()
        ):
            wants = (
                "must map names of apps to base (seconds) and limit, such as {prices: {base: 30, limit: 5}}"
            )
            raise self._error("retry", f"{wants}, got {given!r}")
        found = {}
        for name, said in given.items():
            try:
                found[str(name)] = Retry(**said)
            except UsageError as problem:
                raise self._error(f"retry.{name}", f"is wrong: {problem}") from None
        return found
