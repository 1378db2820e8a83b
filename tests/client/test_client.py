"""The queue from any program: enqueue, look, cancel, wait for results."""

import asyncio
import contextlib
import subprocess
import sys
from pathlib import Path

import pytest

from tests.client.conftest import APP
from tests.harness.databases import with_processes
from tests.harness.tasks import claim_one, rows, settle
from thresher import AsyncClient, Client, Done, Failed, NewTask
from thresher.core.decide import settle_outcome
from thresher.core.errors import DatabaseProblem, NotAllowed, UnknownName, UsageError
from thresher.engine.registry import Registry
from thresher.store.store import Store

pytestmark = with_processes
SOON = 30.0
REGISTRY = Registry([APP])


def perform(store: Store, result: object) -> int:
    task = claim_one(store)
    settle(store, settle_outcome(task, Done(result=result), REGISTRY))
    return task.id


def ids(store: Store) -> list[int]:
    return [row[0] for row in rows(store, "select id from tasks order by id")]


@pytest.mark.promise(1)
def test_a_program_enqueues_a_task_and_gets_its_result(client: Client, worker: Store):
    added = client.enqueue(NewTask("greet", {"name": "Ada"}))
    assert (added.new, client.get(added.id).state) == (True, "pending")
    with pytest.raises(TimeoutError, match="still pending"):
        client.wait(added.id, 0.01)
    assert perform(worker, {"text": "Hello, Ada"}) == added.id
    found = client.wait(added.id, SOON)
    assert (found.state, found.succeeded, found.result) == ("succeeded", True, {"text": "Hello, Ada"})


def test_a_key_that_is_taken_leads_to_the_task_that_has_it(client: Client):
    first, again = (client.enqueue(NewTask("greet", key="ada")) for _ in range(2))
    assert (first.new, again.new, again.id) == (True, False, first.id)
    three = client.enqueue_many(
        [NewTask("greet", key="ada"), NewTask("greet", key="grace"), NewTask("greet")]
    )
    assert [each.new for each in three] == [False, True, True]
    with client.transaction() as transaction:
        assert transaction.enqueue(NewTask("greet", key="ada")).id == first.id


def test_tasks_are_cancelled_and_sent_back(client: Client, worker: Store):
    added = client.enqueue(NewTask("greet"))
    assert client.cancel(added.id).state == "cancelled"
    with pytest.raises(NotAllowed):
        client.cancel(added.id)
    assert client.retry(added.id).state == "pending"
    task = claim_one(worker)
    assert client.cancel(task.id, "no longer wanted").state == "running"
    settle(worker, settle_outcome(task, Failed("no such name"), REGISTRY))
    found = client.wait(task.id, SOON)
    assert (found.state, found.error, found.reason, found.result) == (
        "failed",
        "Failed",
        "no such name",
        None,
    )
    for ask in (client.get, client.cancel, client.retry, client.wait):
        with pytest.raises(UnknownName, match="4711"):
            ask(4711)


def test_a_task_whose_key_is_taken_is_not_sent_back(client: Client):
    old = client.enqueue(NewTask("greet", key="ada"))
    client.cancel(old.id)
    client.enqueue(NewTask("greet", key="ada"))
    with pytest.raises(NotAllowed, match="a live task of its kind has its key"):
        client.retry(old.id)


def test_a_client_without_the_app_says_what_it_needs_and_still_looks(url: str, client: Client):
    added = client.enqueue(NewTask("greet"))
    with Client(url) as stranger:
        assert stranger.get(added.id).kind == "greet"
        with pytest.raises(UsageError, match=r"apps=\[app\] or project=FOLDER.*POST /api/tasks"):
            stranger.enqueue(NewTask("greet"))
    with pytest.raises(UnknownName, match="known are: greet"):
        client.enqueue(NewTask("great"))


def test_a_project_folder_brings_the_apps(url: str, tmp_path: Path):
    (tmp_path / "postcards.py").write_text(
        "from thresher import App, Done, Pipeline, Stage\n\n\ndef send(ctx):\n    return Done()\n\n\n"
        'app = App("postcards", pipelines=(Pipeline("send", Stage(send)),))\n'
    )
    (tmp_path / "thresher.yaml").write_text("apps: [postcards.py]\n")
    with Client(url, project=tmp_path) as client:
        assert client.enqueue(NewTask("send")).new


@pytest.mark.promise(1)
def test_what_a_transaction_of_the_client_writes_happens_whole_or_not_at_all(client: Client, worker: Store):
    with worker.write() as session:
        session.run("create table orders (name text)")
    with contextlib.suppress(RuntimeError), client.transaction() as transaction:
        transaction.execute("insert into orders (name) values (:name)", {"name": "pears"})
        transaction.enqueue(NewTask("greet"))
        raise RuntimeError
    assert (ids(worker), rows(worker, "select name from orders")) == ([], [])
    with client.transaction() as transaction:
        transaction.execute("insert into orders (name) values (:name)", {"name": "pears"})
        added = transaction.enqueue(NewTask("greet"))
    assert (ids(worker), rows(worker, "select name from orders")) == ([added.id], [("pears",)])


def test_a_client_neither_makes_nor_migrates_a_database(tmp_path: Path, url: str):
    with pytest.raises(DatabaseProblem, match="thresher migrate"):
        Client(f"sqlite:///{tmp_path / 'nowhere.db'}")
    assert not (tmp_path / "nowhere.db").exists()


def test_on_an_event_loop_many_tasks_are_waited_for_at_once(url: str, worker: Store):
    asyncio.run(_many_at_once(url, worker))


async def _many_at_once(url: str, worker: Store) -> None:
    async with AsyncClient(url, apps=[APP]) as client:
        added = await client.enqueue_many([NewTask("greet") for _ in range(40)])
        waiting = [asyncio.create_task(client.wait(each.id, SOON)) for each in added]
        await asyncio.to_thread(lambda: [perform(worker, number) for number in range(40)])
        found = await asyncio.gather(*waiting)
        assert sorted(each.result for each in found) == list(range(40))
        late = await client.enqueue(NewTask("greet", delay=60))
        with pytest.raises(TimeoutError, match="still pending"):
            await client.wait(late.id, 0.02)
        assert (await client.cancel(late.id)).state == (await client.get(late.id)).state == "cancelled"
        assert (await client.retry(late.id)).state == "pending"
    with pytest.raises(UsageError, match="async with"):
        await AsyncClient(url).get(1)


def test_an_app_that_imports_thresher_does_not_load_the_store(url: str):  # asked once per database, and cheap
    code = "import sys, thresher; sys.exit(any(name in sys.modules for name in ('apsw', 'psycopg', 'thresher.store')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
