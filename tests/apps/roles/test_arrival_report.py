"""How a look ended, by what the scraper says and what it has to show: nothing found is never taken for
nothing there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.roles.report import SAID, Report, conclude, says_nothing
from thresher.apps.roles.turns import Verdict
from thresher.core.errors import InvalidPayload

NAMES = ("dice", "indeed", "monster")


@pytest.mark.promise(7)
@given(
    st.sampled_from([None, *SAID]),
    st.dictionaries(st.sampled_from(NAMES), st.sampled_from(SAID)),
    st.sampled_from([None, *NAMES]),
    st.booleans(),
    st.sets(st.sampled_from(NAMES)),
    st.dictionaries(st.sampled_from(NAMES), st.integers(0, 3)),
)
def test_only_postings_or_an_explicit_empty_end_a_look(
    verdict, verdicts, platform, complete, held, seen
) -> None:  # type: ignore[no-untyped-def]
    report = Report("s", platform, complete, verdict, verdicts)
    try:
        found = conclude(report, NAMES, held, seen)
    except InvalidPayload:
        return
    for name, each in found.verdicts.items():
        assert each is not Verdict.FOUND or seen.get(name)
        assert each is not Verdict.EMPTY or not seen.get(name)
        told = platform == name or len(held) < 2
        assert (
            each is not Verdict.EMPTY
            or verdicts.get(name) is Verdict.EMPTY
            or (verdict is Verdict.EMPTY and told)
        )
    assert (found.verdict is None) is not complete
    if complete:
        assert set(found.verdicts) == held
        assert found.verdict is not Verdict.FOUND or sum(seen.values())


def test_without_platforms_the_session_is_one_look() -> None:
    assert conclude(Report("s"), (), [""], {"dice": 2}).verdicts == {"": Verdict.FOUND}
    assert conclude(Report("s"), (), [""], {}).verdicts == {"": Verdict.UNKNOWN}
    assert conclude(Report("s", verdict=Verdict.BLOCKED), (), [""], {"dice": 2}).verdicts == {
        "": Verdict.BLOCKED
    }
    assert conclude(Report("s", verdict=Verdict.EMPTY), (), [""], {}).verdict is Verdict.EMPTY


@pytest.mark.parametrize(
    "says",
    ["No jobs found", "0 results", "We couldn't find any jobs matching your search", "Keine Ergebnisse"],
)
def test_a_page_that_says_there_is_nothing_is_understood(says: str) -> None:
    assert says_nothing(says)


@pytest.mark.parametrize("says", ["", "Welcome", "25 jobs found", "<h1>", "no", "x" * 5_000])
def test_a_page_that_says_something_else_proves_nothing(says: str) -> None:
    assert not says_nothing(says)
