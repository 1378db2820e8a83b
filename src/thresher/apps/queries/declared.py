"""The key `queries` of `thresher.yaml`: the searches that a project repeats, its sheet and its alarms.

    queries:
      searches:
        python in madrid:
          client: infojobs
          text: python
          parameters: {province: madrid}
          start: 2026-10-01

A search that is no longer there is retired: it runs no more, and what it has found is kept. Files in the
project's folder say the rest: `clients/*.yaml` describe search APIs of its own, `signals.yaml` what makes an
offer a signal.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import orjson

from thresher.apps.queries.clients.client import Client
from thresher.apps.queries.clients.search import Search
from thresher.apps.queries.known_clients import client_from, project_clients, shipped_clients, source_of
from thresher.apps.queries.model import Origin, Query, query_key
from thresher.apps.queries.outputs.options import read_sheet_options
from thresher.apps.queries.signals.rules import FILE as RULES_FILE
from thresher.apps.queries.signals.rules import read_rules
from thresher.apps.queries.store.options import (
    declared_as,
    save_clients,
    save_declared,
    save_option,
)
from thresher.apps.queries.store.queries import list_queries, retire_query, save_query
from thresher.core.clock import HOUR, SECOND
from thresher.core.errors import ConfigError
from thresher.core.extension import Declaration
from thresher.store.events import record_event
from thresher.store.session import Session
from thresher.store.store import Store
from thresher.store.transaction import in_transaction

SECTION = "queries"
KEYS = ("searches", "sheet")
SEARCH_KEYS = ("client", "text", "parameters", "start", "max_pages", "max_offers")
MAX_NAME = 200
MAX_TEXT = 500
FURTHEST_EAST = 14 * HOUR  # where a day begins first

Problem = Callable[[str, str], ConfigError]


@dataclass(frozen=True, slots=True)
class Declared:
    """What a project declares, checked."""

    queries: tuple[Query, ...]
    clients: Mapping[str, Client]
    own_clients: Mapping[str, str]  # the text of each file
    rules: str | None
    sheet: Any
    folder: str


def declare(store: Store, declaration: Declaration) -> None:
    """See to it that the database says what the project says."""
    declared = read_declared(declaration)
    digest = _digest(declared)
    with store.read() as session:
        if declared_as(session) == digest:
            return
        for query in declared.queries:
            check_start(
                query, store.backend.now(session), declaration.error, f"{SECTION}.searches.{query.name}"
            )
    in_transaction(store, lambda session: _save(session, declared, digest, store.backend.now(session)))


def read_declared(declaration: Declaration) -> Declared:
    """What a project declares. Raises ConfigError that names file, line and key."""
    said = {} if declaration.said is None else declaration.said
    if not isinstance(said, dict) or not said.keys() <= set(KEYS):
        raise declaration.error(SECTION, f"must be a mapping with the keys {', '.join(KEYS)}, got {said!r}")
    own = project_clients(declaration.folder)
    clients = {**shipped_clients(), **{name: client_from(name, text) for name, text in own.items()}}
    searches = said.get("searches") or {}
    if not isinstance(searches, dict):
        raise declaration.error(f"{SECTION}.searches", f"must map names to searches, got {searches!r}")
    queries = tuple(
        read_query(str(name), each, clients, declaration.error, f"{SECTION}.searches.{name}")
        for name, each in searches.items()
    )
    _check_once(queries, clients, declaration.error)
    return Declared(
        queries,
        clients,
        own,
        _rules(declaration.folder),
        _sheet(said.get("sheet"), declaration.error),
        str(declaration.folder.resolve()),
    )


def _sheet(said: Any, error: Problem) -> Any:
    """As written: it is read again by whoever syncs the sheet."""
    read_sheet_options(said, error)
    return said


def _rules(folder: Path) -> str | None:
    file = folder / RULES_FILE
    if not file.exists():
        return None
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise ConfigError(f"{RULES_FILE} cannot be read: {problem}") from None
    read_rules(text, RULES_FILE)
    return text


def _check_once(queries: tuple[Query, ...], clients: Mapping[str, Client], error: Problem) -> None:
    known: dict[str, str] = {}
    for query in queries:
        key = key_of(query, clients[query.client])
        if key in known:
            raise error(
                f"{SECTION}.searches.{query.name}",
                f"searches for the same as {known[key]!r}; remove one of them",
            )
        known[key] = query.name


def key_of(query: Query, client: Client) -> str:
    """The key of a query of this client."""
    return query_key(client.name, query.text, query.parameters, client.defaults)


def read_query(
    name: str, said: Any, clients: Mapping[str, Client], error: Problem, path: str = "query"
) -> Query:
    """One search, checked: by the project file, a command or a request."""
    if not isinstance(said, dict) or not said.keys() <= set(SEARCH_KEYS):
        raise error(path, f"must be a mapping with the keys {', '.join(SEARCH_KEYS)}, got {said!r}")
    if not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise error(path, f"must have a name of 1 to {MAX_NAME} printable characters")
    client = clients.get(str(said.get("client")))
    if client is None:
        known = ", ".join(sorted(clients))
        raise error(f"{path}.client", f"is {said.get('client')!r}; write one of {known}")
    text = said.get("text") or ""
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        raise error(f"{path}.text", f"must be text of at most {MAX_TEXT} characters, got {text!r}")
    query = Query(
        client.name,
        " ".join(name.split()),
        text,
        _parameters(said.get("parameters") or {}, error, path),
        _start(said.get("start"), error, path),
        _count(said, "max_pages", error, path),
        _count(said, "max_offers", error, path),
    )
    _check(query, client, error, path)
    return query


def _parameters(said: Any, error: Problem, path: str) -> dict[str, str]:
    if not isinstance(said, dict):
        raise error(f"{path}.parameters", f"must be a mapping, got {said!r}")
    return {str(name): _word(value, error, f"{path}.parameters.{name}") for name, value in said.items()}


def _check(query: Query, client: Client, error: Problem, path: str) -> None:
    """Have the client say what is wrong with a query before it ever runs. Secrets are not needed for that."""
    search = Search(query.text, query.parameters, today=date(2000, 1, 1))
    present = dict.fromkeys(client.env, "set-where-the-worker-runs")
    try:
        if client.local:
            client.checked(search)
        else:
            client.call(search, None, present)
    except ConfigError as problem:
        raise error(path, f"is wrong: {problem}") from None


def _word(value: Any, error: Problem, path: str) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str() | int() | float() if len(str(value)) <= MAX_TEXT:
            return str(value).strip()
        case date():
            return value.isoformat()
        case [*items]:
            return ",".join(_word(each, error, path) for each in items)
        case _:
            raise error(path, f"must be text, a number or a list of them, got {value!r}")


def _start(said: Any, error: Problem, path: str) -> date | None:
    try:
        return date.fromisoformat(said) if isinstance(said, str) else _as_day(said)
    except (ValueError, TypeError):
        raise error(f"{path}.start", f"must be a day such as 2026-10-01, got {said!r}") from None


def check_start(query: Query, now: int, error: Problem, path: str = "query") -> None:
    """Refuse a history that begins after today. Today is the latest of all time zones'."""
    today = datetime.fromtimestamp((now + FURTHEST_EAST) / SECOND, UTC).date()
    if query.start is not None and query.start > today:
        raise error(
            f"{path}.start", f"is {query.start}, which has not come yet; write the first day to look at"
        )


def _as_day(said: Any) -> date | None:
    if said is None or type(said) is date:
        return said
    raise TypeError


def _count(said: Mapping[str, Any], name: str, error: Problem, path: str) -> int | None:
    value = said.get(name)
    if value is None or (type(value) is int and 0 < value <= 1_000_000):
        return value
    raise error(f"{path}.{name}", f"must be a whole number from 1 to 1,000,000, got {value!r}")


def _digest(declared: Declared) -> str:
    said = {
        "queries": [
            [
                each.client,
                each.name,
                each.text,
                dict(each.parameters),
                each.start,
                each.max_pages,
                each.max_offers,
            ]
            for each in declared.queries
        ],
        "clients": dict(declared.own_clients),
        "rules": declared.rules,
        "sheet": declared.sheet,
        "folder": declared.folder,
    }
    return hashlib.sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _save(session: Session, declared: Declared, digest: str, now: int) -> None:
    save_clients(session, declared.own_clients, now)
    save_option(session, "rules", declared.rules, now)
    save_option(
        session, "sheet", None if declared.sheet is None else orjson.dumps(declared.sheet).decode(), now
    )
    save_option(session, "folder", declared.folder, now)
    keys = set()
    for query in declared.queries:
        client = declared.clients[query.client]
        keys.add(key := key_of(query, client))
        save_query(session, key, source_of(client, query.parameters), query, Origin.FILE, now)
    for state in list_queries(session):
        if state.origin is Origin.FILE and state.key not in keys and retire_query(session, state.key, now):
            why = "it is no longer in the project file"
            record_event(session, "query_retired", now, query=state.key, name=state.query.name, reason=why)
    save_declared(session, digest, now)
