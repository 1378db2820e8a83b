"""Files of candidates as people make them, and as nobody should."""

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.admin.file_rows import decoded
from thresher.apps.roles.model import Candidate
from thresher.apps.roles.service.intake import COLUMNS, By, Given, Sheet, read_candidate, read_sheet
from thresher.apps.roles.service.roles import RoleWish, read_roles
from thresher.core.errors import InvalidPayload, UsageError

HEADER = "name,title,skills,tech_stack,specializations,experience_years,locations,salary_min,remote\n"
ANNA = 'Anna Berg,Senior Python Developer,Python; SQL;python,Docker;AWS,APIs,7.5,"Berlin, Germany; Remote","85,000",yes\n'


def people(text: str, name: str = "people.csv") -> list[Candidate]:
    return [each.candidate for each in read_sheet(text, name).whole(name).candidates]


def slips(text: str, name: str = "people.csv") -> list[tuple[int, str]]:
    return [(slip.line, slip.why) for slip in read_sheet(text, name).slips]


def test_a_row_becomes_a_candidate_with_everything_it_says():
    (anna,) = people(HEADER + ANNA)
    assert anna == Candidate(
        "anna berg",
        "Anna Berg",
        "Senior Python Developer",
        skills=("Python", "SQL"),
        tech_stack=("Docker", "AWS"),
        specializations=("APIs",),
        experience_years=7.5,
        locations=("Berlin, Germany", "Remote"),
        salary_min=85_000,
        remote=True,
    )


@pytest.mark.promise(13)
def test_what_nobody_said_is_not_known_which_is_not_no():
    (bo,) = people("name,title,experience_years,salary_min,remote,skills\nBo,Welder,,,,\n")
    assert (bo.experience_years, bo.salary_min, bo.remote, bo.skills) == (None, None, None, ())
    assert people("name,remote\nBo,no\n")[0].remote is False


@pytest.mark.parametrize("word", ["yes", "YES", "true", "1", "y"])
def test_a_wish_for_remote_work_is_said_in_many_words(word: str):
    assert people(f"name,remote\nBo,{word}\n")[0].remote is True


def test_a_candidate_is_known_by_id_else_email_else_name():
    rows = "id,email,name\n7,a@x.org,Anna\n,B@X.org,Bo\n,,Zoë  van-Dam\n"
    found = read_sheet(rows, "people.csv").whole("people.csv").candidates
    assert [(each.key, each.by, each.email) for each in found] == [
        ("7", "id", "a@x.org"),
        ("b@x.org", "email", "b@x.org"),
        ("zoe van dam", "name", None),
    ]


@pytest.mark.parametrize("mark", ["", "\N{ZERO WIDTH NO-BREAK SPACE}"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiters_byte_order_marks_and_line_ends_do_not_matter(mark: str, delimiter: str, end: str):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows(
        [
            ["Name", "Title", "Skills"],
            ["Anna", "Data\nEngineer", "SQL;dbt"],
            ["Bo", "Welder, certified", "MIG"],
        ]
    )
    found = people(decoded((mark + out.getvalue()).encode(), "people.csv"))
    assert [(each.name, each.title, each.skills) for each in found] == [
        ("Anna", "Data Engineer", ("SQL", "dbt")),
        ("Bo", "Welder, certified", ("MIG",)),
    ]


def test_a_spreadsheet_of_half_of_europe_is_read_as_it_is_meant():
    text = 'Name;Title;Skills;Experience Years;Locations\r\nJürgen;Welder;"MIG, TIG";7,5;"Köln; Bonn, Germany"\r\n;;;;\r\n" ";;;;\r\n'
    (found,) = people(text)
    assert (found.skills, found.experience_years, found.locations) == (
        ("MIG", "TIG"),
        7.5,
        ("Köln", "Bonn, Germany"),
    )
    assert slips(text) == []


@pytest.mark.parametrize(
    ("cell", "skills"),
    [
        ("a, b", ("a", "b")),
        ("a, b; c", ("a, b", "c")),
        ("Welding (MIG, TIG)", ("Welding (MIG, TIG)",)),
        (" , a,, A ,", ("a",)),
    ],
)
def test_skills_may_have_commas_between_them_where_there_is_no_semicolon(cell: str, skills: tuple[str, ...]):
    (found,) = people(f'name,skills,specializations\nAnna,"{cell}","x, y"\n')
    assert (found.skills, found.specializations) == (skills, ("x, y",))


def test_json_lines_say_the_same():
    lines = [
        {
            "name": "Anna",
            "title": "Welder",
            "skills": ["MIG", "TIG"],
            "experience_years": 3,
            "remote": False,
            "salary_min": 40000,
        },
        {"id": 12, "name": "Bo", "roles": "Fitter; Welder", "locations": None, "remote": "yes"},
    ]
    anna, bo = people("\n".join(map(json.dumps, lines)), "people.jsonl")
    assert (anna.skills, anna.experience_years, anna.remote, anna.salary_min) == (
        ("MIG", "TIG"),
        3,
        False,
        40_000,
    )
    assert (bo.key, bo.role_titles, bo.remote) == ("12", ("Fitter", "Welder"), True)
    assert people("\n".join(map(json.dumps, lines)), "-") == [anna, bo]


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ("Bo,Welder,remote?", "remote must be yes or no"),
        ("Bo,Welder,", None),
        (",Welder,yes", "needs a name"),
        ("??,Welder,yes", "needs a name"),
        ("Bo,Welder,yes,more", "it has 4 cells and the header 3"),
        ("Bo,Welder,yes,", None),
        ('Bo,"Welder,yes', "a quote is not closed"),
        ("Bo,Wel\0der,yes", "title contains a control character"),
        ("Bo,Wel\x1b[31mder,yes", "title contains a control character"),
        (f"Bo,{'W' * 201},yes", "title has 201 characters"),
        (f"Bo,{'W' * 1_000_000},yes", "it has 1,000,007 characters; the limit is 100,000"),
    ],
)
def test_a_bad_row_is_named_with_its_line_and_what_is_wrong(cells: str, why: str | None):
    found = slips(f"name,title,remote\nAnna,Fitter,no\n{cells}\n")
    assert [line for line, _ in found] == ([3] if why else [])
    assert why is None or why in found[0][1]


@pytest.mark.parametrize(
    ("column", "value", "why"),
    [
        ("experience_years", "many", "experience_years must be years"),
        ("experience_years", "-1", "experience_years must be years"),
        ("experience_years", "81", "between 0 and 80"),
        ("experience_years", "1e3", "experience_years must be years"),
        ("experience_years", "nan", "experience_years must be years"),
        ("experience_years", "٣", "experience_years must be years"),
        ("salary_min", "85.000", "salary_min must be a whole number"),
        ("salary_min", "85k", "salary_min must be a whole number"),
        ("salary_min", "85000.50", "salary_min must be a whole number"),
        ("currency", "dollars", "currency must be three letters"),
        ("email", "anna at x", "email must be an address"),
        ("skills", ";".join(map(str, range(201))), "skills has 201 entries"),
        ("roles", ";".join(f"role {at}" for at in range(21)), "roles has 21 entries"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_by_its_column(column: str, value: str, why: str):
    ((line, said),) = slips(f'name,{column}\nAnna,"{value}"\n')
    assert (line, why in said) == (2, True), said


def test_a_row_that_never_ends_costs_one_row():
    text = 'name,title\nAnna,Fitter\nBo,"Welder\n' + "".join(f"Person {at},Fitter\n" for at in range(300))
    sheet = read_sheet(text, "people.csv")
    assert [slip.line for slip in sheet.slips] == [3]
    assert len(sheet.candidates) == 301


@pytest.mark.parametrize(
    ("header", "why"),
    [
        (
            "name,title,favourite colour",
            "there is no column 'favourite_colour'; the columns are id, email, name",
        ),
        ("name,title,title", "the column 'title' appears twice"),
        ("title,skills", "the column name is missing"),
        ("Anna;Berg", "the column"),
    ],
)
def test_a_header_that_cannot_be_used_is_refused_with_the_columns_there_are(header: str, why: str):
    with pytest.raises(UsageError, match=why):
        read_sheet(f"{header}\nAnna,Fitter,x\n", "people.csv")


def test_two_people_of_one_name_are_not_made_one():
    rows = "id,name,title\n,Anna Berg,Fitter\n1,Anna Berg,Welder\n,ANNA  BERG,Nurse\n1,Bo,Cook\n"
    assert slips(rows) == [
        (4, "'ANNA BERG' is also in line 2; if they are two people, give each an id or an email"),
        (5, "'1' is also in line 3; keep one of the two"),
    ]


@pytest.mark.promise(1)
def test_a_file_with_one_bad_line_is_refused_whole_and_every_line_is_named():
    rows = "name,remote\n" + "".join(f"Person {at},{'maybe' if at % 2 else 'yes'}\n" for at in range(100))
    with pytest.raises(UsageError) as refused:
        read_sheet(rows, "people.csv").whole("people.csv")
    assert "people.csv:3: remote must be yes or no" in str(refused.value)
    assert "and 30 more lines. Nothing was added; fix the file, or use --skip-bad" in str(refused.value)


def test_cells_that_look_like_formulas_are_data():
    (eve,) = people('name,title,skills\nEve,"=HYPERLINK(""http://evil.example"")",+1;-2;@x\n')
    assert (eve.title, eve.skills) == ('=HYPERLINK("http://evil.example")', ("+1", "-2", "@x"))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("name\nJosé\n".encode("latin-1"), "people.csv:2: not UTF-8 text"),
        ("name\nAnna\n".encode("utf-16"), "people.csv is UTF-16"),
        (b"PK\x03\x04rest", "people.csv is a workbook"),
    ],
)
def test_a_file_in_another_encoding_is_refused_with_advice(body: bytes, why: str):
    with pytest.raises(InvalidPayload, match=why):
        decoded(body, "people.csv")


@pytest.mark.parametrize("text", ["", "\n\n", "  \n"])
def test_an_empty_file_says_so(text: str):
    with pytest.raises(UsageError, match="is empty"):
        read_sheet(text, "people.csv")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"name": "Bo", "skills": {"a": 1}}', "skills must be text"),
        ('{"name": "Bo", "skills": [["a"]]}', "skills must be text"),
        ('{"name": ["Bo"]}', "name must be text"),
        ('{"name": "Bo", "experience_years": true}', "experience_years must be years"),
        ('{"name": "Bo", "experience_years": NaN}', "it is not JSON"),
        (f'{{"name": "Bo", "salary_min": 1{"0" * 400}}}', "salary_min must be a whole number"),
        ('{"name": "Bo", "remote": []}', "remote must be yes or no"),
        ('{"name": "Bo", "shoe_size": 44}', "there is no field 'shoe_size'"),
        ("[" * 50_000, "it is not JSON"),
        ("[1]", "a line must be one JSON object"),
        ("{", "it is not JSON"),
    ],
)
def test_a_json_line_that_cannot_be_used_says_why(line: str, why: str):
    ((number, said),) = slips(f'{{"name": "Anna"}}\n{line}\n', "people.jsonl")
    assert (number, why in said) == (2, True), said


VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.lists(st.text() | st.integers(), max_size=5)
)


@given(st.dictionaries(st.sampled_from(COLUMNS), VALUES))
def test_whatever_is_said_of_a_candidate_is_read_or_refused(fields: dict):
    try:
        found = read_candidate(fields)
    except UsageError:
        return
    assert found.key
    data = found.record().stored()
    assert json.dumps(data)
    data["name"].encode()
    said = {name: value for name, value in data.items() if name in COLUMNS}
    assert read_candidate(said | ({"id": found.key} if found.by is By.ID else {})) == found


@given(st.text(alphabet=st.sampled_from('name,title;"\n\r\t|{}[]: aZ\x00é')))
def test_whatever_stands_in_a_file_is_read_or_refused(text: str):
    for name in ("x.csv", "x.jsonl", "-"):
        try:
            sheet = read_sheet(text, name)
        except UsageError:
            continue
        assert isinstance(sheet, Sheet)
        assert all(isinstance(each, Given) for each in sheet.candidates)


def test_a_file_of_roles_has_names_aliases_and_priority():
    text = "name,aliases,priority\nPython Developer,Python Engineer; Pythonista ,high\nWelder,,\n"
    assert read_roles(text, "roles.csv") == [
        RoleWish("Python Developer", ("Python Engineer", "Pythonista"), "high"),
        RoleWish("Welder"),
    ]


@pytest.mark.parametrize(
    ("row", "why"),
    [("Welder,,soon", "a priority must be one of"), ("!!,,", "a role's name"), ('W,"x', "a quote")],
)
def test_a_slip_in_a_file_of_roles_refuses_it_with_its_line(row: str, why: str):
    with pytest.raises(UsageError, match=f"roles.csv:3: {why}"):
        read_roles(f"name,aliases,priority\nNurse,,\n{row}\n", "roles.csv")
