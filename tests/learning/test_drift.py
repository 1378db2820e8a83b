"""Coverage: when single drifts become a reason to learn a site again."""

from thresher.learning.drift import Coverage, falling


def counted(values: int, drifts: int, pages: int) -> Coverage:
    return Coverage(pages, values, drifts)


def test_a_field_that_is_read_as_ever_is_no_reason() -> None:
    assert falling(1.0, counted(98, 2, 100)) is None


def test_a_few_pages_say_nothing() -> None:
    assert falling(1.0, counted(0, 10, 10)) is None


def test_many_pages_that_no_longer_read_are_a_reason() -> None:
    assert falling(1.0, counted(70, 30, 100)) == "30 of the last 100 pages can no longer be read as learned"


def test_an_optional_field_that_all_but_vanishes_is_a_reason() -> None:
    assert falling(0.5, counted(48, 0, 100)) is None
    assert falling(0.5, counted(12, 0, 100)) == "12 of the last 100 pages have a value; before it was 50%"


def test_counts_only_grow() -> None:
    assert Coverage().counted(value=True, drift=False).counted(value=False, drift=True) == Coverage(2, 1, 1)
