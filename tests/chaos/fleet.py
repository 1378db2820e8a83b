"""The worker processes of a campaign: started, frozen, killed and replaced, each by its own id, and none left
at the end."""

import signal
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.chaos.worker import AWAY, begin
from tests.harness.forks import Fork

# Asked to stop before it could listen is honest too.
HONEST_ENDS = (0, -signal.SIGKILL, -signal.SIGTERM, AWAY)
# What a worker that hung says when its alarm ends it.
ALARM = "Timeout (0:00:0"


@dataclass
class Member:
    """One process."""

    number: int
    process: Fork
    errors: Path
    version: str
    thaw: threading.Timer | None = field(default=None)


class Fleet:
    """All processes of a campaign. Every second one reaches the database by the `detour`, if there is one.

    While versions are `mixed`, two of the new version of the app and two of the old one are started in turn.
    """

    def __init__(self, url: str, folder: Path, detour: str | None = None) -> None:
        self._urls, self._folder = (url, detour or url), folder
        self.members: list[Member] = []
        self.started = 0
        self.mixed = True
        self.bad_ends: list[str] = []

    def start(self, doom: str | None = None, fsize: int | None = None) -> Member:
        number = self.started
        self.started += 1
        version = "old" if self.mixed and number // 2 % 2 else "new"
        words = [
            self._urls[number % 2],
            "--control",
            str(self._folder / "control"),
            "--name",
            f"w{number}-{version}",
            "--version",
            version,
        ]
        words += ["--doom", doom] if doom else []
        words += ["--fsize", str(fsize)] if fsize else []
        errors = self._folder / f"worker-{number}.err"
        member = Member(
            number, Fork(begin, words, self._folder / f"effects-{number}.jsonl", errors), errors, version
        )
        self.members.append(member)
        return member

    def pick(self, luck: float) -> Member | None:
        """A living member that is not frozen."""
        moving = [member for member in self.members if member.thaw is None and member.process.poll() is None]
        return moving[int(luck * len(moving))] if moving else None

    def send(self, member: Member, what: signal.Signals) -> None:
        if member.process.poll() is None:
            member.process.send_signal(what)

    def freeze(self, member: Member, seconds: float) -> None:
        """Stop it in its tracks and let it go on later. The timer thaws it, whatever the supervisor waits for
        then."""
        self.send(member, signal.SIGSTOP)
        self._thaw_later(member, seconds)

    def find_frozen(self, seconds: float) -> None:
        """Those that froze by themselves are let go on later, too."""
        for member in self.members:
            if member.thaw is None and member.process.poll() is None and _is_stopped(member.process.pid):
                self._thaw_later(member, seconds)

    def _thaw_later(self, member: Member, seconds: float) -> None:
        def thaw() -> None:
            self.send(member, signal.SIGCONT)
            member.thaw = None

        member.thaw = threading.Timer(seconds, thaw)
        member.thaw.daemon = True
        member.thaw.start()

    def bury(self) -> int:
        """Forget the dead, note those that died of something nobody did to them, and say how many there
        were."""
        dead = [member for member in self.members if member.process.poll() is not None]
        for member in dead:
            self.members.remove(member)
            if member.process.returncode not in HONEST_ENDS and not self._was_faulted(member):
                said = member.errors.read_text(errors="replace")
                if member.process.returncode == 1 and ALARM in said:
                    continue
                tail = said[-1_500:]
                self.bad_ends.append(
                    f"worker {member.number} ended with {member.process.returncode}: …{tail}"
                )
        return len(dead)

    def _was_faulted(self, member: Member) -> bool:
        """Whether it met a segmentation fault that a task had brought along; any other is ours."""
        effects = self._folder / f"effects-{member.number}.jsonl"
        return member.process.returncode == -signal.SIGSEGV and b'"stage":"fault"' in effects.read_bytes()

    def upgrade(self) -> None:
        """Ask those of the old version to stop; only new ones are started from now on."""
        self.mixed = False
        for member in self.members:
            if member.version == "old":
                self.send(member, signal.SIGTERM)

    def thaw_all(self) -> None:
        for member in self.members:
            if member.thaw:
                member.thaw.cancel()
                member.thaw = None
            self.send(member, signal.SIGCONT)

    def retire(self, seconds: float) -> None:
        """Ask everybody to stop; after a while do not ask."""
        self.thaw_all()
        for member in self.members:
            self.send(member, signal.SIGTERM)
        for member in self.members:
            try:
                member.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.bad_ends.append(f"worker {member.number} did not stop within {seconds:g} seconds")
        self.end()
        self.bury()

    def end(self) -> None:
        """Kill what is left, by id."""
        for member in self.members:
            if member.thaw:
                member.thaw.cancel()
            if member.process.poll() is None:
                member.process.kill()
                member.process.wait()


def _is_stopped(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_STOPPED
    except psutil.NoSuchProcess:
        return False
