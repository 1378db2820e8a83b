"""Every client by its name: those that come with the app, and those of the project's folder `clients`, which
replace the ones of the same name.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

from thresher.apps.queries.clients.api import api_client
from thresher.apps.queries.clients.board import board_client
from thresher.apps.queries.clients.client import Client
from thresher.apps.queries.clients.csv import csv_client, csv_folder_client
from thresher.apps.queries.clients.feed import feed_client
from thresher.core.errors import ConfigError

FOLDER = "clients"
MAX_FILES = 500

Stamp = tuple[Path, int, int]  # a file, when it was changed, and its size


def catalogue(folder: Path | None) -> Mapping[str, Client]:
    """The clients of a project, or only those that come with the app. Raises ConfigError, with the file and
    the line, for a definition that is wrong.
    """
    return _catalogue(tuple(_stamps(folder / FOLDER)) if folder is not None else ())


@lru_cache(8)
def _catalogue(own: tuple[Stamp, ...]) -> Mapping[str, Client]:
    found: dict[str, Client] = {}
    for path, _, _ in own:
        client = api_client(_text(path), f"{FOLDER}/{path.name}")
        if client.name in found:
            raise ConfigError(
                f"{FOLDER}/{path.name}: another file defines the client {client.name}; rename one of them"
            )
        found[client.name] = client
    return MappingProxyType(dict(sorted({**_shipped(), **found}.items())))


def _stamps(folder: Path) -> list[Stamp]:
    """The definitions in a folder as they stand now: a changed one is read again."""
    paths = sorted(folder.glob("*.yaml")) if folder.is_dir() else []
    if len(paths) > MAX_FILES:
        raise ConfigError(f"{FOLDER} has {len(paths):,} definitions; the limit is {MAX_FILES:,}")
    return [(path, (stat := path.stat()).st_mtime_ns, stat.st_size) for path in paths]


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"{FOLDER}/{path.name}: not UTF-8 text; save it as UTF-8") from None
    except OSError as problem:
        raise ConfigError(f"{FOLDER}/{path.name}: cannot be read: {problem.strerror}") from None


@cache
def _shipped() -> dict[str, Client]:
    made: list[Client] = [feed_client(), csv_client(), csv_folder_client(), board_client()]
    home = files("thresher.apps.queries.clients")
    defined = sorted(
        (each for each in home.iterdir() if each.name.endswith(".yaml")), key=lambda each: each.name
    )
    made += [api_client(each.read_text("utf-8"), each.name) for each in defined]
    return {client.name: client for client in made}
