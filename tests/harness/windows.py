"""Run a part of Thresher as on Windows: `python -m tests.harness.windows thresher --help`, or `... imports`.

We have no Windows. What our own modules see of the standard library is cut down to what is there: whole
modules are missing, names in others are, and the event loop takes no signal handlers, no readers and no Unix
sockets, as that of Windows. All other code sees the system as it is. Which names are missing on Windows is
also known to mypy: see tests/house/test_windows.py.
"""

import asyncio
import builtins
import importlib
import pkgutil
import signal
import sys
from types import ModuleType
from typing import Any

MODULES = {
    "curses",
    "fcntl",
    "grp",
    "posix",
    "pty",
    "pwd",
    "readline",
    "resource",
    "syslog",
    "termios",
    "tty",
}
NAMES = {
    "os": {
        *(
            "O_CLOEXEC",
            "O_DIRECTORY",
            "O_DSYNC",
            "O_NOFOLLOW",
            "O_NONBLOCK",
            "O_SYNC",
            "WNOHANG",
            "WUNTRACED",
        ),
        *(
            "WCONTINUED",
            "WIFCONTINUED",
            "WIFSTOPPED",
            "chown",
            "fchmod",
            "fchown",
            "fork",
            "forkpty",
            "getegid",
        ),
        *(
            "geteuid",
            "getgid",
            "getloadavg",
            "getpgid",
            "getpgrp",
            "getuid",
            "killpg",
            "major",
            "minor",
            "mkfifo",
        ),
        *(
            "nice",
            "openpty",
            "pidfd_open",
            "posix_fadvise",
            "posix_fallocate",
            "posix_spawn",
            "pread",
            "pwrite",
        ),
        *("register_at_fork", "sched_getaffinity", "sched_yield", "sendfile", "setpgid", "setsid", "setuid"),
        *("statvfs", "sync", "sysconf", "uname", "wait", "waitid"),
    },
    "signal": {
        *(
            "ITIMER_REAL",
            "SIGALRM",
            "SIGCHLD",
            "SIGCONT",
            "SIGHUP",
            "SIGKILL",
            "SIGPIPE",
            "SIGQUIT",
            "SIGSTOP",
        ),
        *("SIGTSTP", "SIGUSR1", "SIGUSR2", "SIGWINCH", "SIG_BLOCK", "SIG_UNBLOCK", "alarm", "pause"),
        *(
            "pthread_kill",
            "pthread_sigmask",
            "setitimer",
            "siginterrupt",
            "sigpending",
            "sigtimedwait",
            "sigwait",
        ),
    },
    "socket": {"AF_UNIX", "CMSG_LEN", "SCM_RIGHTS", "SO_REUSEPORT", "recv_fds", "send_fds"},
    "faulthandler": {"register", "unregister"},
    "time": {"clock_settime", "pthread_getcpuclockid", "tzset"},
    "select": {"epoll", "poll"},
}
# Ctrl-Break has a number of its own there; here another signal that nothing else uses plays it.
GIVEN: dict[str, dict[str, Any]] = {
    "sys": {"platform": "win32"},
    "os": {"name": "nt"},
    "signal": {"SIGBREAK": signal.SIGUSR2},
    "subprocess": {"CREATE_NEW_PROCESS_GROUP": 0},
}


class Lesser(ModuleType):
    """A module without some of its names, and with others."""

    def __init__(self, whole: ModuleType) -> None:
        super().__init__(whole.__name__)
        self.__dict__.update(whole=whole)

    def __getattr__(self, name: str) -> Any:
        module = self.__name__
        if name in GIVEN.get(module, {}):
            return GIVEN[module][name]
        if name in NAMES.get(module, ()):
            raise AttributeError(f"module {module!r} has no attribute {name!r} on Windows")
        return getattr(self.__dict__["whole"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__dict__["whole"], name, value)


class Loop(asyncio.SelectorEventLoop):
    """An event loop that can do what one of Windows can."""

    def _refused(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    add_signal_handler = remove_signal_handler = add_reader = add_writer = _refused
    create_unix_connection = create_unix_server = _refused


def become_windows() -> None:
    """From now on the modules of Thresher see Windows."""
    lesser = {name: Lesser(importlib.import_module(name)) for name in {*NAMES, *GIVEN}}
    real = builtins.__import__

    def found(name: str, within: Any = None, local: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        ours = ((within or {}).get("__name__") or "").partition(".")[0] == "thresher"
        if ours and level == 0:
            if name.partition(".")[0] in MODULES:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            if name in lesser or (not fromlist and name.partition(".")[0] in lesser):
                real(name)
                return lesser[name.partition(".")[0]]
        return real(name, within, local, fromlist, level)

    builtins.__import__ = found
    asyncio.new_event_loop = asyncio.events.new_event_loop = Loop
    sys.modules["uvloop"] = None  # type: ignore[assignment]  there is none for Windows


def imports() -> None:
    """Import every module, and say which cannot be."""
    import thresher  # noqa: PLC0415  not before this is Windows

    wrong = {}
    for each in pkgutil.walk_packages(thresher.__path__, "thresher."):
        if each.name.endswith("__main__"):
            continue
        try:
            importlib.import_module(each.name)
        except Exception as problem:
            wrong[each.name] = f"{type(problem).__name__}: {problem}"
    print(
        len([name for name in sys.modules if name.startswith("thresher.")]), "modules;", wrong or "none fails"
    )
    sys.exit(bool(wrong))


if __name__ == "__main__":
    become_windows()
    if sys.argv[1] == "imports":
        imports()
    sys.argv[:] = sys.argv[1:]
    from thresher.cli.main import main

    sys.exit(main())
