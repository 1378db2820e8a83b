"""Bring a database to the newest schema, or say why not. Safe to run from any number of processes at once."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from thresher.core.errors import DatabaseProblem, NewerSchema
from thresher.core.settlement import TOLD
from thresher.core.task import LIVE, TERMINAL, WAITING, State, sql_list
from thresher.store.session import Dialect, Session

FILE = re.compile(r"(\d{4})_(\w+)\.sql")
_MAKE = "create table migrations (number integer primary key, name text not null, applied_at bigint not null)"
_COLUMNS = {
    "sqlite": "select name from pragma_table_info('migrations')",
    "postgres": """select attname from pg_attribute where attnum > 0 and not attisdropped and attrelid = (select oid from pg_class
        where relname = 'migrations' and relnamespace = (select oid from pg_namespace where nspname = current_schema()))""",
}
# Their tables belong to an app since: its first migration has adopted them.
GIVEN_AWAY = frozenset({6})
_COMMENT = re.compile(r"--[^\n]*")
_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?\*/)|(?P<text>(?<![eE])'(?:[^']|'')*'|"(?:[^"]|"")*")|(?P<end>;)
    |(?P<odd>'|"|/\*|\$\w*\$)|(?P<plain>[^-/'"$;]+|.)""",
    re.DOTALL | re.VERBOSE,
)
_OURS = {"number", "name", "applied_at"}
_CREATES = re.compile(r"\bcreate (?:unique )?(?:table|view|index) (\w+)|\brename to (\w+)")
_RELIES_ON = re.compile(r"\bdrop constraint (\w+)")  # names that the database gave, unless they were taken
_TAKEN = {
    "sqlite": "select type, name from sqlite_master where name in (:names*) order by name",
    "postgres": """with here as (select oid from pg_namespace where nspname = current_schema())
        select case relkind when 'v' then 'view' when 'm' then 'view' when 'i' then 'index' when 'S' then 'sequence' else 'table' end,
            relname from pg_class where relnamespace = (select oid from here) and relname in (:names*)
        union all select 'type', typname from pg_type
            where typnamespace = (select oid from here) and typrelid = 0 and typname in (:types*)
        union all select 'constraint', conname from pg_constraint
            where connamespace = (select oid from here) and conname in (:constraints*)
        order by 2""",
}
_ELSEWHERE = {
    "sqlite": "Choose another file with --database",
    "postgres": "Give Thresher its own schema with ?schema=NAME in the URL",
}
_STATES = {
    "states": sql_list(frozenset(State)),
    "live": sql_list(LIVE),
    "waiting": sql_list(WAITING),
    "terminal": sql_list(TERMINAL),
    "told": sql_list(frozenset(TOLD)),
    # Inside a text: its quotes doubled, or none at all.
    "waiting_inside": sql_list(WAITING).replace("'", "''"),
    "terminal_words": " ".join(sorted(TERMINAL)),
}


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered step."""

    number: int
    name: str
    sql: str


@cache
def _texts() -> tuple[tuple[int, str, str], ...]:
    """The files as they are: number, name, text. Read once."""
    found = ((FILE.fullmatch(file.name), file) for file in files("thresher.store.migrations").iterdir())
    return tuple(
        sorted((int(match[1]), match[2], file.read_text(encoding="utf-8")) for match, file in found if match)
    )


def migrations(words: Mapping[str, str]) -> list[Migration]:
    """All steps in order, with the words that differ between the databases filled in."""
    return [Migration(number, name, filled(text, _STATES | dict(words))) for number, name, text in _texts()]


def filled(text: str, words: Mapping[str, str]) -> str:
    for word, meaning in words.items():
        text = text.replace("{" + word + "}", meaning)
    return text


def statements(sql: str) -> list[str]:
    """The single statements of a migration file, comments dropped. Raises ValueError where it cannot tell
    where one ends.
    """
    found, parts = [], list[str]()
    for match in _TOKEN.finditer(sql):
        kind, text = match.lastgroup, match[0]
        if kind == "end":
            found.append("".join(parts).strip())
            parts = []
        elif kind == "odd":
            raise ValueError(
                f"has {text!r} in line {sql.count(chr(10), 0, match.start()) + 1}: an unterminated "
                "string or comment, a dollar quote, or a string with backslashes"
            )
        elif kind != "comment":
            parts.append(text)
    found.append("".join(parts).strip())
    return [text for text in found if text]


def _bare(sql: str) -> str:
    return ";".join(statements(sql))


@cache
def machine_names() -> frozenset[str]:
    """Every table, view and index of the machine: no app may change them."""
    made = _created(
        "".join(_COMMENT.sub("", text) for number, _, text in _texts() if number not in GIVEN_AWAY)
    )
    return frozenset(made) | {"migrations", "functions"}


def _last(session: Session) -> int:
    return int(session.rows("select coalesce(max(number), 0) from migrations")[0][0])


def newest(words: Mapping[str, str]) -> int:
    """The number of the newest step this code knows."""
    return migrations(words)[-1].number


def check_not_newer(have: int, know: int) -> None:
    """Refuse a database that a newer Thresher has already moved on."""
    if have > know:
        raise NewerSchema(
            f"the database is at schema {have}, and this Thresher only knows {know}: a newer version "
            "migrated it. Upgrade Thresher (pip install --upgrade thresher); the data is untouched."
        )


def version_now(session: Session, dialect: Dialect) -> int:
    """Return the schema version of a database without creating anything in it; 0 if it has none of our
    tables.
    """
    columns = {name for (name,) in session.rows(_COLUMNS[dialect.name])}
    if columns and columns != _OURS:
        raise DatabaseProblem(
            f"the database has a table migrations that is not Thresher's. {_ELSEWHERE[dialect.name]}"
        )
    return _last(session) if columns else 0


def check_up_to_date(session: Session, dialect: Dialect) -> None:
    """Refuse a database that is newer than this code, or that still has to be migrated."""
    have, know = version_now(session, dialect), newest(dialect.words)
    check_not_newer(have, know)
    if have < know:
        state = (
            f"is at schema {have}, and this Thresher needs {know}" if have else "has no Thresher tables yet"
        )
        raise DatabaseProblem(f"the database {state}; bring it up to date with: thresher migrate")


def pending(session: Session | None, dialect: Dialect) -> list[str]:
    """Return the names of the steps that a database lacks."""
    have = version_now(session, dialect) if session else 0
    check_not_newer(have, newest(dialect.words))
    return [step.name for step in migrations(dialect.words) if step.number > have]


def check_names_are_free(session: Session, dialect: Dialect, have: int, also: Collection[str] = ()) -> None:
    """Refuse a database in which something that is not ours bears a name that the missing steps need. `also`
    names more of them.
    """
    steps = migrations(dialect.words)
    applied, missing = (
        "".join(_bare(step.sql) for step in steps if (step.number <= have) is done) for done in (True, False)
    )
    names = sorted({*_created(missing), *(() if have else also)} - _created(applied))
    if not names:
        return
    given = {"names": names}
    if dialect.name == "postgres":
        given |= {"types": names, "constraints": [] if have else sorted(set(_RELIES_ON.findall(missing)))}
    taken = [f"the {kind} {name}" for kind, name in session.rows(_TAKEN[dialect.name], given)]
    if taken:
        more = f" and {len(taken) - 5} more" if len(taken) > 5 else ""
        raise DatabaseProblem(
            f"the database already has {', '.join(taken[:5])}{more}, not made by Thresher; nothing was changed. {_ELSEWHERE[dialect.name]}"
        )


def _created(sql: str) -> set[str]:
    return {made or renamed for made, renamed in _CREATES.findall(sql)}


def migrate(
    session: Session, dialect: Dialect, now: int, to: int | None = None, *, also: Collection[str] = ()
) -> list[Migration]:
    """Apply what is missing, in the caller's transaction, and return it. `to` stops early, for tests of old
    versions.

    `also` are names that the caller is about to use in a database that has nothing of ours yet.
    """
    have, steps = version_now(session, dialect), migrations(dialect.words)
    check_not_newer(have, steps[-1].number)
    missing = [step for step in steps if have < step.number <= (to or step.number)]
    if missing:
        check_names_are_free(session, dialect, have, also)
    if not have and not session.rows(_COLUMNS[dialect.name]):
        session.run(_MAKE)
    for step in missing:
        for sql in statements(step.sql):
            session.run(sql)
        session.run(
            "insert into migrations (number, name, applied_at) values (:number, :name, :now)",
            {"number": step.number, "name": step.name, "now": now},
        )
    return missing
