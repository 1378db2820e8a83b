"""CSV as a source: a file at an address or in the project folder, one listing in each row.

A row that cannot be read is left out and named by line and column; the others count. A long file is read a
portion at a time, so that what one portion brings is stored before the next is read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from thresher.admin.file_rows import DELIMITERS, rows_under
from thresher.apps.prices.adapters.adapter import ListingPage, NotAsked, SourceQuery
from thresher.apps.prices.model import Item, Listing, PriceType, SourceSpec
from thresher.core.clock import day_of
from thresher.core.compute import in_thread
from thresher.core.context import Context
from thresher.core.errors import ConfigError, Gone
from thresher.core.keys import MAX_URL, content_hash
from thresher.core.page import Page, Verdict, Via
from thresher.reading.values.currency import of_word
from thresher.reading.values.dates import read_date
from thresher.reading.values.money import NoPrice, Price, read_price

MAX_FILE = 50_000_000  # bytes
MAX_ROWS = 100_000
PORTION = 1_000  # rows of one page
MAX_COLUMNS = 200
MAX_ASPECTS = 50
MAX_CELL = 500  # characters of a title; of an id, a condition and an aspect 200
MAX_WORDS = 200
MAX_QUANTITY = 1_000_000
MAX_NOTES = 20
MARK = 16  # digits of the hash that a cursor names
SAME_FILE = 3_600.0  # seconds: the next portion of a file is read from the copy of the first
ACCEPT = {"accept": "text/csv, text/plain;q=0.8, */*;q=0.5"}
OPTIONS = ("url", "file", "folder", "type", "currency", "day_first")
# Spelled as a header is, in small letters, without blanks, dashes and underlines.
COLUMNS = {
    "title": ("title", "name", "listing", "product", "item"),
    "price": ("price", "amount", "cost", "value"),
    "currency": ("currency", "cur", "currencycode"),
    "type": ("type", "pricetype", "kind"),
    "url": ("url", "link", "address"),
    "id": ("id", "externalid", "listingid", "itemid", "sku"),
    "date": ("date", "listingdate", "listedon", "soldon", "solddate", "day"),
    "condition": ("condition", "itemcondition"),
    "quantity": ("quantity", "qty", "count", "pieces"),
    "shipping": ("shipping", "shippingcost", "postage"),
}
TYPES = {
    "sold": PriceType.SOLD,
    "sale": PriceType.SOLD,
    "paid": PriceType.SOLD,
    "ask": PriceType.ASK,
    "asking": PriceType.ASK,
    "offer": PriceType.ASK,
    "bid": PriceType.BID,
    "wanted": PriceType.BID,
}
_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class RowDefaults:
    """What rows say that do not say it themselves. `day_first` decides between 3/4 and 4/3."""

    today: date
    price_type: PriceType = PriceType.ASK
    currency: str | None = None
    day_first: bool | None = None


@dataclass(frozen=True, slots=True)
class FilePage(ListingPage):
    """A portion of a file, and how many of its rows could not be read."""

    bad_rows: int = 0


class BadCell(Exception):
    """A cell that cannot be read: its column, and why."""

    def __init__(self, column: str, why: str) -> None:
        super().__init__(f"{column}: {why}")
        self.column, self.why = column, why


@dataclass(frozen=True, slots=True)
class CsvAdapter:
    """A CSV file as a source. Its options are `url`, or `file` in the project's `folder`; `type` (ask),
    `currency` and `day_first` for rows that do not say them.
    """

    spec: SourceSpec

    def query(self, item: Item) -> SourceQuery | NotAsked:
        """The whole file is asked for, whatever the item is."""
        del item
        options = self._checked()
        if "url" in options:
            return SourceQuery(self.spec.name, urls=(str(options["url"]),))
        return SourceQuery(self.spec.name, parameters={"file": str(options["file"])})

    async def fetch(self, ctx: Context, query: SourceQuery, cursor: str | None) -> Page:
        """The file. Raises Gone where it is no longer the one that the cursor is about."""
        if query.urls:
            age = SAME_FILE if cursor else 0.0
            page = await ctx.fetch(query.urls[0], headers=ACCEPT, max_age=age)
        else:
            page = await in_thread(self._file, query.parameters["file"], ctx.now())
        if cursor and content_hash(page.body)[:MARK] != cursor.partition(":")[0]:
            raise Gone("the file has changed while it was read")
        return page

    async def read(self, ctx: Context, query: SourceQuery, cursor: str | None, page: Page) -> ListingPage:
        del query
        options = self._checked()
        defaults = RowDefaults(
            day_of(page.fetched_at or ctx.now()),
            TYPES[str(options.get("type") or "ask")],
            str(options["currency"]) if "currency" in options else None,
            bool(options["day_first"]) if "day_first" in options else None,
        )
        return await ctx.compute(read_file, page.body, int((cursor or ":0").partition(":")[2] or 0), defaults)

    def _checked(self) -> Mapping[str, object]:
        return checked_options(self.spec)

    def _file(self, said: str, now: int) -> Page:
        """Read a file of the project. Raises ConfigError for one that is not there or leads out of it."""
        folder = self.spec.options.get("folder")
        if not folder:
            raise ConfigError(
                f"source {self.spec.name}: the project folder is not known; declare the source again"
            )
        home = Path(str(folder)).resolve()
        path = (home / said).resolve()
        if not path.is_relative_to(home):
            raise ConfigError(f"source {self.spec.name}: the file {said!r} is not inside the project folder")
        try:
            with path.open("rb") as file:
                body = file.read(MAX_FILE + 1)
        except OSError as problem:
            why = problem.strerror or type(problem).__name__
            raise ConfigError(f"source {self.spec.name}: the file {said!r} cannot be read: {why}") from None
        if len(body) > MAX_FILE:
            raise ConfigError(
                f"source {self.spec.name}: the file {said!r} has over {MAX_FILE:,} bytes; split it"
            )
        return Page(f"file:{said}", f"file:{said}", 200, {"content-type": "text/csv"}, body, now, Via.FILE)


def checked_options(spec: SourceSpec) -> dict[str, object]:
    """The options of a CSV source. Raises ConfigError that names the one that is wrong."""
    options = {name: value for name, value in spec.options.items() if value not in (None, "")}
    if unknown := sorted(options.keys() - set(OPTIONS)):
        raise ConfigError(
            f"source {spec.name}: there is no option {unknown[0]!r}; the options of a CSV source are "
            f"{', '.join(name for name in OPTIONS if name != 'folder')}"
        )
    if ("url" in options) == ("file" in options):
        raise ConfigError(f"source {spec.name}: give one of url and file: where the CSV is")
    if "type" in options and options["type"] not in tuple(PriceType):
        raise ConfigError(
            f"source {spec.name}: type must be one of {', '.join(PriceType)}, got {options['type']!r}"
        )
    if "currency" in options and currency_code(str(options["currency"])) is None:
        raise ConfigError(
            f"source {spec.name}: currency must be an ISO code such as USD, got {options['currency']!r}"
        )
    if "day_first" in options and not isinstance(options["day_first"], bool):
        raise ConfigError(
            f"source {spec.name}: day_first must be true or false, got {options['day_first']!r}"
        )
    return options


def read_file(body: bytes, start: int, defaults: RowDefaults) -> FilePage:
    """A portion of the listings of a file, from row `start` on. Never raises for what is in it."""
    lines = _decoded(body).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    head = next((at for at, line in enumerate(lines) if line.strip()), None)
    if head is None:
        return FilePage((), Verdict.UNKNOWN, "the file is empty: not even a header")
    delimiter, columns = _header(lines[head])
    if missing := [name for name in ("title", "price") if name not in columns]:
        why = f"line {head + 1}: there is no column {' and no column '.join(missing)}"
        return FilePage((), Verdict.UNKNOWN, f"{why}; the known columns are {', '.join(COLUMNS)}")
    rows = rows_under(lines, head + 1, delimiter, columns)
    listings: list[Listing] = []
    bad: list[str] = []
    at = 0
    for at, (line, cells) in enumerate(rows):
        if at >= start + PORTION:
            break
        if at < start:
            continue
        found = cells if isinstance(cells, str) else _listing(cells, line, defaults)
        if isinstance(found, str):
            bad.append(f"line {line}: {found}")
        else:
            listings.append(found)
    more = at >= start + PORTION
    capped = more and at >= MAX_ROWS
    following = f"{content_hash(body)[:MARK]}:{start + PORTION}" if more and not capped else None
    notes = (*_notes(bad), *((f"the file has over {MAX_ROWS:,} rows; split it",) if capped else ()))
    verdict, reason = _verdict(len(listings), bad)
    return FilePage(
        tuple(listings), verdict, reason, following, capped=capped, notes=notes, bad_rows=len(bad)
    )


def _verdict(listings: int, bad: Sequence[str]) -> tuple[Verdict, str]:
    if listings:
        return Verdict.FOUND, f"{listings:,} rows" + (f", {len(bad):,} could not be read" if bad else "")
    if bad:
        return Verdict.UNKNOWN, f"none of {len(bad):,} rows can be read; {bad[0]}"
    return Verdict.CONFIRMED_EMPTY, "the file has a header and no rows"


def _notes(bad: Sequence[str]) -> tuple[str, ...]:
    """Rows that could not be read: the first of them, and how many more."""
    more = (f"{len(bad) - MAX_NOTES:,} more rows could not be read",) if len(bad) > MAX_NOTES else ()
    return (*bad[:MAX_NOTES], *more)


def _decoded(body: bytes) -> str:
    """The text, as spreadsheets save it: Unicode, or the code page of Windows."""
    mark = next((code for start, code in _MARKS.items() if body.startswith(start)), "utf-8")
    try:
        return body.decode(mark)
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def _header(line: str) -> tuple[str, list[str]]:
    """The delimiter, and the name of each column. One that is not known is an aspect by its own name; of two
    columns with one name the first counts.
    """

    def names(delimiter: str) -> list[str]:
        found: list[str] = []
        for cell in line[:100_000].split(delimiter)[:MAX_COLUMNS]:
            name = _column(cell.strip().strip('"').strip())
            found.append(name if name not in found else "")
        return found

    delimiter = max(
        DELIMITERS, key=lambda each: (sum(name in COLUMNS for name in names(each)), len(names(each)))
    )
    return delimiter, names(delimiter)


def _column(header: str) -> str:
    squeezed = "".join(char for char in header.casefold() if char.isalnum())
    known = next((name for name, words in COLUMNS.items() if squeezed in words), None)
    return known or "_".join(header.casefold().replace("-", " ").split())[:MAX_WORDS]


def _listing(cells: Mapping[str, str], line: int, defaults: RowDefaults) -> Listing | str:
    try:
        return listing_of(cells, defaults, f"line {line}")
    except BadCell as problem:
        return str(problem)


def checked_header(row: Mapping[str, str]) -> dict[str, str]:
    """The cells of a row by the columns that a file has. Raises BadCell for two that mean the same."""
    found: dict[str, str] = {}
    for name, cell in row.items():
        column = _column(name)
        if column in found:
            raise BadCell(name[:40], f"means the same as another column: {column}")
        found[column] = cell
    return found


def listing_of(cells: Mapping[str, str], defaults: RowDefaults, place: str) -> Listing:
    """The listing that a row describes. Raises BadCell that names the column."""
    said = {name: " ".join(cell.split()) for name, cell in cells.items() if cell and cell.strip()}
    if "title" not in said:
        raise BadCell("title", "is missing")
    price = _price(said, defaults)
    return Listing(
        _short(said, "title", MAX_CELL) or "",
        _type(said.get("type"), defaults),
        price.amount_minor,
        price.currency,
        said["price"][:MAX_CELL],
        place,
        _short(said, "id", MAX_WORDS),
        _url(said.get("url")),
        price.high,
        price.was,
        _shipping(said, price),
        _quantity(said.get("quantity")),
        price.per,
        _short(said, "condition", MAX_WORDS),
        dict(_aspects(said)),
        _date(said.get("date"), defaults),
    )


def _price(said: Mapping[str, str], defaults: RowDefaults) -> Price:
    text, named = said.get("price"), said.get("currency") or defaults.currency
    if text is None:
        raise BadCell("price", "is missing")
    code = currency_code(named) if named else None
    if named and code is None:
        raise BadCell("currency", f"{named[:20]!r} is no currency; write an ISO code such as USD")
    price = read_price(text, currency_hint=code)
    if isinstance(price, NoPrice):
        raise BadCell("price", f"{text[:40]!r} is no price: {price.reason}")
    if price.currency is None:
        raise BadCell("currency", f"is missing: {text[:40]!r} may be of any; write an ISO code such as USD")
    if not price.certain:
        raise BadCell("currency", f"is missing: {text[:40]!r} may be {price.currency} or another one")
    if code is not None and price.currency != code:
        raise BadCell("price", f"{text[:40]!r} is in {price.currency}, and the currency says {code}")
    return price


def currency_code(text: str) -> str | None:
    """The ISO code that a word means for certain."""
    found = of_word(text.strip())
    return found.code if found is not None and found.certain else None


def _type(text: str | None, defaults: RowDefaults) -> PriceType:
    if text is None:
        return defaults.price_type
    found = TYPES.get(text.casefold())
    if found is None:
        raise BadCell("type", f"{text[:20]!r} is none of {', '.join(PriceType)}")
    return found


def _url(text: str | None) -> str | None:
    if text is None:
        return None
    if len(text) > MAX_URL or not text.casefold().startswith(("https://", "http://")):
        raise BadCell("url", f"{text[:40]!r} is no address of the web")
    return text


def _quantity(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 8 and 1 <= int(text) <= MAX_QUANTITY):
        raise BadCell("quantity", f"{text[:20]!r} is no number from 1 to {MAX_QUANTITY:,}")
    return int(text)


def _date(text: str | None, defaults: RowDefaults) -> date | None:
    if text is None:
        return None
    found = read_date(text, today=defaults.today, day_first=defaults.day_first)
    if found is None or found.precision != "day" or found.or_earlier:
        raise BadCell("date", f"{text[:30]!r} is no certain day; write it as 2026-01-31")
    if found.day > defaults.today + _DAY:
        raise BadCell("date", f"{text[:30]!r} has not come yet")
    return found.day


def _shipping(said: Mapping[str, str], price: Price) -> int | None:
    if "shipping" not in said:
        return None
    found = read_price(said["shipping"], currency_hint=price.currency)
    if isinstance(found, NoPrice) or found.currency != price.currency:
        raise BadCell("shipping", f"{said['shipping'][:40]!r} is no amount in {price.currency}")
    return found.amount_minor


def _short(said: Mapping[str, str], name: str, most: int) -> str | None:
    text = said.get(name)
    if text is not None and len(text) > most:
        raise BadCell(name, f"has {len(text):,} characters; the limit is {most}")
    return text


def _aspects(said: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    others = ((name, text) for name, text in said.items() if name and name not in COLUMNS)
    for _, (name, text) in zip(range(MAX_ASPECTS), others, strict=False):
        yield name, text[:MAX_WORDS]
