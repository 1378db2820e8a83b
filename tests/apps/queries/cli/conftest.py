"""The project and the command line of the machine's own tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.apps.queries.harbour import DEFINITION
from tests.apps.queries.scene import fill
from tests.cli.conftest import Thresher, folder, thresher
from thresher.apps.queries.service.queries import QueryView
from thresher.config.project import read_project
from thresher.runtime import opened_runtime
from thresher.store.store import Store

__all__ = ["folder", "thresher"]


@pytest.fixture
def queries(folder: Path, thresher: Thresher) -> Thresher:
    """A project with a client of its own, and no database yet."""
    (folder / "thresher.yaml").write_text("apps: [queries]\n")
    (folder / "clients").mkdir()
    (folder / "clients" / "harbour.yaml").write_text(DEFINITION)
    return thresher


@pytest.fixture
def store(queries: Thresher, folder: Path) -> Iterator[Store]:
    with opened_runtime(f"sqlite:///{folder / 'thresher.db'}", read_project(folder)) as runtime:
        yield runtime.store


@pytest.fixture
def docks(store: Store) -> QueryView:
    """A query that has run, and what it found."""
    return fill(store)
