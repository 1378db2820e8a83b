"""The mark that says whether anybody has committed anything: what open pages of the dashboard wait for."""

import subprocess
import sys

import pytest

from tests.harness.databases import with_processes
from tests.harness.tasks import entry

ELSEWHERE = """
import sys
from thresher.runtime import open_bare
store = open_bare(sys.argv[1])
with store.write() as session:
    session.run("insert into events (at, kind, detail) values (0, 'x', '{}')")
store.close()
"""


def test_what_this_machine_has_committed_moves_the_mark(store):
    before = store.backend.change_mark()
    store.enqueue([entry()])
    assert store.backend.change_mark() != before


# The log of a PostgreSQL server is that of all its databases, and other tests write theirs.
@pytest.mark.parametrize("database", ["sqlite-memory", "sqlite-file"], indirect=True)
def test_looking_moves_no_mark(store):
    store.enqueue([entry()])
    before = store.backend.change_mark()
    for _ in range(3):
        with store.read() as session:
            session.rows("select count(*) from tasks")
        with store.read(autocommit=True) as session:
            store.backend.now(session)
    assert store.backend.change_mark() == before


@with_processes
def test_what_another_process_has_committed_moves_the_mark(database, store):
    before = store.backend.change_mark()
    url = database.url if "://" in database.url else f"sqlite:///{database.url}"
    subprocess.run([sys.executable, "-c", ELSEWHERE, url], check=True)
    assert store.backend.change_mark() != before
