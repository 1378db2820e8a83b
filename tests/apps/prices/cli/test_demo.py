"""The app's part of the demo: its commands are understood, and it tells what things are worth and why."""

import io
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tests.apps.prices.scene import file_prices, valuation
from tests.cli.conftest import Thresher
from thresher import DemoRun
from thresher.apps.prices.app import app
from thresher.apps.prices.demo import COIN, DEMO, KEYS
from thresher.apps.prices.store.valuations import store_valuation
from thresher.core.clock import SystemClock
from thresher.runtime import opened_store
from thresher.store.store import Store


def told(run: DemoRun, store: Store) -> str:
    console = Console(file=io.StringIO(), width=200)
    for part in DEMO.report(run, store):
        console.print(part)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_demo_tells_what_things_are_worth_and_what_has_moved(
    prices: Thresher, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    codes: list[int] = []

    def command(*words: str) -> int:
        codes.append(prices(*words).code)
        return codes[-1]

    now = SystemClock().now()
    run = DemoRun(0, 0, now, (), "", folder, "", command)
    DEMO.ask(run)
    with opened_store(f"sqlite:///{folder / 'thresher.db'}", apps=(app,)) as store:
        assert "nothing was found yet" in told(run, store)
        with store.write() as session:
            file_prices(session, 1, 1, now)
            said = {"valuation": valuation(1, 5_300, now), "asked": 0, "alerts": (), "read_at": now}
            store_valuation(session, said, now)
        report = told(run, store)
        for each in (COIN, "48.00 USD", "53.00 USD", "59.00 USD", "8 of 10", "no: its grade is MS66"):
            assert each in report
        later = replace(run, day=1)
        DEMO.ask(later)
        assert "None of its prices has moved" in told(later, store)
    assert codes == [0] * 4
    assert [prices(*shlex.split(words)).code for words in DEMO.look] == [0] * len(DEMO.look)
