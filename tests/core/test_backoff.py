import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.core.backoff import Backoff
from thresher.core.clock import DAY, HOUR, MINUTE


@pytest.mark.promise(8)
@pytest.mark.parametrize(
    ("failures", "wait"),
    [
        (1, MINUTE),
        (2, 2 * MINUTE),
        (3, 4 * MINUTE),
        (4, 8 * MINUTE),
        (7, 64 * MINUTE),
        (11, 1024 * MINUTE),
        (12, DAY),
        (13, DAY),
        (10_000, DAY),
    ],
)
def test_the_wait_doubles_up_to_a_day(failures, wait):
    assert Backoff(jitter=0).delay_us(failures, luck=0.5) == wait


@pytest.mark.promise(8)
@pytest.mark.parametrize(("luck", "share"), [(0.0, 1.0), (0.5, 0.9), (1.0, 0.8)])
def test_luck_only_shortens_the_wait(luck, share):
    assert Backoff(base_us=HOUR).delay_us(1, luck) == round(HOUR * share)


@given(
    failures=st.integers(1, 10**6),
    luck=st.floats(0, 1, exclude_max=True),
    base=st.integers(0, DAY),
    jitter=st.floats(0, 1),
)
def test_a_wait_is_never_negative_and_never_over_the_cap(failures, luck, base, jitter):
    assert 0 <= Backoff(base_us=base, jitter=jitter).delay_us(failures, luck) <= DAY


@pytest.mark.promise(8)
@pytest.mark.parametrize(("failures", "exhausted"), [(1, False), (3, False), (4, True), (100, True)])
def test_three_retries_and_then_no_more(failures, exhausted):
    assert Backoff(max_retries=3).exhausted(failures) is exhausted


def test_no_retries_means_none():
    assert Backoff(max_retries=0).exhausted(1)
