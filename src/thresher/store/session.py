"""One open transaction, the same for both databases.

Statements are written once, with `:name` for a value and `(:names*)` for a list of them. PostgreSQL's driver
wants another spelling; the translation is made once per statement and kept. For it alone `:!name` is a value
that travels as bytes: long columns of text take a fraction of the time that writing them out as text takes.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import orjson

from thresher.core.limits import check_integers
from thresher.store.dialect import Dialect

Row = tuple[Any, ...]
Params = Mapping[str, Any]

_LIST = re.compile(r"(not )?in \(:(\w+)\*\)")
# A list of more items travels as one value: PostgreSQL takes 65,535 values in a statement, SQLite 32,766 in
# many of its builds.
MAX_LISTED = 1_000
_NAME = re.compile(r"(?<![:\w]):(!?)(\w+)")


class Session(Protocol):
    """What statements run on. `rows` returns what a statement returned; `run` how many rows it touched.

    `dialect` has the few words in which the databases differ.
    """

    dialect: Dialect

    def rows(self, sql: str, params: Params = {}) -> list[Row]: ...
    def run(self, sql: str, params: Params = {}) -> int: ...
    def many(self, sql: str, rows: Sequence[Params]) -> None: ...


def one(session: Session, sql: str, params: Params = {}) -> Row | None:
    """The first row, if there is one."""
    found = session.rows(sql, params)
    return found[0] if found else None


@dataclass(frozen=True, slots=True)
class LongList:
    """How a database asks whether a value is in a list, or not in it, that travels as the one value
    `:{0}`.
    """

    is_in: str
    is_not_in: str
    value: Callable[[list[Any]], Any]


JSON_LIST = LongList(
    "in (select value from json_each(:{0}))",
    "not in (select value from json_each(:{0}))",
    lambda items: orjson.dumps(items).decode(),
)
ARRAY = LongList("= any (:{0})", "<> all (:{0})", lambda items: items)


def spread(sql: str, params: Params, long: LongList) -> tuple[str, Params]:
    """Write a list value out as one placeholder per item. An empty list becomes `(null)`, which nothing
    equals.
    """
    if "*)" not in sql:
        return sql, params
    flat = dict(params)

    def names(match: re.Match[str]) -> str:
        negated, name = match.groups("")
        items = flat.pop(name)
        if len(items) > MAX_LISTED:
            check_integers({name: list(items)})
            flat[name] = long.value(list(items))
            return (long.is_not_in if negated else long.is_in).format(name)
        flat.update({f"{name}_{at}": item for at, item in enumerate(items)})
        return f"{negated}in (" + (", ".join(f":{name}_{at}" for at in range(len(items))) or "null") + ")"

    return _LIST.sub(names, sql), flat


@lru_cache(maxsize=512)
def psycopg_style(sql: str) -> str:
    """`:name` as psycopg writes it."""
    return _NAME.sub(lambda found: f"%({found[2]}){'b' if found[1] else 's'}", sql.replace("%", "%%"))
