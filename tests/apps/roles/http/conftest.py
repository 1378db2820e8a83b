"""The servers of the machine's own tests."""

from tests.web.conftest import api, shop, standing, stranger

__all__ = ["api", "shop", "standing", "stranger"]
