"""The project and the command line of the machine's own tests."""

from tests.cli.conftest import folder, project, queue, thresher

__all__ = ["folder", "project", "queue", "thresher"]
