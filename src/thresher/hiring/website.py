"""The site of a company that a posting names as its employer's.

Anybody can write anything there, and many write the company's page on a network or on the board itself. So
only a site counts that is called as the company is; of all others nothing is known, and a company without a
site is looked for by its name.
"""

from collections.abc import Iterable

from thresher.core.errors import InvalidUrl
from thresher.hiring.names import Likeness, label_of, liken, name_words
from thresher.reading.platforms.boards import recognise
from thresher.reading.values.addresses import read_address

MAX_ADDRESSES = 20  # addresses that are looked at
MIN_INITIALS = 3
_ALIKE = (Likeness.SAME, Likeness.KIN, Likeness.BRANCH)


def website_of(name: str | None, urls: Iterable[str]) -> str | None:
    """The home page of the company of this name, if one of these addresses is on its site."""
    return next((site for url in list(urls)[:MAX_ADDRESSES] if (site := _site(name or "", url))), None)


def _site(name: str, url: str) -> str | None:
    try:
        address = read_address(url)
    except InvalidUrl:
        return None
    if address.canonical is None or address.username or recognise(address.href):
        return None
    label = label_of(address.hostname)
    return (
        f"{address.origin}/" if liken(name, label).likeness in _ALIKE or _are_initials(label, name) else None
    )


def _are_initials(label: str, name: str) -> bool:
    initials = "".join(word[0] for word in name_words(name))
    return len(initials) >= MIN_INITIALS and label == initials
