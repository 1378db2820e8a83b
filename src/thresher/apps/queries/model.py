"""The words of the queries app: a query, the state it is in, and one run of it.

A query is one search at one client that is repeated for ever. Its key names the client and a hash of what it
searches for, so that it stays the same however the query is written, named or limited, and changes as soon as
it searches for something else.
"""

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

import orjson

from thresher.apps.queries.coverage import Coverage

KEY_DIGITS = 12  # of the hash


class Status(StrEnum):
    """How a query stands. IDLE: never run, reset, or stopped by a rate limit, which is neither a success nor
    a failure. Retired and paused are flags beside it.
    """

    IDLE = "IDLE"
    RUNNING = "RUNNING"
    SUCCESS = "SUCCESS"
    ERROR = "ERROR"


class StopReason(StrEnum):
    """Why a run ended. Only the first proves that its windows were seen to their end."""

    WINDOW_EXHAUSTED = "window_exhausted"
    ALL_KNOWN = "all_known"
    MAX_PAGES = "max_pages"
    MAX_OFFERS = "max_offers"
    RATE_LIMIT = "rate_limit"
    ERROR = "error"


class Origin(StrEnum):
    """Who declared a query. One from the project file is retired when it is no longer there."""

    FILE = "file"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits of one run, for safety. They are no part of what a query is: changing one keeps its history."""

    max_pages: int
    max_offers: int
    max_details: int


@dataclass(frozen=True, slots=True)
class Query:
    """One search. `parameters` are what the client takes besides the text, all as written; `start` is the day
    that its history begins with.
    """

    client: str
    name: str
    text: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    start: date | None = None
    max_pages: int | None = None
    max_offers: int | None = None


@dataclass(frozen=True, slots=True)
class QueryState:
    """A query as it stands: a row of `query_state`. Times are microseconds since 1970, 0 for never. `source`
    is what rests or is stopped with it: its client, or where one client asks many hosts, the host.
    """

    key: str
    source: str
    query: Query
    origin: Origin = Origin.PERSON
    status: Status = Status.IDLE
    last_run_at: int = 0
    last_success_at: int = 0
    last_error_at: int = 0
    last_processed_date: date | None = None
    consecutive_failures: int = 0
    error: str | None = None
    due_at: int = 0
    paused_at: int = 0
    paused_reason: str | None = None
    retired_at: int = 0
    backfill_from: date | None = None
    empty_runs: int = 0
    coverage: Coverage = field(default_factory=Coverage)
    created_at: int = 0


@dataclass(frozen=True, slots=True)
class IngestionRun:
    """One execution of a query: a row of `ingestion_runs`."""

    id: int
    query_key: str
    client: str
    status: Status
    started_at: int
    finished_at: int | None = None
    window_from: date | None = None
    window_to: date | None = None
    updated_since: date | None = None
    pages_fetched: int = 0
    offers_fetched: int = 0
    offers_new: int = 0
    offers_updated: int = 0
    offers_known: int = 0
    offers_gone: int = 0
    reposts: int = 0
    details_fetched: int = 0
    requests_count: int = 0
    http_429_count: int = 0
    errors_count: int = 0
    retries: int = 0
    companies_aggregated: int = 0
    companies_failed: int = 0
    stop_reason: StopReason | None = None
    verdict: str | None = None
    note: str | None = None


def query_key(client: str, text: str, parameters: Mapping[str, str], defaults: Mapping[str, str] = {}) -> str:
    """The key of a query: the same for every way to write the same search. A parameter that has the client's
    default says nothing.
    """
    usual = {_plain(name): _listed(value) for name, value in defaults.items()}
    said = {_plain(name): _listed(value) for name, value in parameters.items()}
    wanted = {name: value for name, value in said.items() if value and value != usual.get(name)}
    identity = {"text": _plain(text), "parameters": wanted}
    digest = hashlib.sha256(orjson.dumps(identity, option=orjson.OPT_SORT_KEYS)).hexdigest()
    return f"{client}:{digest[:KEY_DIGITS]}"


def _plain(text: str) -> str:
    """As it is compared: without case, superfluous spaces, and other spellings of the same letters."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _listed(value: str) -> str:
    """A value may list several; their order does not matter."""
    parts = {part.strip() for part in re.split(r"[,;]", _plain(value))}
    return ",".join(sorted(part for part in parts if part))


@dataclass(frozen=True, slots=True)
class PrunableOffers:
    """The offers of a part of their table that may be removed; `last` is where the next part begins, None
    where there is none.
    """

    offers: tuple[str, ...]
    last: str | None
