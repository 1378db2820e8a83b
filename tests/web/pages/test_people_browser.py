"""People and settings in a real browser, on a phone and without a script: an administrator adds an operator,
who changes a setting; and what the log then says."""

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.apps.roles.http.scraping import world as a_world
from tests.web.pages.visitor import GOOD, with_anna
from thresher.fetch.chromium import find

PHONE = {"width": 360, "height": 740}
NEW = "another horse battery"


@pytest.mark.promise(17)
def test_an_administrator_adds_an_operator_who_changes_a_setting_and_the_log_says_so(tmp_path):
    chromium = find()
    if chromium is None:
        pytest.fail("there is no Chromium: run python -m thresher.fetch.chromium")
    with a_world(tmp_path) as world, sync_playwright() as player:
        url = with_anna(world).url
        browser = player.chromium.launch(executable_path=str(chromium.path), args=["--no-sandbox"])
        try:
            anna = logged_in(browser, url, "anna", GOOD)
            password = add_operator(anna, url)
            otto = logged_in(browser, url, "otto", password)
            change_setting(otto, url)
            change_password(otto, url, password)
            logged_in(browser, url, "otto", NEW)
            read_log(anna, url)
        finally:
            browser.close()


def logged_in(browser: Browser, url: str, name: str, password: str) -> Page:
    page = browser.new_context(viewport=PHONE, java_script_enabled=False, color_scheme="dark").new_page()
    page.goto(f"{url}/login")
    page.fill("#name", name)
    page.fill("#password", password)
    page.press("#password", "Enter")
    page.wait_for_url(f"{url}/")
    return page


def fits(page: Page) -> None:
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= PHONE["width"], f"{page.url} has to be pushed sideways"


def add_operator(page: Page, url: str) -> str:
    page.click("nav >> text=Admin")
    page.click("nav >> text=People")
    fits(page)
    page.fill("#name", "otto")
    page.check("input[value=operator]")
    page.press("#name", "Enter")
    password = page.locator(".secret").inner_text().strip()
    page.click("text=I have copied it")
    page.wait_for_url(f"{url}/people")
    assert page.locator("tbody tr").count() == 2
    return password


def change_setting(page: Page, url: str) -> None:
    page.goto(f"{url}/settings")
    fits(page)
    assert page.locator("nav >> text=People").count() == 0
    page.fill("#find", "first failure")
    page.press("#find", "Enter")
    page.click("text=retry.base")
    fits(page)
    page.fill("#value", "a lot")
    page.press("#value", "Enter")
    assert "must be a number" in page.locator("[role=alert]").inner_text()
    assert page.input_value("#value") == "a lot"
    page.fill("#value", "90")
    page.press("#value", "Enter")
    page.wait_for_url(f"{url}/settings/retry.base")
    assert "90 seconds" in page.locator("#now").inner_text()
    assert "operator otto" in page.locator("#history").inner_text()


def change_password(page: Page, url: str, old: str) -> None:
    page.click("a.who")
    fits(page)
    for field, value in (("old", old), ("new", NEW), ("again", NEW)):
        page.fill(f"#{field}", value)
    page.press("#again", "Enter")
    page.wait_for_url(f"{url}/account?changed=1")
    page.goto(f"{url}/people")
    assert "needs the role admin" in page.locator("main").inner_text()


def read_log(page: Page, url: str) -> None:
    page.goto(f"{url}/audit")
    fits(page)
    said = page.locator("code.asked").all_inner_texts()
    assert said[-1] == "POST /people name='otto' role='operator'"
    assert "POST /settings/retry.base value='90'" in said
    assert not any("a lot" in each for each in said), "what was refused has changed nothing"
