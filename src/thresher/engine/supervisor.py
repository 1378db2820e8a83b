"""The supervisor: runs a worker in a child process, ends it when it hangs, and starts it again when it dies.

A spinning stage, or a regular expression that holds the interpreter's lock, stops every thread of its
process: the event loop, the heartbeat and the signal handlers. Only another process can end it. So `thresher
worker` is two: a parent that runs nobody's code, and the worker. The worker's event loop sends a pulse
through a pipe; when it is silent for longer than `worker.stall`, the parent has the stacks of all its threads
written to stderr and kills it. Its lease ends, and its tasks count a crash.

Windows cannot fork. There the worker has no parent: it ends by itself when it hangs, and whoever started it
starts it again.
"""

import contextlib
import faulthandler
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from select import select
from types import FrameType
from typing import Protocol, Self

from thresher.config.settings import Settings
from thresher.core.clock import monotonic
from thresher.core.errors import NewerSchema

log = logging.getLogger("thresher.supervisor")

# The exit code of a worker that wants to be started afresh (`EX_TEMPFAIL`).
RESTART = 75
PULSE_SECONDS = 0.5
TICK_SECONDS = 1.0
# A worker that was told to stop may be silent this much longer than its grace, while it closes what it has
# open.
CLOSING_SECONDS = 3.0
STACKS_SECONDS = 0.5
# The wait before a restart doubles with each worker that died young.
RESTART_SECONDS, MAX_RESTART_SECONDS, YOUNG_SECONDS = 0.1, 10.0, 30.0
STDERR = 2
# Windows can do neither.
CAN_FORK, CAN_FREEZE = hasattr(os, "fork"), hasattr(signal, "SIGTSTP")
FORWARDED = (signal.SIGTERM, signal.SIGINT)


class Beat(Protocol):
    """How a worker shows that its event loop moves. `restarted`: its parent has started others before it."""

    @property
    def restarted(self) -> bool: ...
    def beat(self, settings: Settings) -> bool: ...


Work = Callable[[Beat], int]


class Pulse:
    """The child's end of the pipe. Each pulse says how long a silence is allowed now, because settings
    change.
    """

    def __init__(self, pipe: int, *, restarted: bool = False) -> None:
        self._pipe, self.restarted = pipe, restarted

    def beat(self, settings: Settings) -> bool:
        """Tell the parent that the event loop is moving. False when there is no parent any more."""
        try:
            os.write(
                self._pipe, b"%g %g\n" % (float(settings["worker.stall"]), float(settings["worker.grace"]))
            )
        except BlockingIOError:
            pass  # the parent is frozen or slow, and the pipe is full of pulses
        except BrokenPipeError:
            return False
        return True


@dataclass
class Child:
    """A worker process as its parent sees it. `silence` counts only time in which both were running."""

    pid: int
    pipe: int
    started: float
    silence: float = 0.0
    is_frozen: bool = False
    has_worked: bool = False
    stall: float = field(default=float("inf"))
    grace: float = 30.0
    code: int | None = None

    def send(self, what: int) -> None:
        if self.code is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, what)

    def listen(self, pulses: bytes) -> None:
        *_, last = pulses.rstrip(b"\n").rsplit(b"\n", 1)
        with contextlib.suppress(ValueError):  # half a line, cut off by the size of one read
            self.stall, self.grace = map(float, last.split())
        self.silence, self.has_worked = 0.0, True

    def look(self) -> None:
        """Notice whether it has ended, was frozen or thawed."""
        while self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG | os.WUNTRACED | os.WCONTINUED)
            if pid == 0:
                return
            if os.WIFSTOPPED(status) or os.WIFCONTINUED(status):
                self.is_frozen, self.silence = os.WIFSTOPPED(status), 0.0
            else:
                self.code = os.waitstatus_to_exitcode(status)

    def ended(self) -> int:
        """Wait for the end that is certain to come."""
        while self.code is None:
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.code


class Supervisor:
    """Keeps one worker running until it is told to stop."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._signals: list[int] = []
        self._forwarded = self._started = 0
        self._wakeup = -1

    def run(self) -> int:
        """Supervise until a signal comes, or the worker cannot even start; the exit code."""
        deaths, has_worked = 0, False
        with self._signals_caught():
            while True:
                child = self._start()
                self._watch(child)
                code, has_worked = child.ended(), has_worked or child.has_worked
                os.close(child.pipe)
                if self._signals or code in (0, NewerSchema.exit_code) or not has_worked:
                    return code if code >= 0 else 128 - code
                deaths = 0 if code == RESTART or monotonic() - child.started > YOUNG_SECONDS else deaths + 1
                wait = min(RESTART_SECONDS * 2**deaths, MAX_RESTART_SECONDS) if deaths else 0.0
                log.error(
                    "the worker (process %d) %s; starting it again in %g seconds", child.pid, _how(code), wait
                )
                if self._pause(wait):
                    return code if code >= 0 else 128 - code

    @contextlib.contextmanager
    def _signals_caught(self) -> Iterator[None]:
        """Note signals, and let them interrupt every wait here."""
        wakeup, bell = os.pipe()
        for end in (wakeup, bell):
            os.set_blocking(end, False)
        caught = (*FORWARDED, signal.SIGCHLD)
        before = {each: signal.signal(each, self._note) for each in caught}
        rope = signal.set_wakeup_fd(bell, warn_on_full_buffer=False)
        self._wakeup = wakeup
        try:
            yield
        finally:
            signal.set_wakeup_fd(rope)
            for each, handler in before.items():
                signal.signal(each, handler)
            os.close(wakeup)
            os.close(bell)

    def _note(self, signalled: int, frame: FrameType | None) -> None:  # noqa: ARG002  the shape of a handler
        if signalled in FORWARDED:
            self._signals.append(signalled)

    def _start(self) -> Child:
        out, into = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        # Held back until the child has handlers of its own: with ours it would note a signal and never look.
        signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)
        pid = os.fork()
        if pid == 0:
            os.close(out)
            _be_the_worker(self._work, Pulse(into, restarted=self._started > 0), into)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
        os.close(into)
        self._started += 1
        return Child(pid, out, monotonic())

    def _watch(self, child: Child) -> None:
        """Until the child has ended, by itself or by us."""
        self._forwarded = 0
        while child.code is None:
            before = monotonic()
            self._wait(child.pipe, TICK_SECONDS, child)
            for each in self._signals[self._forwarded :]:
                child.send(each)
                child.silence = 0.0
            self._forwarded = len(self._signals)
            child.look()
            if not child.is_frozen:
                # No more than a tick at a time: if more has passed, we were frozen ourselves, and the child
                # perhaps as well.
                child.silence += min(monotonic() - before, TICK_SECONDS)
            if child.code is None and child.silence > self._allowed(child):
                self._end(child)

    def _allowed(self, child: Child) -> float:
        return min(child.stall, child.grace + CLOSING_SECONDS) if self._signals else child.stall

    def _end(self, child: Child) -> None:
        asked = " although it was told to stop" if self._signals else ""
        log.error(
            "the event loop of the worker (process %d) has been blocked for %.1f seconds%s; its "
            "threads are listed below. Killing it: each of its running tasks counts one crash",
            child.pid,
            child.silence,
            asked,
        )
        child.send(signal.SIGUSR1)
        self._wait(None, STACKS_SECONDS, child)
        child.send(signal.SIGKILL)
        child.ended()

    def _wait(self, pipe: int | None, seconds: float, child: Child | None = None) -> None:
        """Until a pulse, a signal, or the time is over."""
        ears = [self._wakeup, *([] if pipe is None else [pipe])]
        heard = select(ears, [], [], seconds)[0]
        if self._wakeup in heard:
            os.read(self._wakeup, 4_096)
        if pipe in heard and child and pipe is not None:
            pulses = os.read(pipe, 4_096)
            if pulses:
                child.listen(pulses)
            else:
                child.look()
                self._wait(
                    None, seconds if child.code is None else 0
                )  # it has closed its end; that it has ended, its signal says

    def _pause(self, seconds: float) -> bool:
        """Wait before a restart; True when a signal came meanwhile."""
        until = monotonic() + seconds
        while not self._signals and (left := until - monotonic()) > 0:
            self._wait(None, left)
        return bool(self._signals)


class StallAlarm:
    """The watchdog of a process without a parent, such as a run: a thread of C, which needs no lock, writes
    the stacks and ends it.

    It counts on while its process is frozen. So Ctrl-Z puts it off; whoever freezes a run otherwise, and for
    longer than `worker.stall`, ends it. The next run goes on.
    """

    restarted = False

    def __enter__(self) -> Self:
        if CAN_FREEZE:
            self._before = signal.signal(signal.SIGTSTP, self._freeze)
        return self

    def __exit__(self, *problem: object) -> None:
        faulthandler.cancel_dump_traceback_later()
        if CAN_FREEZE:
            signal.signal(signal.SIGTSTP, self._before)

    def beat(self, settings: Settings) -> bool:
        """The event loop is moving: it may stand still for `worker.stall` from now on."""
        faulthandler.dump_traceback_later(float(settings["worker.stall"]), exit=True, file=STDERR)
        return True

    def _freeze(self, signalled: int, frame: FrameType | None) -> None:  # noqa: ARG002  the shape of a handler
        faulthandler.cancel_dump_traceback_later()
        signal.raise_signal(signal.SIGSTOP)


def supervise(work: Work) -> int:
    """Run `work` in a child process until a signal comes, again whenever it dies; the exit code. Where no
    process can be forked, run it once, in this one.
    """
    if CAN_FORK:
        return Supervisor(work).run()
    with StallAlarm() as alarm:
        return work(alarm)


def _be_the_worker(work: Work, pulse: Pulse, pipe: int) -> None:
    """In the child: do the work and leave. Nothing of the parent's is gone back to."""
    code = 70
    try:
        # In a group of its own: Ctrl-C reaches the parent alone, and is forwarded once.
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        for each in (*FORWARDED, signal.SIGCHLD):
            signal.signal(each, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
        os.set_blocking(pipe, False)
        faulthandler.enable(STDERR)
        faulthandler.register(signal.SIGUSR1, STDERR)
        code = work(pulse)
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _how(code: int) -> str:
    if code == RESTART:
        return "asked to be restarted"
    return f"ended with {code}" if code > 0 else f"was ended by {signal.Signals(-code).name}"
