"""A served project with the queries app, on each database."""

from tests.apps.queries.http.conftest import world

__all__ = ["world"]
