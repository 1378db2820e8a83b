"""Put the site together: each page rendered, the navigation around it, the index of the search, the pictures.

Nothing is written before everything was found in order, and a site that is there already is replaced as a
whole. The pages load nothing but files of the site, so it works from a disk as well as from a server.
"""

import json
import posixpath
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tests.house.paper import ROOT
from tests.house.site import navigation
from tests.house.site.markdown import Rendered, dead_anchors, render
from tests.house.site.navigation import FRONT, LONE, ROOMS, Entry, index_of, place, room_of

HERE = Path(__file__).parent
ICON = ROOT / "src" / "thresher" / "web" / "pages" / "icon.svg"
PICTURES = "docs/pictures"
MARK = ".thresher-docs"  # in a folder that this made, and may therefore replace
MIN_HEADINGS = 3  # a shorter page needs no table of contents
TEMPLATES = Environment(
    loader=FileSystemLoader(HERE),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def build(root: Path, folder: Path) -> list[str]:
    """Write the site of a repository into a folder; the problems, if there are any."""
    found = {name: render(root, name, place) for name in sources(root)}
    rooms = {
        room: navigation.entries(room, found[index_of(room)]) for room in ROOMS if index_of(room) in found
    }
    problems = sorted(
        chain(
            (f"{index_of(room)}: there is no such page" for room in ROOMS if room not in rooms),
            (each for page in found.values() for each in page.problems),
            dead_anchors(found),
            navigation.problems(found, rooms),
            (f"{page.page}: it has no title" for page in found.values() if not page.title),
            unshown(root, found.values()),
        )
    )
    if folder.exists() and any(folder.iterdir()) and not (folder / MARK).exists():
        problems.append(f"{folder} has other files in it; choose an empty folder")
    if not problems:
        write(root, folder, found, rooms)
    return problems


def sources(root: Path) -> list[str]:
    """Every page of the site."""
    return [
        *(name for name in (FRONT, *LONE) if (root / name).is_file()),
        *sorted(path.relative_to(root).as_posix() for path in root.glob("docs/**/*.md")),
    ]


def unshown(root: Path, found: Iterable[Rendered]) -> Iterator[str]:
    """Pictures that no page shows."""
    shown = {file for page in found for file in page.files}
    for path in sorted((root / PICTURES).glob("*")):
        if (name := path.relative_to(root).as_posix()) not in shown:
            yield f"{name}: no page shows it"


def write(root: Path, folder: Path, found: Mapping[str, Rendered], rooms: Mapping[str, list[Entry]]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / MARK).touch()
    template = TEMPLATES.get_template("page.html")
    for page in found.values():
        target = folder / place(page.page)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(template.render(around(page, found, rooms)), "utf-8")
    for file in sorted({file for page in found.values() for file in page.files}):
        copy(root / file, folder / place(file))
    for name in ("style.css", "search.js"):
        copy(HERE / name, folder / name)
    copy(ICON, folder / ICON.name)
    (folder / "search-index.js").write_text(f"const PAGES = {index(found.values())};\n", "utf-8")


def copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def around(page: Rendered, found: Mapping[str, Rendered], rooms: Mapping[str, list[Entry]]) -> dict[str, Any]:
    """What the template shows around a page."""
    here = place(page.page)

    def link(target: str) -> dict[str, Any]:
        path = posixpath.relpath(place(target), posixpath.dirname(here) or ".")
        return {"href": path, "title": found[target].title, "current": target == page.page}

    room = room_of(page.page)
    mine = rooms.get(room, [])
    order = [index_of(room), *(each.page for each in mine)] if mine else []
    headings = [each for each in page.sections if each.heading]
    return {
        "page": page,
        "root": posixpath.relpath(".", posixpath.dirname(here) or "."),
        "front": link(FRONT),
        "top": [{**link(index_of(each)), "inside": each == room} for each in rooms],
        "lone": [link(each) for each in LONE if each in found],
        "groups": grouped(mine, link),
        "before": next((link(one) for one, other in pairwise(order) if other == page.page), None),
        "after": next((link(other) for one, other in pairwise(order) if one == page.page), None),
        "headings": headings if len(headings) >= MIN_HEADINGS else [],
    }


def grouped(mine: list[Entry], link: Any) -> list[tuple[str, list[dict[str, Any]]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for each in mine:
        groups.setdefault(each.group, []).append(link(each.page))
    return list(groups.items())


def index(found: Iterable[Rendered]) -> str:
    """What is searched: for each section its address, the titles above it, and its words."""
    rows = [
        [f"{place(page.page)}{f'#{each.anchor}' if each.heading else ''}", page.title, each.heading, words]
        for page in found
        for each in page.sections
        if (words := re.sub(r"\s+", " ", "".join(each.words)).strip()) or each.heading
    ]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
