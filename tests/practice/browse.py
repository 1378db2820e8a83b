"""A plain client for the practice web: every address leads to it, as the fetcher's resolver would have it."""

import http.client
import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from thresher.practice.web import Steering


@dataclass(frozen=True)
class Got:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def get(
    web: Steering, url: str, method: str = "GET", body: Any = None, timeout: float = 10, **headers: str
) -> Got:
    parts = urlsplit(url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    sent = json.dumps(body).encode() if body is not None and not isinstance(body, bytes) else body
    connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=timeout)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, target, sent, {"Host": parts.netloc, **named})
        answer = connection.getresponse()
        return Got(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    finally:
        connection.close()


def raw(web: Steering, host: str, path: str = "/") -> bytes:
    """Everything that comes over the wire for one request, up to the end of the connection."""
    with socket.create_connection(("127.0.0.1", web.port), timeout=10) as wire:
        wire.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        parts = []
        while part := wire.recv(65_536):
            parts.append(part)
    return b"".join(parts)
