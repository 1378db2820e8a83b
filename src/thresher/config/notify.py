"""The `notify:` list of `thresher.yaml`: where a project tells its person that something happened.

An address here often holds a password, so no message repeats one. A variable that is not set is no error:
everything that tells nobody goes on, and whoever has something to tell says which variable was meant.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from thresher.config.variable import VARIABLE, looked_up
from thresher.core.errors import ConfigError

MAX_ADDRESSES = 20
MAX_URL = 2_000

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{0,40}://[^\s\x00-\x1f]*")

Problem = Callable[[str, str], ConfigError]


@dataclass(frozen=True, slots=True)
class Notify:
    """`urls` are those that are there; `unset` the variables that others are waiting for."""

    urls: tuple[str, ...] = field(default=(), repr=False)
    unset: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.urls or self.unset)


def read_notify(given: Any, problem: Problem) -> Notify:
    """The list, checked. `problem` makes an error that names the file and the line of a key."""
    if given is None:
        return Notify()
    if not isinstance(given, list) or len(given) > MAX_ADDRESSES:
        wants = (
            f'must be a list of at most {MAX_ADDRESSES} addresses, such as ["mailto://…", "${{NTFY_URL}}"]'
        )
        raise problem("notify", f"{wants}, got {type(given).__name__}")
    urls: list[str] = []
    unset: list[str] = []
    for at, each in enumerate(given):
        if isinstance(each, str) and (missing := _missing(each)):
            unset += missing
        else:
            urls.append(_address(each, at, problem))
    return Notify(tuple(urls), tuple(dict.fromkeys(unset)))


def _missing(text: str) -> list[str]:
    return [match[1] for match in VARIABLE.finditer(text) if looked_up(match) is None]


def _address(given: Any, at: int, problem: Problem) -> str:
    wants = (
        f'item {at + 1} must be an address such as "ntfy://ntfy.sh/my-topic" or, better, the variable '
        'that holds it: "${NTFY_URL}"'
    )
    if not isinstance(given, str):
        raise problem("notify", f"{wants}; got {type(given).__name__}")
    url = VARIABLE.sub(lambda match: looked_up(match) or "", given).strip()
    if len(url) > MAX_URL or not _ADDRESS.fullmatch(url):
        raise problem("notify", wants)
    return url
