"""The pages: recipes, extractions, pages beside their evidence, data sets; and nothing that strangers wrote
ever runs."""

import re
from html import unescape

import pytest

from tests.apps.extractions.filled import EVIL, TEXT, fill, task
from tests.apps.extractions.shop import LIST
from tests.web.pages.visitor import with_anna
from thresher.apps.extractions.model import PageType, StepKind
from thresher.apps.extractions.store.pages import add_pages, page_fetched, page_skipped, page_unread, to_rows
from thresher.apps.extractions.walking.branch import NewPage
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


@pytest.mark.promise(20)
def test_every_count_of_a_step_leads_to_as_many_pages(world):
    made = fill(world.store)
    failure = {"error": "Unreadable", "message": "it has no data", "stage": "read"}
    with world.store.write() as session:
        now = world.store.backend.now(session)
        told = {"extraction": made.extraction, "page": "unread", "failure": failure, "task": 1}
        found = [NewPage(name, f"{LIST}/{name}", 2, StepKind.LINKS, 1, PageType.DETAIL) for name in NAMES]
        add_pages(session, {"extraction": made.extraction, "pages": to_rows(found)}, now)
        page_skipped(session, {**told, "page": "left", "note": "the list ends before it"}, now)
        page_unread(session, told, now)
    anna = with_anna(world).log_in()
    where = f"/extractions/{made.extraction}/pages"
    shown = anna.see(f"/extractions/{made.extraction}")
    counts = dict(re.findall(rf'href="{where}\?(step=[^"]*)">([0-9]+)', shown))
    assert counts == {
        "step=0": "1",
        "step=0&amp;state=succeeded": "1",
        "step=2": "5",
        "step=2&amp;state=waiting": "2",
        "step=2&amp;state=succeeded": "1",
        "step=2&amp;state=fetch_failed": "1",
        "step=2&amp;state=skipped": "1",
        "step=2&amp;state=read": "1",
        "step=2&amp;state=read_failed": "1",
    }
    for query, number in counts.items():
        rows = anna.see(f"{where}?{unescape(query)}").count('role="rowheader"')
        assert rows == int(number), query
    assert "Step 0 of this extraction has no page that is in the state <b>skipped</b>" in anna.see(
        f"{where}?step=0&state=skipped"
    )
    assert "Step 7 of this extraction has no page." in anna.see(f"{where}?step=7")
    assert f'href="{where}?step=2&amp;state=read"' in anna.see(f"{where}?step=2"), "a state keeps the step"
    assert "step must be a whole number" in anna.see(f"{where}?step=two", 400)


NAMES = ("left", "new", "unread")
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
