"""Attacks on promises 18, 1 and 8: whatever a page does to the process that reads it, the worker and its
other tasks go on."""

import asyncio
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from tests.engine import hostile
from tests.engine.workshop import PATIENCE
from thresher import Done, Stage
from thresher.config.apps import _load_file
from thresher.config.settings import Settings
from thresher.core.errors import Gone, ProcessDied, TooLarge, TooSlow, UsageError
from thresher.engine.process_pool import ProcessPool, ProcessServer, SpawnServer, _accepted, process_server
from thresher.hiring.level import read_level

T = TypeVar("T")


def pooled(
    play: Callable[[ProcessPool], Awaitable[T]],
    server: Callable[[], ProcessServer] = process_server,
    **settings: Any,
) -> T:
    """What comes of a play with a pool; settings are those of `isolation`."""

    async def run() -> T:
        chosen = {f"isolation.{name}": value for name, value in settings.items()}
        pool = ProcessPool(lambda: Settings(chosen), server=server)
        try:
            return await asyncio.wait_for(play(pool), 2 * PATIENCE)
        finally:
            await pool.close()

    return asyncio.run(run())


def until_gone(pid: int) -> None:
    """Wait for the end of a process that is not our child."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([handle], [], [], PATIENCE)[0], f"process {pid} is still there"
    finally:
        os.close(handle)


def test_a_function_is_computed_in_another_process_and_the_process_is_used_again():
    async def play(pool: ProcessPool) -> tuple[int, set[int]]:
        return await pool.run(hostile.double, 21), {await pool.run(hostile.pid) for _ in range(5)}

    found, pids = pooled(play)
    assert found == 42
    assert len(pids) == 1
    assert os.getpid() not in pids


def test_an_error_comes_back_as_it_was_raised():
    async def play(pool: ProcessPool) -> BaseException:
        with pytest.raises(Gone) as found:
            await pool.run(hostile.is_gone)
        return found.value

    problem = pooled(play)
    assert (str(problem), problem.gate) == ("it is not there", "host:shop.example")  # type: ignore[attr-defined]
    assert "is_gone" in problem.__notes__[0]


def test_an_error_that_cannot_travel_says_what_it_said():
    async def play(pool: ProcessPool) -> None:
        with pytest.raises(RuntimeError, match="Odd: 1 and 2"):
            await pool.run(hostile.odd)

    pooled(play)


@pytest.mark.promise(18)
@pytest.mark.parametrize("attack", [hostile.spin, hostile.bomb_of_a_person])
def test_a_call_that_holds_the_interpreter_is_killed_at_its_limit_and_harms_no_other(attack):
    async def play(pool: ProcessPool) -> list[int]:
        stuck = asyncio.create_task(pool.run(attack, seconds=1.0))
        others = [await pool.run(hostile.double, number) for number in range(10)]
        with pytest.raises(TooSlow, match="took longer than 1 seconds and was stopped"):
            await stuck
        return [*others, await pool.run(hostile.double, 10)]

    assert pooled(play, processes=2) == [2 * number for number in range(11)]


@pytest.mark.promise(18)
def test_a_process_has_no_more_memory_than_it_may():
    async def play(pool: ProcessPool) -> tuple[int, int]:
        assert await pool.run(hostile.take, 50) == 50 * hostile.MEGABYTE
        with pytest.raises(TooLarge, match="more than 128 MB"):
            await pool.run(hostile.take, 400)
        return await pool.run(hostile.take_all), await pool.run(hostile.double, 1)

    peak, found = pooled(play, memory=128, processes=1)
    assert peak < (128 + 150) * hostile.MEGABYTE  # and what the interpreter and its modules take
    assert found == 2


@pytest.mark.promise(18)
def test_an_answer_has_a_largest_size():
    async def play(pool: ProcessPool) -> None:
        with pytest.raises(TooLarge, match="bytes; the limit is"):
            await pool.run(hostile.say, 40 * hostile.MEGABYTE)
        assert len(await pool.run(hostile.say, 5 * hostile.MEGABYTE)) == 5 * hostile.MEGABYTE

    pooled(play)


@pytest.mark.promise(1)
def test_a_process_that_dies_costs_its_own_call_only():
    async def play(pool: ProcessPool) -> int:
        with pytest.raises(ProcessDied, match="die died"):
            await pool.run(hostile.die)
        return await pool.run(hostile.double, 4)

    assert pooled(play) == 8


def test_what_one_process_has_called_of_ours_is_there_in_the_next():
    async def play(pool: ProcessPool) -> bool:
        await pool.run(read_level, "Senior Welder")
        with pytest.raises(ProcessDied):
            await pool.run(hostile.die)
        return await pool.run(hostile.has_loaded, read_level.__module__)

    assert pooled(play, processes=1)


@pytest.mark.promise(1)
def test_a_server_that_was_killed_is_started_again():
    async def play(pool: ProcessPool) -> int:
        pid = await pool.run(hostile.pid)
        server = process_server()._process
        server.kill()
        server.wait()
        until_gone(pid)
        with pytest.raises(ProcessDied):
            await pool.run(hostile.double, 4)
        return await pool.run(hostile.double, 5)

    assert pooled(play, processes=1) == 10


@pytest.mark.promise(18)
def test_whoever_waits_no_more_leaves_no_process_computing(tmp_path):
    async def play(pool: ProcessPool) -> int:
        begun = tmp_path / "begun"
        os.mkfifo(begun)
        stuck = asyncio.create_task(pool.run(hostile.begin_and_spin, str(begun)))
        pid = int(await asyncio.to_thread(begun.read_text))
        stuck.cancel()
        await asyncio.gather(stuck, return_exceptions=True)
        return pid

    until_gone(pooled(play))


PARENT = """
import asyncio, sys
from tests.engine import hostile
from thresher.engine.process_pool import ProcessPool, process_server

async def main():
    pool = ProcessPool()
    await pool.run(hostile.double, 1)
    print(process_server()._process.pid, flush=True)
    await pool.run(hostile.begin_and_spin, sys.argv[1], seconds=1000)

asyncio.run(main())
"""


@pytest.mark.promise(18)
def test_a_program_that_is_killed_leaves_no_process_behind(tmp_path):
    begun = tmp_path / "begun"
    os.mkfifo(begun)
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(begun)], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        server, child = int(parent.stdout.readline()), int(begun.read_text())
        parent.send_signal(signal.SIGKILL)
    until_gone(server)
    until_gone(child)


# Where nothing can be forked.


@pytest.mark.promise(18)
def test_processes_that_are_started_one_by_one_compute_are_killed_at_their_limit_and_replaced():
    server = SpawnServer()

    async def play(pool: ProcessPool) -> tuple[int, int, int]:
        first, again = await pool.run(hostile.pid), await pool.run(hostile.pid)
        with pytest.raises(Gone, match="it is not there"):
            await pool.run(hostile.is_gone)
        with pytest.raises(TooSlow, match="took longer than 1 seconds and was stopped"):
            await pool.run(hostile.spin, seconds=1.0)
        with pytest.raises(ProcessDied, match="die died"):
            await pool.run(hostile.die)
        return first, again, await pool.run(hostile.pid)

    first, again, other = pooled(play, lambda: server, processes=1)
    assert first == again
    assert other not in (first, os.getpid())
    until_gone(first)
    until_gone(other)


def test_a_stranger_on_this_machine_is_not_taken_for_a_process_of_the_pool():
    secret = b"s" * 32
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process,
        socket.create_connection(listener.getsockname()) as stranger,
        socket.create_connection(listener.getsockname()) as child,
    ):
        listener.settimeout(1)
        stranger.sendall(b"x" * 32)
        child.sendall(secret)
        with _accepted(listener, process, secret) as channel:
            assert channel.getpeername() == child.getsockname()
            assert channel.gettimeout() is None, "a process that computes for long has not hung up"
        assert stranger.recv(1) == b""


def test_a_process_that_ends_before_it_is_there_is_reported_at_once():
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        subprocess.Popen([sys.executable, "-c", ""]) as process,
    ):
        listener.settimeout(0.1)
        with pytest.raises(ConnectionError, match="ended before it was ready"):
            _accepted(listener, process, b"s" * 32)


ALONE = """
import asyncio, sys
from tests.engine import hostile
from thresher.engine.process_pool import ProcessPool, SpawnServer

server = SpawnServer()
async def main():
    pool = ProcessPool(server=lambda: server)
    print(await pool.run(hostile.pid), flush=True)
    await pool.run(hostile.begin_and_wait, sys.argv[1], seconds=1000)

asyncio.run(main())
"""


def test_a_process_ends_with_its_program_although_no_server_watches_it(tmp_path):
    begun = tmp_path / "begun"
    os.mkfifo(begun)
    with subprocess.Popen(
        [sys.executable, "-c", ALONE, str(begun)], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert int(begun.read_text()) == child
        parent.send_signal(signal.SIGKILL)
    until_gone(child)


@pytest.mark.parametrize("function", [lambda: 1, "".join, "double"], ids=["lambda", "method", "text"])
def test_what_no_other_process_could_find_is_refused(function):
    with pytest.raises(UsageError, match="cannot run in another process"):
        pooled(lambda pool: pool.run(function))


def test_what_cannot_be_pickled_is_refused():
    with pytest.raises(UsageError, match="cannot be sent to another process"):
        pooled(lambda pool: pool.run(hostile.double, lambda: 1))


def test_a_function_of_a_file_that_no_import_finds_is_found_by_its_file(tmp_path):
    path = tmp_path / "an_app_of_a_person.py"
    path.write_text("def triple(number):\n    return 3 * number\n")
    triple = _load_file(path).triple  # type: ignore[attr-defined]
    assert pooled(lambda pool: pool.run(triple, 5)) == 15


@pytest.mark.promise(18)
def test_every_reader_and_learner_ends_in_bounded_time_and_memory_whatever_the_page():
    async def play(pool: ProcessPool) -> dict[str, list[Any]]:
        pages = {name: hostile.page_of(name) for name in hostile.PAGES}
        calls = [
            (name, function)
            for name in pages
            for function in (hostile.read_everything, hostile.learn_everything)
        ]
        ends = await asyncio.gather(
            *(pool.run(function, pages[name], seconds=15.0) for name, function in calls),
            return_exceptions=True,
        )
        return dict(zip(calls, ends, strict=True))  # type: ignore[arg-type]

    ends = pooled(play, memory=512)
    odd = {
        str(call): end
        for call, end in ends.items()
        if isinstance(end, BaseException) and not isinstance(end, TooLarge | TooSlow)
    }
    assert odd == {}
    assert sum(not isinstance(end, BaseException) for end in ends.values()) > len(ends) // 2


async def asynchronous(ctx):
    return Done()


@pytest.mark.parametrize(("perform", "how"), [(asynchronous, "process"), (hostile.shout, "elsewhere")])
def test_an_isolation_that_cannot_be_is_refused(perform, how):
    with pytest.raises(UsageError, match="isolation="):
        Stage(perform, isolation=how)
