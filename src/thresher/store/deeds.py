"""The changes that a settlement may ask for by name, and who makes them. Each is safe to make twice."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from thresher.core.deed import Deed
from thresher.store.backend import Backend
from thresher.store.roles.expiry import expire_postings
from thresher.store.roles.matches import replace_matches, trim_matches
from thresher.store.roles.resolution import join_titles, link_asking, settle_title
from thresher.store.roles.upkeep import expire_sessions, reset_rested
from thresher.store.session import Session

Do = Callable[[Backend, Session, Mapping[str, Any], int], None]

DEEDS: dict[str, Do] = {
    "matches.replace": replace_matches,
    "matches.trim": trim_matches,
    "postings.expire": expire_postings,
    "roles.reset": reset_rested,
    "scrapes.expire": expire_sessions,
    "titles.join": join_titles,
    "titles.link": link_asking,
    "titles.settle": settle_title,
}


def do_deeds(backend: Backend, session: Session, deeds: Sequence[Deed], now: int) -> None:
    """Make these changes, in their order."""
    for deed in deeds:
        DEEDS[deed.name](backend, session, deed.data, now)
