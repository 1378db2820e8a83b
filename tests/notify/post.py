"""Where messages arrive in tests: a mail server and a web hook on this machine, which can be switched off and
on again."""

import asyncio
import email
import json
import socket
import threading
from email import policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiosmtpd.smtp import SMTP


class Mailbox:
    """An SMTP server on a thread of its own. `mails` are those that it took."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.refuses = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server: Any = None
        # Bound and never listened on: while the server is away, nobody else gets its port.
        self._place = socket.socket()
        self._place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._place.bind(("127.0.0.1", 0))
        self.port = self._place.getsockname()[1]
        self.open()

    @property
    def url(self) -> str:
        return f"mailto://127.0.0.1:{self.port}/?from=thresher@example.com&to=ann@example.com&smtp=127.0.0.1&mode=insecure"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802  its name
        if self.refuses:
            return "554 not today"
        found = email.message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(found, EmailMessage)
        self.mails.append(found)
        return "250 OK"

    def open(self) -> None:
        self._server = self._do(self._opened())

    def shut(self) -> None:
        """Nobody answers at its port any more."""
        self._do(self._shut())

    def close(self) -> None:
        self.shut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._place.close()

    async def _opened(self) -> Any:
        return await asyncio.get_running_loop().create_server(
            lambda: SMTP(self, loop=self._loop), "127.0.0.1", self.port, reuse_port=True
        )

    async def _shut(self) -> None:
        """On its own loop: nothing of a server may be touched from another thread."""
        self._server.close()
        await self._server.wait_closed()

    def _do(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)


def text_of(mail: EmailMessage) -> str:
    """What a person reads, whichever way it is packed."""
    body = mail.get_body(("plain", "html"))
    assert body is not None
    return str(body.get_content())


class Hook:
    """A web hook. `told` are the messages it took; `status` is what it answers with."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []
        self.status = 200
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:  # its name
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if hook.status == 200:
                    hook.told.append(json.loads(body))
                self.send_response(hook.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"json://127.0.0.1:{self._server.server_port}/secret-path"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def dead_url() -> str:
    """Where nobody listens, and nobody can while the process lives: the port is bound, but not listened
    on."""
    kept = socket.socket()
    kept.bind(("127.0.0.1", 0))
    _KEPT.append(kept)
    return f"json://127.0.0.1:{kept.getsockname()[1]}/"


_KEPT: list[socket.socket] = []
