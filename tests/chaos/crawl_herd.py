"""The workers of a crawl, and who kills them: SIGKILL at moments drawn from a seed, and a new one for each
that died."""

import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from tests.chaos.crawl import work
from tests.harness.forks import CONTEXT, prepare

WORKERS = 3
KILLS = 10
STUCK_SECONDS = 30.0  # without a word from anybody


@dataclass(frozen=True, slots=True)
class Member:
    process: BaseProcess
    notes: Connection


class Herd:
    """Keeps so many workers at work until they leave by themselves. `killed` counts, `ends` are other ends
    than that and 0."""

    def __init__(self, url: str, web: str, seed: int, notes: int) -> None:
        """`notes` is how many notes the whole crawl sends at least: the kills fall among them."""
        self._url, self._web = url, web
        self._luck = random.Random(seed)
        self._due = set(self._luck.sample(range(WORKERS, notes * 9 // 10), KILLS))
        self._members: list[Member] = []
        self._heard = self._started = self.killed = 0
        self.ends: list[int | None] = []

    def crawl(self) -> None:
        """Wait for notes and deaths, and for nothing else."""
        for _ in range(WORKERS):
            self._start()
        while self._members:
            ready = wait(
                [each.notes for each in self._members] + [each.process.sentinel for each in self._members],
                STUCK_SECONDS,
            )
            if not ready:
                raise TimeoutError(
                    f"nothing was heard of {len(self._members)} workers for {STUCK_SECONDS:g} s, after {self._heard} notes"
                )
            for member in list(self._members):
                if member.process.sentinel in ready:
                    self._bury(member)
                elif member.notes in ready:
                    self._listen(member)

    def _start(self) -> None:
        prepare()
        hears, tells = CONTEXT.Pipe(duplex=False)
        process = CONTEXT.Process(
            target=work, args=(self._url, self._web, f"w{self._started}", tells), daemon=True
        )
        process.start()
        tells.close()
        self._started += 1
        self._members.append(Member(process, hears))

    def _listen(self, member: Member) -> None:
        try:
            member.notes.recv_bytes()
        except EOFError:  # it is dead; its sentinel says so next
            member.process.join()
            return
        self._heard += 1
        if self._heard in self._due:
            # Either who just spoke, in the middle of something; or anybody, in the middle of anything.
            victim = member if self._luck.random() < 0.5 else self._luck.choice(self._members)
            victim.process.kill()
            self.killed += 1

    def _bury(self, member: Member) -> None:
        member.process.join()
        member.notes.close()
        self._members.remove(member)
        if member.process.exitcode == -signal.SIGKILL:
            self._start()
        elif member.process.exitcode:
            self.ends.append(member.process.exitcode)

    def end(self) -> None:
        """Kill what is left, by id."""
        for member in self._members:
            member.process.kill()
            member.process.join()


@contextmanager
def herd(url: str, web: str, seed: int, notes: int) -> Iterator[Herd]:
    made = Herd(url, web, seed, notes)
    try:
        yield made
    finally:
        made.end()
