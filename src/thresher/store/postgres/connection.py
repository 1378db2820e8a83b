"""Connect to PostgreSQL with timeouts, and turn its errors into advice without revealing the password."""

import contextlib
import logging
import math
import re
from collections.abc import Collection, Generator, Iterator, Sequence
from itertools import count
from typing import Any, Protocol
from urllib.parse import parse_qsl, unquote, unquote_plus, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row
from psycopg.sql import Identifier
from psycopg_pool import ConnectionPool, PoolTimeout

from thresher.core.clock import monotonic
from thresher.core.errors import ConfigError, DatabaseProblem, InvalidPayload
from thresher.core.limits import check_integers, without_controls
from thresher.store.session import ARRAY, POSTGRES, Params, Row, psycopg_style, spread

log = logging.getLogger("thresher.store")

# Remove the password of a database URL from messages, however it was written.

HIDDEN = "***"
_USER = re.compile(
    r"://[^@:/?#]*:(.*)@", re.DOTALL
)  # up to the last @: whoever forgot to encode one in a password must not see it
_OPTION = re.compile(r"(?:ssl)?password\s*=\s*('(?:[^'\\]|\\.)*'|[^&\s]*)", re.IGNORECASE)
_PARTS = re.compile(r"[/?#@:&\s]+")


def redacted(text: str, url: str) -> str:
    """A text, such as an error of the driver, without anything of the passwords in a database URL or
    connection string.
    """
    text = _OPTION.sub(f"password={HIDDEN}", text)
    for secret in sorted(_secrets(url), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    # A parser that took a part of a password for a port quotes that part.
    for part in {part for secret in _secrets(url) for part in _PARTS.split(secret) if part}:
        for quote in "'\"":
            text = text.replace(f"{quote}{part}{quote}", f"{quote}{HIDDEN}{quote}")
    return text


def _secrets(url: str) -> set[str]:
    """Every spelling of every password in a URL."""
    found = [option.strip("'") for option in _OPTION.findall(url)]
    for whole in _USER.findall(url):
        found += [whole, whole.partition("@")[0]]
    return {
        spelled for secret in found for spelled in (secret, unquote(secret), unquote_plus(secret)) if spelled
    }


# A server that is silent for too long, and is not working for us, is given up.
#
# The kernel notices a machine that is gone (keepalives). It does not notice a process that was stopped, or
# something in between that takes every packet and passes none on. So whoever has waited for long enough
# asks over a new connection whether the old one is being worked for. A long statement is waited for; a dead
# connection is closed, and the next one is new.

PATIENCE = 15.0
# An answer that was under way during the check has arrived by then.
LAST_LOOK = 0.2
# Nobody waits in silence for another session's lock: after so many seconds it is said whose.
WORD_SECONDS = 2.0
_BLOCKER = """select pid, coalesce(application_name, ''), coalesce(state, '') from pg_stat_activity
    where pid = any(pg_blocking_pids(%s)) order by xact_start limit 1"""
# A server that waits for its client, or for room to write to it, is not at work.
_AT_WORK = """select 1 from pg_stat_activity where pid = %s and state = 'active' and coalesce(wait_event_type, '') <> 'Client'"""


def silent(seconds: float) -> psycopg.OperationalError:
    """The error for a connection that is given up."""
    return psycopg.OperationalError(
        f"no response for {seconds:g} seconds, and the server is not working on it: the connection "
        "was dropped"
    )


class ConnectionOwner(Protocol):
    """Whose connections they are: how long each waits, and who hears of one that was given up."""

    patience: float

    def at_work(self, pid: int) -> bool:
        """Whether the server is busy with that connection."""
        ...

    def doubt(self) -> None:
        """A connection was found dead."""
        ...

    def blocker(self, pid: int) -> str | None:
        """Who holds the lock that this connection waits for."""
        ...


class PatientConnection(psycopg.Connection[Any]):
    """A connection of a thread. Without an owner its patience is `alone`, and silence is enough to give it
    up.
    """

    owner: ConnectionOwner | None = None
    alone = PATIENCE

    @property
    def patience(self) -> float:
        return self.owner.patience if self.owner else self.alone

    def wait(self, gen: Generator[Any, Any, Any], interval: float = 0.1, timeout: float | None = None) -> Any:
        return super().wait(self._patiently(gen), interval, timeout)

    def _patiently(self, gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """The same exchange, ended when nothing has come or gone for too long."""
        try:
            wanted = next(gen)
            until, doubted, word = monotonic() + self.patience, False, monotonic() + WORD_SECONDS
            while True:
                ready = yield wanted
                if word < monotonic():
                    word = math.inf
                    self._say_for_whom()
                if ready:
                    until, doubted = monotonic() + self.patience, False
                elif monotonic() > until:
                    if doubted:
                        self._give_up()
                    doubted = self.owner is None or not self.owner.at_work(self.pgconn.backend_pid)
                    until = monotonic() + (LAST_LOOK if doubted else self.patience)
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value

    def _say_for_whom(self) -> None:
        if self.owner and self.pgconn.transaction_status == TransactionStatus.ACTIVE:
            holder = self.owner.blocker(self.pgconn.backend_pid)
            if holder:
                log.warning("waiting for %s, which holds a lock in the database", holder)

    def _give_up(self) -> None:
        self.close()
        if self.owner:
            self.owner.doubt()
        raise silent(self.patience)


def ask_about(url: str, question: str, pid: int, patience: float) -> Row | None:
    """Ask over a new connection about an old one. A server that cannot be asked says nothing."""
    try:
        with PatientConnection.connect(
            url, autocommit=True, connect_timeout=max(2, round(patience))
        ) as connection:
            connection.alone = patience
            return connection.execute(question, [pid]).fetchone()
    except psycopg.Error:
        return None


CONNECT_SECONDS = 10
MAX_SCHEMA = 63
# A client that stops in the middle of a transaction holds gates that everybody needs.
IDLE_IN_TRANSACTION = "30s"
# Only what any role may set: a parameter for superusers (deadlock_timeout) would shut everybody else out. The
# functions are written to have one good plan each; making a new one for every call would cost more than
# running it. A plan is often made while the tables are still empty, where reading them from end to end looks
# cheapest: never choose that. The server, too, notices a client whose machine is gone, and lets go of what it
# held.
SETTINGS = (
    f"-c jit=off -c plan_cache_mode=force_generic_plan -c idle_in_transaction_session_timeout={IDLE_IN_TRANSACTION} "
    "-c enable_seqscan=off -c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3 -c tcp_user_timeout=30000"
)
# What the kernel does about a machine that is gone: unless the URL says otherwise, it is noticed within half
# a minute.
SOCKET = {
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
RETRYABLE = (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected)
# SQLSTATEs, by how they begin, that say something about the server and nothing about what it was asked to
# store: connection, resources, operator, system, rollback, lock, authorization, catalogue; a transaction that
# may not write, or was ended for idling.
AWAY = ("08", "53", "57", "58", "40", "55", "28", "3D", "25006", "25P03", "25P04")
# A table, column, function or schema of ours that is not there.
UNMIGRATED = ("42P01", "42703", "42883", "3F000")
# A value that no second try can store: over a limit of the server (54), or no value of its type (22).
UNSTORABLE = ("54", "22")
DURABILITY = {"machine": "on", "process": "off"}


_CHANGES = ("INSERT", "UPDATE", "DELETE")  # how the tags of statements begin that change rows
# Names of cursors on the server; none is used twice.
_CURSORS = count()


class PostgresSession:
    """A transaction on one connection."""

    dialect = POSTGRES
    __slots__ = ("app_events", "changed", "connection", "warnings")

    def __init__(
        self, connection: psycopg.Connection[Any], app_events: Collection[str] | None = None
    ) -> None:
        self.connection, self.app_events = connection, app_events
        self.warnings: list[str] = []
        self.changed = 0

    def _execute(self, text: str, params: Params) -> psycopg.Cursor[Any]:
        if not params:
            return self.connection.execute(text)
        check_integers(params)  # some it would take, and then find nothing
        text, params = spread(text, params, ARRAY)
        return self.connection.execute(psycopg_style(text), params)

    def rows(self, sql: str, params: Params = {}) -> list[Row]:
        cursor = self._count(self._execute(sql, params))
        return cursor.fetchall() if cursor.description else []

    def run(self, sql: str, params: Params = {}) -> int:
        return self._count(self._execute(sql, params)).rowcount

    def _count(self, cursor: psycopg.Cursor[Any]) -> psycopg.Cursor[Any]:
        # What a function of ours changes is counted where it is called: here its tag is that of a select.
        if (cursor.statusmessage or "").startswith(_CHANGES):
            self.changed += cursor.rowcount
        return cursor

    def many(self, sql: str, rows: Sequence[Params]) -> None:
        for row in rows:
            check_integers(row)
        with self.connection.cursor() as cursor:
            if len(rows) == 1:
                self._count(cursor.execute(psycopg_style(sql), rows[0]))
            elif rows:
                cursor.executemany(psycopg_style(sql), rows)
                self._count(cursor)
                # The driver's pipeline ends with a flush, after which the server no longer counts how long a
                # transaction idles.
                cursor.execute("select")

    def batches(self, sql: str, at_once: int) -> Iterator[list[Row]]:
        with self.connection.cursor(f"batches_{next(_CURSORS)}") as cursor:
            cursor.execute(psycopg_style(sql))
            while batch := cursor.fetchmany(at_once):
                yield batch


class BorrowedSession(PostgresSession):
    """A transaction on somebody else's connection: whatever its cursors and rows are like, ours are plain,
    and nothing is prepared.
    """

    def _execute(self, sql: str, params: Params) -> psycopg.Cursor[Any]:
        check_integers(params)
        cursor = psycopg.Cursor(self.connection, row_factory=tuple_row)
        sql, params = spread(sql, params, ARRAY)
        return cursor.execute(psycopg_style(sql), params, prepare=False)


def split_schema(url: str) -> tuple[str, str]:
    """The address for the driver, and the schema that holds our tables (`?schema=NAME`)."""
    try:
        parts = urlsplit(url)
    except ValueError as problem:
        raise ConfigError(f"the database URL is invalid: {redacted(str(problem), url)}") from None
    query = dict(parse_qsl(parts.query))
    schema = query.pop("schema", "thresher")
    query.pop("durability", None)
    if not schema.replace("_", "").isalnum():
        raise DatabaseProblem(f"the schema name {schema!r} may only contain letters, digits and _")
    if len(schema.encode()) > MAX_SCHEMA or schema.startswith("pg_"):
        raise DatabaseProblem(
            f"the schema name {schema!r} must not start with pg_ or have more than {MAX_SCHEMA} bytes"
        )
    return urlunsplit(parts._replace(query=urlencode(query))), schema


def quoted(name: str) -> str:
    """A name as SQL takes it, in whatever case it is written."""
    return Identifier(name).as_string()


def synchronous_commit(url: str) -> str:
    """What `?durability=` asks of the server; unsaid, whatever the server is set to."""
    durability = dict(parse_qsl(urlsplit(url).query)).get("durability")
    if durability is None:
        return ""
    if durability not in DURABILITY:
        raise ConfigError(f"durability must be one of {', '.join(DURABILITY)}, got {durability!r}")
    return f" -c synchronous_commit={DURABILITY[durability]}"


class Postgres:
    """A pool of connections to one schema."""

    def __init__(self, url: str, most: int) -> None:
        self.url, self.schema = split_schema(url)
        self._shown = _without_password(self.url)
        self.patience = PATIENCE
        self.app_events: Collection[str] | None = None
        said = {name for name, _ in parse_qsl(urlsplit(self.url).query)}
        self._socket = {name: value for name, value in SOCKET.items() if name not in said}
        self.doubted_at = 0.0  # connections that are older may be dead
        self.options: dict[str, Any] = {
            **self._socket,
            "autocommit": True,
            "connect_timeout": CONNECT_SECONDS,
            "prepare_threshold": 2,
            "options": f"-c search_path={quoted(self.schema)} {SETTINGS}{synchronous_commit(url)}",
        }
        self.pool = ConnectionPool(
            self.url,
            connection_class=PatientConnection,
            configure=self._adopt,
            min_size=0,
            max_size=most,
            open=False,
            timeout=CONNECT_SECONDS,
            reconnect_timeout=CONNECT_SECONDS,
            max_idle=300,
            kwargs=self.options,
        )
        self.pool.open(wait=False)

    @contextlib.contextmanager
    def connection(self) -> Iterator[psycopg.Connection[Any]]:
        """One connection for the length of a block."""
        with self.advice(), self.pool.connection() as connection:
            yield connection

    @contextlib.contextmanager
    def transaction(self) -> Iterator[PostgresSession]:
        with self.connection() as connection, connection.transaction():
            yield PostgresSession(connection, self.app_events)

    def dedicated(self) -> psycopg.Connection[Any]:
        """A connection of one's own, outside the pool."""
        with self.advice():
            options: dict[str, Any] = {**self._socket, "options": f"-c search_path={quoted(self.schema)}"}
            connection = PatientConnection.connect(
                self.url, autocommit=True, connect_timeout=CONNECT_SECONDS, **options
            )
            connection.owner = self
            return connection

    def _adopt(self, connection: PatientConnection) -> None:
        connection.owner = self

    def at_work(self, pid: int) -> bool:
        """Whether the server is busy with that connection."""
        return ask_about(self.url, _AT_WORK, pid, self.patience) is not None

    def blocker(self, pid: int) -> str | None:
        """Who holds the lock that this connection waits for."""
        found = ask_about(self.url, _BLOCKER, pid, self.patience)
        if found is None:
            return None
        said = ", ".join(without_controls(word) for word in found[1:] if word)
        return f"session {found[0]} of PostgreSQL{f' ({said})' if said else ''}"

    def doubt(self) -> None:
        """A connection was found dead: the others that are idle may be, too, and are not used again."""
        self.doubted_at = monotonic()
        self.pool.drain()

    @contextlib.contextmanager
    def advice(self) -> Iterator[None]:
        """Say what to do about what PostgreSQL complains of."""
        try:
            yield
        except PoolTimeout as problem:
            raise DatabaseProblem(
                f"no connection to {self._shown} within {CONNECT_SECONDS} seconds: is the server running?"
            ) from problem
        except psycopg.errors.ReadOnlySqlTransaction as problem:
            raise DatabaseProblem(f"{self._shown} is read-only: connect to the primary") from problem
        except psycopg.errors.DiskFull as problem:
            raise DatabaseProblem(
                f"the disk of {self._shown} is full: nothing was written; free some space and try again"
            ) from problem
        except psycopg.errors.InsufficientPrivilege as problem:
            raise DatabaseProblem(
                f"{self._shown}: {str(problem).strip()}; grant the privilege, or use another role"
            ) from problem
        except psycopg.Error as problem:
            if is_unstorable(problem):
                raise InvalidPayload(f"the database cannot store a value: {_said(problem)}") from problem
            if problem.sqlstate in UNMIGRATED:
                raise DatabaseProblem(
                    f"{self._shown}: {_said(problem)}; bring it up to date with: thresher migrate"
                ) from problem
            if is_away(problem):
                raise DatabaseProblem(f"{self._shown}: {redacted(_said(problem), self.url)}") from problem
            raise

    def close(self) -> None:
        self.pool.close()


def is_away(problem: psycopg.Error) -> bool:
    """Whether the server cannot be used now; what it was asked for may well be sound. Without a SQLSTATE the
    driver lost it.
    """
    state = problem.sqlstate
    return isinstance(problem, psycopg.OperationalError) if state is None else state.startswith(AWAY)


def is_unstorable(problem: psycopg.Error) -> bool:
    """Whether what was to be stored is at fault: the same again fails again."""
    state = problem.sqlstate
    return isinstance(problem, psycopg.DataError) if state is None else state.startswith(UNSTORABLE)


def _said(problem: psycopg.Error) -> str:
    return " ".join((problem.diag.message_primary or str(problem)).split()) or type(problem).__name__


def check_reachable(url: str) -> None:
    """Connect once: a wrong address or password is told at once and in the server's words, not after the
    pool's patience.
    """
    address, _ = split_schema(url)
    try:
        psycopg.connect(address, connect_timeout=CONNECT_SECONDS).close()
    except (psycopg.Error, ValueError) as problem:
        said = " ".join(str(problem).split()).partition(" Is the server running")[0].rstrip(".")
        # Not from it: what could not be read as a URL is quoted there, the password included.
        raise DatabaseProblem(
            f"cannot connect to PostgreSQL: {redacted(said, url)}. Is the server running, and are "
            "the user name and password correct?"
        ) from None


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    try:
        port = f":{parts.port}" if parts.port else ""
    except ValueError:  # no number, and perhaps a part of the password
        port = ""
    return redacted(f"PostgreSQL at {parts.hostname or 'localhost'}{port}{parts.path}", url)
