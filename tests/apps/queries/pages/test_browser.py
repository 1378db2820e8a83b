"""The pages of the app in a real browser, on a phone and on a desk: nothing is pushed sideways, nothing is
refused by what we tell the browser."""

import pytest
from playwright.sync_api import Browser, StorageState, sync_playwright

from tests.apps.queries.scene import PROJECT, fill
from tests.apps.roles.http.scraping import world as a_world
from tests.harness.console import hear_complaints
from tests.web.pages.visitor import GOOD, with_anna
from thresher.apps.queries.service.signals import show_company
from thresher.fetch.chromium import find

WIDTHS = ((360, "light"), (800, "dark"), (920, "light"), (1_200, "light"), (1_280, "dark"))
PAGES = ("/queries", "/queries/docks", "/signals", "/signals/acme.example", "/alarms")


@pytest.mark.promise(17)
def test_every_page_fits_a_phone_and_a_desk_and_a_decision_is_made_there(tmp_path):
    chromium = find()
    if chromium is None:
        pytest.fail("there is no Chromium: run python -m thresher.fetch.chromium")
    with a_world(tmp_path, said=PROJECT) as world, sync_playwright() as player:
        fill(world.store, note="x" * 400)
        with_anna(world)
        browser = player.chromium.launch(executable_path=str(chromium.path), args=["--no-sandbox"])
        try:
            login, wrong = log_in(browser, world.url), list[str]()
            for width, scheme in WIDTHS:
                wrong += walk(browser, login, world.url, width, scheme)
        finally:
            browser.close()
        assert not wrong, "\n".join(wrong)
        found = show_company(world.store, "acme.example").company
        assert (found.resolution, found.feedback, found.notes) == ("REJECTED", "FP", "no\ntwo lines")


def log_in(browser: Browser, url: str) -> StorageState:
    """Anna's login, as every browser may bring it."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{url}/login")
    page.fill("#name", "anna")
    page.fill("#password", GOOD)
    page.press("#password", "Enter")
    page.wait_for_url(lambda at: "/login" not in at)
    login = context.storage_state()
    context.close()
    return login


def walk(browser: Browser, login: StorageState, url: str, width: int, scheme: str) -> list[str]:
    """What is wrong with the pages at this width, if anything."""
    context = browser.new_context(
        viewport={"width": width, "height": 640},
        color_scheme=scheme,
        java_script_enabled=False,
        storage_state=login,
    )
    page, wrong = context.new_page(), []
    hear_complaints(page, wrong)
    for path in PAGES:
        page.goto(url + path)
        for part in ("html", "main"):
            box = page.locator(part).bounding_box()
            wrong += [f"{path}: {part} is {box['width']} wide"] if box and box["width"] > width else []
        for sheet in page.locator(".sheet").all():
            table = sheet.locator("table").bounding_box()
            room = sheet.bounding_box()
            if table and room and table["width"] > room["width"]:
                wrong.append(f"{path} at {width}: a table of {table['width']} in {room['width']}")
    page.goto(f"{url}/signals/acme.example")
    page.select_option("#resolution", "REJECTED")
    page.select_option("#feedback", "FP")
    page.fill("#notes", "no\ntwo lines")
    page.click("text=Save")
    page.wait_for_url(f"{url}/signals/acme.example")
    context.close()
    return wrong
