"""An egress proxy: the only way out of some networks. Its address, what it is asked, and what it refuses.

Only a project names one (`fetch.proxy`): the variables that other programs read (HTTPS_PROXY) are not looked
at, because a request that goes another way than its guard checked must not depend on who started a process.
"""

import base64
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from thresher.core.errors import ConnectionFailed, Refused, TaskError

END = b"\r\n\r\n"
MAX_HEAD = 16 * 1024
USUAL_PORT = 3128


@dataclass(frozen=True, slots=True)
class EgressProxy:
    """Speaks plain HTTP: `CONNECT` for https, whole addresses for http. It looks names up itself."""

    host: str
    port: int
    user: str | None = None
    password: str = field(default="", repr=False)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def headers(self) -> dict[str, str]:
        """What the proxy is told besides the request: who asks, if it wants to know."""
        if self.user is None:
            return {}
        login = base64.b64encode(f"{self.user}:{self.password}".encode()).decode("ascii")
        return {"Proxy-Authorization": f"Basic {login}"}

    def tunnel_request(self, host: str, port: int) -> bytes:
        """Return the request for a tunnel to a host, which is a checked name or address."""
        fields = {"Host": f"{host}:{port}", **self.headers}
        lines = [f"CONNECT {host}:{port} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
        return "\r\n".join(lines).encode("ascii") + END

    def check_tunnel(self, head: bytes, host: str) -> None:
        """Raise unless the head of the response says that the tunnel stands."""
        status = head.partition(b"\r\n")[0].split(b" ")[1:2]
        number = int(status[0]) if status and status[0].isdigit() and len(status[0]) == 3 else 0
        if not 200 <= number < 300:
            raise self.refusal(number, host)

    def refusal(self, status: int, host: str) -> TaskError:
        """Return the error for a status that the proxy itself answered."""
        if status == 407:
            return ConnectionFailed(
                f"the proxy {self} wants a user name and a password (407); write them into fetch.proxy of the "
                "project file, as in http://user:${PROXY_PASSWORD}@host:3128"
            )
        if status in (401, 403, 405):
            return Refused(f"the proxy {self} does not allow {host} ({status}); ask whoever runs the proxy")
        said = f"answered {status}" if status else "did not answer in HTTP"
        return ConnectionFailed(f"{host}: the proxy {self} {said}", gate=f"host:{host}")

    def unreachable(self, why: object) -> ConnectionFailed:
        """Return the error for a proxy that is away. It names no gate: the host is not to blame."""
        return ConnectionFailed(f"no connection to the proxy {self} (fetch.proxy): {why}")


def read_proxy(url: str) -> EgressProxy:
    """Take apart `http://[user:password@]host[:port]`, which the project file was checked for."""
    parts = urlsplit(url)
    user = None if parts.username is None else unquote(parts.username)
    return EgressProxy(parts.hostname or "", parts.port or USUAL_PORT, user, unquote(parts.password or ""))
