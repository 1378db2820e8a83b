"""Alarms are told once, again when they change or last, never at night, and in a digest every day."""

import asyncio

import pytest

from tests.apps.queries.outputs.office import office
from tests.harness.databases import file_and_server as pytest_generate_tests
from thresher.apps.queries.alarms import MAX_TOLD, Alarm, AlarmRules, due_notice, tell_alarms
from thresher.apps.queries.outputs.hours import Hours
from thresher.apps.queries.store.alarms import find_alarm, list_alarms, raise_alarm
from thresher.core.clock import HOUR, MINUTE, SECOND
from thresher.core.outcome import Effect

__all__ = ["office", "pytest_generate_tests"]

NOON = 1_700_049_600 * SECOND  # 12:00 in UTC
RULES = AlarmRules(24 * HOUR, Hours(22 * 60, 7 * 60), 8.0)
TODAY = "2023-11-15"


def alarm(at: int = 1, **values) -> Alarm:
    return Alarm(
        **{
            "id": at,
            "name": "sheet_failed",
            "subject": "sheet",
            "message": "no",
            "raised_at": NOON,
            "last_at": NOON,
        }
        | values
    )


def test_a_new_alarm_is_told_at_once():
    notice = due_notice([alarm()], NOON, RULES, TODAY)
    assert (notice.title, notice.body, notice.day) == (
        "Thresher: 1 alarm to look at",
        "- sheet_failed/sheet: no",
        None,
    )


@pytest.mark.parametrize(
    ("later", "message", "told"),
    [
        (HOUR, "no", False),
        (23 * HOUR, "no", False),
        (24 * HOUR, "no", True),
        (MINUTE, "yes", True),
        (MINUTE, "no", False),
    ],
)
def test_it_is_told_again_when_it_changes_or_after_the_time_to_repeat(later, message, told):
    known = alarm(told_at=NOON, told_message="no", message=message)
    assert (due_notice([known], NOON + later, RULES, "2023-11-20") is not None) == told


def test_other_numbers_are_no_change():
    known = alarm(told_at=NOON, told_message="4 of 9 failed", message="5 of 10 failed")
    assert due_notice([known], NOON + HOUR, RULES, TODAY) is None


@pytest.mark.parametrize(
    ("hour", "told"), [(21, True), (22, False), (23, False), (3, False), (6, False), (7, True)]
)
def test_nothing_is_told_in_quiet_hours(hour, told):
    now = NOON + (hour - 12) * HOUR
    assert (due_notice([alarm()], now, RULES, TODAY) is not None) == told


def test_quiet_hours_follow_the_time_zone():
    madrid = AlarmRules(24 * HOUR, Hours(22 * 60, 7 * 60, "Europe/Madrid"), 8.0)
    assert due_notice([alarm()], NOON + 9 * HOUR, madrid, TODAY) is None  # 22:00 there
    assert due_notice([alarm()], NOON + 9 * HOUR, RULES, TODAY) is not None


def test_the_digest_comes_once_a_day_with_what_is_open_and_what_is_over():
    known = alarm(told_at=NOON, told_message="no", times=4, raised_at=NOON - 2 * HOUR)
    over = alarm(2, name="zero_rows", subject="q", cleared_at=NOON)
    notice = due_notice([known, over], NOON, RULES, "2023-11-14")
    assert notice.title == "Thresher: 1 alarm open"
    assert notice.body == "- sheet_failed/sheet: no (4 times in 2h)\n\nNo longer the case:\n- zero_rows/q"
    assert (notice.day, [each.id for each in notice.cleared]) == (TODAY, [2])
    assert due_notice([known, over], NOON, RULES, TODAY) is None
    assert due_notice([known], NOON - 4 * HOUR - MINUTE, RULES, "2023-11-14") is None  # 07:59
    assert due_notice([], NOON, RULES, "2023-11-14") is None
    assert due_notice([over], NOON, RULES, "").title == "Thresher: no alarm is open any more"
    assert due_notice([over], NOON, AlarmRules(digest=24.0), "") is None


def test_a_long_list_is_cut_and_says_so():
    body = due_notice([alarm(at) for at in range(1, 31)], NOON, RULES, TODAY).body
    assert body.count("\n") == MAX_TOLD
    assert body.endswith("and 10 more")


def tell(office) -> list[tuple[str, str]]:
    """Tell what is due; what was sent by that."""

    async def whole():
        async with office.context_at("http://127.0.0.1:9") as ctx:
            return await tell_alarms(ctx, "UTC")

    office.messages.clear()
    office.apply(asyncio.run(whole()))
    return list(office.messages)


def raised(office, name="sheet_failed", subject="sheet", message="no") -> None:
    office.apply((Effect("queries.alarm", {"name": name, "subject": subject, "message": message}),))


def cleared(office, name="sheet_failed", subject="sheet") -> None:
    office.apply((Effect("queries.clear_alarm", {"name": name, "subject": subject}),))


def test_an_alarm_from_its_first_day_to_its_end(office):
    office.now = NOON
    raised(office)
    raised(office)
    assert len(tell(office)) == 1
    assert tell(office) == []
    office.now += HOUR
    raised(office, message="something else")
    ((title, body),) = tell(office)
    assert body == "- sheet_failed/sheet: something else (3 times in 1h)"
    cleared(office)
    cleared(office)
    assert office.open_alarms() == []
    assert tell(office) == []
    office.now += 24 * HOUR
    ((title, body),) = tell(office)
    assert (title, "No longer the case:\n- sheet_failed/sheet" in body) == (
        "Thresher: no alarm is open any more",
        True,
    )
    office.now += 24 * HOUR
    assert tell(office) == []


def test_an_alarm_that_comes_back_is_a_new_row_and_the_old_one_can_still_be_opened(office):
    office.now = NOON
    raised(office, message="first")
    cleared(office)
    office.now += HOUR
    raised(office, message="second")
    with office.store.read() as session:
        found = list_alarms(session)
        assert [(each.message, each.is_open) for each in found] == [("second", True), ("first", False)]
        assert find_alarm(session, found[1].id).message == "first"
        assert find_alarm(session, 10_000) is None


def test_what_ended_before_it_was_told_is_never_told(office):
    office.now = NOON
    raised(office)
    cleared(office)
    assert tell(office) == []


def test_a_message_is_one_line_of_harmless_text(office):
    with office.store.write() as session:
        raise_alarm(session, {"name": "n", "subject": "s", "message": "a\x1b[31m\nb" + "x" * 9_999}, NOON)
    message = office.alarm_message("n")
    assert "\x1b" not in message
    assert "\n" not in message
    assert len(message) == 500
