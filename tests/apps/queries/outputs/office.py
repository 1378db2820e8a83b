"""A sales team's office: a store with companies, a spreadsheet on loopback, and people who work in it."""

import asyncio
import json
import pickle
from collections.abc import Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.auth import jwt

from tests.harness.databases import Database
from thresher.apps.queries.app import app
from thresher.apps.queries.outputs.access import KEY_JSON, SPREADSHEET, TOKEN_URL
from thresher.apps.queries.outputs.columns import COLUMNS, COMPANY_ID
from thresher.apps.queries.outputs.options import SheetOptions
from thresher.apps.queries.outputs.settings import SETTINGS
from thresher.apps.queries.outputs.sync import Result, sync_sheet
from thresher.apps.queries.store import alarms, outputs
from thresher.apps.queries.store.resolution import decisions_of
from thresher.config.settings import Settings
from thresher.core.outcome import Effect
from thresher.fetch.agent import agent_of
from thresher.fetch.fetcher import Fetcher
from thresher.fetch.governor import FetchOptions, Ungoverned
from thresher.fetch.guard import Guard
from thresher.fetch.http import HttpTransport
from thresher.fetch.request import order
from thresher.fetch.resolver import MappedResolver, SystemResolver
from thresher.practice.sheets import Sheet, Workbook, serve_workbook
from thresher.store.store import Store

BOOK = "practice-spreadsheet-1"
EMAIL = "thresher@practice.example"
OPTIONS = SheetOptions()

EFFECTS = {
    "queries.take_values": outputs.take_values,
    "queries.note_output": outputs.note_output,
    "queries.alarm": alarms.raise_alarm,
    "queries.clear_alarm": alarms.clear_alarm,
    "queries.replace_alarms": alarms.replace_alarms,
    "queries.told": alarms.mark_told,
}
READS = {
    "queries.output_rows": outputs.output_rows,
    "queries.output_states": outputs.output_states,
    "queries.values_at": outputs.values_at,
    "queries.alarms_due": alarms.alarms_due,
}


@pytest.fixture
def office(database: Database, tmp_path: Path) -> "Office":
    database.make(app)
    return Office(database.open(), tmp_path)


@cache
def service_account() -> tuple[str, str]:
    """The key of a service account as Google hands it out, and the public half of it."""
    key = rsa.generate_private_key(65_537, 1_024)  # short, because every sync loads it
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    info = {
        "type": "service_account",
        "client_email": EMAIL,
        "private_key": private,
        "private_key_id": "1",
        "token_uri": TOKEN_URL,
    }
    return json.dumps(info), public.decode()


def verify(assertion: str) -> Mapping[str, Any]:
    claims = jwt.decode(assertion, certs=service_account()[1], audience=TOKEN_URL)
    if claims["iss"] != EMAIL or "spreadsheets" not in claims["scope"]:
        raise ValueError("Invalid JWT: who are you?")
    return claims


ENVIRON = {SPREADSHEET: BOOK, KEY_JSON: service_account()[0]}


def new_book(*titles: str) -> Workbook:
    return Workbook(BOOK, verify, [Sheet(title, 7 + at) for at, title in enumerate(titles)])


class Office:
    """The database side: companies, and syncs as the cycle makes them."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store, self.folder = store, folder
        self.book = new_book(OPTIONS.tab)
        self.settings: dict[str, float] = {each.name: each.default for each in SETTINGS}
        self.slept: list[float] = []
        self.patience = 5.0  # seconds that an answer may take
        self.now = store.backend.clock.now() if hasattr(store.backend, "clock") else 1_700_000_000_000_000
        self.messages: list[tuple[str, str]] = []

    @property
    def sheet(self) -> Sheet:
        return self.book.tab(OPTIONS.tab)

    # --- the database

    def company(self, key: str, **values: Any) -> None:
        row = {
            "company": key,
            "name": key.title(),
            "max_score": 5,
            "strong_offer_count": 1,
            "unique_offer_count": 2,
            "posting_activity": 3,
            "top_offer_url": f"https://{key}.example/1",
            "top_category": "direct_fx",
            "last_strong_at": 1_700_000_000_000_000,
            "resolution": "PENDING",
            "feedback": None,
            "notes": None,
            "first_seen": 1_700_000_000_000_000,
            "updated_at": 1_700_000_000_000_000,
        } | values
        columns = ", ".join(row)
        marks = ", ".join(f":{name}" for name in row)
        sets = ", ".join(f"{name} = excluded.{name}" for name in row if name != "company")
        with self.store.write() as session:
            session.run(
                f"insert into company_signals ({columns}) values ({marks}) on conflict (company) do update set {sets}",
                row,
            )

    def metrics(self, key: str, **values: Any) -> None:
        with self.store.write() as session:
            for name, value in values.items():
                session.run(
                    f"update company_signals set {name} = :value where company = :key",
                    {"value": value, "key": key},
                )

    def human(self, key: str) -> tuple[str, str, str]:
        with self.store.read() as session:
            return session.rows(
                "select resolution, coalesce(feedback, ''), coalesce(notes, '') from company_signals where company = :key",
                {"key": key},
            )[0]

    def set(self, key: str, column: str, value: str, origin: str = "anna") -> None:
        with self.store.write() as session:
            outputs.set_human_value(session, key, column, value, origin, self.now)

    def history(self, key: str) -> list[tuple[str, str, str, str]]:
        with self.store.read() as session:
            found = decisions_of(session, key)
        return [(each.field, each.old or "", each.new or "", each.by) for each in reversed(found)]

    def apply(self, effects: tuple[Effect, ...]) -> dict[str, int]:
        """As a settlement does: one transaction, and each effect once more, because that must do no harm."""
        counts: dict[str, int] = {}
        with self.store.write() as session:
            for effect in effects:
                data = json.loads(json.dumps(dict(effect.data)))
                counts |= EFFECTS[effect.name](session, data, self.now) or {}
        return counts

    def open_alarms(self) -> list[str]:
        with self.store.read() as session:
            return [f"{each.name}/{each.subject}" for each in alarms.list_alarms(session, only_open=True)]

    def alarm_message(self, name: str) -> str:
        with self.store.read() as session:
            return next(
                each.message for each in alarms.list_alarms(session, only_open=True) if each.name == name
            )

    # --- the sheet

    def sync(
        self,
        *,
        settle: bool = True,
        by_hand: bool = True,
        options: SheetOptions = OPTIONS,
        environ: Mapping[str, str] = ENVIRON,
    ) -> Result:
        return asyncio.run(self._synced(settle, by_hand, options, environ))

    async def _synced(
        self, settle: bool, by_hand: bool, options: SheetOptions, environ: Mapping[str, str]
    ) -> Result:
        async with self.context() as ctx:
            result = await sync_sheet(ctx, options, by_hand=by_hand, environ=environ, sleep=ctx.sleep)
        if settle:
            self.apply(result.effects)
        return result

    @asynccontextmanager
    async def context(self):
        async with serve_workbook(self.book) as address, self.context_at(address) as ctx:
            yield ctx

    @asynccontextmanager
    async def context_at(self, address: str):
        guard = Guard()
        resolver = MappedResolver({"*": address}, SystemResolver())
        machine = Settings({"fetch.read": self.patience, "fetch.total": 5.0})
        fetcher = Fetcher(
            HttpTransport(resolver, guard),
            guard,
            agent_of(contact="me@example.com"),
            settings=lambda: machine,
        )
        try:
            yield OfficeContext(self, fetcher, address)
        finally:
            await fetcher.close()

    # --- people in the sheet

    def row_of(self, key: str) -> int:
        rows = self.rows_of(key)
        assert len(rows) == 1, f"{key} is in rows {rows}"
        return rows[0]

    def rows_of(self, key: str) -> list[int]:
        column = self.sheet.column(COMPANY_ID)
        return [at for at in range(len(self.sheet.cells)) if self.sheet.get(at, column) == key]

    def write(self, key: str, column: str, value: Any) -> None:
        self.sheet.set(self.row_of(key), self.sheet.column(column), value)

    def shown(self, key: str, column: str) -> Any:
        return self.sheet.get(self.row_of(key), self.sheet.column(column))

    def table(self) -> list[list[Any]]:
        """The sheet as it looks, by the columns of a new one."""
        header = next(row for row in self.sheet.cells if COMPANY_ID in row)
        at = self.sheet.cells.index(header)
        return [
            [self.sheet.get(row, self.sheet.column(column)) for column in COLUMNS]
            for row in range(at + 1, len(self.sheet.cells))
        ]


class OfficeContext:
    """What a stage has, on a real store and a real fetcher. Its sleep takes no time, and is written down."""

    def __init__(self, office: Office, fetcher: Fetcher, address: str) -> None:
        self._office, self._fetcher, self.address = office, fetcher, address

    def now(self) -> int:
        return self._office.now

    def setting(self, name: str) -> float:
        return self._office.settings[name]

    async def sleep(self, seconds: float) -> None:
        self._office.slept.append(seconds)

    async def read(self, name: str, data: Mapping[str, Any]) -> Any:
        with self._office.store.read() as session:
            return json.loads(json.dumps(READS[name](session, data, self._office.now)))

    async def compute(self, function: Callable[..., Any], /, *args: object) -> Any:
        """As in another process: everything that goes there and back is pickled."""
        function, args = pickle.loads(pickle.dumps((function, args)))
        return pickle.loads(pickle.dumps(function(*args)))

    async def fetch(self, url: str, **how: Any) -> Any:
        return await self._fetcher.fetch(order(url, **how), FetchOptions(Ungoverned()))

    async def tell(self, title: str, body: str) -> bool:
        self._office.messages.append((title, body))
        return True
