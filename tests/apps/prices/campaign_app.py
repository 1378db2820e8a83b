"""The prices app as the workers of a campaign have it: search sources ask for JSON pages."""

from tests.apps.prices.paged import NAME
from thresher.apps.prices.adapters.known_adapters import ADAPTERS
from thresher.apps.prices.app import app
from thresher.apps.prices.model import Adapter

ADAPTERS[Adapter.SEARCH] = NAME

__all__ = ["app"]
