"""The `fetch:` block of `thresher.yaml`: the name a project uses for requests, and the private addresses it
may reach.

It is read strictly: a typing error in an allow-list must not become a hole, and a crawl needs a contact
address that works.
"""

import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

from thresher.config.variable import VARIABLE, looked_up
from thresher.core.errors import ConfigError

KEYS = ("allow", "contact", "http2", "proxy", "resolve", "user_agent")
MAX_TEXT = 300

_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,62})"
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL}){{0,126}}")
_CONTACT = re.compile(r"(?:https?://[^\s()<>]+|(?:mailto:)?[^\s()<>@]+@[^\s()<>@]+)")
_AGENT = re.compile(r"[A-Za-z0-9_-]+(?:/[\x21-\x7e]+)?(?: [\x20-\x7e]*)?")

Problem = Callable[[str, str], ConfigError]


@dataclass(frozen=True, slots=True)
class Outward:
    """`allow` opens addresses of one's own; `resolve` says where a host is (`*`: any), as
    `http://ADDRESS:PORT`; `proxy` leads to all other hosts.
    """

    user_agent: str | None = None
    contact: str | None = None
    allow: tuple[str, ...] = ()
    resolve: Mapping[str, str] = field(default_factory=dict)
    http2: bool = False
    proxy: str | None = field(default=None, repr=False)  # may contain a password


def read_outward(given: Any, problem: Problem) -> Outward:
    """The block, checked. `problem` makes an error that names the file and the line of a key."""
    if given is None:
        return Outward()
    if not isinstance(given, dict):
        raise problem("fetch", f"must be a mapping with the keys {', '.join(KEYS)}, got {given!r}")
    for key in given:
        if key not in KEYS:
            raise problem(f"fetch.{key}", f"is not a known key; the keys are {', '.join(KEYS)}")
    return Outward(
        _text(given, "user_agent", _AGENT, "a name such as Gleaner/1.0, in plain ASCII", problem),
        _text(
            given,
            "contact",
            _CONTACT,
            "a contact address such as https://example.com/bot or bot@example.com",
            problem,
        ),
        _allow([] if given.get("allow") is None else given["allow"], problem),
        _resolve({} if given.get("resolve") is None else given["resolve"], problem),
        _truth(given, "http2", problem),
        _proxy(given.get("proxy"), problem),
    )


def _proxy(given: Any, problem: Problem) -> str | None:
    """The message does not repeat what was given, because it may contain a password."""
    if given is None:
        return None
    wants = "must be the address of a proxy, such as http://proxy.example:3128"
    if not isinstance(given, str) or len(given) > MAX_TEXT:
        raise problem("fetch.proxy", wants)
    unset = [match[1] for match in VARIABLE.finditer(given) if looked_up(match) is None]
    if unset:
        raise problem("fetch.proxy", f"needs ${{{unset[0]}}}, which is not set in the environment")
    login = given.rfind("@")  # what stands before it may contain anything

    def value(match: re.Match[str]) -> str:
        found = looked_up(match) or ""
        return quote(found, safe="") if match.end() <= login else found

    url = VARIABLE.sub(value, given)
    if not _is_proxy(url):
        raise problem("fetch.proxy", f"{wants}; only http:// is spoken to a proxy, also for https pages")
    return url


def _is_proxy(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    bare = parts.path in ("", "/") and not parts.query and not parts.fragment
    host = parts.hostname or ""
    return parts.scheme == "http" and port != 0 and bare and bool(_HOST.fullmatch(host) or _is_network(host))


def _truth(given: Mapping[str, Any], key: str, problem: Problem) -> bool:
    value = given.get(key)
    if not isinstance(value, bool | None):
        raise problem(f"fetch.{key}", f"must be true or false, got {value!r}")
    return bool(value)


def _text(
    given: Mapping[str, Any], key: str, pattern: re.Pattern[str], wants: str, problem: Problem
) -> str | None:
    value = given.get(key)
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > MAX_TEXT or not pattern.fullmatch(value):
        raise problem(f"fetch.{key}", f"must be {wants}, got {value!r}")
    return value


def _allow(given: Any, problem: Problem) -> tuple[str, ...]:
    if not isinstance(given, list):
        raise problem(
            "fetch.allow",
            f"must be a list such as [10.20.0.0/16, wiki.intra, wiki.intra:8000], got {given!r}",
        )
    for entry in given:
        if not isinstance(entry, str) or not (_is_network(entry) or _is_place(entry)):
            raise problem(
                "fetch.allow",
                f"must contain networks (10.20.0.0/16), hosts (wiki.intra) and host:port, got {entry!r}",
            )
    return tuple(given)


def _is_network(entry: str) -> bool:
    try:
        ipaddress.ip_network(entry)
    except ValueError:
        return False
    return True


def _is_place(entry: str) -> bool:
    host, _, port = entry.rpartition(":") if ":" in entry else (entry, "", "80")
    return (
        bool(_HOST.fullmatch(host) or _is_bracketed(host))
        and port.isascii()
        and port.isdigit()
        and 0 < int(port) < 65_536
    )


def _is_bracketed(host: str) -> bool:
    return host.startswith("[") and host.endswith("]") and _is_network(host[1:-1])


def _resolve(given: Any, problem: Problem) -> Mapping[str, str]:
    if not isinstance(given, dict):
        raise problem(
            "fetch.resolve",
            f"must map hosts to addresses, such as acme.example: http://127.0.0.1:8123, got {given!r}",
        )
    for host, address in given.items():
        if not isinstance(host, str) or not (host == "*" or _HOST.fullmatch(host.removeprefix("*."))):
            raise problem(f"fetch.resolve.{host}", "must be a host name, *.example.com, or * for all")
        if not isinstance(address, str) or not _is_address(address):
            raise problem(
                f"fetch.resolve.{host}", f"must be an address such as http://127.0.0.1:8123, got {address!r}"
            )
    return dict(given)


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    bare = parts.path in ("", "/") and not parts.query and not parts.fragment and "@" not in parts.netloc
    return parts.scheme in ("http", "https") and port != 0 and bare and _is_network(parts.hostname or "")
