"""The origins that a platform's file names: the only ones that may see the platform's secret.

A hole in a host name is filled by whatever a page or a record says, so it counts only where the domain behind
it is written out: `https://{token}.acme.example` stays at acme.example, `https://{host}/api` could lead
anywhere.
"""

import re
from functools import lru_cache

from thresher.core.credentials import origin_of
from thresher.reading.addresses import registered_domain
from thresher.reading.definition import Platform

_AUTHORITY = re.compile(r"(https?://)((?:[^/?#{]|\{\w+\})*)")
_HOLE = re.compile(r"\{\w+\}")
_DEFAULT_PORT = {"https://": ":443", "http://": ":80"}


def is_named_by(platform: Platform, url: str) -> bool:
    """Whether a URL is at one of the origins that the file names."""
    origin = origin_of(url)
    return bool(origin) and any(pattern.fullmatch(origin) for pattern in named_origins(platform))


def named_origins(platform: Platform) -> tuple[re.Pattern[str], ...]:
    """The origins of all addresses in the file whose domain is written out."""
    ways = (platform.endpoint, platform.detail, platform.owner)
    templates = [*(way.url for way in ways if way and way.url), *([platform.home] if platform.home else [])]
    return tuple(pattern for pattern in map(_pattern, templates) if pattern)


@lru_cache(256)
def _pattern(template: str) -> re.Pattern[str] | None:
    found = _AUTHORITY.match(template)
    if found is None or not _is_bound(found[2]):
        return None
    scheme, authority = found[1], found[2].removesuffix(_DEFAULT_PORT[found[1]])
    first, *rest = (re.escape(part.lower()) for part in _HOLE.split(authority))
    # What fills a hole may be left out, as a region, and then brings its own dot along.
    holes = (r"[a-z0-9_.-]+" if part.startswith(r"\.") else r"(?:[a-z0-9_.-]*\.)?" for part in rest)
    return re.compile(scheme + first + "".join(hole + part for hole, part in zip(holes, rest, strict=True)))


def _is_bound(authority: str) -> bool:
    """Whether what follows the last hole is a domain that somebody registered, not only an ending that
    everybody shares.
    """
    behind = _HOLE.split(authority)[-1].partition(":")[0]
    if behind == authority.partition(":")[0]:
        return bool(behind)
    domain = behind.removeprefix(".")
    return "." in domain and registered_domain(f"any.{domain}") != f"any.{domain}"
