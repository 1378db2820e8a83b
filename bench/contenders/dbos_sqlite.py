"""DBOS on SQLite, in WAL with synchronous NORMAL: left alone it uses a rollback journal with an fsync or two
per commit."""

import sqlalchemy
from bench.contenders.contest import order
from bench.contenders.dbos_queue import contest
from sqlalchemy import event


@event.listens_for(sqlalchemy.Engine, "connect")
def _normal(connection: object, record: object) -> None:  # noqa: ARG001
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = normal")


if __name__ == "__main__":
    given = order()
    contest(given, "sqlite", f"sqlite:///{given.file}")
