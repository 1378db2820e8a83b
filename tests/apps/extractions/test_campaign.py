"""Three practice catalogues, detected and extracted by real workers that are killed again and again (`make
chaos` takes all ten, and kills more often)."""

import pytest

from tests.apps.extractions.campaign import extract_all
from tests.harness.databases import Database, with_processes
from thresher.practice.web import CATALOGUES, practice_process

pytestmark = with_processes
SITES = tuple(each for each in CATALOGUES if each.name in ("duplicates", "totals", "api"))


@pytest.mark.promise(1)
@pytest.mark.promise(2)
@pytest.mark.promise(9)
@pytest.mark.promise(14)
def test_every_planted_item_is_extracted_once_however_often_a_worker_is_killed(database: Database, tmp_path):
    url = database.url if database.name == "postgres" else f"sqlite:///{database.url}"
    with practice_process(7) as web:
        verdicts, killed = extract_all(tmp_path, url, SITES, web.url, 5, seed=7, model=True)
    assert [each.site for each in verdicts if not each.is_whole] == []
    assert killed > 0
