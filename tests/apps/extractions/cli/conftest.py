"""The project and the command line of the machine's own tests, with the extractions app."""

from pathlib import Path

import pytest

from tests.apps.extractions.scene import FILE, PROJECT
from tests.cli.conftest import Thresher, folder, thresher
from tests.harness.web import shared_web, web

__all__ = ["folder", "shared_web", "thresher", "web"]


@pytest.fixture
def recipes(folder: Path, thresher: Thresher) -> Thresher:
    """A project with the app, and no database yet."""
    (folder / "recipes_app.py").write_text(FILE)
    (folder / "thresher.yaml").write_text(PROJECT)
    return thresher
