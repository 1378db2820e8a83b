"""A database file belongs to its owner, is opened by one library in a process, and its lock never holds
anybody up for ever."""

import contextlib
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import apsw
import pytest

from tests.harness.forks import Fork
from thresher.admin.health import check_file
from thresher.core.errors import DatabaseProblem, InvalidPayload
from thresher.core.extension import CheckLevel
from thresher.store.sqlite import connection
from thresher.store.sqlite.connection import SqliteFile, TurnLock, _check_owner, advice

SOON = 30
STRANGER = os.geteuid() + 1_000
_PROBE = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
try:
    database.execute("begin immediate")
    print("free")
except sqlite3.OperationalError:
    print("locked")
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "thresher.db")


@pytest.fixture
def file(path: str) -> Iterator[SqliteFile]:
    with closing(SqliteFile(path, "process")) as opened:
        yield opened


def mode(path: str) -> int:
    return stat.S_IMODE(Path(path).stat().st_mode)


def seen_by_another_process(path: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", _PROBE, path], capture_output=True, text=True, check=True
    ).stdout.strip()


# --- one library


@pytest.mark.promise(2)
def test_pythons_own_sqlite_cannot_open_a_file_of_ours_and_our_lock_stays(path: str, file: SqliteFile):
    with file.write():
        with pytest.raises(DatabaseProblem, match="cannot be opened with sqlite3 as well"):
            sqlite3.connect(path).close()
        with pytest.raises(DatabaseProblem, match="apsw"):
            sqlite3.connect(f"file:{path}?mode=ro", uri=True).close()
        assert seen_by_another_process(path) == "locked"


@pytest.mark.promise(2)
def test_a_file_that_another_library_has_open_is_refused_until_it_is_closed(path: str):
    SqliteFile(path, "process").close()
    other = sqlite3.connect(path)
    with pytest.raises(DatabaseProblem, match="already open in this process"):
        SqliteFile(path, "process")
    other.close()
    SqliteFile(path, "process").close()


def test_a_link_to_a_file_of_ours_is_the_same_file(path: str, file: SqliteFile):
    Path(f"{path}.link").symlink_to(path)
    with pytest.raises(DatabaseProblem, match="sqlite3"):
        sqlite3.connect(f"{path}.link")


def test_the_same_library_may_open_the_file_beside_us_and_before_us(path: str):
    SqliteFile(path, "process").close()
    before = apsw.Connection(path)
    with closing(SqliteFile(path, "process")) as file:
        before.execute("create table mine (number integer)")
        with file.write() as session:
            session.run("insert into mine (number) values (7)")
        assert apsw.Connection(path).execute("select number from mine").fetchall() == [(7,)]


def test_other_files_and_files_that_we_have_closed_are_anybodys(path: str, file: SqliteFile, tmp_path: Path):
    sqlite3.connect(tmp_path / "other.db").close()
    sqlite3.connect(":memory:").close()
    file.close()
    sqlite3.connect(path).close()
    assert not connection._ours


def test_a_file_that_cannot_be_opened_is_not_counted_as_ours(tmp_path: Path):
    (tmp_path / "letter").write_text("Dear diary, " * 100)
    with pytest.raises(DatabaseProblem, match="not a Thresher database"):
        SqliteFile(str(tmp_path / "letter"), "process")
    assert not connection._ours


@pytest.mark.promise(2)
def test_a_store_that_was_opened_before_a_fork_is_not_used_after_it(file: SqliteFile):
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            looks = partial(file.read, autocommit=True)
            for use in (file.write, partial(file.write, durable=False), file.read, looks):
                with pytest.raises(DatabaseProblem, match="open it again in each process"), use():
                    pass
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


# --- whose fault an error is


@pytest.mark.promise(1)
def test_a_value_that_cannot_be_stored_is_not_taken_for_a_database_that_is_away(file: SqliteFile):
    file._writer.limit(apsw.SQLITE_LIMIT_LENGTH, 10_000)
    for sql, value, error in (
        ("select :value", "x" * 20_000, InvalidPayload),
        ("select json_extract(:value, '$.a')", "{", apsw.SQLError),
        ("select :value", 2**70, InvalidPayload),
        ("select :value", "\ud800", UnicodeEncodeError),
    ):
        with pytest.raises(error), file.write() as session:
            session.rows(sql, {"value": value})
    with file.write() as session:
        assert session.rows("select 1") == [(1,)]


@pytest.mark.parametrize("error", connection.AWAY)
def test_a_database_that_is_away_says_so(error: type[apsw.Error]):
    with pytest.raises(DatabaseProblem, match=r"x\.db"), advice("x.db"):
        raise error("trouble")


def test_tables_of_another_version_are_no_tasks_fault(file: SqliteFile):
    with file.write() as session:
        session.run("create table t (a)")
    for sql in ("select 1 from nowhere", "select weather from t", "insert into t (weather) values (1)"):
        with pytest.raises(DatabaseProblem, match="thresher migrate"), file.write() as session:
            session.rows(sql)


# --- who may read it


@pytest.fixture
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.promise(17)
@pytest.mark.usefixtures("usual_umask")
def test_a_new_database_its_log_and_its_lock_are_for_their_owner_alone(path: str, file: SqliteFile):
    with file.write() as session:
        session.run("create table t (a)")
    assert {name: mode(path + name) for name in ("", "-wal", "-shm", "-turn")} == dict.fromkeys(
        ("", "-wal", "-shm", "-turn"), 0o600
    )


@pytest.mark.promise(17)
@pytest.mark.usefixtures("usual_umask")
@pytest.mark.parametrize(("shared", "lock"), [(0o644, 0o600), (0o664, 0o660), (0o666, 0o666)])
def test_an_existing_database_keeps_its_mode_and_only_who_may_write_it_may_lock_it(
    path: str, shared: int, lock: int
):
    SqliteFile(path, "process").close()
    Path(path).chmod(shared)
    Path(f"{path}-turn").chmod(0o644)
    SqliteFile(path, "process").close()
    assert (mode(path), mode(f"{path}-turn")) == (shared, lock)


def test_the_doctor_says_that_others_can_read_the_database(path: str):
    SqliteFile(path, "process").close()
    found = {}
    for given in (0o600, 0o660, 0o644):
        Path(path).chmod(given)
        (found[given],) = (check for check in check_file(Path(path)) if check.name == "files")
    assert [each.verdict for each in found.values()] == [CheckLevel.OK, CheckLevel.OK, CheckLevel.WARN]
    assert found[0o644].advice == f"chmod 600 {path}"


@pytest.mark.promise(17)
@pytest.mark.parametrize("put", ["link", "folder", "pipe"])
def test_a_lock_that_is_not_a_plain_file_is_refused_and_what_it_points_to_left_alone(
    path: str, tmp_path: Path, put: str
):
    lock, letter = Path(f"{path}-turn"), tmp_path / "letter"
    letter.write_text("Dear diary")
    letter.chmod(0o644)
    {"link": lambda: lock.symlink_to(letter), "folder": lock.mkdir, "pipe": lambda: os.mkfifo(lock)}[put]()
    with pytest.raises(DatabaseProblem, match="-turn"):
        SqliteFile(path, "process")
    assert (letter.read_text(), mode(str(letter))) == ("Dear diary", 0o644)


@pytest.mark.promise(17)
def test_a_lock_that_another_user_has_put_there_is_refused(path: str):
    SqliteFile(path, "process").close()
    ours = Path(path).stat()
    theirs = os.stat_result((*ours[:4], STRANGER, *ours[5:]))
    with pytest.raises(DatabaseProblem, match=f"belongs to another user .id {STRANGER}.*remove it"):
        _check_owner(f"{path}-turn", theirs, ours)
    shared = os.stat_result((ours.st_mode | stat.S_IWGRP, *ours[1:]))
    _check_owner(f"{path}-turn", theirs, shared)  # whom the owner lets write may also have made the lock


# --- the wait for a turn


def _hold(path: str, ready: str) -> None:
    with closing(SqliteFile(path, "process")) as file, file._turn_lock.held(SOON):
        Path(ready).touch()
        signal.pause()


@pytest.fixture
def stopped_holder(path: str, tmp_path: Path) -> Iterator[Fork]:
    """Another process that was stopped in the middle of its turn."""
    ready = tmp_path / "ready"
    holder = Fork(_hold, path, str(ready))
    while not ready.exists():
        with contextlib.suppress(subprocess.TimeoutExpired):
            assert holder.wait(0.01) is None
    holder.send_signal(signal.SIGSTOP)
    yield holder
    holder.kill()
    holder.wait(SOON)


@pytest.mark.promise(1)
def test_a_process_stopped_in_its_turn_holds_nobody_up_for_ever(
    path: str, stopped_holder: Fork, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connection, "BUSY_SECONDS", 0.1)
    with closing(SqliteFile(path, "process")) as file:
        for _ in range(3):
            with (
                pytest.raises(DatabaseProblem, match=rf"process {stopped_holder.pid} .*stopped.*kill -CONT"),
                file.write(),
            ):
                pass
        assert sum(thread.name == "turn" for thread in threading.enumerate()) == 1
        monkeypatch.setattr(connection, "BUSY_SECONDS", float(SOON))
        stopped_holder.kill()
        with file.write() as session:
            session.run("create table t (a)")


def test_who_stopped_waiting_does_not_keep_the_turn_from_others(path: str):
    Path(path).touch()
    holder, impatient, patient = (TurnLock(path) for _ in range(3))
    with holder.held(SOON), pytest.raises(DatabaseProblem, match="write lock"), impatient.held(0.01):
        pass
    for _ in range(3):
        with patient.held(SOON):
            pass
        with impatient.held(SOON):
            pass
    for lock in (holder, impatient, patient):
        lock.close()


def test_turns_of_many_threads_never_overlap(path: str):
    Path(path).touch()
    inside, most, taken = [0], [0], [0]

    def work() -> None:
        lock = TurnLock(path)
        for _ in range(100):
            with lock.held(SOON):
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                taken[0] += 1
                inside[0] -= 1
        lock.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most[0], taken[0]) == (1, 400)


@pytest.mark.promise(20)
def test_nobody_waits_for_a_turn_in_silence(
    path: str, stopped_holder: Fork, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(connection, "WORD_SECONDS", 0.05)
    monkeypatch.setattr(connection, "BUSY_SECONDS", 0.2)
    with closing(SqliteFile(path, "process")) as file, pytest.raises(DatabaseProblem), file.write():
        pass
    (told,) = [record.getMessage() for record in caplog.records if record.name == "thresher.store"]
    assert told.startswith(f"waiting for process {stopped_holder.pid} ")
    assert told.endswith(f"which holds the write lock of {path}")


@pytest.mark.promise(20)
def test_nobody_waits_for_another_program_in_silence(
    path: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(connection, "WORD_SECONDS", 0.05)
    monkeypatch.setattr(connection, "BUSY_SECONDS", 0.2)
    with closing(SqliteFile(path, "process")) as file:
        shell = apsw.Connection(path)
        shell.execute("begin immediate")
        with pytest.raises(DatabaseProblem, match="another program"), file.write():
            pass
        shell.execute("rollback")
        with file.write() as session:
            session.run("create table t (a)")
    (told,) = [record.getMessage() for record in caplog.records if record.name == "thresher.store"]
    assert told == f"waiting for another program that has locked {path} (a backup? a shell?)"
