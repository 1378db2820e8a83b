"""A served project with the extractions app, on each database."""

from tests.apps.extractions.http.conftest import world

__all__ = ["world"]
