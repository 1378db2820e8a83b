"""The pages: recipes, extractions, pages beside their evidence, data sets; and nothing that strangers wrote
ever runs."""

import pytest

from tests.apps.extractions.filled import EVIL, TEXT, fill, task
from tests.apps.extractions.shop import LIST
from tests.web.pages.visitor import with_anna
from thresher.apps.extractions.store.pages import page_fetched
from thresher.store import blobs
from thresher.web.pages.shell import _breakable


@pytest.mark.promise(7)
def test_what_is_empty_says_that_nothing_was_read(world):
    anna = with_anna(world).log_in()
    assert "nothing was read" in anna.see("/recipes")
    assert "nothing was extracted" in anna.see("/datasets")


@pytest.mark.promise(20)
def test_an_extraction_is_shown_with_its_steps_its_pages_and_its_items(world):
    made = fill(world.store)
    anna = with_anna(world).log_in()
    assert f'href="/extractions/{made.extraction}"' in anna.see("/recipes")
    assert "Start an extraction" in anna.see("/recipes/shop")
    shown = anna.see(f"/extractions/{made.extraction}")
    assert "links to items" in shown
    assert f'href="/extractions/{made.extraction}/pages?state=failed"' in shown
    assert "ServerError" in anna.see(f"/extractions/{made.extraction}/pages?state=failed")
    one = anna.see(f"/extractions/{made.extraction}/pages/{made.page}")
    marked = 'It costs 12.50 EUR and is called </bdi><mark title="name"><bdi>Oak Bench</bdi></mark>'
    assert f"\n\n{marked}" in one, "a value is marked where it stands, in the lines of the text"
    assert "description is not found in the page" in one
    assert str(_breakable(LIST)) in one, "where it was found is said by its address"
    assert "Oak Bench" in anna.see(f"/datasets/{made.dataset}")
    assert "Oak Bench" in anna.see(f"/datasets/{made.dataset}?verified=0")
    assert "no such items" in anna.see(f"/datasets/{made.dataset}?verified=1")
    assert "Nothing has changed" in anna.see(f"/datasets/{made.dataset}/diff/{made.dataset}")


PICTURE = b"\x89PNG\r\n\x1a\n a picture"


def test_a_page_is_shown_with_its_screenshot_beside_its_text(world):
    made = fill(world.store)
    picture, text = (blobs.save(world.store, body, task()) for body in (PICTURE, TEXT.encode()))
    said = {
        "extraction": made.extraction,
        "page": made.page,
        "status": "SUCCESS",
        "extraction_status": "SUCCESS",
    }
    told = {"note": None, "final_url": None, "content_type": "text/html", "links": 0, "empty": None}
    bodies = {"content": text, "markdown": text, "screenshot": picture}
    with world.store.write() as session:
        page_fetched(session, {**said, **told, **bodies}, world.store.backend.now(session))
    anna = with_anna(world).log_in()
    where = f"/extractions/{made.extraction}/pages/{made.page}"
    shown = anna.see(where, images=2)
    assert shown.index('class="beside"') < shown.index(f'src="{where}/screenshot"') < shown.index("<mark")
    answer = anna.ask("GET", f"{where}/screenshot")
    assert (answer.body, answer.headers["Content-Type"]) == (PICTURE, "image/png")


def test_nothing_that_a_page_said_is_taken_for_markup(world):
    made = fill(world.store)
    anna = with_anna(world).log_in()
    for path in (
        f"/extractions/{made.extraction}/pages",
        f"/extractions/{made.extraction}/pages/{made.page}",
        f"/extractions/{made.extraction}/pages/{made.broken}",
        f"/datasets/{made.dataset}",
    ):
        assert EVIL not in anna.see(path)


def test_what_is_not_there_is_not_found(world):
    made = fill(world.store)
    anna = with_anna(world).log_in()
    for path in ("/extractions/99", "/extractions/x", "/recipes/nobody", "/datasets/99", "/datasets/nobody"):
        anna.see(path, 404)
    anna.see(f"/extractions/{made.extraction}/pages/{made.page}/screenshot", 404)


def test_an_extraction_is_started_and_cancelled_in_a_browser(world):
    fill(world.store)
    anna = with_anna(world).log_in()
    told = anna.post("/recipes/shop/extract")
    assert told.status == 303
    where = told.headers["Location"]
    assert ">waiting<" in anna.see(where)
    assert anna.post(f"{where}/cancel").status == 303
    assert "cancelled on the dashboard" in anna.see(where)
    assert anna.post(f"{where}/burn").status in (400, 422)
