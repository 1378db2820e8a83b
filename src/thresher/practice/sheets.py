"""A spreadsheet that people and programs edit at the same time: the part of Google's Sheets API that we use,
over real HTTP on loopback.

Rows and columns move as they do there: a mark (developer metadata) moves with its column, sorting moves cells
and not rows, and a new row goes below the last one that has anything in it. It misbehaves when told to.
"""

import asyncio
import contextlib
import json
import re
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from aiohttp import web

Cell = str | int | float | bool | None

MAX_BODY = 10 * 1024 * 1024
MAX_REQUESTS = 1_000  # in one batch
TOKEN_SECONDS = 3_600
MAX_COLUMNS = 18_278

_RANGE = re.compile(r"'(?P<tab>(?:[^']|'')+)'(?:!(?P<first>[A-Z]*[0-9]*):(?P<last>[A-Z]*[0-9]*))?")
_PLACE = re.compile(r"([A-Z]*)([0-9]*)")


class Bad(Exception):
    """A request that the API does not accept: status 400."""


@dataclass
class Sheet:
    """One tab: its cells, and the marks of its columns. Its methods are a person's hands."""

    title: str
    id: int
    cells: list[list[Cell]] = field(default_factory=list)
    marks: list[dict[int, dict[str, Any]]] = field(default_factory=list)
    own_marks: dict[int, dict[str, Any]] = field(default_factory=dict)
    spare_rows: int = 3

    @property
    def width(self) -> int:
        return max((len(row) for row in self.cells), default=0)

    def get(self, row: int, column: int) -> Cell:
        return self.cells[row][column] if row < len(self.cells) and column < len(self.cells[row]) else None

    def set(self, row: int, column: int, value: Cell) -> None:
        while len(self.cells) <= row:
            self.cells.append([])
        line = self.cells[row]
        line.extend([None] * (column + 1 - len(line)))
        line[column] = value if value != "" else None

    def insert_row(self, at: int) -> None:
        self.cells.insert(at, [])

    def delete_row(self, at: int) -> None:
        del self.cells[at]

    def sort(self, first: int, key: Callable[[list[Cell]], Any]) -> None:
        """All rows from `first` on."""
        self.cells[first:] = sorted(self.cells[first:], key=key)

    def insert_column(self, at: int) -> None:
        self.square()
        for row in self.cells:
            row.insert(at, None)
        self.marks.insert(at, {})

    def move_column(self, source: int, target: int) -> None:
        self.square()
        for row in self.cells:
            row.insert(target, row.pop(source))
        self.marks.insert(target, self.marks.pop(source))

    def square(self) -> None:
        width = max(self.width, len(self.marks))
        for row in self.cells:
            row.extend([None] * (width - len(row)))
        self.marks.extend({} for _ in range(width - len(self.marks)))

    def column(self, header: str) -> int:
        """The first column of that header, wherever the header row is."""
        return next(row.index(header) for row in self.cells if header in row)

    def last_row(self) -> int:
        """How many rows there are down to the last one with anything in it."""
        return max(
            (at + 1 for at, row in enumerate(self.cells) if any(cell is not None for cell in row)), default=0
        )


Hook = Callable[[str, Sheet], None]


@dataclass
class SheetFault:
    """What goes wrong with a request: an error before or after it was carried out, a connection that is cut,
    or a request that is carried out later, when somebody says so.
    """

    status: int = 0
    applied: bool = False
    retry_after: str | None = None
    cut: bool = False
    late: asyncio.Event | None = None


@dataclass
class Workbook:
    """The spreadsheet, who may edit it, and what happens meanwhile.

    `verify` says whose signed request for a token it is, and raises if it is nobody's. `before` is called
    before every request, with its name and the first tab: that is when people move things. `fault` says what
    goes wrong with it. `log` has the names of all requests that were carried out.
    """

    id: str
    verify: Callable[[str], Mapping[str, Any]]
    sheets: list[Sheet] = field(default_factory=list)
    before: Hook = lambda _name, _sheet: None
    fault: Callable[[str], SheetFault | None] = lambda _name: None
    log: list[str] = field(default_factory=list)
    tokens: dict[str, float] = field(default_factory=dict)
    token_seconds: float = TOKEN_SECONDS
    next_mark: int = 1

    @property
    def sheet(self) -> Sheet:
        return self.sheets[0]

    def tab(self, title: str) -> Sheet:
        for each in self.sheets:
            if each.title == title:
                return each
        raise Bad(f"Unable to parse range: {title}")

    # --- the API

    def get(self, query: Mapping[str, Sequence[str]]) -> Any:
        ranges = [self._range(each) for each in query.get("ranges", ())]
        if not ranges:
            return {
                "sheets": [{"properties": {"sheetId": each.id, "title": each.title}} for each in self.sheets]
            }
        sheet = ranges[0][0]
        data = [_grid_data(each, *box) for each, *box in ranges]
        shown = {"properties": {"sheetId": sheet.id, "title": sheet.title}, "data": data}
        return {"sheets": [{**shown, "developerMetadata": list(sheet.own_marks.values())}]}

    def batch_get(self, query: Mapping[str, Sequence[str]]) -> Any:
        if query.get("valueRenderOption") != ["UNFORMATTED_VALUE"]:
            raise Bad("this practice sheet knows unformatted values only")
        found = []
        for text in query.get("ranges", ()):
            sheet, rows, columns = self._range(text)
            values = [_trimmed([_plain(sheet.get(row, at)) for at in columns]) for row in rows]
            while values and not values[-1]:
                values.pop()
            found.append({"range": text, "majorDimension": "ROWS", "values": values})
        return {"spreadsheetId": self.id, "valueRanges": found}

    def batch_update(self, body: Mapping[str, Any]) -> Any:
        requests = body.get("requests")
        if not isinstance(requests, list) or not 0 < len(requests) <= MAX_REQUESTS:
            raise Bad("Must specify at least one request.")
        for request in requests:
            ((name, said),) = request.items()
            getattr(self, f"_do_{name}", self._unknown)(said)
        return {"spreadsheetId": self.id, "replies": [{} for _ in requests]}

    def _unknown(self, said: Any) -> None:  # noqa: ARG002
        raise Bad("Unknown request")

    def _do_addSheet(self, said: Mapping[str, Any]) -> None:  # noqa: N802  as the API calls it
        title = said["properties"]["title"]
        if any(each.title == title for each in self.sheets):
            raise Bad(f'A sheet with the name "{title}" already exists.')
        self.sheets.append(Sheet(title, len(self.sheets) + 100))

    def _do_createDeveloperMetadata(self, said: Mapping[str, Any]) -> None:  # noqa: N802
        mark = said["developerMetadata"]
        number = mark.get("metadataId") or self.next_mark
        if any(number in marks for sheet in self.sheets for marks in (*sheet.marks, sheet.own_marks)):
            raise Bad(f"Developer metadata with the id {number} already exists")
        self.next_mark = max(self.next_mark, number % 1_000_000) + 1
        where = mark["location"].get("dimensionRange")
        made = {
            "metadataId": number,
            "metadataKey": mark["metadataKey"],
            "metadataValue": mark.get("metadataValue", ""),
        }
        if where is None:
            self._sheet_of(mark["location"]).own_marks[number] = made
            return
        if (
            where["dimension"] != "COLUMNS"
            or where["endIndex"] != where["startIndex"] + 1
            or not mark["visibility"]
        ):
            raise Bad("only single columns are marked here")
        sheet = self._sheet_of(where)
        sheet.square()
        sheet.marks.extend({} for _ in range(where["endIndex"] - len(sheet.marks)))
        sheet.marks[where["startIndex"]][number] = made

    def _sheet_of(self, said: Mapping[str, Any]) -> Sheet:
        for each in self.sheets:
            if each.id == said["sheetId"]:
                return each
        raise Bad("No grid with that id")

    def _do_deleteDeveloperMetadata(self, said: Mapping[str, Any]) -> None:  # noqa: N802
        mark = said["dataFilter"]["developerMetadataLookup"]["metadataId"]
        for sheet in self.sheets:
            for marks in (*sheet.marks, sheet.own_marks):
                marks.pop(mark, None)

    def _do_appendCells(self, said: Mapping[str, Any]) -> None:  # noqa: N802
        if said["fields"] != "userEnteredValue":
            raise Bad("only userEnteredValue is known here")
        sheet = self._sheet_of(said)
        start = sheet.last_row()
        for at, row in enumerate(said["rows"]):
            for column, cell in enumerate(row["values"]):
                value = next(iter((cell.get("userEnteredValue") or {}).values()), None)
                sheet.set(start + at, column, value)

    def _do_findReplace(self, said: Mapping[str, Any]) -> None:  # noqa: N802
        if not (said["matchCase"] and said["matchEntireCell"]):
            raise Bad("only whole cells are replaced here")
        sheet, where = self._sheet_of(said["range"]), said["range"]
        for row in range(len(sheet.cells)):
            for column in range(where["startColumnIndex"], where["endColumnIndex"]):
                if sheet.get(row, column) == said["find"]:
                    sheet.set(row, column, said["replacement"])

    def update_by_filter(self, body: Mapping[str, Any]) -> Any:
        if body.get("valueInputOption") != "RAW":
            raise Bad("a practice sheet takes RAW values only")
        writes = []
        for each in body["data"]:
            mark = each["dataFilter"]["developerMetadataLookup"]["metadataId"]
            places = [
                (sheet, at) for sheet in self.sheets for at, marks in enumerate(sheet.marks) if mark in marks
            ]
            if not places or each["majorDimension"] != "COLUMNS":
                raise Bad("No developer metadata matches the filter")
            for sheet, at in places:
                (values,) = each["values"]
                if len(values) > len(sheet.cells) + sheet.spare_rows:
                    raise Bad("The provided values exceed the range matched by the data filter")
                writes.append((sheet, at, values))
        for sheet, at, values in writes:
            for row, value in enumerate(values):
                if value is not None:
                    sheet.set(row, at, value)
        return {"spreadsheetId": self.id, "totalUpdatedCells": sum(len(values) for _, _, values in writes)}

    def _range(self, text: str) -> tuple[Sheet, range, range]:
        """A range in A1 notation: a tab, some of its rows, or some of its columns."""
        match = _RANGE.fullmatch(text)
        if match is None:
            raise Bad(f"Unable to parse range: {text}")
        sheet = self.tab(match["tab"].replace("''", "'"))
        if match["first"] is None:
            return sheet, range(len(sheet.cells)), range(sheet.width)
        (left, top), (right, bottom) = (_place(match[name]) for name in ("first", "last"))
        rows = range((top or 1) - 1, min(bottom or len(sheet.cells), len(sheet.cells)))
        width = max(sheet.width, len(sheet.marks))
        return sheet, rows, range(_number(left) if left else 0, _number(right) + 1 if right else width)


def _place(text: str) -> tuple[str, int | None]:
    match = _PLACE.fullmatch(text)
    assert match is not None
    return match[1], int(match[2]) if match[2] else None


def _number(letters: str) -> int:
    found = 0
    for letter in letters:
        found = found * 26 + ord(letter) - ord("A") + 1
    if not 0 < found <= MAX_COLUMNS:
        raise Bad("Unable to parse range")
    return found - 1


def _plain(cell: Cell) -> Cell:
    return "" if cell is None else cell


def _trimmed(values: list[Cell]) -> list[Cell]:
    while values and values[-1] == "":
        values.pop()
    return values


def _grid_data(sheet: Sheet, rows: range, columns: range) -> dict[str, Any]:
    shown = [{"values": [_cell_data(sheet.get(row, at)) for at in columns]} for row in rows]
    marks = [
        {"developerMetadata": list(sheet.marks[at].values())}
        if at < len(sheet.marks) and sheet.marks[at]
        else {}
        for at in columns
    ]
    return {"rowData": shown, "columnMetadata": marks}


def _cell_data(cell: Cell) -> dict[str, Any]:
    if cell is None:
        return {}
    name = (
        "boolValue" if isinstance(cell, bool) else "stringValue" if isinstance(cell, str) else "numberValue"
    )
    return {"effectiveValue": {name: cell}}


# --- on a socket


async def _handle(book: Workbook, request: web.Request) -> web.StreamResponse:
    body = await request.read()
    if request.path == "/robots.txt":
        return web.Response(status=404)
    if request.path == "/token":
        return _token(book, body)
    name, act = _action(book, request, body)
    if name is None or not request.path.startswith(f"/v4/spreadsheets/{book.id}"):
        return _error(404, "Requested entity was not found.")
    if not _is_authorised(book, request):
        return _error(401, "Request had invalid authentication credentials.")
    fault = book.fault(name) or SheetFault()
    if fault.late is not None:
        await fault.late.wait()
    if fault.status and not fault.applied:
        return _error(fault.status, "fault", fault.retry_after)
    if book.sheets:
        book.before(name, book.sheet)
    try:
        answer = act()
    except Bad as problem:
        return _error(400, str(problem))
    book.log.append(name)
    if fault.cut:
        assert request.transport is not None
        request.transport.close()
        return web.Response()
    if fault.status:
        return _error(fault.status, "fault", fault.retry_after)
    return web.json_response(answer)


def _action(book: Workbook, request: web.Request, body: bytes) -> tuple[str | None, Callable[[], Any]]:
    rest = request.path.removeprefix(f"/v4/spreadsheets/{book.id}")
    query = {name: request.query.getall(name) for name in request.query}
    known: Mapping[tuple[str, str], tuple[str, Callable[[], Any]]] = {
        ("GET", ""): ("get", lambda: book.get(query)),
        ("GET", "/values:batchGet"): ("values", lambda: book.batch_get(query)),
        ("POST", ":batchUpdate"): ("change", lambda: book.batch_update(json.loads(body))),
        ("POST", "/values:batchUpdateByDataFilter"): (
            "write",
            lambda: book.update_by_filter(json.loads(body)),
        ),
    }
    return known.get((request.method, rest), (None, dict))


def _is_authorised(book: Workbook, request: web.Request) -> bool:
    token = request.headers.get("authorization", "").removeprefix("Bearer ")
    return book.tokens.get(token, 0.0) > asyncio.get_running_loop().time()


def _token(book: Workbook, body: bytes) -> web.Response:
    said = parse_qs(body.decode())
    try:
        book.verify(said["assertion"][0])
    except (KeyError, ValueError) as problem:
        return web.json_response({"error": "invalid_grant", "error_description": str(problem)}, status=400)
    token = secrets.token_urlsafe(24)
    book.tokens[token] = asyncio.get_running_loop().time() + book.token_seconds
    return web.json_response({"access_token": token, "expires_in": TOKEN_SECONDS, "token_type": "Bearer"})


def _error(status: int, message: str, retry_after: str | None = None) -> web.Response:
    headers = {} if retry_after is None else {"retry-after": retry_after}
    return web.json_response({"error": {"code": status, "message": message}}, status=status, headers=headers)


@contextlib.asynccontextmanager
async def serve_workbook(book: Workbook) -> AsyncIterator[str]:
    """Answer for the spreadsheet and for the tokens, at the address that is yielded."""
    app = web.Application(client_max_size=MAX_BODY)

    async def handle(request: web.Request) -> web.StreamResponse:
        return await _handle(book, request)

    app.router.add_route("*", "/{rest:.*}", handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        _, port = runner.addresses[0][:2]
        yield f"http://127.0.0.1:{port}"
    finally:
        await runner.cleanup()
