"""SQLite databases with all our tables and nothing in them, made once and copied: to make one anew costs
more than most tests do, and an app's tables come on top."""

from collections.abc import Iterable
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from thresher.core.app import App
from thresher.core.clock import FrozenClock
from thresher.store.app_migrations import AppSchema, app_schemas, migrate_apps
from thresher.store.session import SQLITE
from thresher.store.sqlite.backend import SqliteBackend

_TABLES = "select count(*) from sqlite_master"


class Tables:
    """As migrations make them; what holds something already is migrated. `apps` are those whose tables there
    are besides the machine's."""

    def write(self, path: str | Path, apps: Iterable[App] = ()) -> None:
        """Into a file."""
        schemas = app_schemas(apps, SQLITE)
        if not Path(path).exists():
            Path(path).write_bytes(_new_file(schemas))
            Path(path).chmod(0o600)
            return
        with closing(SqliteBackend(str(path), durability="process")) as backend:
            _migrate(backend, schemas)

    def fill(self, backend: SqliteBackend, apps: Iterable[App] = ()) -> None:
        """Into memory."""
        schemas = app_schemas(apps, SQLITE)
        with backend.read() as session:
            is_empty = session.rows(_TABLES) == [(0,)]
        if is_empty:
            with backend._file._writer.backup("main", _new(schemas)._file._writer, "main") as copy:
                copy.step()
        else:
            _migrate(backend, schemas)


TABLES = Tables()


@cache  # in each test process
def _new(schemas: tuple[AppSchema, ...]) -> SqliteBackend:
    made = SqliteBackend(":memory:", clock=FrozenClock())
    _migrate(made, schemas)
    return made


@cache
def _new_file(schemas: tuple[AppSchema, ...]) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "tables.db"
        with closing(SqliteBackend(str(path), clock=FrozenClock(), durability="process")) as made:
            _migrate(made, schemas)
        return path.read_bytes()


def _migrate(backend: SqliteBackend, schemas: tuple[AppSchema, ...]) -> None:
    backend.migrate()
    migrate_apps(backend, schemas)
