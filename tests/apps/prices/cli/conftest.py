"""The project and the command line of the machine's own tests, with the prices app and a club's list."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from tests.apps.prices.people import LIST
from tests.cli.conftest import Thresher, folder, thresher
from thresher.core.clock import SystemClock, day_of

__all__ = ["folder", "thresher"]

DAY = str(day_of(SystemClock().now()) - timedelta(days=3))  # of all prices and rates
PROJECT = """apps: [prices]
fetch: {contact: me@example.com}
settings: {worker.poll: 0.05, run.patience: 0}
"""
COIN = ("--kind", "coin", "--set", "denomination=dollar", "--set", "year=1921", "--set", "mintmark=D")


@pytest.fixture
def prices(folder: Path, thresher: Thresher, monkeypatch: pytest.MonkeyPatch) -> Thresher:
    """A project with the app, the list of a club and rates, and no database yet."""
    for name in ("EBAY_CLIENT_ID", "EBAY_CLIENT_SECRET"):
        monkeypatch.delenv(name, raising=False)
    (folder / "thresher.yaml").write_text(PROJECT)
    (folder / "coins.csv").write_text(re.sub(r"2023-11-\d\d", DAY, LIST))
    (folder / "rates.csv").write_text(f"day,currency,rate\n{DAY},USD,1.0724\n")
    return thresher


@pytest.fixture
def priced(prices: Thresher) -> Thresher:
    """The same with a coin that has a value."""
    for words in (
        ("prices", "sources", "add", "club", "--adapter", "csv", "--option", "file=coins.csv"),
        ("prices", "add", "1921-D Morgan", *COIN),
        ("run",),
    ):
        told = prices(*words)
        assert told.code == 0, told.err
    return prices
