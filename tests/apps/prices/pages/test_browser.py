"""The pages of the app in a real browser, on a phone and on a desk: nothing is pushed sideways, nothing is
refused by what we tell the browser."""

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.apps.prices.scene import PROJECT, fill
from tests.apps.roles.http.scraping import world as a_world
from tests.harness.console import hear_complaints
from tests.web.pages.visitor import GOOD, with_anna
from thresher.fetch.chromium import find

PAGES = (
    "/prices",
    "/prices/1",
    "/prices/2",
    "/prices/1/points/1",
    "/price-sources",
    "/price-sources/bay",
    "/price-collections",
)


@pytest.mark.promise(17)
def test_every_page_fits_a_phone_and_a_desk_and_shows_its_chart(tmp_path):
    chromium = find()
    if chromium is None:
        pytest.fail("there is no Chromium: run python -m thresher.fetch.chromium")
    with a_world(tmp_path, said=PROJECT) as world, sync_playwright() as player:
        fill(world.store)
        with_anna(world)
        browser = player.chromium.launch(executable_path=str(chromium.path), args=["--no-sandbox"])
        try:
            for width, scheme in ((360, "light"), (1_280, "dark")):
                assert walk(browser, world.url, width, scheme) == []
        finally:
            browser.close()


def walk(browser: Browser, url: str, width: int, scheme: str) -> list[str]:
    """What is wrong with the pages at this width, if anything."""
    context = browser.new_context(
        viewport={"width": width, "height": 640}, color_scheme=scheme, java_script_enabled=False
    )
    page, wrong = context.new_page(), []
    hear_complaints(page, wrong)
    page.goto(f"{url}/login")
    page.fill("#name", "anna")
    page.fill("#password", GOOD)
    page.press("#password", "Enter")
    page.wait_for_url(f"{url}/")
    for path in PAGES:
        page.goto(url + path)
        for part in ("html", "main", *(["table"] if page.locator("table").count() else [])):
            box = page.locator(part).first.bounding_box()
            if part != "table" or width < 900:
                wrong += [f"{path}: {part} is {box['width']} wide"] if box and box["width"] > width else []
    page.goto(f"{url}/prices/1")
    chart = page.locator("svg.chart")
    box = chart.bounding_box()
    wrong += [] if box and box["width"] > width / 2 else ["the chart is not shown"]
    wrong += [] if chart.locator("circle").count() > 10 else ["the chart has no prices"]
    context.close()
    return wrong
