"""The visitors of the machine's own tests."""

from tests.web.pages.conftest import anna, passer_by, standing_world, world

__all__ = ["anna", "passer_by", "standing_world", "world"]
