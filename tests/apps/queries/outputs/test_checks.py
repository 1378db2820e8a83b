"""The doctor says how the sheet stands, and which alarms are open."""

import pytest

from tests.apps.queries.outputs.office import ENVIRON
from tests.apps.queries.outputs.test_sync import faults
from thresher.apps.queries.outputs.access import KEY_FILE
from thresher.apps.queries.outputs.checks import check_alarms, check_sheet
from thresher.core.extension import CheckLevel
from thresher.practice.sheets import SheetFault


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.delenv(KEY_FILE, raising=False)
    for name, value in ENVIRON.items():
        monkeypatch.setenv(name, value)


def levels(checks):
    return [each.verdict for each in checks]


def test_the_doctor_tells_how_the_last_sync_ended(office):
    office.company("acme")
    assert levels(check_sheet(office.store)) == [CheckLevel.OK]
    office.sync()
    assert "last synced" in check_sheet(office.store)[1].found
    assert levels(check_alarms(office.store)) == [CheckLevel.OK]
    office.now += 1_000_000
    faults(office, *[SheetFault(500)] * 4)
    office.sync()
    assert levels(check_sheet(office.store)) == [CheckLevel.OK, CheckLevel.WARN]
    assert "sheet_failed/sheet" in check_alarms(office.store)[0].found


def test_a_sheet_that_is_off_is_not_asked_about(office, monkeypatch):
    for name in ENVIRON:
        monkeypatch.delenv(name)
    assert [each.found for each in check_sheet(office.store)] == ["Google Sheets is off"]
