"""Attacks on promise 14 and 15: layouts change, and a learned extractor must not say anything wrong, nor keep
silent about it."""

import pytest

from tests.learning.sites import CHANGES, LAYOUTS, SHELF, TOOLS, Knobs, Layout, example, page
from thresher.learning.extractor import Extractor
from thresher.learning.learn import learn
from thresher.learning.read import Reading, read

LAYOUT_NAMES = [layout.__name__ for layout in LAYOUTS]


def learned(layout: Layout) -> Extractor:
    found = learn(TOOLS, [example(layout, tool) for tool in SHELF[:3]])
    assert isinstance(found, Extractor)
    return found


def wrong(reading: Reading, labels: dict[str, str]) -> dict[str, object]:
    return {name: value for name, value in reading.values.items() if value != labels[name]}


def lost(reading: Reading, before: Reading) -> set[str]:
    return set(before.values) - set(reading.values)


@pytest.mark.parametrize("layout", LAYOUTS, ids=LAYOUT_NAMES)
def test_unseen_pages_of_the_same_layout_are_read_whole(layout: Layout) -> None:
    extractor = learned(layout)
    for tool in SHELF[3:]:
        assert read(extractor, page(layout, tool)).values == tool.labels()


@pytest.mark.promise(14)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("layout", LAYOUTS, ids=LAYOUT_NAMES)
def test_no_change_of_layout_makes_a_wrong_value(layout: Layout, change: str) -> None:
    extractor = learned(layout)
    for tool in SHELF:
        assert wrong(read(extractor, page(layout, tool, CHANGES[change])), tool.labels()) == {}


@pytest.mark.promise(15)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("layout", LAYOUTS, ids=LAYOUT_NAMES)
def test_whatever_is_read_no_more_is_reported_as_drift(layout: Layout, change: str) -> None:
    extractor = learned(layout)
    for tool in SHELF:
        before, after = (
            read(extractor, page(layout, tool)),
            read(extractor, page(layout, tool, CHANGES[change])),
        )
        unreported = lost(after, before) - after.drifting
        assert not unreported or any(drift.field is None for drift in after.drifts)


@pytest.mark.promise(14)
@pytest.mark.parametrize(
    "layout", [layout for layout in LAYOUTS if layout.__name__ == "boxes"], ids=["boxes"]
)
def test_values_that_stand_under_each_others_names_are_told_by_their_look(layout: Layout) -> None:
    """A price in the place of a date, a weight in the place of a price."""
    extractor = learned(layout)
    for tool in SHELF:
        reading = read(extractor, page(layout, tool, Knobs(shifted=True)))
        assert "price" not in reading.values
        assert {"price", "released"} <= reading.drifting
