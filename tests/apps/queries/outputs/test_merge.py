"""What follows from a look at a sheet, whatever it looks like."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.queries.outputs.columns import COLUMNS, HUMAN, MACHINE, known_headers, plain_text
from thresher.apps.queries.outputs.merge import Company, column_letters, find_layout, merge, new_row

HEADERS = known_headers({})
NOTHING = dict.fromkeys(HUMAN, "")


def company(key: str, base: dict[str, str] | None = None, score: int = 5, **human: str) -> Company:
    machine = {column: f"{key} {column}" for column in MACHINE} | {"max_score": score}
    return Company(key, machine, {**NOTHING, "resolution": "PENDING", **human}, base)


cells = st.one_of(
    st.none(),
    st.integers(-5, 5),
    st.floats(allow_nan=False),
    st.booleans(),
    st.text(max_size=8),
    st.sampled_from([*COLUMNS, "acme", "beta", "REJECTED", "resolución", "OK", "empresa"]),
)
grids = st.lists(st.lists(cells, max_size=15), max_size=30)


@given(grids, st.permutations(COLUMNS), st.integers(0, 3))
def test_any_sheet_is_merged_and_a_plan_only_writes_machine_cells_of_the_right_rows(grid, columns, above):
    rows = [[] for _ in range(above)] + [list(columns)] + grid
    layout = find_layout(rows, HEADERS)
    assert layout is not None
    companies = [company("acme"), company("beta", base={**NOTHING, "resolution": "PENDING"})]
    plan = merge(companies, rows, layout)
    for update in plan.updates:
        assert layout.key(rows[update.row]) == update.company
        assert update.cells.keys() <= set(MACHINE)
    for take in plan.takes:
        assert take.column in HUMAN
        assert take.value != take.was
    assert set(plan.appends) == {"acme", "beta"} - {layout.key(row) for row in rows[layout.header_row + 1 :]}


@given(grids, st.permutations(COLUMNS))
def test_a_sheet_that_was_written_needs_nothing_more(grid, columns):
    rows = [list(columns), *grid]
    layout = find_layout(rows, HEADERS)
    companies = [company("acme"), company("beta", resolution="REJECTED", model_notes="x")]
    plan = merge(companies, rows, layout)
    for update in plan.updates:
        row = rows[update.row]
        row.extend([None] * (len(columns) - len(row)))
        for column, value in update.cells.items():
            row[layout.columns[column]] = value
    by_key = {each.key: each for each in companies}
    rows += [new_row(by_key[key], layout) for key in plan.appends]
    again = merge(companies, rows, layout)
    assert (again.updates, again.appends) == ((), ())


def test_numbers_and_their_texts_are_the_same():
    rows = [list(COLUMNS), new_row(company("acme"), find_layout([list(COLUMNS)], HEADERS))]
    rows[1][3] = "5"
    assert merge([company("acme")], rows, find_layout(rows, HEADERS)).updates == ()
    rows[1][3] = 5.0
    assert merge([company("acme")], rows, find_layout(rows, HEADERS)).updates == ()


@pytest.mark.parametrize(
    ("shown", "database", "base", "taken"),
    [
        ("REJECTED", "PENDING", None, ["REJECTED"]),  # the first look: the sheet wins
        ("PENDING", "REJECTED", None, ["PENDING"]),
        ("PENDING", "REJECTED", "PENDING", []),  # changed here since
        ("ACCEPTED", "REJECTED", "PENDING", ["ACCEPTED"]),  # changed on both sides: the sheet wins
        ("PENDING", "REJECTED", "REJECTED", ["PENDING"]),  # reopened
        ("rejected ", "PENDING", "PENDING", ["REJECTED"]),
        ("rejected", "REJECTED", "REJECTED", []),
        ("nonsense", "PENDING", "PENDING", []),
        (None, "REJECTED", "REJECTED", []),
    ],
)
def test_which_resolution_counts(shown, database, base, taken):
    known = base and {**NOTHING, "resolution": base}
    each = company("acme", base=known, resolution=database)
    layout = find_layout([list(COLUMNS)], HEADERS)
    row = new_row(each, layout)
    row[2] = shown
    plan = merge([each], [list(COLUMNS), row], layout)
    assert [take.value for take in plan.takes] == taken


def test_column_letters():
    assert [column_letters(at) for at in (0, 25, 26, 701, 702)] == ["A", "Z", "AA", "ZZ", "AAA"]


def test_a_header_has_no_case_no_accents_and_no_punctuation():
    for word in ("Company ID", "company-id", " COMPANY_ID ", "ID Empresa"):
        assert find_layout([[word]], HEADERS) is not None
    assert find_layout([[*string.ascii_letters]], HEADERS) is None


def test_text_is_compared_without_what_nobody_sees():
    assert plain_text(" a\r\nb ") == "a\nb"
    assert (plain_text(5.0), plain_text(True), plain_text(None)) == ("5", "TRUE", "")
