"""The addresses of the pages of a list: which part of them counts, and whether two belong to one list."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from thresher.core.errors import InvalidUrl
from thresher.core.keys import canonical_url

_PARAMETERS: Final = re.compile(
    r"(?:.*[_.\[-])?(?:page|pages|paged|pg|p|pn|pageno|page_?num|pagenumber|page_?index|current_?page|seite|pagina|página|strona|stranka|sida|side|"
    r"start|offset|from|skip|begin|first|cursor|after|startrow|start_?index|startat|o|s|pp)\]?",
    re.IGNORECASE,
)
_CURSORS: Final = frozenset({"cursor", "after", "page_token", "pagetoken", "continuation", "next"})
_SIZES: Final = re.compile(
    r"(?:.*[_-])?(?:limit|per_?page|page_?size|size|show|rows|count|num|results?|display|n)", re.IGNORECASE
)
_WORD: Final = "page|pages|pag|pg|seite|pagina|página|strona|strana|stranka|sida|side|offset|start"
# A lone p with a slash behind it is a product as often as a page: /p/4711.
_SURE_PATH: Final = re.compile(
    rf"(?:^|[/_.-])(?:(?:{_WORD})[/_.=-]?|p[_=-]?)(\d{{1,6}})(?:$|[/_.;-])", re.IGNORECASE
)
_PATH: Final = re.compile(
    rf"{_SURE_PATH.pattern}|[/_-](\d{{1,4}})(?:/|\.html?|\.php|\.aspx?)?$", re.IGNORECASE
)
_HEADER: Final = re.compile(r"<([^<>]{1,4000})>\s{0,5};([^<]{0,500})")


@lru_cache(maxsize=4_096)
def comparable(url: str) -> str:
    """The address in its one spelling, as far as it has one."""
    try:
        return canonical_url(url)
    except InvalidUrl:
        return url


def is_paged(url: str) -> bool:
    """Whether an address says by itself that it is one page of several."""
    parts = _parts(url)
    if parts is None:
        return False
    path, query = parts
    if _SURE_PATH.search(path):
        return True
    return any(_counts(name, value) for name, value in query)


def _counts(name: str, value: str) -> bool:
    if not _PARAMETERS.fullmatch(name):
        return False
    if len(name) == 1:  # ?p=4711 is an article of a blog
        return value.isdecimal() and len(value) <= 3
    return (value.isdecimal() and len(value) <= 9) or (bool(value) and name.lower() in _CURSORS)


def same_list(one: str, other: str) -> bool:
    """Whether two addresses differ in numbers and in parameters of paging only."""
    return _skeleton(one) == _skeleton(other)


def numbered_alike(pairs: Sequence[tuple[int, str]], here: str) -> bool:
    """Whether each number stands for the address behind it: as the page itself, or as a count of entries.

    The number (or a multiple of it) must be what changes from one address to the next, in a place where no
    size of a page is given. The first page may have no number at all, and be the address of the list itself.
    """
    told = [(number, url) for number, url in pairs if _tells(number, url)]
    rest = [url for number, url in pairs if not _tells(number, url)]
    skeletons = {_skeleton(url) for _, url in told}
    near = len(rest) <= 1 or all(same_list(url, here) for url in rest)
    return bool(told) and near and len(skeletons) <= 2


def from_header(header: str, names: Iterable[str]) -> list[str]:
    """Addresses of a `Link` header with one of these relations."""
    wanted = set(names)
    found = []
    for match in _HEADER.finditer(header[:20_000]):
        rel = re.search(r"\brel\s?=\s?\"?([\w \-]{1,100})", match[2], re.IGNORECASE)
        if rel is not None and not wanted.isdisjoint(rel[1].lower().split()):
            found.append(match[1].strip())
    return found


def _tells(number: int, url: str) -> bool:
    parts = _parts(url)
    if parts is None:
        return False
    path, query = parts
    values = [
        int(value)
        for name, value in query
        if value.isdecimal() and len(value) < 8 and _PARAMETERS.fullmatch(name)
    ]
    if not values:
        values = [
            int(value)
            for name, value in query
            if value.isdecimal() and len(value) < 8 and not _SIZES.fullmatch(name)
        ]
    values += [int(match[1] or match[2]) for match in _PATH.finditer(path)]
    counted = any(
        number > 1 and value and value % (number - 1) == 0 and value // (number - 1) >= 2 for value in values
    )
    return any(value in (number, number - 1) for value in values) or counted


@lru_cache(maxsize=4_096)
def _skeleton(url: str) -> str:
    parts = _parts(url)
    if parts is None:
        return url
    path, query = parts
    bare = re.sub(r"/{2,}", "/", _SURE_PATH.sub("/", path))
    bare = re.sub(r"\d+", "0", bare).rstrip("/-_.").lower()
    kept = sorted(f"{name}={value}" for name, value in query if not _PARAMETERS.fullmatch(name))
    return f"{urlsplit(url).netloc.removeprefix('www.')}{bare.removesuffix('/index.php')}?{'&'.join(kept)}"


def _parts(url: str) -> tuple[str, list[tuple[str, str]]] | None:
    try:
        split = urlsplit(url)
        return split.path, parse_qsl(split.query, keep_blank_values=True, max_num_fields=200)
    except ValueError:
        return None
