"""The `sheet:` options of the queries app in `thresher.yaml`: what is text and so cannot be a setting.

    queries:
      sheet:
        timezone: Europe/Madrid
        from: "03:00"
        to: "06:00"
        tab: Companies
        headers: {max_score: Puntuación máxima}
        folder: companies

It is read strictly: a misspelt header would become a column that nobody finds.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from zoneinfo import ZoneInfo

from thresher.apps.queries.outputs.columns import COLUMNS, header_word, known_headers
from thresher.apps.queries.outputs.hours import DAY_MINUTES, Hours
from thresher.apps.queries.signals.rules import RESOLUTIONS, Resolutions
from thresher.core.errors import ConfigError

KEYS = ("folder", "from", "headers", "tab", "timezone", "to")
MAX_TAB = 100  # characters: Google's limit for the title of a tab
MAX_HEADER = 100
MAX_FOLDER = 1_000

_TIME = re.compile(r"([01]?[0-9]|2[0-4]):([0-5][0-9])")
_NOT_A_TAB = re.compile(r"[\x00-\x1f\x7f]")

NIGHT = Hours(3 * 60, 6 * 60, "Europe/Madrid")

Problem = Callable[[str, str], ConfigError]


@dataclass(frozen=True, slots=True)
class SheetOptions:
    """`hours` are when the sheet is read and written. `headers` are the project's own names of columns.
    `folder` is where the same table is written as files, relative to the project; None: nowhere.
    `resolutions` are what people may decide: the rule file says so.
    """

    hours: Hours = NIGHT
    tab: str = "Companies"
    headers: Mapping[str, str] = field(default_factory=dict)
    folder: str | None = None
    resolutions: Resolutions = RESOLUTIONS

    @property
    def timezone(self) -> str:
        return self.hours.timezone

    def header(self, column: str) -> str:
        """What a new sheet calls a column."""
        return self.headers.get(column, column)

    def columns_by_header(self) -> dict[str, str]:
        """The column of each header word."""
        return known_headers(self.headers)


def read_sheet_options(data: Any, error: Problem) -> SheetOptions:
    """The block `queries.sheet`, checked. `error` makes an error that names the file and the line of a
    key.
    """
    if data is None:
        return SheetOptions()
    if not isinstance(data, dict):
        raise error("queries.sheet", f"must be a mapping with the keys {', '.join(KEYS)}, got {data!r}")
    for key in data:
        if key not in KEYS:
            raise error(f"queries.sheet.{key}", f"is not a known key; the keys are {', '.join(KEYS)}")
    usual = SheetOptions()
    hours = Hours(
        _minute(data.get("from"), "from", usual.hours.first, error),
        _minute(data.get("to"), "to", usual.hours.last, error),
        _timezone(data.get("timezone", usual.timezone), error),
    )
    if hours.first == hours.last:
        raise error(
            "queries.sheet.to", 'must differ from "from"; for the whole day write "00:00" and "24:00"'
        )
    return SheetOptions(
        hours,
        _text(data.get("tab", usual.tab), "tab", MAX_TAB, error),
        _headers(data.get("headers"), error),
        None if data.get("folder") is None else _text(data["folder"], "folder", MAX_FOLDER, error),
    )


def _minute(given: Any, key: str, usual: int, error: Problem) -> int:
    """A time of day in minutes. YAML reads an unquoted 3:30 as the number 210, which is just that."""
    if given is None:
        return usual
    if isinstance(given, str) and (match := _TIME.fullmatch(given.strip())):
        found = int(match[1]) * 60 + int(match[2])
    elif isinstance(given, int | float) and not isinstance(given, bool):
        found = round(given * 60) if 0 <= given <= 24 else round(given)
    else:
        found = -1
    if not 0 <= found <= DAY_MINUTES:
        raise error(f"queries.sheet.{key}", f'must be a time of day such as "03:00", got {given!r}')
    return found


def _timezone(given: Any, error: Problem) -> str:
    try:
        return ZoneInfo(given).key
    except (TypeError, ValueError, OSError, KeyError, AttributeError):
        raise error(
            "queries.sheet.timezone", f"must be a time zone such as Europe/Madrid, got {given!r}"
        ) from None


def _text(given: Any, key: str, most: int, error: Problem) -> str:
    if not isinstance(given, str) or not 0 < len(given.strip()) <= most or _NOT_A_TAB.search(given):
        raise error(f"queries.sheet.{key}", f"must be one line of 1 to {most} characters, got {given!r}")
    return given.strip()


def _headers(given: Any, error: Problem) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise error("queries.sheet.headers", f"must map columns to their headers, got {given!r}")
    found: dict[str, str] = {}
    for column, header in given.items():
        if column not in COLUMNS:
            raise error(
                f"queries.sheet.headers.{column}", f"is not a column; the columns are {', '.join(COLUMNS)}"
            )
        found[column] = _text(header, f"headers.{column}", MAX_HEADER, error)
        known = known_headers({}).get(header_word(header), column)
        if (
            not header_word(header)
            or known != column
            or header_word(header) in map(header_word, list(found.values())[:-1])
        ):
            raise error(
                f"queries.sheet.headers.{column}", f"is {header!r}, which names another column or none"
            )
    return found
