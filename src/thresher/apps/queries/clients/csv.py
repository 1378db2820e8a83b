"""CSV as a client: one file at an address, or the files of a folder of the project, in the order of their
names.

Columns are known by their headers, in whatever of the usual words. This is how a provider without an open API
is searched: by the files that people or other programs put there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePosixPath

from thresher.admin.file_rows import DELIMITERS, rows_under
from thresher.apps.queries.clients.client import Client, bounded, day_of, wanted
from thresher.apps.queries.clients.feed import REFUSED, web_address
from thresher.apps.queries.clients.search import Offer, Search, SearchPage
from thresher.core.errors import ConfigError
from thresher.core.page import Page
from thresher.reading.html.labels import field_of
from thresher.reading.lists.rows import field_named, posting_from
from thresher.reading.platforms.calls import Call

MAX_FILE = 50_000_000  # bytes
MAX_FILES = 10_000
MAX_ROWS = 100_000
MAX_COLUMNS = 500
ENDINGS = (".csv", ".tsv", ".txt")
# Columns that postings do not have. Spelled as the header is, without blanks, dashes and underlines.
OFFER_COLUMNS = {
    "updated": (
        "updated",
        "updatedat",
        "updateddate",
        "lastupdated",
        "modified",
        "modifiedat",
        "actualizado",
    ),
    "company_id": ("companyid", "employerid", "organizationid"),
    "company_url": ("companyurl", "companywebsite", "companylink", "website", "web"),
    "requirements": ("requirements", "qualifications", "requisitos", "anforderungen", "profile"),
}
_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}


@dataclass(frozen=True, slots=True)
class CsvClient(Client):
    """A CSV file at an address."""

    def call(self, search: Search, cursor: str | None, env: Mapping[str, str]) -> Call:
        del cursor, env
        url = web_address(self, self.checked(search).get("url"))
        return Call(url, headers={"accept": "text/csv, text/plain;q=0.8, */*;q=0.5"})

    def read_page(self, search: Search, cursor: str | None, page: Page) -> SearchPage:
        del cursor
        if page.status >= REFUSED:
            return SearchPage(trouble=f"the answer has the status {page.status}")
        return _read(page.body, search.today)


@dataclass(frozen=True, slots=True)
class CsvFolderClient(Client):
    """The CSV files of a folder, each one a page."""

    def files(self, search: Search, folder: Path) -> tuple[str, ...]:
        said = wanted(self.checked(search).get("folder"), self.name, "folder", self.parameters["folder"])
        inside = _inside(self, folder, said)
        if not inside.is_dir():
            raise ConfigError(f"the folder {said} of {self.name} does not exist in the project")
        found = sorted(
            each.name
            for each in inside.iterdir()
            if each.suffix.lower() in ENDINGS and each.is_file() and not each.name.startswith(".")
        )
        return tuple(str(PurePosixPath(said) / name) for name in found[:MAX_FILES])

    def read_file(self, search: Search, folder: Path, cursor: str | None) -> SearchPage:
        names = self.files(search, folder)
        name = cursor or next(iter(names), None)
        if name is None:
            return SearchPage(trouble="the folder has no CSV files")
        if name not in names:
            return SearchPage(trouble=f"the file {PurePosixPath(name).name} is no longer there")
        path = _inside(self, folder, name)
        if path.stat().st_size > MAX_FILE:
            found = SearchPage(trouble=f"the file has more than {MAX_FILE:,} bytes; split it")
        else:
            found = _read(path.read_bytes(), search.today)
        following = names.index(name) + 1
        return _with_next(found, names[following] if following < len(names) else None)


def csv_client() -> CsvClient:
    return CsvClient("csv", "CSV file at an address", parameters={"url": "Address of the CSV file."})


def csv_folder_client() -> CsvFolderClient:
    return CsvFolderClient(
        "csv-folder",
        "CSV files in a folder",
        parameters={"folder": "Folder of the project with CSV files; each one is a page."},
        local=True,
    )


def _inside(client: Client, folder: Path, said: str) -> Path:
    """A path of the project. Raises ConfigError for one that leads out of it."""
    home = folder.resolve()
    found = (home / said).resolve()
    if not found.is_relative_to(home):
        raise ConfigError(f"the folder {said!r} of {client.name} is not inside the project")
    return found


def _with_next(page: SearchPage, following: str | None) -> SearchPage:
    return SearchPage(page.offers, page.rows, page.bad, page.total, following, page.capped, page.trouble)


def _read(body: bytes, today: date) -> SearchPage:
    """The offers of one file. Never raises for what is in it."""
    lines = _decoded(body).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    start = next((at for at, line in enumerate(lines) if line.strip()), None)
    if start is None:
        return SearchPage(trouble="the file is empty: not even a header")
    delimiter, columns = _header(lines[start])
    if "title" not in columns or not {"url", "id", "company"} & set(columns):
        return SearchPage(
            trouble="the header has no column for the title, or none of url, id and company; rename the columns"
        )
    offers: list[Offer] = []
    bad: list[str] = []
    for line, cells in _rows(lines, start + 1, delimiter, columns):
        if len(offers) + len(bad) >= MAX_ROWS:
            more = f"the file has more than {MAX_ROWS:,} rows; split it"
            return SearchPage(tuple(offers), len(offers) + len(bad), tuple(bad), trouble=more)
        found = cells if isinstance(cells, str) else _offer(cells, today, line)
        if isinstance(found, str):
            bad.append(f"line {line}: {found}")
        else:
            offers.append(found)
    why = f"none of {len(bad):,} rows is an offer; {bad[0]}" if bad and not offers else None
    return SearchPage(tuple(offers), len(offers) + len(bad), tuple(bad), trouble=why)


def _decoded(body: bytes) -> str:
    """The text, as spreadsheets save it: Unicode, or the code page of Windows."""
    mark = next((code for start, code in _MARKS.items() if body.startswith(start)), "utf-8")
    try:
        return body.decode(mark)
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def _header(line: str) -> tuple[str, list[str]]:
    """The delimiter, and the field of each column; one that is not known has none. Of two columns for one
    field the first counts.
    """

    def fields(delimiter: str) -> list[str]:
        found: list[str] = []
        for cell in line.split(delimiter)[:MAX_COLUMNS]:
            name = _field(cell.strip().strip('"').strip())
            found.append(name if name not in found else "")
        return found

    delimiter = max(DELIMITERS, key=lambda each: sum(map(bool, fields(each))))
    return delimiter, fields(delimiter)


def _field(header: str) -> str:
    squeezed = "".join(char for char in header.casefold() if char.isalnum())
    own = next((name for name, words in OFFER_COLUMNS.items() if squeezed in words), None)
    return own or field_named(header) or field_of(header) or ""


def _rows(
    lines: Sequence[str], at: int, delimiter: str, columns: Sequence[str]
) -> Iterator[tuple[int, Mapping[str, str] | str]]:
    names = [name or f"#{number}" for number, name in enumerate(columns)]
    return rows_under(lines, at, delimiter, names)


def _offer(cells: Mapping[str, str], today: date, line: int) -> Offer | str:
    text = "\n\n".join(filter(None, (cells.get("description"), cells.get("requirements"))))
    known = {name: cell for name, cell in cells.items() if cell.strip() and not name.startswith("#")}
    posting = posting_from({**known, "description": text}, today=today, where=f"line {line}")
    if posting is None or not known.get("title"):
        return "it has no title"
    if not (posting.url or posting.key or posting.company):
        return "it has neither an id, nor a link, nor a company"
    if posting.url and not posting.url.startswith(("https://", "http://")):
        return "its link is not an address of the web"
    return bounded(
        Offer(
            posting,
            day_of(cells.get("updated"), today),
            cells.get("company_id") or None,
            cells.get("company_url") or None,
        )
    )
