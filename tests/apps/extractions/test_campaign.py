"""Three practice catalogues, detected and extracted by real workers that are killed again and again (`make
chaos` takes all ten, and kills more often)."""

import pytest

from tests.apps.extractions.campaign import extract_all, unread
from tests.harness.databases import Database, with_processes
from thresher.apps.extractions.app import app
from thresher.apps.extractions.service.recipes import RecipeView
from thresher.practice.web import CATALOGUES, practice_process

SITES = tuple(each for each in CATALOGUES if each.name in ("duplicates", "totals", "api"))
LOST = RecipeView(
    1,
    "acme",
    "https://a.example/",
    "course",
    "ERROR",
    "no list of links was recognised",
    configured=False,
    version=0,
    made_by=None,
    detection=1,
    source="recipe.acme",
    closed_until=None,
    closed_reason=None,
    declared_in="person",
    retired_at=None,
    created_at=0,
    updated_at=0,
)


def test_a_site_that_was_never_extracted_is_not_whole():
    verdict = unread(SITES[0], 7, LOST)
    assert (verdict.items, verdict.missing > 0, verdict.is_whole) == (0, True, False)


@with_processes
@pytest.mark.promise(1)
@pytest.mark.promise(2)
@pytest.mark.promise(9)
@pytest.mark.promise(14)
def test_every_planted_item_is_extracted_once_however_often_a_worker_is_killed(database: Database, tmp_path):
    url = database.address(app)
    with practice_process(7) as web:
        verdicts, killed = extract_all(tmp_path, url, SITES, web.url, 3, seed=7, model=True)
    assert [each.site for each in verdicts if not each.is_whole] == []
    assert killed > 0
