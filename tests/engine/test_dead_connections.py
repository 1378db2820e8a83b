"""Connections that die without a word: they are given up in time, what is new is used instead, and a worker
can always be stopped."""

import asyncio
import socket

import pytest

from tests.engine.workshop import PATIENCE, QUICK, at_work, one_stage
from tests.harness.black_hole import BlackHole
from tests.harness.databases import only_postgres
from tests.harness.ours import OURS
from tests.harness.tasks import rows
from thresher import Done, NewTask
from thresher.config.settings import Settings
from thresher.core.errors import DatabaseProblem
from thresher.engine.worker import Worker
from thresher.store import workers
from thresher.store.postgres import backend as postgres_backend
from thresher.store.postgres import connection as postgres_connection
from thresher.store.postgres.backend import PostgresBackend
from thresher.store.store import Store

pytestmark = only_postgres
LEASE = 2.0


@pytest.fixture
def hole(workshop):
    found = BlackHole(workshop.database.url)
    yield found
    found.close()


@pytest.fixture
def far(workshop, hole):
    """Stores whose way to the server leads by the black hole."""
    made = []

    def make(**settings):
        wanted = QUICK | {"worker.lease": LEASE, "worker.grace": 1.0} | settings
        made.append(
            Store(PostgresBackend(hole.url, clock=workshop.clock), threads=4, settings=Settings(wanted, OURS))
        )
        made[-1].project_settings = wanted
        return made[-1]

    yield make
    for store in made:
        store.close()


def look(store):
    with store.read() as session:
        return session.rows("select count(*) from tasks")


@pytest.mark.promise(1)
def test_a_call_over_a_dead_connection_ends_and_the_next_ones_are_new(far, hole):
    store = far(**{"worker.lease": 1.0})
    with store.read(), store.read():  # two connections, idle afterwards
        pass
    hole.freeze()
    with pytest.raises(DatabaseProblem, match="no response for 1 seconds"):
        look(store)
    assert [look(store) for _ in range(3)] == [[(0,)]] * 3


@pytest.mark.promise(1)
def test_a_long_statement_is_waited_for(far):
    store = far(**{"worker.lease": 0.2})
    with store.read() as session:
        assert session.rows("select 7 from pg_sleep(2.5)") == [(7,)]


@pytest.mark.promise(1)
def test_a_turn_over_a_dead_line_ends_and_the_next_has_a_new_one(far, hole, workshop):
    store = far(**{"worker.lease": 1.0})
    workshop.put(workshop.set_up(one_stage("visit", lambda ctx: Done())), NewTask("visit"))

    async def play():
        worker_id = await store.run(workers.register, store, name="w", host="h", pid=1, lease_us=60_000_000)
        assert (await store.take_turn([], 0, worker_id)).tasks == []
        hole.freeze()
        with pytest.raises(DatabaseProblem, match="no response for 1 seconds"):
            await store.take_turn([], 5, worker_id)
        return (await store.take_turn([], 5, worker_id)).tasks

    assert len(asyncio.run(play())) == 1


@pytest.mark.promise(1)
@pytest.mark.promise(2)
def test_a_worker_whose_connections_turn_into_black_holes_goes_on_with_new_ones(far, hole, workshop):
    done = []

    async def visit(ctx):
        done.append(ctx.task.id)
        return Done()

    registry = workshop.set_up(one_stage("visit", visit))
    store, beat = far(), far(**{"worker.lease": LEASE / 2})

    async def play():
        async with at_work(Worker(store, registry, heartbeat_store=beat, pumps=2)):
            first = workshop.put(registry, *(NewTask("visit") for _ in range(5)))
            await until(lambda: set(first) <= set(done))
            hole.freeze()
            second = workshop.put(registry, *(NewTask("visit") for _ in range(5)))
            await until(lambda: set(second) <= set(done))

    asyncio.run(play())
    assert rows(workshop.store, "select distinct state from tasks") == [("succeeded",)]


@pytest.mark.promise(1)
def test_a_worker_that_reaches_nobody_any_more_can_be_stopped(far, hole, workshop, monkeypatch):
    monkeypatch.setattr(postgres_connection, "CONNECT_SECONDS", 2)
    registry = workshop.set_up(one_stage("visit", lambda ctx: Done()))
    worker = Worker(far(), registry, heartbeat_store=far())

    async def play():
        running = asyncio.create_task(worker.run())
        (task_id,) = workshop.put(registry, NewTask("visit"))
        await until(lambda: workshop.state(task_id) == "succeeded")
        hole.freeze(new=True)
        worker.stop()
        await asyncio.wait_for(running, 2 * PATIENCE)

    asyncio.run(play())


@pytest.mark.promise(1)
def test_a_listener_that_hears_nothing_finds_out_whether_anybody_is_there(far, hole, monkeypatch):
    monkeypatch.setattr(postgres_backend, "QUIET_SECONDS", 0.1)
    backend = far(**{"worker.lease": 1.0}).backend
    assert backend.listen(0.0)
    assert not backend.listen(0.2), "alive, and silent"
    hole.freeze()
    with pytest.raises(DatabaseProblem, match="no response"):
        backend.listen(0.2)
    assert backend.listen(0.2), "a new connection"


def test_the_kernels_of_both_sides_watch_every_connection(workshop):
    with workshop.store.backend._postgres.connection() as connection:
        said = {
            name: connection.execute(f"show {name}").fetchone()[0]
            for name in ("tcp_keepalives_idle", "tcp_user_timeout")
        }
        with socket.socket(fileno=socket.dup(connection.pgconn.socket)) as plug:
            watched = plug.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            timeout = plug.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
    assert (said, watched, timeout) == ({"tcp_keepalives_idle": "10", "tcp_user_timeout": "30000"}, 1, 30_000)


def test_the_url_may_say_otherwise(workshop):
    backend = PostgresBackend(f"{workshop.database.url}&keepalives_idle=77&tcp_user_timeout=1000")
    try:
        with (
            backend._postgres.connection() as connection,
            socket.socket(fileno=socket.dup(connection.pgconn.socket)) as plug,
        ):
            assert plug.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 77
            assert plug.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 1_000
    finally:
        backend.close()


async def until(is_so):
    async with asyncio.timeout(PATIENCE):
        while not await asyncio.get_running_loop().run_in_executor(None, is_so):
            await asyncio.sleep(0.05)
