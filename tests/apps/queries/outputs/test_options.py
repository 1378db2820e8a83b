"""The block `queries.sheet` is read strictly, and says what is wrong with it."""

import pytest

from thresher.apps.queries.outputs.hours import Hours
from thresher.apps.queries.outputs.options import SheetOptions, read_sheet_options
from thresher.core.errors import ConfigError


def error(key: str, says: str) -> ConfigError:
    return ConfigError(f"thresher.yaml:1: {key} {says}")


def test_without_the_block_it_is_the_night_of_madrid():
    assert read_sheet_options(None, error) == SheetOptions(
        Hours(180, 360, "Europe/Madrid"), "Companies", {}, None
    )


def test_everything_can_be_said():
    given = {
        "timezone": "America/New_York",
        "from": "22:30",
        "to": 5,
        "tab": " Leads ",
        "folder": "out",
        "headers": {"max_score": "Puntos"},
    }
    assert read_sheet_options(given, error) == SheetOptions(
        Hours(1_350, 300, "America/New_York"), "Leads", {"max_score": "Puntos"}, "out"
    )


@pytest.mark.parametrize(
    ("said", "minute"), [("3:05", 185), ("03:05", 185), (3.5, 210), (210, 210), ("24:00", 1_440), (0, 0)]
)
def test_times_are_understood_as_people_and_yaml_write_them(said, minute):
    assert read_sheet_options({"from": said, "to": "12:34"}, error).hours.first == minute


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "must be a mapping with the keys"),
        ({"form": "03:00"}, "queries.sheet.form is not a known key"),
        ({"from": "25:00"}, 'must be a time of day such as "03:00"'),
        ({"from": "3h"}, "must be a time of day"),
        ({"from": True}, "must be a time of day"),
        ({"from": 9_999}, "must be a time of day"),
        ({"from": "06:00"}, 'for the whole day write "00:00" and "24:00"'),
        ({"timezone": "Madrid"}, "must be a time zone such as Europe/Madrid"),
        ({"timezone": "../../etc/passwd"}, "must be a time zone"),
        ({"timezone": 3}, "must be a time zone"),
        ({"tab": ""}, "must be one line of 1 to 100 characters"),
        ({"tab": "a\nb"}, "must be one line"),
        ({"headers": {"score": "x"}}, "is not a column; the columns are company_id"),
        ({"headers": {"max_score": "Resolución"}}, "which names another column or none"),
        ({"headers": {"max_score": "A", "top_category": "a "}}, "which names another column or none"),
        ({"headers": {"max_score": "!!"}}, "which names another column or none"),
        ({"headers": ["max_score"]}, "must map columns to their headers"),
    ],
)
def test_a_mistake_is_named(given, words):
    with pytest.raises(ConfigError, match=r"thresher\.yaml:1: queries\.sheet") as caught:
        read_sheet_options(given, error)
    assert words in str(caught.value)
