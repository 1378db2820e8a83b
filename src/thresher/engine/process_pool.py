"""A pool of processes that can be killed: the only way to bound the time and memory of reading bytes that
somebody hostile wrote.

A thread cannot be stopped, and one call into a parser or a regular expression may hold the interpreter for as
long as a page likes. So whatever reads pages is computed in one of a few processes, one call at a time each.
A call that takes longer than its limit is killed with its process and fails with a reason; all other calls go
on. Memory is limited by the system, not by good will.
"""

import asyncio
import json
import logging
import os
import pickle
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import lru_cache
from typing import Any, Protocol, TypeVar, cast

from thresher.config.platforms import installed_platforms
from thresher.config.settings import Settings
from thresher.core.clock import monotonic
from thresher.core.errors import DatabaseProblem, Permanent, ProcessDied, TooLarge, TooSlow, UsageError
from thresher.core.event import EventKind
from thresher.core.record import clean
from thresher.engine.fork_server import (
    ASK,
    COMMAND,
    FOR_STAGES,
    FORK,
    HEADER,
    KILL,
    LOOPBACK,
    MAX_LOG_LINE,
    MAX_LOGGED,
    MAX_RESULT,
    NO_MEMORY,
    RESULT,
    SPAWN,
    FunctionName,
    Order,
    split_log,
)
from thresher.store.events import record_event
from thresher.store.store import Store

T = TypeVar("T")
Stopped = Callable[[str, Permanent], Awaitable[None]]  # the name of what was computed, and why it was stopped

MAX_CALLS = 20_000  # of one process; then it is replaced, whatever its memory looks like
START_SECONDS = 60.0  # for a process to come up, on a machine that is busy
LOOK_SECONDS = 0.5  # between two looks at one that comes up
SECRET_SECONDS = 5.0  # for it to say its secret
MEGABYTE = 1024 * 1024
MAX_REPLY = MAX_RESULT + 1 + 8 * MAX_LOGGED * MAX_LOG_LINE  # the log lines as JSON
# Not with -m: the module would be there twice, once under a name that nobody imports.
_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from thresher.engine.fork_server import {0}; {0}()"
CAN_FORK = sys.platform != "win32"

log = logging.getLogger("thresher.processes")


class ProcessServer(Protocol):
    """What starts and kills the processes of a pool. It belongs to the program that made it."""

    @property
    def is_alive(self) -> bool: ...
    async def start(self, memory: int, module: str) -> socket.socket:
        """Start a process with this memory limit, to call this module; the channel to it."""

    def kill(self, pid: int) -> None: ...
    def close(self) -> None:
        """End it and all its processes, and wait for that."""


class ForkServer:
    """The server of this program, seen from the program. Started when the first process is needed."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self._control, theirs = socket.socketpair()
        with theirs:
            command = [*_command("main"), str(theirs.fileno())]
            # A session of its own: a Ctrl-C at the terminal is for the program, which then tells its
            # processes.
            self._process = subprocess.Popen(  # noqa: S603  nothing of it comes from outside
                command, pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL, start_new_session=True
            )

    @property
    def is_alive(self) -> bool:
        return self.owner == os.getpid() and self._process.poll() is None

    async def start(self, memory: int, module: str) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._control, [COMMAND.pack(FORK, memory, module.encode())], [theirs.fileno()])
        return ours

    def kill(self, pid: int) -> None:
        with suppress(OSError):  # a server that is gone has taken its processes along
            self._control.sendall(COMMAND.pack(KILL, pid, b""))

    def close(self) -> None:
        self._control.close()
        if self.owner == os.getpid():
            self._process.wait()


class SpawnServer:
    """For systems without fork: every process is an interpreter of its own, which takes a second to come up.
    It connects to us over loopback, and says the secret that only it was told.
    """

    is_alive = True

    def __init__(self) -> None:
        self._processes: dict[int, subprocess.Popen[bytes]] = {}

    async def start(self, memory: int, module: str) -> socket.socket:  # noqa: ARG002  it imports what it needs
        return await asyncio.to_thread(self._started, memory)

    def _started(self, memory: int) -> socket.socket:
        secret = secrets.token_bytes(32)
        with socket.create_server((LOOPBACK, 0)) as listener:
            listener.settimeout(LOOK_SECONDS)
            process = subprocess.Popen(  # noqa: S603  nothing of it comes from outside
                _command("spawned"), stdin=subprocess.PIPE, **_apart()
            )
            assert process.stdin is not None
            try:
                process.stdin.write(SPAWN.pack(secret, listener.getsockname()[1], memory))
                process.stdin.flush()  # and it stays open: its end says that we are gone
                channel = _accepted(listener, process, secret)
            except BaseException:
                _end(process)
                raise
        self._processes = {pid: each for pid, each in self._processes.items() if each.poll() is None}
        self._processes[process.pid] = process
        return channel

    def kill(self, pid: int) -> None:
        if process := self._processes.pop(pid, None):
            _end(process)

    def close(self) -> None:
        for pid in list(self._processes):
            self.kill(pid)


def _command(function: str) -> list[str]:
    """The command line of a new interpreter that finds what this one finds, and calls a function there."""
    return [sys.executable, "-c", _START.format(function), json.dumps([str(each) for each in sys.path])]


def _apart() -> dict[str, Any]:
    """How a process is started so that Ctrl-C at the terminal is for the program alone."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def _accepted(listener: socket.socket, process: subprocess.Popen[bytes], secret: bytes) -> socket.socket:
    """The connection of this process: others on this machine may connect too, but do not know the secret."""
    until = monotonic() + START_SECONDS
    while process.poll() is None and monotonic() < until:
        with suppress(TimeoutError):
            channel, _ = listener.accept()
            try:
                channel.settimeout(SECRET_SECONDS)
                if secrets.compare_digest(channel.recv(len(secret), socket.MSG_WAITALL), secret):
                    channel.settimeout(None)
                    return channel
            except OSError:
                pass  # whoever it was hung up
            channel.close()
    raise ConnectionError("it ended before it was ready, or took too long")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()


_lock = threading.Lock()
_servers: list[ProcessServer] = []


def process_server() -> ProcessServer:
    """The one server of this program; a new one where the last has died, or belongs to the program that we
    were forked from.
    """
    with _lock:
        if not _servers or not _servers[0].is_alive:
            _servers[:] = [ForkServer() if CAN_FORK else SpawnServer()]
        return _servers[0]


def close_process_server() -> None:
    """End the server of this program; the next process that is needed starts another."""
    with _lock:
        while _servers:
            _servers.pop().close()


class _Channel(asyncio.Protocol):
    """The way to one process and back: a message, then its answer, each after its length.

    A transport, not reads and writes of a socket on the loop: those would tell the system anew for every
    message what is waited for.
    """

    def __init__(self) -> None:
        self.is_open = True
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        # The first one comes unasked.
        self._answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        if self._answer.done() or len(self._received) < HEADER.size:
            return
        size = HEADER.unpack_from(self._received)[0]
        if size > MAX_REPLY:
            self._answer.set_exception(ConnectionError(f"it announced a reply of {size:,} bytes"))
        elif len(self._received) >= HEADER.size + size:
            self._answer.set_result(bytes(memoryview(self._received)[HEADER.size :]))

    def connection_lost(self, _: Exception | None) -> None:
        self.is_open = False
        if not self._answer.done():
            self._answer.set_exception(ConnectionError("it ended without a reply"))

    async def answer(self, message: bytes | None = None) -> bytes:
        """Send a message and wait for its answer."""
        if message is not None:
            if self._transport is None or not self.is_open:
                raise ConnectionError("it has ended")
            self._received, self._answer = bytearray(), asyncio.get_running_loop().create_future()
            self._transport.write(message)
        return await self._answer

    def close(self) -> None:
        self.is_open = False
        self._answer.cancel()  # nobody waits for it any more
        if self._transport is not None:
            self._transport.abort()


class _Process:
    """One process of the pool, computing one call at a time."""

    def __init__(self, server: ProcessServer) -> None:
        self._server, self._channel = server, _Channel()
        self.pid = self.calls = 0

    async def start(self, memory: int, module: str) -> None:
        """Start it with this memory limit for a function of this module, and wait until it is there."""
        async with asyncio.timeout(START_SECONDS):
            ours = await self._server.start(memory, module)
            loop = asyncio.get_running_loop()
            connect = loop.create_connection if ours.family == socket.AF_INET else loop.create_unix_connection
            await connect(lambda: self._channel, sock=ours)
            self.pid = HEADER.unpack(await self._channel.answer())[0]

    @property
    def is_alive(self) -> bool:
        return self._channel.is_open

    async def call(self, message: bytes, helper: object = None) -> bytes:
        """Its answer to a message. What it asks on the way, the helper answers."""
        self.calls += 1
        reply = await self._channel.answer(message)
        while reply[:1] == ASK:
            reply = await self._channel.answer(await _helped(helper, reply))
        lines, reply = split_log(reply)
        for line in lines:
            more = {"event": line.event} if line.event else None
            logging.getLogger(line.logger).log(line.level, "%s", line.text, extra=more)
        return reply

    def end(self) -> None:
        """Kill it, whatever it does."""
        if self.pid:
            self._server.kill(self.pid)
        self._channel.close()


class ProcessPool:
    """The processes of one event loop. Nothing is started before the first call."""

    def __init__(
        self,
        settings: Callable[[], Settings] = Settings,
        stopped: Stopped | None = None,
        server: Callable[[], ProcessServer] = process_server,
    ) -> None:
        self._settings, self._stopped, self._server = settings, stopped, server
        self._idle: list[_Process] = []
        self._busy: set[_Process] = set()
        count = settings().count("isolation.processes") or os.cpu_count() or 1
        self._free = asyncio.Semaphore(count)

    async def run(
        self,
        function: Callable[..., T],
        /,
        *args: object,
        seconds: float | None = None,
        helper: object = None,
    ) -> T:
        """Compute in a process. Raises what the function raises; `TooSlow` and `TooLarge` where it was
        stopped.

        `helper` is the context that a stage may ask for more.
        """
        settings = self._settings()
        limit = seconds or float(settings["isolation.seconds"])
        order = Order(
            target_of(function),
            settings.count("reading.max_nodes"),
            installed_platforms(),
            logging.getLogger().getEffectiveLevel(),
        )
        message = _packed(order, args)
        try:
            reply = await self._call(message, limit, settings.count("isolation.memory"), order.target, helper)
        except Permanent as problem:
            if self._stopped is not None:
                await self._stopped(order.target.name, problem)
            raise
        found = pickle.loads(memoryview(reply)[1:])  # noqa: S301  from our own process
        if reply[:1] == RESULT:
            return found  # type: ignore[no-any-return]
        raise found

    async def _call(
        self, message: bytes, limit: float, memory: int, target: FunctionName, helper: object
    ) -> bytes:
        name = target.name
        async with self._free:
            process = await self._taken(memory, target.module)
            try:
                async with asyncio.timeout(limit):
                    reply = await process.call(message, helper)
            except TimeoutError:
                self._end(process)
                raise TooSlow(
                    f"reading the page took longer than {limit:g} seconds and was stopped ({name})"
                ) from None
            except OSError as problem:
                self._end(process)
                raise ProcessDied(f"the process that ran {name} died: {problem}") from None
            except BaseException:
                self._end(process)  # nobody waits for it any more
                raise
            if reply == NO_MEMORY:
                self._end(process)
                raise TooLarge(
                    f"reading the page needed more than {memory} MB of memory and was stopped ({name})"
                )
            self._busy.discard(process)
            if process.calls < MAX_CALLS:
                self._idle.append(process)
            else:
                process.end()
            return reply

    async def _taken(self, memory: int, module: str) -> _Process:
        while self._idle:
            process = self._idle.pop()
            if process.is_alive:
                self._busy.add(process)
                return process
        process = _Process(self._server())
        self._busy.add(process)
        try:
            await process.start(memory * MEGABYTE, module)
        except BaseException as problem:
            self._end(process)
            if isinstance(problem, OSError | TimeoutError):
                raise ProcessDied(
                    f"no process could be started: {problem or 'it did not start in time'}"
                ) from problem
            raise
        return process

    def _end(self, process: _Process) -> None:
        self._busy.discard(process)
        process.end()

    async def close(self) -> None:
        """Kill all of them."""
        for process in (*self._idle, *self._busy):
            process.end()
        self._idle.clear()
        self._busy.clear()


@asynccontextmanager
async def opened_pool(settings: Settings) -> AsyncIterator[ProcessPool]:
    """A pool for the length of a block, for whoever tells of a call that was stopped: the error says all
    there is to say.
    """
    pool = ProcessPool(lambda: settings)
    try:
        yield pool
    finally:
        await pool.close()


async def note_stopped(store: Store, name: str, problem: Permanent) -> None:
    """Write down that a call was stopped. The task that it was for fails with the same reason."""
    log.warning("%s: %s", name, problem)

    def write() -> None:
        with store.write() as session:
            record_event(
                session,
                EventKind.READING_STOPPED,
                store.backend.now(session),
                function=name,
                reason=clean(str(problem)),
            )

    with suppress(DatabaseProblem):  # the task will say it
        await store.run(write)


async def _helped(helper: object, asked: bytes) -> bytes:
    """The answer to what a process asks its worker, as a message."""
    name, args, kwargs = pickle.loads(memoryview(asked)[1:])  # noqa: S301  from our own process
    answer: tuple[object, Exception | None]
    try:
        if helper is None or name not in FOR_STAGES:
            raise UsageError(f"{name!r} is not available here")
        answer = await getattr(helper, name)(*args, **kwargs), None
    except Exception as problem:  # noqa: BLE001  it belongs to whoever asked
        answer = None, problem
    packed = pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)
    return HEADER.pack(len(packed)) + packed


def _packed(order: Order, args: tuple[object, ...]) -> bytes:
    try:
        given = pickle.dumps(args, pickle.HIGHEST_PROTOCOL)
    except Exception as problem:
        raise UsageError(
            f"the arguments of {order.target.name} cannot be sent to another process: {problem}"
        ) from problem
    head = _head(order)
    return b"".join((HEADER.pack(len(head) + len(given)), head, given))


@lru_cache(maxsize=100)
def _head(order: Order) -> bytes:
    return pickle.dumps(order, pickle.HIGHEST_PROTOCOL)


@lru_cache(maxsize=1_000)
def target_of(function: Callable[..., Any]) -> FunctionName:
    """The names that lead to a function. Only a function of a module has such names."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    home = sys.modules.get(module or "")
    found: Any = home
    for part in name.split("."):
        found = getattr(found, part, None)
    if home is None or found is not function:
        raise UsageError(
            f"{name or function!r} cannot run in another process; it must be a module-level function"
        )
    if module == "__main__":
        if home.__spec__ is None:
            raise UsageError(
                f"{name} is defined in the main program, which other processes do not import; move "
                "it into a module"
            )
        module = home.__spec__.name
    file = getattr(home, "__file__", None)
    return FunctionName(str(module), name, file)
