"""One open transaction, the same for both databases.

Statements are written once, with `:name` for a value and `(:names*)` for a list of them. PostgreSQL's driver wants
another spelling; the translation is made once per statement and kept. For it alone `:!name` is a value that travels as
bytes: long columns of text take a fraction of the time that writing them out as text takes.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

Row = tuple[Any, ...]
Params = Mapping[str, Any]

_LIST = re.compile(r"\(:(\w+)\*\)")
_NAME = re.compile(r"(?<![:\w]):(!?)(\w+)")


class Session(Protocol):
    """What statements run on. `rows` returns what a statement returned; `run` how many rows it touched."""

    def rows(self, sql: str, params: Params = {}) -> list[Row]: ...
    def run(self, sql: str, params: Params = {}) -> int: ...
    def many(self, sql: str, rows: Sequence[Params]) -> None: ...


def one(session: Session, sql: str, params: Params = {}) -> Row | None:
    """The first row, if there is one."""
    found = session.rows(sql, params)
    return found[0] if found else None


def spread(sql: str, params: Params) -> tuple[str, Params]:
    """Write a list value out as one placeholder per item. An empty list becomes `(null)`, which nothing equals."""
    if "*)" not in sql:
        return sql, params
    flat = dict(params)

    def names(match: re.Match[str]) -> str:
        items = flat.pop(match[1])
        flat.update({f"{match[1]}_{at}": item for at, item in enumerate(items)})
        return "(" + (", ".join(f":{match[1]}_{at}" for at in range(len(items))) or "null") + ")"

    return _LIST.sub(names, sql), flat


@lru_cache(maxsize=512)
def psycopg_style(sql: str) -> str:
    """`:name` as psycopg writes it."""
    return _NAME.sub(lambda found: f"%({found[2]}){'b' if found[1] else 's'}", sql.replace("%", "%%"))
