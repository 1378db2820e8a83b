"""Addresses with holes, filled without letting anything out of its hole.

    https://{token}.acme.example/list?of={site}     each part escaped
    https://acme.example/api{+path}                  a part that is itself a path: its slashes stay

A part that would change what stands around it (`..`, a second host, another parameter) gives no address at
all.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

import ada_url

from thresher.core.keys import MAX_URL

_HOLE = re.compile(r"\{(\+?)(\w+)\}")
_IN_PATH = ".-_~&+"
_IN_QUERY = ".-_~"
_STEPS = frozenset({".", ".."})


def holes(template: str) -> frozenset[str]:
    """The names of what a template needs."""
    return frozenset(name for _, name in _HOLE.findall(template))


def filled(template: str, parts: Mapping[str, str]) -> str | None:
    """An address with its parts, each escaped; None where one is missing, or where the parts do not make an
    address.
    """
    if not holes(template) <= parts.keys() or any(
        _climbs(parts[name]) for _, name in _HOLE.findall(template)
    ):
        return None
    address, _, query = template.partition("?")
    made = _HOLE.sub(lambda match: quote(parts[match[2]], safe=_IN_PATH + "/" * bool(match[1])), address)
    asked = _HOLE.sub(lambda match: quote(parts[match[2]], safe=_IN_QUERY), query)
    url = f"{made}?{asked}" if query else made
    gap = "//" in made.partition("://")[2]  # a part that is empty where something must stand
    return url if len(url) <= MAX_URL and not gap and ada_url.check_url(url) else None


def filled_value(value: Any, parts: Mapping[str, str]) -> Any:
    """The same for what is sent as JSON, where nothing needs to be escaped; holes without a part stay as they
    are.
    """
    if isinstance(value, str):
        return _HOLE.sub(lambda match: parts.get(match[2], match[0]), value)
    if isinstance(value, Mapping):
        return {name: filled_value(each, parts) for name, each in value.items()}
    return [filled_value(each, parts) for each in value] if isinstance(value, list) else value


def _climbs(part: str) -> bool:
    """Whether a part would lead up: servers unescape more often than they should, so twice is looked at."""
    seen = (part, unquote(part), unquote(unquote(part)))
    return any(not _STEPS.isdisjoint(re.split(r"[/\\]", each)) for each in seen)
