"""The page about the API names every route, every scope and every problem, as the code has them."""

import re

from tests.house.paper import ROOT
from tests.web.conftest import ALL_ROUTES
from thresher.config.settings import SETTINGS
from thresher.web.problem import STATUS

PAGE = ROOT / "docs" / "reference" / "http-api.md"


def row(owner, route) -> str:
    """A route as the page has it. A place in a path is written in capitals, as on the command line."""
    names = {"task_id": "ID", "run_id": "ID", "what": "WHAT"}
    path = re.sub(r"\{(\w+)(?::path)?\}", lambda match: names.get(match[1], match[1].upper()), route.path)
    return f"| `{route.method} {path}` | {route.scope or 'none'} | {owner} | {' '.join((route.endpoint.__doc__ or '').split())} |"


def test_the_page_has_every_route_and_no_other():
    said = [line for line in PAGE.read_text("utf-8").splitlines() if re.match(r"\| `[A-Z]+ /", line)]
    assert said == [row(owner, route) for owner, route in ALL_ROUTES]


def test_the_page_has_every_status_of_our_errors():
    page = PAGE.read_text("utf-8")
    assert [
        kind.__name__ for kind, status in STATUS.items() if f"| {status} | `{kind.__name__}` |" not in page
    ] == ["ThresherError"]


def test_the_page_has_every_setting_of_the_server():
    page = PAGE.read_text("utf-8")
    assert [
        each.name for each in SETTINGS if each.name.startswith("web.") and f"`{each.name}`" not in page
    ] == []
