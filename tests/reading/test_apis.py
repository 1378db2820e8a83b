"""What every definition of an API shares: where values stand in an answer, and lists that never end."""

import json

import pytest

from thresher.core.errors import InvalidPayload
from thresher.reading.apis.paging import ListPlace, place_of
from thresher.reading.platforms.paths import located, located_field, spelled, values
from thresher.reading.structured.xml import read_xml

ANSWER = {
    "school": {"name": "Acme"},
    "items": [
        {"name": "A", "offices": [{"town": "Bonn"}, {"town": "Köln"}]},
        {"name": "B", "tags": ["x", "y", "x"], "open": True},
    ],
}
ROW = ANSWER["items"][1]


def stands_at(path: str, data: object) -> object:
    """Follow a path of evidence by hand."""
    for step in path.removeprefix("$").replace("[", ".[").split(".")[1:]:
        data = data[int(step[1:-1])] if step.startswith("[") else data[step]  # type: ignore[index]
    return data


@pytest.mark.promise(14)
@pytest.mark.parametrize(
    "path", ["items[].name", "items[].offices[].town", "items[1].tags", "items[1].tags[]", "school.name"]
)
def test_every_value_of_a_path_says_where_it_stands(path):
    found = located(path, ANSWER)
    assert [leaf.value for leaf in found] == values(path, ANSWER) != []
    assert [stands_at(spelled(leaf.trail), ANSWER) for leaf in found] == values(path, ANSWER)


def test_a_path_of_a_row_is_told_from_one_of_the_whole_answer():
    said = located_field({"template": "{^school.name}-{name}"})(ROW, ANSWER)
    assert said is not None
    assert said.text == "Acme-B"
    assert [spelled(part.trail, "$.items[1]") for part in said.parts] == ["$.school.name", "$.items[1].name"]


def test_items_of_a_list_keep_their_places_when_they_are_joined():
    each = located_field({"each": "offices[]", "template": "in {town}"})(ANSWER["items"][0], ANSWER)
    assert each is not None
    assert each.text == "in Bonn; in Köln"
    assert [spelled(part.trail) for part in each.parts] == ["$.offices[0].town", "$.offices[1].town"]


def test_elements_of_xml_that_share_a_name_are_told_apart():
    _, data = read_xml("<list><office><town>Bonn</town></office><office><town>Ulm</town></office></list>")
    assert [spelled(leaf.trail) for leaf in located("office.town", data)] == [
        "$.office[0].town",
        "$.office[1].town",
    ]


@pytest.mark.parametrize("period", [1, 2, 3, 5, 8, 13])
@pytest.mark.parametrize("before", [0, 1, 4, 9])
def test_a_list_that_goes_round_in_a_circle_of_any_length_is_seen(period, before):
    place, pages = ListPlace(""), 0
    for number in range(10_000):
        at = number if number < before else before + (number - before) % period
        keys = [f"row {at}"]
        if place.pages and place.repeats(keys):
            break
        place, pages = place.after(keys, f"cursor {number}"), pages + 1
    assert pages <= 4 * (before + period) + 2


def test_a_list_without_repetition_is_never_taken_for_a_circle():
    place = ListPlace(0)
    for number in range(500):
        assert not (place.pages and place.repeats([str(number)]))
        place = place.after([str(number)], number + 1)
    assert place_of(str(place), 0) == place


def test_a_cursor_of_an_earlier_release_is_understood_and_a_broken_one_refused():
    assert place_of(json.dumps([3, 2, 40, "a", "b"]), 1) == ListPlace(3, 2, 40, "a", "b")
    for broken in (
        "",
        "[]",
        "{}",
        "[1]",
        '[1, 2, 3, "a", "b", 4]',
        '["1", 2, 3, "a", "b", "c", "d"]',
        "[1,-1,0,'','']",
    ):
        with pytest.raises(InvalidPayload, match="cannot be read"):
            place_of(broken, 1)
