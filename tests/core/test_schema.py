from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.core.answer import Usage
from thresher.core.errors import UsageError
from thresher.core.evidence import Evidence, Place
from thresher.core.schema import MAX_VALUES, Field, Kind, Schema, values_of

COURSE = Schema(
    "course",
    (
        Field("title", required=True, says="As the catalogue writes it."),
        Field("credits", Kind.NUMBER),
        Field("seats", Kind.INTEGER),
        Field("open", Kind.BOOLEAN),
        Field("topics", many=True),
        Field("level", choices=("beginner", "expert")),
    ),
)
COURSES = Schema("course", COURSE.fields, many=True)


def filled(**changed: Any) -> dict[str, Any]:
    return {
        "title": "Weaving",
        "credits": 2.5,
        "seats": 12,
        "open": True,
        "topics": ["loom", "warp"],
        "level": "expert",
    } | changed


def test_a_value_that_fits_has_no_complaints():
    assert COURSE.complaints(filled()) == []
    assert COURSE.complaints({"title": "Weaving"}) == []
    assert COURSE.complaints(filled(credits=3)) == []


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        (filled(title=None), "title is required and is missing"),
        (filled(title=""), "title is required and is missing"),
        (filled(title=["Weaving"]), "title must be one value, got ['Weaving']"),
        (filled(title=7), "title must be a string, got 7"),
        (filled(credits="2.5"), "credits must be a number, got '2.5'"),
        (filled(credits=True), "credits must be a number, got True"),
        (filled(credits=float("nan")), "credits must be a number, got nan"),
        (filled(seats=1.5), "seats must be an integer, got 1.5"),
        (filled(open="yes"), "open must be a boolean, got 'yes'"),
        (filled(topics="loom"), "topics must be a list, got 'loom'"),
        (filled(topics=["loom", None]), "topics must be a string, got None"),
        (
            filled(topics=["x"] * (MAX_VALUES + 1)),
            f"topics has {MAX_VALUES + 1} values, at most {MAX_VALUES} are allowed",
        ),
        (filled(level="middling"), "level must be one of beginner, expert, got 'middling'"),
        (filled(price=3), "'price' is not a field"),
        ([], "must be an object, got []"),
        (None, "must be an object, got None"),
    ],
)
def test_what_is_wrong_is_said_in_words_that_help(value: Any, complaint: str):
    assert COURSE.complaints(value) == [complaint]


def test_with_several_things_each_complaint_says_which():
    assert COURSES.complaints({"items": [filled(), filled(seats="many")]}) == [
        "item 2: seats must be an integer, got 'many'"
    ]
    assert COURSES.complaints([filled()]) != []
    assert COURSES.things({"items": [filled()]}) == [filled()]


def test_every_field_must_be_there_for_the_vendor_and_nothing_else_may():
    said = COURSES.json_schema()["properties"]["items"]["items"]
    assert said["required"] == [field.name for field in COURSE.fields]
    assert said["additionalProperties"] is False
    assert said["properties"]["title"] == {
        "anyOf": [{"type": "string"}, {"type": "null"}],
        "description": "As the catalogue writes it.",
    }
    assert said["properties"]["topics"] == {"type": "array", "items": {"type": "string"}}


def test_the_digest_changes_with_whatever_would_change_an_answer():
    others = [
        Schema("course", COURSE.fields[1:]),
        Schema("lesson", COURSE.fields),
        COURSES,
        Schema("course", COURSE.fields, key=("title",)),
        Schema("course", (Field("title", says="As the catalogue writes it."), *COURSE.fields[1:])),
        Schema("course", (Field("title", required=True, says="In English."), *COURSE.fields[1:])),
    ]
    assert len({each.digest for each in [COURSE, *others]}) == len(others) + 1
    assert Schema("course", COURSE.fields).digest == COURSE.digest


@pytest.mark.parametrize(
    "make",
    [
        lambda: Field("Title"),
        lambda: Field(""),
        lambda: Field("a" * 65),
        lambda: Field("size", Kind.NUMBER, choices=("1",)),
        lambda: Schema("x", ()),
        lambda: Schema("x", (Field("a"), Field("a"))),
        lambda: Schema("x", (Field("a"),), key=("b",)),
    ],
)
def test_a_schema_that_makes_no_sense_is_refused(make: Any):
    with pytest.raises(UsageError):
        make()


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([f.name for f in COURSE.fields] + ["items"]), inner)
    ),
)


@given(_JSON)
def test_whatever_a_model_says_is_judged_and_never_raises(value: Any):
    for schema in (COURSE, COURSES):
        if not schema.complaints(value):
            for thing in schema.things(value):
                assert thing["title"]
                assert all(isinstance(each, str) for each in values_of(COURSE["topics"], thing))


def test_a_value_without_a_place_is_unverified():
    evidence = Evidence({"title": Place("Weaving", 0, 7), "credits": None})
    assert evidence.verified("title")
    assert not evidence.verified("credits")
    assert not evidence.verified("never said")
    assert list(evidence.unverified()) == ["credits"]


def test_usage_adds_up():
    assert Usage(1, 10, 2) + Usage(1, 5, 3) == Usage(2, 15, 5)
