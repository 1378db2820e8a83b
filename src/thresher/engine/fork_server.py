"""The loop of a pool's processes (take a call, compute it, answer), and the fork server that starts them.

The server imports everything that reads pages once and warms it up; a process forked from it is ready in
milliseconds and shares that memory. It never touches a page itself, so it can always kill a child that hangs.
It ends with the program that started it, however that ends, and takes its children along.

Windows cannot fork. There each process is started by itself (`spawned`).
"""

import ctypes
import gc
import importlib
import importlib.util
import io
import json
import logging
import os
import pickle
import signal
import socket
import struct
import sys
import threading
import traceback
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from thresher.config.platforms import Texts, installed_platforms, use_texts
from thresher.core.errors import TooLarge, UsageError
from thresher.core.redaction import redact_start
from thresher.core.task import Task
from thresher.core.trace import carry_frames
from thresher.reading.html.parser import LIMITS

if sys.platform != "win32":
    import resource

HEADER = struct.Struct(
    "<Q"
)  # before each message: its length; the first message of a child is its process id
COMMAND = struct.Struct(
    "<cQ256s"
)  # to the server: fork with so much memory for a function of this module, or kill this process
FORK, KILL = b"F", b"K"
RESULT, PROBLEM, NO_MEMORY, ASK, LOGGED = b"R", b"E", b"M", b"A", b"L"
FOR_STAGES = (
    "load",
    "save",
    "record",
    "records",
)  # of the context of its worker, what a stage in a process may call
MAX_RESULT = 32 * 1024 * 1024  # bytes, pickled
# Log lines of one call, and the letters of each, that its worker writes for it.
MAX_LOGGED, MAX_LOG_LINE = 50, 4_000
# What a process that is started by itself is told: its secret, the port of its worker, and its memory.
SPAWN = struct.Struct("<32sHQ")
LOOPBACK = "127.0.0.1"
_PR_SET_PDEATHSIG = 1
_channels: list[socket.socket] = []  # in a child: the one to its worker


class FunctionName(NamedTuple):
    """A function by the names that lead to it. `file` is for modules that no import path leads to, such as an
    app in a file.
    """

    module: str
    name: str
    file: str | None


class Order(NamedTuple):
    """What is computed under which limits. Its arguments follow it in the message, because the module may be
    needed to read them.
    """

    target: FunctionName
    max_nodes: int
    platforms: Texts
    log_level: int = logging.WARNING


def main() -> None:
    """Serve until the program that started this one is gone. The second argument is the file descriptor
    of the channel to it.
    """
    _warm_up()
    gc.collect()
    gc.freeze()  # what is never looked at again stays shared with the children
    with socket.socket(fileno=int(sys.argv[2])) as control:
        _serve(control)


def _warm_up() -> None:
    from datetime import date  # noqa: PLC0415

    from thresher.core.page import Page  # noqa: PLC0415  only the server needs these, and before it serves
    from thresher.learning import learn, read  # noqa: F401, PLC0415
    from thresher.reading.inspect.inspection import inspect  # noqa: PLC0415
    from thresher.reading.verdict.wall import thorough  # noqa: PLC0415

    body = b"<title>Ladder</title><h1>Ladder</h1><p class=price>5</p><script>x</script><a href=/careers>Careers</a>"
    thorough(200, body.decode())
    inspect(
        Page("https://localhost/", "https://localhost/", 200, {"content-type": "text/html"}, body),
        date(2026, 1, 1),
    )


def _serve(control: socket.socket) -> None:
    children: set[int] = set()
    while True:
        message, handed, _, _ = socket.recv_fds(control, COMMAND.size, 1, socket.MSG_WAITALL)
        children -= _ended()
        if len(message) < COMMAND.size:
            break
        command, number, module = COMMAND.unpack(message)
        if command == FORK and handed:
            _preload(module.rstrip(b"\0").decode(errors="replace"))
            pid = os.fork()
            if pid == 0:
                control.close()
                _live(handed[0], number)
            os.close(handed[0])
            children.add(pid)
        elif command == KILL and number in children:  # it is not reaped yet, so the number is still its own
            os.kill(number, signal.SIGKILL)
    for pid in children:
        os.kill(pid, signal.SIGKILL)  # none of them is reaped yet
        os.waitpid(pid, 0)


def _preload(module: str) -> None:
    """Import what a child is going to call, so that later children share it.

    Only our own modules: an import of another package may hang or start threads, and the server must always
    be able to kill its children.
    """
    if module.startswith("thresher.") and module not in sys.modules:
        with suppress(Exception):  # the child meets the same problem, and its caller is told
            importlib.import_module(module)
        gc.freeze()


def _ended() -> set[int]:
    found: set[int] = set()
    with suppress(ChildProcessError):
        while (pid := os.waitpid(-1, os.WNOHANG)[0]) != 0:
            found.add(pid)
    return found


# --- in a child


def spawned() -> None:
    """The life of a process that was not forked. It is told on its standard input where its worker listens;
    when that input ends, the worker has, and so does this.
    """
    secret, port, memory = SPAWN.unpack(sys.stdin.buffer.read(SPAWN.size))
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    _warm_up()
    channel = socket.create_connection((LOOPBACK, port))
    channel.sendall(secret)
    _live(channel.detach(), memory)


def _end_with_stdin() -> None:
    with suppress(OSError):
        while os.read(0, 1):
            pass
    os._exit(0)


def _live(handed: int, memory: int) -> None:
    """The whole life of a child."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started us decides when to stop
        _die_with_the_server()
        _limit_memory(memory)
        with socket.socket(fileno=handed) as channel:
            _channels[:] = [channel]
            logging.basicConfig(handlers=[_log], force=True)
            channel.sendall(HEADER.pack(HEADER.size) + HEADER.pack(os.getpid()))
            while (message := _receive(channel)) is not None:
                reply = _log.put_before(_answer(message))
                channel.sendall(HEADER.pack(len(reply)) + reply)
                if reply == NO_MEMORY:
                    break  # what is left of it may hold memory for ever
    except (BrokenPipeError, ConnectionError):
        pass  # nobody wants the answer any more
    finally:
        os._exit(0)


def _die_with_the_server() -> None:
    if sys.platform == "linux":
        server = os.getppid()
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != server:
            os._exit(0)
        with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123  if anybody must go, then we
            file.write("900")


def _limit_memory(size: int) -> None:
    """`size` bytes on top of what every child shares."""
    if sys.platform == "linux":
        with open("/proc/self/statm") as file:  # noqa: PTH123
            size += int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def ask_worker(name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """In a child that computes a stage: what the worker's context answers."""
    message = ASK + pickle.dumps((name, args, kwargs), pickle.HIGHEST_PROTOCOL)
    _channels[0].sendall(HEADER.pack(len(message)) + message)
    reply = _receive(_channels[0])
    if reply is None:
        os._exit(0)
    value, problem = pickle.loads(reply)  # noqa: S301  from our own program
    if problem is not None:
        raise problem
    return value


def _receive(channel: socket.socket) -> bytearray | None:
    """The next message; None where there will be none."""
    head = channel.recv(HEADER.size, socket.MSG_WAITALL)
    if len(head) < HEADER.size:
        return None
    message = bytearray(HEADER.unpack(head)[0])
    view, at = memoryview(message), 0
    while at < len(message):
        got = channel.recv_into(view[at:])
        if got == 0:
            return None
        at += got
    return message


def _answer(message: bytearray) -> bytes:
    function: Callable[..., Any] | None = None
    try:
        stream = io.BytesIO(message)
        order: Order = pickle.load(stream)  # noqa: S301  from our own program
        function = resolve(order.target)
        LIMITS.max_nodes = order.max_nodes
        logging.getLogger().setLevel(order.log_level)
        if order.platforms != installed_platforms():
            use_texts(order.platforms)
        args = pickle.load(stream)  # noqa: S301
        reply = RESULT + pickle.dumps(function(*args), pickle.HIGHEST_PROTOCOL)
        if len(reply) > MAX_RESULT:
            raise TooLarge(f"{order.target.name} returned {len(reply):,} bytes; the limit is {MAX_RESULT:,}")
    except MemoryError:
        return NO_MEMORY
    except BaseException as problem:  # noqa: BLE001  whatever it is, it belongs to whoever asked
        return PROBLEM + _pickled(problem, function)
    return reply


class CallLine(NamedTuple):
    """One log line of a call."""

    logger: str
    level: int
    text: str
    event: str | None


class _CallLog(logging.Handler):
    """What is logged during a call. It is written by the worker, which knows whose attempt this is, and in
    which format its lines are.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[CallLine] = []

    def emit(self, record: logging.LogRecord) -> None:
        if len(self._lines) >= MAX_LOGGED:
            return
        with suppress(Exception):  # a line that cannot be written is no reason to fail
            text = redact_start(self.format(record), MAX_LOG_LINE)
            event = getattr(record, "event", None)
            self._lines.append(
                CallLine(record.name[:200], record.levelno, text, None if event is None else str(event)[:200])
            )

    def put_before(self, reply: bytes) -> bytes:
        """The reply with the lines in front of it, if there are any."""
        if not self._lines or reply == NO_MEMORY:
            return reply
        lines = json.dumps(self._lines).encode()
        self._lines = []
        return LOGGED + HEADER.pack(len(lines)) + lines + reply


_log = _CallLog()


def split_log(reply: bytes) -> tuple[list[CallLine], bytes]:
    """The log lines of a call, and its reply."""
    if reply[:1] != LOGGED:
        return [], reply
    start = 1 + HEADER.size
    end = start + HEADER.unpack_from(reply, 1)[0]
    return [CallLine(*each) for each in json.loads(reply[start:end])], reply[end:]


def _pickled(problem: BaseException, function: Callable[..., Any] | None) -> bytes:
    """An exception as it was raised, or, where it cannot travel, one that says what it said."""
    carry_frames(problem, function)
    problem.add_note("".join(traceback.format_exception(problem, limit=-20))[-4_000:])
    try:
        packed = pickle.dumps(problem, pickle.HIGHEST_PROTOCOL)
        if isinstance(problem, Exception) and type(pickle.loads(packed)) is type(problem):  # noqa: S301  our own
            return packed
    except Exception:  # noqa: BLE001, S110  an exception may be made in any way
        pass
    said = RuntimeError(f"{type(problem).__name__}: {problem}"[:4_000]).with_traceback(problem.__traceback__)
    carry_frames(said, function)
    return pickle.dumps(said)


@lru_cache(maxsize=1_000)
def resolve(target: FunctionName) -> Callable[..., Any]:
    """The function that a target names."""
    found: Any = _module(target)
    for part in target.name.split("."):
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


def _module(target: FunctionName) -> object:
    known = sys.modules.get(target.module)
    if known is None:
        with suppress(ImportError):
            known = importlib.import_module(target.module)
    if known is not None and (target.file is None or getattr(known, "__file__", None) == target.file):
        return known
    spec = importlib.util.spec_from_file_location(target.module, target.file) if target.file else None
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(
            f"module {target.module!r} cannot be imported in another process; put it where Python can find it"
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[target.module] = module
    spec.loader.exec_module(module)
    return module


# The context of a stage in a process of its own: its task, the time and the settings; the store through its
# worker.

T = TypeVar("T")


class IsolatedContext:
    """What such a stage is given. `ctx.wait(ctx.load(hash))` and the like are answered by the worker; there
    is no web and no model.
    """

    def __init__(self, task: Task, now: int, settings: Mapping[str, Any]) -> None:
        self.task, self._now, self._settings = task, now, settings

    def now(self) -> int:
        """The time at which the attempt began."""
        return self._now

    def setting(self, name: str) -> Any:
        return self._settings[name]

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """The work of such a context never waits for an event loop, so its first step is its last."""
        try:
            work.send(None)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        work.close()
        raise UsageError("a stage with isolation='process' can only wait for what its own ctx offers")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in FOR_STAGES:
            raise UsageError(
                f"a stage with isolation='process' has no ctx.{name}; it has task, now, setting, "
                f"wait, {', '.join(FOR_STAGES)}. Fetch in an earlier stage, or compute with "
                "ctx.compute in an async stage"
            )

        async def ask(*args: Any, **kwargs: Any) -> Any:
            return ask_worker(name, args, kwargs)

        return ask
