"""The clients that a query can name: those that come with the app, and the project's own, which are kept as
text in the database, so that every worker knows them.

One client may ask many hosts, as that of feeds does. So what rests after a rate limit, and what the ids of
offers are unique in, is narrower than the client there.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from thresher.apps.queries.clients.api import api_client
from thresher.apps.queries.clients.catalogue import FOLDER, catalogue
from thresher.apps.queries.clients.client import Client
from thresher.core.errors import ConfigError
from thresher.core.limits import bounded
from thresher.hiring.records import board_key
from thresher.reading.platforms.boards import board_named, recognise

BOARD = "board"


def shipped_clients() -> Mapping[str, Client]:
    """The clients that come with the app."""
    return catalogue(None)


def project_clients(folder: Path) -> dict[str, str]:
    """The names and texts of the project's own clients, all of them checked. Raises ConfigError."""
    known = catalogue(folder)
    texts = (path.read_text("utf-8") for path in sorted((folder / FOLDER).glob("*.yaml")))
    return {name: text for text in texts if (name := _read(text).name) in known}


def client_from(name: str, definition: str | None) -> Client:
    """The client of this name, described by this text or shipped with the app. Raises ConfigError."""
    if definition is not None:
        return _read(definition)
    if name not in shipped_clients():
        raise ConfigError(
            f"there is no client {name!r}: the project has no such file in {FOLDER}/ any more; put it back, or "
            "remove the query"
        )
    return shipped_clients()[name]


@lru_cache(64)
def _read(definition: str) -> Client:
    return api_client(definition, FOLDER)


def source_of(client: Client, parameters: Mapping[str, str]) -> str:
    """The name of what rests or is stopped together: the client, or the host that a query names."""
    return f"queries.{client.name}.{host}" if (host := _host(parameters)) else f"queries.{client.name}"


def namespace_of(client: Client, parameters: Mapping[str, str]) -> str:
    """What the ids of a query's offers are unique in. A board's offers are those of the board, whoever finds
    them.
    """
    said = parameters.get(BOARD, "") if client.name == BOARD else ""
    if said:
        platform, _, token = said.partition(":")
        board = recognise(said) if "/" in said or "." in platform else board_named(platform, token)
        return board_key(board) if board else bounded(f"{client.name}:{said}")
    place = parameters.get("url") or parameters.get("folder")
    return bounded(f"{client.name}:{place}") if place else client.name


def _host(parameters: Mapping[str, str]) -> str:
    if said := parameters.get(BOARD, ""):
        return (
            said.partition(":")[0]
            if "/" not in said
            else urlsplit(f"//{said.partition('://')[2] or said}").hostname or ""
        )
    return urlsplit(parameters.get("url", "")).hostname or ""
