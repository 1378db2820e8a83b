"""Google Sheets over its REST API, with few requests: each counts against a quota of 60 a minute.

All requests of one sync share a budget of retries. A write that may have arrived is never just sent again:
whoever asked for it reads the sheet first.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import quote, urlencode

import orjson

from thresher.apps.queries.outputs.access import TOKEN_URL, Access, token_request
from thresher.apps.queries.outputs.columns import Cell
from thresher.apps.queries.outputs.merge import MAX_HEADER_ROW, column_letters
from thresher.core.clock import monotonic
from thresher.core.credentials import Credentials
from thresher.core.errors import (
    Blocked,
    NotYet,
    Permanent,
    RateLimited,
    ThresherError,
    Transient,
    Unauthorized,
)
from thresher.core.page import Page

ORIGIN = "https://sheets.googleapis.com"
# Keys of developer metadata: what marks our columns, and what numbers the batches of rows that were added.
KEY, BATCH = "thresher.column", "thresher.batch"
FIRST_BATCH = 1_000_000_000  # ids that Google chooses itself are spread over 31 bits
KEPT_BATCHES = 50  # numbers that are kept, so that a request that was long on its way finds its own taken
MINUTE = 60.0
TOKEN_MARGIN = 60.0  # seconds before its end that a token counts as used up
MAX_PAUSE = 120.0  # seconds that a sync waits in place; a longer pause ends it
MAX_WAITS = 10  # at a closed gate, in one sync

_LAYOUT_FIELDS = (
    "sheets(properties(sheetId,title),developerMetadata(metadataId,metadataKey),"
    "data(rowData(values(effectiveValue)),"
    "columnMetadata(developerMetadata(metadataId,metadataKey,metadataValue))))"
)
_FINAL = (Permanent, Blocked)


class Fetch(Protocol):
    """What is used of `Context.fetch`."""

    def __call__(
        self,
        url: str,
        *,
        method: str = ...,
        headers: Mapping[str, str] = ...,
        body: bytes = ...,
        credentials: Credentials | None = ...,
    ) -> Awaitable[Page]: ...


class SheetFailed(ThresherError):
    """The sheet cannot be read or written now. The message says why, and what to do."""


class Interrupted(ThresherError):
    """A write was held up, and may have arrived. Whoever asked for it has to look at the sheet again."""


class Rejected(SheetFailed):
    """Google does not accept a request; perhaps the sheet is no longer what it was made for."""


@dataclass(slots=True)
class Budget:
    """Retries of one sync, all requests together, and the requests of the last minute."""

    retries: int = 3
    backoff: float = 2.0
    per_minute: int = 60
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    spent: int = 0
    waits: int = 0
    requests: int = 0
    _recent: deque[float] = field(default_factory=deque)

    async def pace(self) -> None:
        """Wait until the quota allows another request."""
        now = monotonic()
        while self._recent and self._recent[0] <= now - MINUTE:
            self._recent.popleft()
        if len(self._recent) >= self.per_minute:
            await self.sleep(self._recent[0] + MINUTE - now)
        self._recent.append(monotonic())
        self.requests += 1

    async def retry(self, problem: Transient | RateLimited | NotYet) -> None:
        """Wait before another try, or give up. A gate that is only closed costs no retry."""
        wait = 0.0 if isinstance(problem, Transient) else problem.retry_after
        if isinstance(problem, NotYet):
            self.waits += 1
        else:
            self.spent += 1
            wait = max(wait, self.backoff * 2 ** (self.spent - 1))
        if self.spent > self.retries or self.waits > MAX_WAITS or wait > MAX_PAUSE:
            tried = f" after {self.retries} retries" if self.spent > self.retries else ""
            raise SheetFailed(f"Google Sheets gave no answer{tried}: {problem}") from problem
        await self.sleep(wait)


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab as one answer shows it: its first rows, the ids, and the marks of its columns.

    `marks` has, for each column of the sheet, the ids of our metadata there by the name of the column.
    `batches` are the numbers of the batches that were added lately, in order.
    """

    sheet_id: int
    header: Sequence[Sequence[Cell | None]]
    ids: Sequence[Cell | None]
    marks: Sequence[Mapping[str, int]]
    batches: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class ColumnWrite:
    """Values for a column, by row. The column is the one that carries this mark, wherever it is by now."""

    mark: int
    values: Mapping[int, Cell]


class Sheets:
    """One spreadsheet, for one sync."""

    def __init__(self, fetch: Fetch, access: Access, budget: Budget) -> None:
        self._fetch, self._access, self.budget = fetch, access, budget
        self._token, self._token_until = "", 0.0
        self._known_titles: list[Mapping[str, Any]] | None = None

    async def rows(self, tab: str) -> bytes:
        """All rows of a tab, in one answer: `read_rows` reads it."""
        query = {
            "ranges": quoted(tab),
            "valueRenderOption": "UNFORMATTED_VALUE",
            "dateTimeRenderOption": "FORMATTED_STRING",
        }
        return await self._call("GET", "/values:batchGet", query)

    async def tab(self, title: str, id_column: int | None = None) -> Tab | None:
        """The header of a tab, its column of ids, and the marks of its columns, all of one moment; None if
        there is no such tab.
        """
        if not any(each.get("title") == title for each in await self._titles()):
            return None
        ranges = [f"{quoted(title)}!1:{MAX_HEADER_ROW}"]
        if id_column is not None:
            letters = column_letters(id_column)
            ranges.append(f"{quoted(title)}!{letters}:{letters}")
        found = _json(await self._call("GET", "", {"ranges": ranges, "fields": _LAYOUT_FIELDS}))
        sheets = found.get("sheets") or []
        return _tab(sheets[0], with_ids=id_column is not None) if sheets else None

    async def _titles(self) -> list[Mapping[str, Any]]:
        if self._known_titles is None:
            found = _json(await self._call("GET", "", {"fields": "sheets(properties(sheetId,title))"}))
            self._known_titles = [each.get("properties") or {} for each in found.get("sheets") or []]
        return self._known_titles

    async def add_tab(self, title: str) -> None:
        """Add an empty tab."""
        self._known_titles = None
        await self._change({"addSheet": {"properties": {"title": title}}})

    async def mark_columns(self, sheet_id: int, columns: Mapping[str, int], outdated: Sequence[int]) -> None:
        """Mark columns as ours, and remove marks from wrong places. A mark moves with its column."""
        requests: list[Mapping[str, Any]] = [_without(mark) for mark in outdated]
        for column, place in columns.items():
            where = {"sheetId": sheet_id, "dimension": "COLUMNS", "startIndex": place, "endIndex": place + 1}
            mark = {
                "metadataKey": KEY,
                "metadataValue": column,
                "location": {"dimensionRange": where},
                "visibility": "DOCUMENT",
            }
            requests.append({"createDeveloperMetadata": {"developerMetadata": mark}})
        await self._change(*requests)

    async def write(self, columns: Sequence[ColumnWrite]) -> None:
        """Write cells of marked columns. Rows between them are skipped, not emptied."""
        data = [
            {
                "dataFilter": {"developerMetadataLookup": {"metadataId": each.mark}},
                "majorDimension": "COLUMNS",
                "values": [[each.values.get(row) for row in range(max(each.values) + 1)]],
            }
            for each in columns
        ]
        await self._call(
            "POST", "/values:batchUpdateByDataFilter", body={"valueInputOption": "RAW", "data": data}
        )

    async def append(self, tab: Tab, rows: Sequence[Sequence[Cell | None]], skip: int = 0) -> None:
        """Add rows below the last one that has anything in it, from the first column on.

        The batch takes the next number, and all of it is refused where that is taken: by a request that was
        thought lost, say. So no batch is added twice, however long one was on its way. `skip` leaves numbers
        out that something else may have.
        """
        number = max(tab.batches, default=FIRST_BATCH) + 1 + skip
        taken = {
            "metadataId": number,
            "metadataKey": BATCH,
            "location": {"sheetId": tab.sheet_id},
            "visibility": "DOCUMENT",
        }
        written = [{"values": [{"userEnteredValue": _entered(cell)} for cell in row]} for row in rows]
        await self._change(
            {"createDeveloperMetadata": {"developerMetadata": taken}},
            {"appendCells": {"sheetId": tab.sheet_id, "rows": written, "fields": "userEnteredValue"}},
            *map(_without, tab.batches[:-KEPT_BATCHES]),
        )

    async def rename(self, sheet_id: int, column: int, names: Mapping[str, str]) -> None:
        """Replace whole cells of a column by what is in them, wherever their rows are by now."""
        where = {"sheetId": sheet_id, "startColumnIndex": column, "endColumnIndex": column + 1}
        found = {"matchCase": True, "matchEntireCell": True, "range": where}
        await self._change(
            *({"findReplace": {"find": old, "replacement": new, **found}} for old, new in names.items())
        )

    async def _change(self, *requests: Mapping[str, Any]) -> None:
        """All of these changes or none."""
        await self._call("POST", ":batchUpdate", body={"requests": requests})

    async def _call(
        self, method: str, path: str, query: Mapping[str, Any] = {}, body: Mapping[str, Any] | None = None
    ) -> bytes:
        """One request. A question is tried again; after a write that failed, `Interrupted` is raised once the
        wait is over: the sheet may have changed meanwhile.
        """
        url = f"{ORIGIN}/v4/spreadsheets/{self._access.spreadsheet}{path}"
        if query:
            url = f"{url}?{urlencode(query, doseq=True, quote_via=quote)}"
        sent = b"" if body is None else orjson.dumps(body)
        is_renewed = False
        while True:
            try:
                return (await self._send(method, url, sent)).body
            except Unauthorized as problem:
                if is_renewed:
                    raise SheetFailed(
                        f"{problem}; share the spreadsheet with {self._access.email} as an editor"
                    ) from problem
                is_renewed, self._token_until = True, 0.0  # it may have been revoked, or our clock is slow
            except (RateLimited, NotYet, Transient) as problem:
                await self.budget.retry(problem)
                if method != "GET":
                    raise Interrupted(str(problem)) from problem
            except _FINAL as problem:
                raise Rejected(f"Google Sheets does not accept the request: {problem}") from problem

    async def _send(self, method: str, url: str, body: bytes) -> Page:
        token = await self._current_token()
        await self.budget.pace()
        headers = {"accept": "application/json", "cache-control": "no-store"}
        if body:
            headers["content-type"] = "application/json"
        held = Credentials(ORIGIN, {"Authorization": f"Bearer {token}"})
        return await self._fetch(url, method=method, headers=headers, body=body, credentials=held)

    async def _current_token(self) -> str:
        if monotonic() < self._token_until:
            return self._token
        headers = {"content-type": "application/x-www-form-urlencoded", "cache-control": "no-store"}
        while True:
            try:
                page = await self._fetch(
                    TOKEN_URL, method="POST", headers=headers, body=token_request(self._access)
                )
                break
            except (RateLimited, NotYet, Transient) as problem:
                await self.budget.retry(problem)
            except (*_FINAL, Unauthorized) as problem:
                raise SheetFailed(
                    f"Google refused a token for {self._access.email}: {problem}; check the key of the account"
                ) from problem
        found = _json(page.body)
        if not isinstance(found.get("access_token"), str):
            raise SheetFailed("Google's answer to the request for a token has no token in it")
        self._token = found["access_token"]
        self._token_until = monotonic() + float(found.get("expires_in", 0)) - TOKEN_MARGIN
        return self._token


def quoted(title: str) -> str:
    """A tab as A1 notation names it."""
    doubled = title.replace("'", "''")
    return f"'{doubled}'"


def read_rows(body: bytes) -> list[list[Cell | None]]:
    """The rows of an answer to `Sheets.rows`."""
    ranges = _json(body).get("valueRanges") or [{}]
    found = ranges[0].get("values") or []
    return [[_known(cell) for cell in row] if isinstance(row, list) else [] for row in found]


def _json(body: bytes) -> Mapping[str, Any]:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, dict):
        raise SheetFailed("Google's answer is not a JSON object")
    return found


def _known(cell: object) -> Cell | None:
    return cell if isinstance(cell, str | int | float | bool) and cell != "" else None


def _tab(sheet: Mapping[str, Any], *, with_ids: bool) -> Tab:
    parts = sheet.get("data") or [{}]
    header = _grid(parts[0])
    ids = [row[0] if row else None for row in _grid(parts[1])] if with_ids and len(parts) > 1 else []
    marks = [_marks(column) for column in parts[0].get("columnMetadata") or []]
    found = sheet.get("developerMetadata") or []
    batches = sorted(each["metadataId"] for each in found if each.get("metadataKey") == BATCH)
    return Tab(int(sheet["properties"].get("sheetId", 0)), header, ids, marks, batches)


def _grid(part: Mapping[str, Any]) -> list[list[Cell | None]]:
    return [[_effective(cell) for cell in row.get("values") or []] for row in part.get("rowData") or []]


def _effective(cell: Mapping[str, Any]) -> Cell | None:
    found = cell.get("effectiveValue") or {}
    return _known(
        next((found[name] for name in ("stringValue", "numberValue", "boolValue") if name in found), None)
    )


def _marks(column: Mapping[str, Any]) -> dict[str, int]:
    found = column.get("developerMetadata") or []
    return {each["metadataValue"]: each["metadataId"] for each in found if each.get("metadataKey") == KEY}


def _without(mark: int) -> Mapping[str, Any]:
    return {"deleteDeveloperMetadata": {"dataFilter": {"developerMetadataLookup": {"metadataId": mark}}}}


def _entered(cell: Cell | None) -> Mapping[str, Cell]:
    """A value of a new cell. As `stringValue` a text is never taken for a formula."""
    if cell is None or cell == "":
        return {}
    if isinstance(cell, bool):
        return {"boolValue": cell}
    return {"stringValue": cell} if isinstance(cell, str) else {"numberValue": cell}
