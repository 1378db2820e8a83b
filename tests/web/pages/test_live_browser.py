"""The script of the pages in a real browser: parts that keep up, what it leaves alone, and the times of the
reader."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, CDPSession, Page, expect, sync_playwright

from tests.apps.roles.http.scraping import World
from tests.apps.roles.http.scraping import world as a_world
from tests.web.pages.visitor import GOOD, with_anna
from thresher.admin import sources
from thresher.admin.admins import list_admins, new_setup
from thresher.admin.logins import log_out
from thresher.admin.settings import set_setting
from thresher.core.clock import monotonic
from thresher.core.event import EventKind
from thresher.fetch.chromium import find
from thresher.store import events
from thresher.store.store import Store
from thresher.web.refresh import refresh

pytestmark = pytest.mark.promise(17)

ZONE = "Asia/Tokyo"
WAIT = 30_000
# A storm of events: so many a second, written in so many transactions, for so long.
EVENTS, TICKS, SECONDS = 1_000, 20, 3
INTERVAL = 0.1  # seconds between two looks of one page


@dataclass
class Desk:
    """A world, and a browser in Tokyo."""

    world: World
    browser: Browser

    def page(self, path: str, **how: object) -> Page:
        page = self.browser.new_context(timezone_id=ZONE, locale="en-GB", **how).new_page()  # type: ignore[arg-type]
        page.set_default_timeout(WAIT)
        page.goto(f"{self.world.url}/login")
        page.fill("#name", "anna")
        page.fill("#password", GOOD)
        page.press("#password", "Enter")
        page.wait_for_url(f"{self.world.url}/")
        page.goto(f"{self.world.url}{path}")
        return page


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    chromium = find()
    if chromium is None:
        pytest.fail("there is no Chromium: run python -m thresher.fetch.chromium")
    with a_world(tmp_path_factory.mktemp("live")) as world:
        with_anna(world)
        set_setting(world.store, "web.live_interval", str(INTERVAL), "test")
        refresh(world.shop)
        sources.add(world.store, "cafe", {})
        sources.add(world.store, "tea", {})
        with sync_playwright() as player:
            browser = player.chromium.launch(executable_path=str(chromium.path), args=["--no-sandbox"])
            yield Desk(world, browser)
            browser.close()


def test_an_open_page_shows_what_somebody_else_has_changed_and_keeps_what_is_typed(desk):
    page = desk.page("/sources/cafe")
    expect(page.locator("#live-state")).to_contain_text("Live, as of", timeout=WAIT)
    page.fill("#pause-reason", "half a sent")
    page.focus("#state a")
    sources.disable(desk.world.store, "cafe", "closed elsewhere")
    expect(page.locator("#state .pill")).to_have_text("disabled", timeout=WAIT)
    expect(page.locator("#events")).to_contain_text("closed elsewhere", timeout=WAIT)
    assert page.input_value("#pause-reason") == "half a sent"
    assert page.evaluate("document.activeElement.closest('#state') !== null"), "the focus stays where it was"
    sources.enable(desk.world.store, "cafe")
    expect(page.locator("#state .pill")).to_have_text("open", timeout=WAIT)
    page.context.close()


def test_a_part_in_which_something_is_selected_is_replaced_when_nothing_is_any_more(desk):
    page = desk.page("/sources")
    expect(page.locator("#live-state")).to_contain_text("Live, as of", timeout=WAIT)
    page.evaluate("document.getSelection().selectAllChildren(document.querySelector('#list td'))")
    page.evaluate("document.querySelector('#list').dataset.mine = 'yes'")
    sources.disable(desk.world.store, "tea", "closed")
    with page.expect_response(lambda told: told.url.endswith("/sources")):
        pass
    page.evaluate("() => new Promise(requestAnimationFrame)")
    assert page.get_attribute("#list", "data-mine") == "yes", "it was not replaced"
    page.evaluate("document.getSelection().removeAllRanges()")
    expect(page.locator("#list .pill.disabled")).to_have_count(1, timeout=WAIT)
    sources.enable(desk.world.store, "tea")
    page.context.close()


def test_what_is_written_into_a_part_stays_when_its_field_is_left(desk):
    world, page = desk.world, desk.page("/sources")
    expect(page.locator("#live-state")).to_contain_text("Live, as of", timeout=WAIT)
    page.evaluate("""() => {
        const field = document.createElement("input");
        field.id = "mine";
        document.querySelector("#list").append(field);
    }""")
    page.fill("#mine", "half a sent")
    page.focus("#times button")
    with page.expect_response(lambda told: told.url.endswith("/sources")):
        sources.disable(world.store, "tea", "closed")
    page.evaluate("() => new Promise(requestAnimationFrame)")
    assert page.input_value("#mine") == "half a sent"
    page.fill("#mine", "")
    page.focus("#times button")
    expect(page.locator("#list .pill.disabled")).to_have_count(1, timeout=WAIT)
    assert page.locator("#mine").count() == 0, "the part was replaced"
    sources.enable(world.store, "tea")
    page.context.close()


def test_the_answer_to_a_form_stands_still_until_it_is_left(desk):
    page = desk.page("/sources/cafe")
    expect(page.locator("#live-state")).to_contain_text("Live, as of", timeout=WAIT)
    page.fill("#rate", "much")
    page.get_by_role("button", name="Change the limits").click()
    expect(page.locator(".notice.bad")).to_be_visible(timeout=WAIT)
    assert page.evaluate("'still' in document.body.dataset")
    expect(page.locator("#live-state")).to_have_text("As of when it was loaded")
    assert page.input_value("#rate") == "much"
    page.context.close()


def test_times_are_those_of_the_reader_and_of_utc_without_a_script(desk):
    sources.pause(desk.world.store, "cafe", 3_600, "tea")
    page = desk.page("/sources/cafe")
    when = page.locator("#state time").first
    # The world stands still in November 2023: a month and more ago stands there as a date.
    expect(when).to_contain_text("15 Nov 2023, 08:13:20", timeout=WAIT)
    assert when.get_attribute("datetime") == "2023-11-14T23:13:20Z"
    expect(page.locator("#times")).to_contain_text(ZONE)
    page.context.close()
    plain = desk.page("/sources/cafe", java_script_enabled=False)
    assert plain.locator("#state time").first.get_attribute("title") == "2023-11-14 23:13:20 UTC"
    assert "UTC" in plain.locator("#times").inner_text()
    assert plain.locator("#live-state").inner_text() == "As of when it was loaded"
    plain.context.close()
    sources.resume(desk.world.store, "cafe")


def test_recent_times_are_relative_with_the_date_at_hand_and_a_button_turns_them_round(desk):
    page = desk.page("/sources")
    page.evaluate("""() => {
        const at = document.createElement("time");
        at.id = "fresh"; at.dateTime = new Date(Date.now() - 3 * 3600 * 1000).toISOString();
        document.querySelector("main").append(at);
    }""")
    button = page.locator("#times button")
    expect(button).to_have_text("Show dates and times")
    button.click()
    expect(button).to_have_text("Show how long ago")
    assert page.locator("#fresh").get_attribute("title") == "3 h ago"
    button.click()
    expect(page.locator("#fresh")).to_have_text("3 h ago")
    assert ":" in (page.locator("#fresh").get_attribute("title") or "")
    page.context.close()


def test_a_thousand_events_a_second_leave_an_open_page_to_its_reader(desk):
    page = desk.page("/events")
    expect(page.locator("#live-state")).to_contain_text("Live, as of", timeout=WAIT)
    line = page.context.new_cdp_session(page)
    line.send("Performance.enable")
    looks: list[str] = []
    page.on("response", lambda told: looks.append(told.url) if told.url.endswith("/events") else None)
    typed = "typed while rows come in, letter by letter"
    began, used = monotonic(), processor_time(line)
    with storm(desk.world.store):
        page.focus("#source")
        page.keyboard.type(typed, delay=1_000 * SECONDS / len(typed))
        # Before the storm is over: no letter is lost, and the field was not left.
        took, used = monotonic() - began, processor_time(line) - used
        assert page.input_value("#source") == typed
        assert page.evaluate("document.activeElement.id") == "source"
        assert 1 <= len(looks) <= took / INTERVAL + 2, "many events are one look"
        assert used < took / 2, "most of the time the page is free for its reader"
    newest = desk.world.rows("select max(id) from events")[0][0]
    expect(page.locator(f"#event-{newest}")).to_have_count(1, timeout=WAIT)
    page.context.close()


@contextmanager
def storm(store: Store) -> Iterator[None]:
    """A thousand events a second for the length of a block, and for some seconds at least."""
    over = threading.Event()

    def write() -> None:
        began, tick = monotonic(), 0
        while tick < TICKS * SECONDS or not over.is_set():
            tick += 1
            with store.write() as session:
                now = store.backend.now(session)
                for _ in range(EVENTS // TICKS):
                    events.record_event(session, EventKind.GATE_RESUMED, now)
            pause.wait(max(0.0, began + tick / TICKS - monotonic()))

    pause, writer = threading.Event(), threading.Thread(target=write, name="storm")
    writer.start()
    try:
        yield
    finally:
        over.set()
        writer.join()


def processor_time(line: CDPSession) -> float:
    """Seconds of a processor that the page's own thread has used, which a busy machine does not make more."""
    found = {each["name"]: each["value"] for each in line.send("Performance.getMetrics")["metrics"]}
    return float(found["ThreadTime"])


def test_a_login_that_ends_elsewhere_is_told_at_the_foot(desk):
    page = desk.page("/sources")
    expect(page.locator("#live-state")).to_contain_text("Live, as of", timeout=WAIT)
    (cookie,) = page.context.cookies()
    log_out(desk.world.store, cookie["value"])
    expect(page.locator("#live-state")).to_contain_text("your login has ended", timeout=WAIT)
    page.context.close()


def test_the_link_of_the_first_start_fills_in_its_token_and_leaves_it_nowhere(desk: Desk, tmp_path):
    with a_world(tmp_path) as world:
        token = new_setup(world.store)
        page = desk.browser.new_context().new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{world.url}/setup#token={token}")
        expect(page.locator("#token")).to_have_value(token or "none was made")
        expect(page).to_have_url(f"{world.url}/setup")
        assert not [url for url in asked if (token or "") in url.partition("#")[0]]
        page.go_back()
        assert page.url == "about:blank", "the address with the token is still in the history"
        page.goto(f"{world.url}/setup#token={token}")
        page.fill("#name", "bea")
        page.fill("#password", GOOD)
        page.fill("#again", GOOD)
        page.press("#again", "Enter")
        page.wait_for_url(f"{world.url}/login**")
        assert [each.name for each in list_admins(world.store)] == ["bea"]
