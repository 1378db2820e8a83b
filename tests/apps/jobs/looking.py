"""A board that is looked at, on a database and a web of its own."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.apps.jobs.scraping import Scraping
from tests.harness.databases import Database
from thresher.practice.web import Knob, PracticeWeb, Trouble

GREENHOUSE = "boards-api.greenhouse.io"


@pytest.fixture
def scraping(database: Database, web: PracticeWeb) -> Iterator[Scraping]:
    found = Scraping(database, web)
    yield found
    found.close()


def answer(rows: list[dict[str, Any]]) -> Knob:
    """A board that answers with these rows."""
    return Knob(
        Trouble.BODY,
        GREENHOUSE,
        text=json.dumps({"jobs": rows, "meta": {"total": len(rows)}}),
        kind="application/json",
    )
