"""One practice web for all tests of a module; each finds it as new."""

from collections.abc import Iterator

import pytest

from thresher.practice.web import PracticeWeb


@pytest.fixture(scope="module")
def shared_web() -> Iterator[PracticeWeb]:
    with PracticeWeb(seed=7) as web:
        yield web


@pytest.fixture
def web(shared_web: PracticeWeb) -> PracticeWeb:
    shared_web.reset()
    return shared_web
