"""Where a page stands among the others: the rooms, and in each the order in which its index lists its pages.

A page that no index lists is a problem with its name, so that a new page cannot be forgotten.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from tests.house.site.markdown import Rendered

FRONT = "README.md"
ROOMS = ("docs/tutorial", "docs/how-to", "docs/reference", "docs/explanation", "docs/decisions")
# Beside the rooms, in this order.
LONE = ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")


@dataclass(frozen=True)
class Entry:
    """A page in the list of its room, below the heading that it has there."""

    page: str
    group: str


def place(source: str) -> str:
    """Where a file of the repository is in the site: README.md is its front page, docs/ its root."""
    if source == FRONT:
        return "index.html"
    inside = source.removeprefix("docs/")
    if not source.endswith(".md"):
        return inside if inside != source else f"files/{source}"
    return f"{inside.removesuffix('.md') if '/' in inside else inside.removesuffix('.md').lower()}.html"


def room_of(page: str) -> str:
    return PurePosixPath(page).parent.as_posix()


def index_of(room: str) -> str:
    return f"{room}/index.md"


def entries(room: str, index: Rendered) -> list[Entry]:
    """The pages of a room in the order of its index, each once."""
    found: dict[str, Entry] = {}
    for group, target in index.targets:
        if room_of(target) == room and target != index.page and target not in found:
            found[target] = Entry(target, group)
    return list(found.values())


def problems(pages: Iterable[str], rooms: Mapping[str, list[Entry]]) -> Iterator[str]:
    """Pages that nobody would come to."""
    listed = {each.page for room in rooms.values() for each in room}
    for page in pages:
        room = room_of(page)
        if page in (FRONT, *LONE) or page in listed or page == index_of(room):
            continue
        where = f"list it in {index_of(room)}" if room in ROOMS else f"no room is there: {', '.join(ROOMS)}"
        yield f"{page}: no navigation leads here; {where}"
