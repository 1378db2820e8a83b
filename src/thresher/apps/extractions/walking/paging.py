"""The addresses of the pages of a list.

A pattern is written in one of three ways, so that it fits every list of a level, not only one:

    https://acme.example/courses?page={page_num}     the whole address
    ?page={page_num}                                 parameters, put into the address of the list itself
    {url}/page/{page_num}                            what is added to the address of the list

The first page of a list is the list itself; its place is 0, whatever number the site gives it.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from thresher.apps.extractions.model import Pagination, PagingKind
from thresher.core.errors import InvalidUrl
from thresher.core.keys import canonical_url

URL = "{url}"
HOLES = {PagingKind.PAGE_NUM: "{page_num}", PagingKind.OFFSET: "{offset}"}
DEFAULT_SIZE = 20


def paged_url(pagination: Pagination, list_url: str, place: int) -> str | None:
    """The address of the page at this place of a list; None where the pattern gives none."""
    pattern = pagination.url_pattern
    if pattern is None or not pagination.kind.is_counted:
        return None
    written = pattern.replace(HOLES[pagination.kind], str(_number(pagination, place)))
    try:
        return canonical_url(_whole(written, list_url))
    except InvalidUrl:
        return None


def _number(pagination: Pagination, place: int) -> int:
    if pagination.kind is PagingKind.OFFSET:
        return place * (pagination.page_size or DEFAULT_SIZE)
    return pagination.start_page + place


def _whole(written: str, list_url: str) -> str:
    written = written.removeprefix(URL) if written.startswith(f"{URL}?") else written
    if written.startswith("?"):
        parts = urlsplit(list_url)
        changed = dict(parse_qsl(parts.query, keep_blank_values=True)) | dict(
            parse_qsl(written[1:], keep_blank_values=True)
        )
        return urlunsplit(parts._replace(query=urlencode(changed), fragment=""))
    if URL in written:
        bare = urlunsplit(urlsplit(list_url)._replace(query="", fragment=""))
        return written.replace(f"{URL}/", bare.rstrip("/") + "/").replace(URL, bare)
    return written


def place_of(pagination: Pagination, url: str) -> int | None:
    """The place in a list that an address names; None where it is not one of the list's."""
    pattern = pagination.url_pattern
    if pattern is None or not pagination.kind.is_counted:
        return None
    match = _counting(pattern, HOLES[pagination.kind]).search(url)
    if match is None:
        return None
    number = int(match[1])
    if pagination.kind is PagingKind.OFFSET:
        return number // (pagination.page_size or DEFAULT_SIZE)
    return number - pagination.start_page


@lru_cache(256)
def _counting(pattern: str, hole: str) -> re.Pattern[str]:
    """What stands around the number, up to the next separator on either side."""
    before, _, after = pattern.partition(hole)
    before = re.split(r"(?=[/?&])", before)[-1]
    after = re.split(r"[/?&#]", after)[0]
    start = "[?&]" + re.escape(before[1:]) if before[:1] in ("?", "&") else re.escape(before)
    return re.compile(rf"{start}(\d{{1,9}}){re.escape(after)}(?=$|[/?&#])")


def total_pages(
    pagination: Pagination, *, urls: Iterable[str] = (), total: int | None = None, rows: int = 0
) -> int | None:
    """How many pages a list has at the most: by the pages that it links to, by the entries that it counts,
    or as the recipe says. None where nobody says.
    """
    places = [place for url in urls if (place := place_of(pagination, url)) is not None]
    size = pagination.page_size or rows
    said = [max(places) + 1] if places else []
    said += [-(-total // size)] if total is not None and size else []
    return max(said) if said else pagination.total_pages
