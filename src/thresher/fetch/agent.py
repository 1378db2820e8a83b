"""Who we say we are. One honest line in every request, with a way to reach the person behind it.

A site that wants to complain, or to write a rule for us into its robots.txt, needs a name and an address. The
name is the product token: what stands before the first slash, and what the groups of a robots.txt are matched
against.
"""

import re
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

PRODUCT = "Thresher"

# RFC 9309 writes a product token with letters, hyphens and underscores; digits are common and harm nobody.
_TOKEN = re.compile(r"[A-Za-z0-9_-]+")
# Old habits: "Mozilla/5.0 (compatible; Realname/1.0; ...)". The name is the second one.
_COMPATIBLE = re.compile(r"^Mozilla/[\d.]+ \(compatible; ([A-Za-z0-9_-]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Agent:
    """`header` is what is sent, `token` what robots.txt is read for."""

    header: str
    token: str


def agent_of(user_agent: str | None = None, contact: str | None = None) -> Agent:
    """Return the user agent of a project, or Thresher's own."""
    header = user_agent or f"{PRODUCT}/{_version()}"
    if contact and contact not in header:
        header += f" (+{contact})"
    found = _COMPATIBLE.match(header) or _TOKEN.match(header)
    return Agent(header, found[found.re.groups] if found else PRODUCT)


def _version() -> str:
    try:
        return version("thresher")
    except PackageNotFoundError:  # run from a folder, not installed
        return "0"
