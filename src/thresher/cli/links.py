"""Which addresses a terminal may make clickable.

An address was written by a stranger, and a link is written into the terminal's own language: nothing may pass
that could end the link early and begin a command.
"""

from thresher.core.errors import InvalidUrl
from thresher.core.keys import parse

MAX_LINK = 2_048  # characters; terminals ignore a longer one
WEB = ("http://", "https://")


def link_of(text: str) -> str | None:
    """Return a web address, spelt in visible ASCII alone; None for anything else.

    One with a user name is none: what stands before the @ looks like the host.
    """
    if not text.lower().startswith(WEB) or len(text) > MAX_LINK or not text.isprintable():
        return None
    try:
        found = parse(text)
    except InvalidUrl:
        return None
    whole = found.href
    is_safe = whole.isascii() and whole.isprintable() and " " not in whole and len(whole) <= MAX_LINK
    return whole if is_safe and not (found.username or found.password) else None


def host_of(link: str) -> str:
    """Return the host of a link, with its port if that is an unusual one: what is shown in place of a long
    address.
    """
    return parse(link).host
