"""`query_options` and `query_clients`: what the project's files say, so that every worker knows it."""

from collections.abc import Mapping

from thresher.store.session import Session, one

_DECLARED = "declared"  # what was declared last, as one hash
_SAVE = """insert into query_options (name, value, updated_at) values (:name, :value, :now)
    on conflict (name) do update set value = excluded.value, updated_at = excluded.updated_at"""
_DROP = "delete from query_options where name = :name"
_VALUE = "select value from query_options where name = :name"
_CLIENTS = "select client, definition from query_clients order by client"
_SAVE_CLIENT = """insert into query_clients (client, definition, updated_at) values (:client, :definition, :now)
    on conflict (client) do update set definition = excluded.definition, updated_at = excluded.updated_at"""
_DROP_CLIENT = "delete from query_clients where client = :client"


def option(session: Session, name: str) -> str | None:
    """What is said of something."""
    row = one(session, _VALUE, {"name": name})
    return row[0] if row else None


def save_option(session: Session, name: str, value: str | None, now: int) -> None:
    """Say something, or, with None, nothing any more."""
    if value is None:
        session.run(_DROP, {"name": name})
    else:
        session.run(_SAVE, {"name": name, "value": value, "now": now})


def declared_as(session: Session) -> str | None:
    """What was declared last, as one hash."""
    return option(session, _DECLARED)


def save_declared(session: Session, digest: str, now: int) -> None:
    """Remember what was declared."""
    save_option(session, _DECLARED, digest, now)


def own_clients(session: Session) -> dict[str, str]:
    """The project's own clients: name and description."""
    return dict(session.rows(_CLIENTS))


def save_clients(session: Session, wanted: Mapping[str, str], now: int) -> None:
    """Replace the project's own clients."""
    for client in own_clients(session).keys() - wanted.keys():
        session.run(_DROP_CLIENT, {"client": client})
    for client, definition in wanted.items():
        session.run(_SAVE_CLIENT, {"client": client, "definition": definition, "now": now})
