"""Bring a database to the newest schema, or say why not. Safe to run from any number of processes at once."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from thresher.core.errors import DatabaseProblem
from thresher.core.settlement import TOLD
from thresher.core.state import LIVE, TERMINAL, WAITING, State, sql_list
from thresher.store.dialect import Dialect
from thresher.store.session import Session

_FILE = re.compile(r"(\d{4})_(\w+)\.sql")
_HAS_MIGRATIONS = {
    "sqlite": "select count(*) from sqlite_master where type = 'table' and name = 'migrations'",
    "postgres": "select count(*) from pg_tables where schemaname = current_schema() and tablename = 'migrations'",
}
_STATES = {
    "states": sql_list(frozenset(State)), "live": sql_list(LIVE), "waiting": sql_list(WAITING), "terminal": sql_list(TERMINAL),
    "told": sql_list(frozenset(TOLD)),
    # Inside a text: its quotes doubled, or none at all.
    "waiting_inside": sql_list(WAITING).replace("'", "''"), "terminal_words": " ".join(sorted(TERMINAL)),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered step."""

    number: int
    name: str
    sql: str


@cache
def _texts() -> tuple[tuple[int, str, str], ...]:
    """The files as they are: number, name, text. Read once."""
    found = ((_FILE.fullmatch(file.name), file) for file in files("thresher.store.migrations").iterdir())
    return tuple(sorted((int(match[1]), match[2], file.read_text(encoding="utf-8")) for match, file in found if match))


def migrations(words: Mapping[str, str]) -> list[Migration]:
    """All steps in order, with the words that differ between the databases filled in."""
    return [Migration(number, name, _filled(text, _STATES | dict(words))) for number, name, text in _texts()]


def _filled(text: str, words: Mapping[str, str]) -> str:
    for word, meaning in words.items():
        text = text.replace("{" + word + "}", meaning)
    return text


def statements(sql: str) -> list[str]:
    """The single statements of a migration file: no semicolon inside a statement, comments dropped."""
    bare = re.sub(r"--[^\n]*", "", sql)
    return [text.strip() for text in bare.split(";") if text.strip()]


def version(session: Session) -> int:
    """The number of the last step that was applied; 0 for an empty database."""
    session.run("create table if not exists migrations (number integer primary key, name text not null, applied_at bigint not null)")
    return _last(session)


def _last(session: Session) -> int:
    return int(session.rows("select coalesce(max(number), 0) from migrations")[0][0])


def newest(words: Mapping[str, str]) -> int:
    """The number of the newest step this code knows."""
    return migrations(words)[-1].number


def check_not_newer(have: int, know: int) -> None:
    """Refuse a database that a newer Thresher has already moved on."""
    if have > know:
        raise DatabaseProblem(
            f"the database is at schema {have}, this Thresher knows {know}: it was made by a newer version. "
            "Upgrade Thresher (pip install --upgrade thresher); the data is untouched."
        )


def version_now(session: Session, dialect: Dialect) -> int:
    """The schema of a database, without making anything in it; 0 where there is none of ours."""
    return _last(session) if session.rows(_HAS_MIGRATIONS[dialect.name])[0][0] else 0


def check_up_to_date(session: Session, dialect: Dialect) -> None:
    """Refuse a database that is newer than this code, or that still has to be migrated."""
    have, know = version_now(session, dialect), newest(dialect.words)
    check_not_newer(have, know)
    if have < know:
        state = f"is at schema {have}, this Thresher wants {know}" if have else "holds no Thresher tables yet"
        raise DatabaseProblem(f"the database {state}; bring it up to date with: thresher migrate")


def pending(session: Session | None, dialect: Dialect) -> list[str]:
    """The names of the steps a database lacks; all of them where there is none."""
    have = version_now(session, dialect) if session else 0
    check_not_newer(have, newest(dialect.words))
    return [step.name for step in migrations(dialect.words) if step.number > have]


def migrate(session: Session, words: Mapping[str, str], now: int, to: int | None = None) -> list[Migration]:
    """Apply what is missing, in the caller's transaction, and return it. `to` stops early, for tests of old versions."""
    have, steps = version(session), migrations(words)
    check_not_newer(have, steps[-1].number)
    missing = [step for step in steps if have < step.number <= (to or step.number)]
    for step in missing:
        for sql in statements(step.sql):
            session.run(sql)
        session.run(
            "insert into migrations (number, name, applied_at) values (:number, :name, :now)",
            {"number": step.number, "name": step.name, "now": now},
        )
    return missing
