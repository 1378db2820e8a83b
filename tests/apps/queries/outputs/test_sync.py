"""The sheet and the database agree after a sync, whatever people do in between and Google does meanwhile."""

import pytest

from tests.apps.queries.outputs.office import ENVIRON, OPTIONS, new_book
from thresher.apps.queries.outputs.columns import COLUMNS
from thresher.practice.sheets import Fault


def test_a_new_sheet_gets_its_header_and_every_company(office):
    office.book = new_book("Other")
    office.company("acme", max_score=9, notes="call them")
    office.company("beta", resolution="REJECTED", feedback="FP")
    result = office.sync()
    assert result.counts["sheet_appended"] == 2
    assert office.sheet.cells[0] == list(COLUMNS)
    assert office.table() == [
        [
            "acme",
            "Acme",
            "PENDING",
            9,
            1,
            2,
            3,
            "https://acme.example/1",
            "direct_fx",
            "2023-11-14",
            None,
            "call them",
        ],
        [
            "beta",
            "Beta",
            "REJECTED",
            5,
            1,
            2,
            3,
            "https://beta.example/1",
            "direct_fx",
            "2023-11-14",
            "FP",
            None,
        ],
    ]
    assert office.open_alarms() == []


def test_a_second_sync_writes_nothing(office):
    office.company("acme")
    office.sync()
    office.book.log.clear()
    assert "sheet_updated" not in office.sync().counts
    assert not {"write", "change"} & set(office.book.log)
