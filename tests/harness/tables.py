"""An SQLite database with all our tables and nothing in them, made once and copied: to make it anew costs
more than most tests do."""

from contextlib import closing
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from thresher.core.clock import FrozenClock
from thresher.store.sqlite.backend import SqliteBackend

_TABLES = "select count(*) from sqlite_master"


class Tables:
    """As `migrate` makes them; what holds something already is migrated. One of these for each test
    process."""

    def write(self, path: str | Path) -> None:
        """Into a file."""
        if not Path(path).exists():
            Path(path).write_bytes(self._bytes)
            Path(path).chmod(0o600)
            return
        with closing(SqliteBackend(str(path), durability="process")) as backend:
            backend.migrate()

    def fill(self, backend: SqliteBackend) -> None:
        """Into memory."""
        with backend.read() as session:
            is_empty = session.rows(_TABLES) == [(0,)]
        if is_empty:
            with backend._file._writer.backup("main", self._kept._file._writer, "main") as copy:
                copy.step()
        else:
            backend.migrate()

    @cached_property
    def _kept(self) -> SqliteBackend:
        made = SqliteBackend(":memory:", clock=FrozenClock())
        made.migrate()
        return made

    @cached_property
    def _bytes(self) -> bytes:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "tables.db"
            with closing(SqliteBackend(str(path), clock=FrozenClock(), durability="process")) as made:
                made.migrate()
            return path.read_bytes()


TABLES = Tables()
