"""A posting that is seen again: its source is believed, a twin fills gaps, and seeing it twice changes
nothing."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.roles.store.arrivals import seen_again, seen_first

SAID = st.dictionaries(
    st.sampled_from(["title", "salary", "description", "number", "platform", "content"]),
    st.integers(0, 3),
    min_size=1,
)


@given(SAID, SAID, st.booleans())
def test_what_was_seen_once_is_unchanged_the_second_time(
    first: dict[str, Any], second: dict[str, Any], twin: bool
) -> None:
    known = seen_first(first, 5)
    once = seen_again(known, second, 9, twin=twin)
    again = seen_again(once.data, second, 12, twin=twin)
    assert not again.changed
    assert again.data == once.data | {"seen_at": 12}
    assert again.data["first_seen"] == 5


@given(SAID, SAID)
def test_nothing_that_was_known_is_lost(first: dict[str, Any], second: dict[str, Any]) -> None:
    known = seen_first(first, 5)
    assert seen_again(known, second, 9, twin=True).data.items() >= first.items()
    own = seen_again(known, second, 9).data
    assert own.items() >= second.items()
    assert own.keys() >= first.keys()


def test_a_clock_that_went_back_does_not_make_it_older() -> None:
    assert seen_again(seen_first({"title": 1}, 50), {"title": 1}, 40).data["seen_at"] == 50
