"""The sheet and the database agree after a sync, whatever people do in between and Google does meanwhile."""

import asyncio

import pytest

from tests.apps.queries.outputs.office import ENVIRON, OPTIONS, new_book
from thresher.apps.queries.outputs.columns import COLUMNS, HUMAN
from thresher.apps.queries.outputs.options import read_sheet_options
from thresher.apps.queries.outputs.sync import sync_sheet
from thresher.practice.sheets import SheetFault


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


@pytest.fixture
def running(office):
    """An office whose sheet is in use: three companies, one column of the team's own."""
    for key in ("acme", "beta", "coil"):
        office.company(key)
    office.sync()
    office.sheet.set(0, len(COLUMNS), "Comercial")
    office.sheet.set(1, len(COLUMNS), "Marta")
    return office


def test_only_cells_that_changed_are_written(running):
    running.metrics("beta", max_score=10)
    running.book.log.clear()
    assert running.sync().counts["sheet_updated"] == 1
    assert running.shown("beta", "max_score") == 10
    assert running.book.log.count("write") == 1


def test_what_people_write_is_taken_and_stays(running):
    running.write("acme", "resolution", "in progress")
    running.write("acme", "model_feedback", "fp")
    running.write("acme", "model_notes", " =2+2 is what they said\r\n@all ")
    assert running.sync().counts["sheet_taken"] == 3
    assert running.human("acme") == ("IN_PROGRESS", "FP", "=2+2 is what they said\n@all")
    assert running.shown("acme", "resolution") == "in progress"
    assert "sheet_taken" not in {k for k, v in running.sync().counts.items() if v}
    assert running.history("acme") == [
        ("resolution", "PENDING", "IN_PROGRESS", "sheet"),
        ("notes", "", "=2+2 is what they said\n@all", "sheet"),
        ("feedback", "", "FP", "sheet"),
    ]


def test_the_sheet_wins_in_both_directions(running):
    running.write("acme", "resolution", "REJECTED")
    running.sync()
    assert running.human("acme")[0] == "REJECTED"
    running.write("acme", "resolution", "PENDING")
    running.sync()
    assert running.human("acme")[0] == "PENDING"


def test_a_value_that_was_changed_here_is_not_turned_back_by_the_old_one_in_the_sheet(running):
    running.set("acme", "resolution", "ACCEPTED")
    result = running.sync()
    assert running.human("acme")[0] == "ACCEPTED"
    assert running.shown("acme", "resolution") == "PENDING"
    assert result.counts["sheet_elsewhere"] == 1
    running.write("acme", "resolution", "REJECTED")
    running.sync()
    assert running.human("acme")[0] == "REJECTED"


def test_feedback_and_notes_can_be_cleared_and_a_resolution_cannot(running):
    running.write("acme", "model_notes", "a")
    running.write("acme", "resolution", "REJECTED")
    running.sync()
    for column in ("model_notes", "resolution"):
        running.write("acme", column, None)
    running.sync()
    assert running.human("acme") == ("REJECTED", "", "")
    assert running.open_alarms() == ["sheet_value/acme/resolution"]


def test_an_unknown_word_is_reported_not_taken_and_left_where_it_is(running):
    running.write("acme", "resolution", "maybe?")
    running.sync()
    assert running.human("acme")[0] == "PENDING"
    assert running.shown("acme", "resolution") == "maybe?"
    assert "must be one of PENDING, IN_PROGRESS" in running.alarm_message("sheet_value")
    running.write("acme", "resolution", "ACCEPTED")
    running.sync()
    assert running.human("acme")[0] == "ACCEPTED"
    assert running.open_alarms() == []


def test_a_row_that_was_deleted_comes_back_as_the_database_knows_it(running):
    running.write("acme", "resolution", "REJECTED")
    running.write("acme", "model_notes", "no")
    running.sync()
    running.sheet.delete_row(running.row_of("acme"))
    running.sync()
    assert (running.shown("acme", "resolution"), running.shown("acme", "model_notes")) == ("REJECTED", "no")
    assert running.sync().counts["sheet_taken"] == 0
    assert running.human("acme") == ("REJECTED", "", "no")


def test_a_row_deleted_while_its_edit_was_being_read_comes_back_with_the_edit(running):
    running.write("acme", "resolution", "REJECTED")
    running.metrics("beta", max_score=1)  # so that there is something to write, and another round

    def delete(name, sheet):
        if name == "write":
            sheet.delete_row(running.row_of("acme"))
            running.book.before = lambda *_: None

    running.book.before = delete
    running.sync()
    assert running.shown("acme", "resolution") == "REJECTED"
    assert running.human("acme")[0] == "REJECTED"
    running.sync()
    assert running.human("acme")[0] == "REJECTED"


def test_the_teams_own_columns_rows_and_order_stay(running):
    running.sheet.insert_column(0)
    running.sheet.move_column(running.sheet.column("model_notes"), 1)
    running.sheet.insert_row(0)
    running.sheet.set(0, 0, "Nuestra lista")
    running.sheet.insert_row(3)
    running.sheet.set(4, 0, "→")
    running.sheet.sort(2, lambda row: str(row[2:3]))
    before = [list(row) for row in running.sheet.cells]
    running.metrics("coil", max_score=1, name="Coil SL")
    assert running.sync().counts["sheet_updated"] == 1
    row, column = running.row_of("coil"), running.sheet.column("max_score")
    assert running.sheet.get(row, column) == 1
    changed = [
        (at, place)
        for at, line in enumerate(running.sheet.cells)
        for place, cell in enumerate(line)
        if cell != (before[at][place] if place < len(before[at]) else None)
    ]
    assert changed == [(row, running.sheet.column("company_name")), (row, column)] or changed == [
        (row, column),
        (row, running.sheet.column("company_name")),
    ]
    assert running.open_alarms() == []


def test_a_spanish_sheet_is_understood(office):
    headers = [
        "Notas",
        "ID empresa",
        "Empresa",
        "RESOLUCIÓN",
        "Puntuación máxima",
        "Ofertas fuertes",
        "Ofertas únicas",
        "Actividad",
        "URL mejor oferta",
        "Categoría principal",
        "Última señal fuerte",
        "Feedback modelo",
    ]
    for at, header in enumerate(headers):
        office.sheet.set(0, at, header)
    office.company("acme", notes="hola")
    office.sync()
    assert office.sheet.cells[1] == [
        "hola",
        "acme",
        "Acme",
        "PENDING",
        5,
        1,
        2,
        3,
        "https://acme.example/1",
        "direct_fx",
        "2023-11-14",
        None,
    ]
    assert office.open_alarms() == []


def test_a_machine_column_that_is_missing_or_doubled_is_an_alarm_and_no_other_column_is_hit(running):
    running.sheet.set(0, running.sheet.column("max_score"), "Score!")
    running.sheet.set(0, len(COLUMNS) + 1, "top_category")
    running.metrics("acme", max_score=1, posting_activity=99, top_category="other")
    before = [list(row) for row in running.sheet.cells]
    running.sync()
    before[1][running.sheet.column("posting_activity")] = 99
    assert running.sheet.cells == before
    assert sorted(running.open_alarms()) == ["sheet_column/max_score", "sheet_column/top_category"]


def test_without_the_column_of_ids_nothing_is_written_and_an_alarm_says_so(running):
    running.sheet.set(0, 0, "")
    running.metrics("acme", max_score=1)
    before = [list(row) for row in running.sheet.cells]
    result = running.sync()
    assert running.sheet.cells == before
    assert "company_id" in result.note
    assert running.open_alarms() == ["sheet_failed/sheet"]
    running.sheet.set(0, 0, "company_id")
    running.sync()
    assert running.open_alarms() == []


def test_rows_of_one_company_that_disagree_say_nothing(running):
    at = running.row_of("acme")
    running.sheet.cells.append(list(running.sheet.cells[at]))
    running.sheet.set(at, running.sheet.column("resolution"), "REJECTED")
    running.metrics("acme", max_score=2)
    for _ in range(2):
        running.sync()
        assert running.human("acme")[0] == "PENDING"
    assert [running.sheet.get(row, running.sheet.column("max_score")) for row in running.rows_of("acme")] == [
        2,
        2,
    ]
    assert sorted(running.open_alarms()) == ["sheet_row/acme", "sheet_value/acme/resolution"]


# --- races: people move things between our check and our write


def once(office, name, act):
    """Do this just before the first request of that name is carried out."""

    def hook(asked, sheet):
        if asked == name:
            office.book.before = lambda *_: None
            act(sheet)

    office.book.before = hook


def test_rows_sorted_under_a_write_end_up_right(running):
    for at, key in enumerate(("acme", "beta", "coil")):
        running.metrics(key, max_score=at + 6)
    running.write("beta", "resolution", "ACCEPTED")
    once(running, "write", lambda sheet: sheet.sort(1, lambda row: [-ord(str(row[0])[0])]))
    running.sync()
    assert [row[:4] for row in running.table()] == [
        ["coil", "Coil", "PENDING", 8],
        ["beta", "Beta", "ACCEPTED", 7],
        ["acme", "Acme", "PENDING", 6],
    ]


def test_a_human_column_moved_to_where_a_metric_was_is_not_written_over(running):
    for key in ("acme", "beta", "coil"):
        running.write(key, "model_notes", f"about {key}")
        running.metrics(key, max_score=10)
    once(
        running,
        "write",
        lambda sheet: sheet.move_column(sheet.column("model_notes"), sheet.column("max_score")),
    )
    running.sync()
    assert [running.shown(key, "model_notes") for key in ("acme", "beta", "coil")] == [
        "about acme",
        "about beta",
        "about coil",
    ]
    assert [running.shown(key, "max_score") for key in ("acme", "beta", "coil")] == [10, 10, 10]


def test_a_mark_that_was_set_while_columns_moved_is_not_used(office):
    office.company("acme")
    for at, column in enumerate(COLUMNS):
        office.sheet.set(0, at, column)
    office.sheet.set(1, 0, "acme")
    office.sheet.set(1, len(COLUMNS) - 1, "a note")

    once(office, "change", lambda sheet: sheet.move_column(len(COLUMNS) - 1, 3))
    office.sync()
    assert office.shown("acme", "model_notes") == "a note"
    assert office.shown("acme", "max_score") == 5
    assert office.sheet.marks[office.sheet.column("model_notes")] == {}


def test_a_header_that_was_hit_by_a_metric_is_written_back(running):
    running.metrics("acme", max_score=10)
    once(running, "write", lambda sheet: sheet.insert_row(0))
    running.sync()
    assert running.shown("acme", "max_score") == 10
    assert running.open_alarms() == []


def test_rows_deleted_under_a_write_end_up_right(running):
    running.sheet.spare_rows = 0
    running.metrics("coil", max_score=10)
    once(running, "write", lambda sheet: sheet.delete_row(running.row_of("acme")))
    running.sync()
    assert {row[0]: row[3] for row in running.table()} == {"acme": 5, "beta": 5, "coil": 10}


def test_a_row_added_while_a_column_moved_is_added_again_and_the_wrong_one_reported(running):
    running.company("dent", resolution="REJECTED")
    once(running, "change", lambda sheet: sheet.move_column(0, 5))
    running.sync()
    assert running.shown("dent", "resolution") == "REJECTED"
    assert running.open_alarms() == ["sheet_row/dent"]
    assert "delete that row" in running.alarm_message("sheet_row")


def test_a_row_added_while_a_human_column_moved_is_not_taken_for_what_a_person_wrote(running):
    running.company("dent", resolution="REJECTED", feedback="FP", notes="do not call")
    once(running, "change", lambda sheet: sheet.move_column(sheet.column("model_notes"), 1))
    running.sync()
    running.sync()
    assert running.human("dent") == ("REJECTED", "FP", "do not call")
    assert [running.shown("dent", column) for column in HUMAN] == ["REJECTED", "FP", "do not call"]
    assert running.open_alarms() == ["sheet_row/dent"]


def test_a_misplaced_row_is_not_taken_even_if_its_id_moves_before_it_is_renamed(running):
    running.company("dent", resolution="REJECTED", feedback="FP", notes="do not call")
    moves = [
        lambda sheet: sheet.move_column(sheet.column("model_notes"), 1),
        lambda sheet: sheet.move_column(0, 3),
    ]

    def hook(name, sheet):
        if name == "change" and moves:
            moves.pop(0)(sheet)

    running.book.before = hook
    running.sync()
    running.sync()
    assert running.human("dent") == ("REJECTED", "FP", "do not call")
    assert [running.shown("dent", column) for column in HUMAN] == ["REJECTED", "FP", "do not call"]


def test_a_row_that_could_not_be_looked_at_is_looked_at_by_the_next_sync(running):
    running.company("dent", resolution="REJECTED", feedback="FP", notes="do not call")
    once(running, "change", lambda sheet: sheet.move_column(sheet.column("model_notes"), 1))
    running.book.fault = lambda name: SheetFault(500) if running.book.log[-1] == "change" else None
    running.sync()
    assert running.open_alarms() == ["sheet_failed/sheet"]
    running.book.fault = lambda _: None
    running.metrics("dent", max_score=10)
    running.sync()
    assert running.human("dent") == ("REJECTED", "FP", "do not call")
    assert [running.shown("dent", column) for column in HUMAN] == ["REJECTED", "FP", "do not call"]


# --- Google in trouble


def faults(office, *plan, only=None):
    """These go wrong, one after the other; then nothing does."""
    left = list(plan)

    def fault(name):
        return left.pop(0) if left and only in (None, name) else None

    office.book.fault = fault


@pytest.mark.parametrize(
    "fault",
    [
        SheetFault(500),
        SheetFault(503, retry_after="7"),
        SheetFault(429),
        SheetFault(429, retry_after="30"),
        SheetFault(cut=True),
        SheetFault(502, applied=True),
    ],
    ids=["500", "503 later", "429", "429 later", "cut", "502 but done"],
)
@pytest.mark.parametrize("name", ["get", "values", "change", "write"])
def test_trouble_is_retried_and_no_row_is_added_twice(running, name, fault):
    running.company("dent")
    running.metrics("acme", max_score=1)
    faults(running, fault, only=name)
    result = running.sync()
    assert sorted(row[0] for row in running.table()) == ["acme", "beta", "coil", "dent"]
    assert running.shown("acme", "max_score") == 1
    assert result.counts["sheet_retries"] == 1
    assert running.open_alarms() == []
    assert running.slept == [float(fault.retry_after or (60 if fault.status == 429 else 2))]


def late(office, name, until):
    """The first request of that name is carried out late: just before the nth of the name `until[0]`. Nobody
    waits for its answer by then."""
    arrives, count = asyncio.Event(), 0
    left = [SheetFault(late=arrives)]

    def fault(asked):
        nonlocal count
        count += asked == until[0]
        if left and asked == name:
            return left.pop()
        if (asked, count) == until:
            arrives.set()
        return None

    office.patience, office.book.fault = 0.2, fault


@pytest.mark.parametrize("until", [("values", 2), ("get", 5), ("get", 6), ("change", 2), ("values", 3)])
def test_a_batch_that_arrives_long_after_it_was_given_up_is_not_added_twice(running, until):
    running.company("dent")
    late(running, "change", until)
    result = running.sync()
    assert result.counts["sheet_retries"] == 1
    assert sorted(row[0] for row in running.table()) == ["acme", "beta", "coil", "dent"]
    assert running.open_alarms() == []


def test_two_syncs_that_add_the_same_company_add_it_once(running):
    """A worker that was given up for dead still has a request on its way while the next one syncs."""
    running.company("dent")

    async def both():
        async with running.context() as first, running.context_at(first.address) as second:
            await asyncio.gather(
                *(
                    sync_sheet(ctx, OPTIONS, by_hand=True, environ=ENVIRON, sleep=ctx.sleep)
                    for ctx in (first, second)
                )
            )

    asyncio.run(both())
    assert sorted(row[0] for row in running.table()) == ["acme", "beta", "coil", "dent"]


def test_only_the_latest_numbers_of_batches_are_kept(office):
    office.settings["queries.sheet.append_batch"] = 1
    for at in range(60):
        office.company(f"c{at}")
    office.sync()
    assert len(office.table()) == 60
    assert len(office.sheet.own_marks) <= 52


def test_all_requests_share_one_budget_and_then_there_is_an_alarm(running):
    running.metrics("acme", max_score=1)
    running.write("beta", "resolution", "REJECTED")
    faults(running, *[SheetFault(500)] * 4, only="write")
    result = running.sync()
    assert running.slept == [2.0, 4.0, 8.0]
    assert running.open_alarms() == ["sheet_failed/sheet"]
    assert "after 3 retries" in result.note
    assert running.human("beta")[0] == "REJECTED"  # what was read is kept
    running.book.fault = lambda _: None
    running.sync()
    assert running.shown("acme", "max_score") == 1
    assert running.open_alarms() == []


def test_a_pause_that_is_too_long_ends_the_sync(running):
    faults(running, SheetFault(429, retry_after="3600"))
    running.sync()
    assert running.slept == []
    assert running.open_alarms() == ["sheet_failed/sheet"]


def test_a_token_that_has_expired_is_renewed(running):
    running.metrics("acme", max_score=1)
    running.book.token_seconds = 0.0
    seen = []

    def fault(name):
        seen.append(name)

    running.book.fault = fault
    result = running.sync()
    assert "share the spreadsheet with" in result.note  # two in a row are refused
    running.book.token_seconds = 3_600

    def expire(name, sheet):
        running.book.before = lambda *_: None
        running.book.tokens.clear()

    running.book.before = expire
    running.sync()
    assert running.shown("acme", "max_score") == 1
    assert running.open_alarms() == []


def test_a_key_that_google_does_not_know_is_an_alarm_that_names_the_account(running):
    def refuse(assertion):
        raise ValueError("Invalid JWT Signature.")

    running.book.verify = refuse
    running.sync()
    assert "thresher@practice.example" in running.alarm_message("sheet_failed")
    assert "PRIVATE KEY" not in running.alarm_message("sheet_failed")


def test_a_quota_is_kept(running):
    running.settings["queries.sheet.per_minute"] = 3
    running.metrics("acme", max_score=1)
    running.book.log.clear()
    running.sync()
    requests = len(running.book.log)
    assert requests > 5
    assert len(running.slept) == requests - 3
    assert all(0 < each <= 60 for each in running.slept)


def test_many_companies_go_in_batches(office):
    for at in range(230):
        office.company(f"c{at:03}")
    office.sync()
    assert office.book.log.count("change") == 1 + 1 + 3  # header, marks, rows
    for at in range(120):
        office.metrics(f"c{at:03}", max_score=1)
    office.book.log.clear()
    assert office.sync().counts["sheet_updated"] == 120
    assert office.book.log.count("write") == 3


def test_cells_that_do_not_keep_what_is_written_end_in_an_alarm(running):
    running.metrics("acme", max_score=1)

    def restore(name, sheet):
        if name == "values":
            sheet.set(1, sheet.column("max_score"), 77)

    running.book.before = restore
    running.sync()
    assert "still does not show" in running.alarm_message("sheet_failed")


# --- when it is synced, and whether


def test_by_day_nothing_is_asked_for_and_the_note_says_when(running):
    running.book.log.clear()
    running.now = 1_700_000_000_000_000  # 22:13 in UTC
    assert running.sync(by_hand=False).note == "the sheet is synced from 2023-11-15T02:00:00.000Z on"
    assert running.book.log == []
    running.now = 1_700_013_600_000_000  # 02:00 in UTC: 03:00 in Madrid
    assert "up to date" in running.sync(by_hand=False).note


def test_a_night_that_ends_ends_the_sync(running):
    for key in ("acme", "beta", "coil"):
        running.metrics(key, max_score=1)
    running.settings["queries.sheet.update_batch"] = 1
    running.now = 1_700_013_600_000_000

    def dawn(name, sheet):
        if name == "write":
            running.now = 1_700_024_400_000_000  # 06:00 in Madrid

    running.book.before = dawn
    result = running.sync(by_hand=False)
    assert result.counts["sheet_updated"] == 1
    assert "night is over" in result.note
    assert running.open_alarms() == []


def test_a_row_added_in_the_last_moment_of_the_night_is_still_looked_at(running):
    running.company("dent", resolution="REJECTED", notes="no")
    running.now = 1_700_013_600_000_000

    def dawn(sheet):
        running.now = 1_700_024_400_000_000
        sheet.move_column(sheet.column("model_notes"), 1)

    once(running, "change", dawn)
    assert "night is over" in running.sync(by_hand=False).note
    assert running.rows_of("dent") == []
    running.sync()
    assert (running.human("dent"), running.shown("dent", "model_notes")) == (("REJECTED", "", "no"), "no")


def test_without_its_variables_the_sheet_is_off(running):
    running.book.log.clear()
    assert running.sync(environ={}).note == "the sheet is off"
    assert (
        running.sync(environ={name: value for name, value in ENVIRON.items() if "ID" in name}).effects == ()
    )
    assert running.book.log == []


def test_other_names_of_columns_and_of_the_tab_are_used(office):
    def error(key, says):
        raise AssertionError(f"{key} {says}")

    options = read_sheet_options({"tab": "It's ours", "headers": {"max_score": "Puntos"}}, error)
    office.company("acme")
    office.sync(options=options)
    sheet = office.book.tab("It's ours")
    assert sheet.get(0, 3) == "Puntos"
    assert sheet.get(1, 3) == 5
    assert OPTIONS.tab not in [each.title for each in office.book.sheets[1:]]
