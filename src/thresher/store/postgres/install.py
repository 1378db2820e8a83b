"""Our functions in a schema that may be shared: only what is ours is replaced, and what is not ours is left
alone.

Each function bears a comment that says it is ours. A schema from before there were such comments holds no
other functions: they were all dropped whenever ours changed.
"""

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

import psycopg

from thresher.core.errors import DatabaseProblem
from thresher.core.keys import content_hash
from thresher.store.postgres.connection import PostgresSession

MARK = "Part of Thresher; replaced by thresher migrate."
EARLIER = frozenset({"claim_tasks"})  # names that functions of earlier versions had

_NAME = re.compile(r"^create or replace (function|view) (\w+)", re.MULTILINE)
_HERE = "(select oid from pg_namespace where nspname = current_schema())"
_FUNCTIONS = f"""select proname, oid::regprocedure::text, obj_description(oid, 'pg_proc') = :mark from pg_proc
    where pronamespace = {_HERE}"""
_VIEWS = f"""select relname, oid::regclass::text, obj_description(oid, 'pg_class') = :mark from pg_class
    where relnamespace = {_HERE} and relname in (:names*)"""
_HASH = "select hash from functions"

# Absolute thresholds: a share of a table of millions would let the hot part of it rot for hours.
_VACUUM = "autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0, autovacuum_vacuum_threshold"
STORAGE = {
    "gates": f"fillfactor = 50, {_VACUUM} = 1000",
    "lanes": f"fillfactor = 50, {_VACUUM} = 2000",
    "tasks": f"fillfactor = 85, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000, {_VACUUM} = 20000",
}


@cache
def _text() -> str:
    return files("thresher.store.postgres").joinpath("functions.sql").read_text(encoding="utf-8")


def _names(what: str) -> frozenset[str]:
    return frozenset(name for kind, name in _NAME.findall(_text()) if kind == what)


def is_installed(session: PostgresSession) -> bool:
    """Whether the functions of this version are there."""
    return session.rows(_HASH) == [(content_hash(_text().encode()),)]


def check_names(session: PostgresSession, *, fresh: bool) -> None:
    """Refuse a schema in which a name of ours belongs to something that is not ours. `fresh`: there is
    nothing of ours yet.
    """
    found = [*_functions(session), *_views(session)]
    if not fresh and not any(ours for _, _, ours in found):
        return  # from before functions were marked
    wanted = _names("function") | _names("view")
    strangers = sorted(shown for name, shown, ours in found if name in wanted and not ours)
    if strangers:
        raise DatabaseProblem(
            f"the schema has {', '.join(strangers[:5])} of its own, which Thresher would have to replace; nothing was changed. "
            "Give Thresher its own schema with ?schema=NAME in the URL, or rename yours"
        )


def install(session: PostgresSession) -> None:
    """Make the functions of this version in place of those of another."""
    _drop(
        session,
        _ours(_functions(session), _names("function") | EARLIER),
        _ours(_views(session), _names("view")),
    )
    try:
        session.run(_text())
    except (psycopg.errors.InvalidFunctionDefinition, psycopg.errors.InvalidTableDefinition) as problem:
        raise DatabaseProblem(
            "an object of yours in the schema depends on a Thresher function that has changed "
            f"({problem.diag.message_primary}); drop it, run thresher migrate, and create it again. "
            "Nothing was changed."
        ) from problem
    made = [
        f"comment on function {shown} is '{MARK}'"
        for name, shown, _ in _functions(session)
        if name in _names("function")
    ]
    made += [f"comment on view {shown} is '{MARK}'" for _, shown, _ in _views(session)]
    session.run("; ".join(made))
    for table, options in STORAGE.items():
        session.run(f"alter table {table} set ({options})")
    session.run("delete from functions")
    session.run("insert into functions (hash) values (:hash)", {"hash": content_hash(_text().encode())})


def _drop(session: PostgresSession, functions: Iterable[str], views: Iterable[str]) -> None:
    """All in one statement each, and nothing else with them. Where something of a stranger's depends on one,
    they are replaced in place.
    """
    try:
        with session.connection.transaction():
            for what, names in (("view", ", ".join(views)), ("function", ", ".join(functions))):
                if names:
                    session.run(f"drop {what} {names}")
    except psycopg.errors.DependentObjectsStillExist:
        return


def _ours(found: Iterable[tuple[str, str, bool]], names: frozenset[str]) -> list[str]:
    """Those that are marked; in a schema from before there were marks, those that bear our names."""
    listed = list(found)
    marked = [shown for _, shown, ours in listed if ours]
    return marked or [shown for name, shown, _ in listed if name in names]


def _functions(session: PostgresSession) -> list[tuple[str, str, bool]]:
    return [(name, shown, bool(ours)) for name, shown, ours in session.rows(_FUNCTIONS, {"mark": MARK})]


def _views(session: PostgresSession) -> list[tuple[str, str, bool]]:
    rows = session.rows(_VIEWS, {"mark": MARK, "names": sorted(_names("view"))})
    return [(name, shown, bool(ours)) for name, shown, ours in rows]
