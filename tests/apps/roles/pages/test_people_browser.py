"""The pages of the app in a real browser, on a phone and on a desk: every action is done by its buttons,
nothing is pushed sideways, and nothing is refused by what we tell the browser."""

from concurrent.futures import Executor, ThreadPoolExecutor

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.apps.roles.http.scraping import World, job
from tests.apps.roles.http.scraping import world as a_world
from tests.apps.roles.pages.test_people import BERTA, market
from tests.harness.console import hear_complaints
from tests.web.pages.visitor import GOOD, with_anna
from thresher.admin.records import maybe
from thresher.apps.roles.service import platforms
from thresher.apps.roles.service.roles import find
from thresher.apps.roles.service.scrapes import list_sessions
from thresher.fetch import chromium

PAIR = "/candidates/matches?candidate=berta%40example.com&posting=indeed%2F1"
PAGES = (
    "/candidates",
    "/candidates/berta@example.com",
    "/candidates/matches?candidate=berta%40example.com",
    PAIR,
    "/roles",
    "/roles/1",
    "/scrapers",
)


@pytest.mark.promise(17)
def test_every_action_is_done_by_its_buttons_and_every_page_fits(tmp_path):
    found = chromium.find()
    if found is None:
        pytest.fail("there is no Chromium: run python -m thresher.fetch.chromium")
    with a_world(tmp_path) as world, ThreadPoolExecutor(1) as aside, sync_playwright() as player:
        # Scrapers speak HTTP on a thread of their own: the browser has this one.
        aside.submit(lambda: market(world, with_anna(world).log_in())).result()
        world.role("Cook", 2)
        platforms.save(world.store, "dice", {"every": "1h"})
        browser = player.chromium.launch(executable_path=str(found.path), args=["--no-sandbox"])
        try:
            assert walk(browser, world.url, 1_280, "dark") == []
            act(browser, world, aside)
            assert walk(browser, world.url, 360, "light") == []
        finally:
            browser.close()


def log_in(browser: Browser, url: str, wrong: list[str], **how: object) -> Page:
    page = browser.new_context(**how).new_page()  # type: ignore[arg-type]
    hear_complaints(page, wrong)
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    page.goto(f"{url}/login?next=/candidates")
    page.fill("#name", "anna")
    page.fill("#password", GOOD)
    page.press("#password", "Enter")
    page.wait_for_url(f"{url}/candidates")
    return page


def walk(browser: Browser, url: str, width: int, scheme: str) -> list[str]:
    """What is wrong with the pages at this width, without a script, if anything."""
    wrong: list[str] = []
    size = {"width": width, "height": 640}
    page = log_in(browser, url, wrong, viewport=size, color_scheme=scheme, java_script_enabled=False)
    for path in PAGES:
        page.goto(url + path)
        for part in ("html", "main"):
            box = page.locator(part).first.bounding_box()
            wrong += [f"{path}: {part} is {box['width']} wide"] if box and box["width"] > width else []
    page.context.close()
    return wrong


def act(browser: Browser, world: World, aside: Executor) -> None:
    """Everything that can be done on these pages, each once, with the script that keeps them up to date."""
    wrong: list[str] = []
    page, url, store = log_in(browser, world.url, wrong), world.url, world.store
    for name, value in {**BERTA, "name": "Otto Reed", "email": "otto@example.com"}.items():
        page.fill(f"#{name}", value)
    page.get_by_role("button", name="Add the candidate").click()
    page.wait_for_url(f"{url}/candidates/otto*")
    page.get_by_role("button", name="Remove…").click()
    page.get_by_role("button", name="Remove for good").click()
    page.wait_for_url(f"{url}/candidates")
    assert maybe(store, "candidate", "otto@example.com") is None
    page.fill("#file", "name,email,roles\nEve Sand,eve@example.com,Cook\nIda Rock,ida@example.com,Cook\n")
    page.get_by_role("button", name="Add them all").click()
    page.get_by_text("2 candidates of the file").wait_for()

    page.goto(url + PAIR)
    page.check("input[value=shortlisted]")
    page.fill("#note", "call her")
    page.get_by_role("button", name="Save").click()
    page.wait_for_load_state()
    assert page.locator("#note").input_value() == "call her"

    cook = find(store, "Cook").id
    page.goto(f"{url}/roles/{cook}")
    page.select_option("#priority", "urgent")
    page.get_by_role("button", name="Set the priority").click()
    page.wait_for_load_state()
    page.fill("#rename", "Ship Cook")
    page.get_by_role("button", name="Rename…").click()
    page.get_by_role("button", name="Rename", exact=True).click()
    page.get_by_role("heading", name="Ship Cook").wait_for()
    page.fill("#split", "Galley Chief")
    page.get_by_role("button", name="Split…").click()
    page.get_by_role("button", name="Split", exact=True).click()
    page.get_by_role("heading", name="Galley Chief").wait_for()
    page.fill("#into", "Ship Cook")
    page.get_by_role("button", name="Merge…").click()
    page.get_by_role("button", name="Merge", exact=True).click()
    page.get_by_role("heading", name="Ship Cook").wait_for()
    assert find(store, "Galley Chief").id == cook
    page.get_by_role("button", name="Reject").click()
    page.get_by_role("button", name="Approve").click()
    page.get_by_role("button", name="Reject").wait_for()
    assert find(store, "Cook").status == "pending"

    north = world.scraper("north")
    held = aside.submit(north.claim).result()
    page.goto(f"{url}/scrapers")
    page.get_by_role("button", name="End the session").click()
    page.wait_for_load_state()
    assert list_sessions(store)["sessions"][0].status == "failed"
    aside.submit(lambda: north.say("/jobs", held, 409, jobs=[job(1)])).result()
    page.goto(f"{url}/scrapers")
    page.get_by_role("button", name="Pause for 6 hours").click()
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("button", name="Pause for 6 hours").wait_for()
    page.get_by_role("button", name="Drop", exact=False).first.click()
    page.get_by_role("button", name="Drop them").click()
    page.get_by_text("Nothing that arrived too late").wait_for()
    page.context.close()
    assert wrong == [], "no page ran what a stranger wrote, or what we do not allow"
