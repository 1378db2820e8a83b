"""DBOS on PostgreSQL."""

from bench.contenders.contest import order
from bench.contenders.dbos_queue import contest

if __name__ == "__main__":
    given = order()
    contest(given, "postgres", given.database.replace("postgresql://", "postgresql+psycopg://", 1))
