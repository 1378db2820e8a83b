"""The whole way once with a real browser: set up, log in, make a key, use it, revoke it, be refused."""

import re

import pytest
from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from tests.apps.roles.http.scraping import world as a_world
from tests.web.pages.visitor import GOOD
from thresher.admin.admins import new_setup
from thresher.admin.settings import set_setting
from thresher.fetch.chromium import find
from thresher.web.refresh import refresh

PHONE = {"width": 360, "height": 640}


@pytest.mark.promise(17)
def test_a_person_gets_in_makes_a_key_and_takes_it_back_with_a_real_browser(tmp_path):
    chromium = find()
    if chromium is None:
        pytest.fail("there is no Chromium: run python -m thresher.fetch.chromium")
    with a_world(tmp_path) as world, sync_playwright() as player:
        set_setting(world.store, "web.password_cost", "10", "test")
        refresh(world.shop)
        browser = player.chromium.launch(executable_path=str(chromium.path), args=["--no-sandbox"])
        try:
            walk(player, browser, world.url, new_setup(world.store) or "")
        finally:
            browser.close()


def walk(player: Playwright, browser: Browser, url: str, token: str) -> None:
    context = browser.new_context(viewport=PHONE, java_script_enabled=False)  # no page of ours needs a script
    page, refused = context.new_page(), []
    page.on(
        "console",
        lambda message: refused.append(message.text) if "Content Security" in message.text else None,
    )
    set_up(page, url, token)
    log_in(page, url)
    key = make_key(page)
    program = player.request.new_context(extra_http_headers={"X-API-Key": key})
    assert program.get(f"{url}/api/status").status == 200
    look_back(page, key)
    revoke(page)
    assert program.get(f"{url}/api/status").status == 401
    page.click("text=Log out")
    page.wait_for_url(f"{url}/login")
    page.goto(f"{url}/keys")
    assert page.url == f"{url}/login?next=/keys"
    assert refused == [], "our own pages keep to what we tell the browser"


def set_up(page: Page, url: str, token: str) -> None:
    page.goto(url)
    assert page.url == f"{url}/setup"
    for field, value in (("token", token), ("name", "anna"), ("password", GOOD), ("again", GOOD)):
        page.fill(f"#{field}", value)
    page.click("text=Create the first administrator")
    page.wait_for_url(f"{url}/login")


def log_in(page: Page, url: str) -> None:
    page.goto(f"{url}/keys")
    page.fill("#name", "anna")
    page.fill("#password", GOOD)
    page.press("#password", "Enter")
    page.wait_for_url(f"{url}/keys")
    (cookie,) = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    wide = page.locator("html").bounding_box()
    assert wide
    assert wide["width"] <= PHONE["width"], "nothing has to be pushed sideways"


def make_key(page: Page) -> str:
    page.fill("#name", "reader")
    page.uncheck("input[value=scrape]")
    page.check("input[value=read]")
    page.click("text=Create the key")
    key = page.locator(".secret").inner_text().strip()
    assert re.fullmatch(r"thr_[0-9a-f]{12}_[\w-]{43}", key)
    assert key not in page.url
    return key


def look_back(page: Page, key: str) -> None:
    """Neither a reload nor the way back shows it again, and neither makes a second one."""
    page.reload()
    assert "is in use" in page.locator("[role=alert]").inner_text()
    page.goto(page.url)
    page.go_back()
    assert key not in page.content()
    page.goto(page.url)
    assert page.locator("tbody tr").count() == 1


def revoke(page: Page) -> None:
    page.click("td.act a")
    page.click("text=Revoke it")
    page.wait_for_url("**/keys?all=1*")
    assert page.locator("tbody tr .pill").inner_text() == "revoked"
