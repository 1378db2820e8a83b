"""A way to a server on this machine that can turn into a black hole: everything is taken, nothing is passed
on, nobody hangs up."""

import contextlib
import socket
import threading
from urllib.parse import urlsplit, urlunsplit


class BlackHole:
    """Passes bytes on both ways until told otherwise."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._target = (parts.hostname or "127.0.0.1", parts.port or 5432)
        self._door = socket.create_server(("127.0.0.1", 0))
        self._swallowing: set[socket.socket] = set()
        self._open: list[socket.socket] = []
        self.swallow_new = False
        user = f"{parts.username}@" if parts.username else ""
        self.url = urlunsplit(parts._replace(netloc=f"{user}127.0.0.1:{self._door.getsockname()[1]}"))
        threading.Thread(target=self._accept, daemon=True).start()

    def freeze(self, *, new: bool = False) -> None:
        """From now on what was connected is lost; with `new` whatever connects later is, too."""
        self.swallow_new = new
        self._swallowing.update(self._open)

    def let_go(self) -> None:
        """Hang up on both ends of all that was lost, as the kernels do in the end."""
        lost, self._swallowing = self._swallowing, set()
        self._open = [each for each in self._open if each not in lost]
        _hang_up(*lost)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                inner, _ = self._door.accept()
                try:
                    outer = socket.create_connection(self._target)
                except OSError:  # nobody is there now
                    inner.close()
                    continue
                self._open += [inner, outer]
                if self.swallow_new:
                    self._swallowing.update((inner, outer))
                for one, other in ((inner, outer), (outer, inner)):
                    threading.Thread(target=self._pass_on, args=(one, other), daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65_536):
                if one not in self._swallowing:
                    other.sendall(data)
        if one not in self._swallowing:  # whoever died without reading its last answer has hung up as well
            _hang_up(one, other)

    def close(self) -> None:
        _hang_up(self._door, *self._open)


def _hang_up(*sockets: socket.socket) -> None:
    for each in sockets:
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()
