"""A mail server and a web hook, and the command line in a project's folder."""

from collections.abc import Iterator

import pytest

from tests.cli.conftest import folder, project, queue, thresher
from tests.notify.post import Hook, Mailbox

__all__ = ["folder", "project", "queue", "thresher"]


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    found = Mailbox()
    yield found
    found.close()


@pytest.fixture
def hook() -> Iterator[Hook]:
    found = Hook()
    yield found
    found.close()
