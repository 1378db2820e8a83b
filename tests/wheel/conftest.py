"""One wheel and one environment for a whole run of the tests, however many processes run them."""

import os
from pathlib import Path

import pytest

from tests.house.paper import ROOT
from tests.wheel.environment import Environment, build, first_of_all, make_environment

TIDES = Path(__file__).parent / "tides"


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all test processes of this run have in common."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "wheel"


@pytest.fixture(scope="session")
def wheel(shared: Path) -> Path:
    with first_of_all(shared / "built") as is_first:
        if is_first:
            build(ROOT, shared / "built" / "thresher")
    (found,) = (shared / "built" / "thresher").glob("*.whl")
    return found


@pytest.fixture(scope="session")
def tides(shared: Path) -> Path:
    """The wheel of an app that nobody in Thresher knows."""
    with first_of_all(shared / "tides") as is_first:
        if is_first:
            build(TIDES, shared / "tides" / "built")
    (found,) = (shared / "tides" / "built").glob("*.whl")
    return found


@pytest.fixture(scope="session")
def installed(shared: Path, wheel: Path) -> Environment:
    """The product, installed. Nobody may change it."""
    with first_of_all(shared / "installed") as is_first:
        if is_first:
            make_environment(shared / "installed" / "environment", wheel)
    return Environment(shared / "installed" / "environment")
