"""Somebody who looks for boards on the practice web, and companies to look for."""

import pytest

from tests.apps.jobs.finder import Finder
from tests.engine.workshop import Workshop
from tests.harness.databases import memory_database
from thresher.core.clock import FrozenClock
from thresher.practice.web import Knob, PracticeWeb, Trouble, company
from thresher.practice.web.company import HOSTED, KNOWN, Company, directory

SEED = 7
OF_PLATFORM = {platform: token for token, (_, platform, _) in KNOWN.items() if platform in HOSTED}
API = "boards-api.greenhouse.io"
ACME = "https://job-boards.greenhouse.io/acme"
NO_SITES = Knob(Trouble.NO_SUCH_SITE, host="*.example")


@pytest.fixture
def finder(web: PracticeWeb):
    database = memory_database(FrozenClock())
    shop = Workshop(database)
    yield Finder(shop, web)
    shop.close()
    database.close()


def who(token: str) -> Company:
    return company(SEED, token)


def site(of: Company) -> str:
    return f"https://{of.site}/"


def drawn(fits) -> Company:
    """A company of the practice web that is as wanted."""
    return next(each for each in directory(SEED, 800) if each.token not in KNOWN and fits(each))
