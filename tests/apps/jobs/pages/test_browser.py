"""The pages of the app in a real browser, on a phone and on a desk: every action is done by its buttons,
nothing is pushed sideways, and nothing is refused by what we tell the browser."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.apps.jobs.cli.project import board
from tests.apps.jobs.pages.scene import fill
from tests.apps.jobs.weeks import small
from tests.apps.roles.http.scraping import World
from tests.harness.console import hear_complaints
from tests.harness.tables import TABLES
from tests.web.conftest import served
from tests.web.pages.visitor import GOOD, with_anna
from thresher.admin.records import maybe, write_records
from thresher.admin.settings import show_setting
from thresher.admin.tasks import list_tasks
from thresher.apps.jobs.service.boards import find_board
from thresher.apps.jobs.service.postings import set_profile
from thresher.config.project import read_project
from thresher.core.clock import FrozenClock
from thresher.fetch.chromium import find
from thresher.practice.web import PracticeWeb
from thresher.runtime import opened_runtime

PROJECT = """apps: [jobs]
fetch: {{contact: me@example.com, resolve: {{"*": "{web}"}}, allow: ["127.0.0.1:{port}"]}}
settings: {{web.rate: 1000000}}
"""
PAGES = (
    "/jobs/matches",
    "/jobs/matches/greenhouse:acme/1",
    "/jobs/boards",
    "/jobs/boards?status=pending",
    "/jobs/boards/greenhouse:heron",
    "/jobs/companies",
    "/jobs/companies/acme.com",
    "/jobs/why",
    "/jobs/why/score",
    "/hiring/postings",
    "/hiring/postings/greenhouse:acme/1",
)


@contextmanager
def scene(folder: Path, web: PracticeWeb) -> Iterator[World]:
    (folder / "thresher.yaml").write_text(PROJECT.format(web=web.url, port=web.port))
    TABLES.write(folder / "thresher.db")
    url = f"sqlite:///{folder / 'thresher.db'}?durability=process"
    with opened_runtime(url, read_project(folder)) as shop, served(shop) as at:
        when = fill(shop.store)
        token = small(web.web.seed, "greenhouse")
        write_records(shop.store, [board(f"greenhouse:{token}", "acme.com", when, status="pending")])
        text = (files("thresher.apps.jobs") / "example_profile.yaml").read_text("utf-8")
        set_profile(shop.store, text, "example")
        world = World(shop, FrozenClock(), at)
        with_anna(world)
        yield world


@pytest.mark.promise(17)
def test_every_action_is_done_by_its_buttons_and_every_page_fits(tmp_path):
    chromium = find()
    if chromium is None:
        pytest.fail("there is no Chromium: run python -m thresher.fetch.chromium")
    with PracticeWeb(seed=7) as web, scene(tmp_path, web) as world, sync_playwright() as player:
        browser = player.chromium.launch(executable_path=str(chromium.path), args=["--no-sandbox"])
        try:
            assert walk(browser, world.url, 1_280, "dark") == []
            act(browser, world, small(web.web.seed, "greenhouse"))
            assert walk(browser, world.url, 360, "light") == []
        finally:
            browser.close()


def log_in(browser: Browser, url: str, wrong: list[str], **how: object) -> Page:
    page = browser.new_context(**how).new_page()  # type: ignore[arg-type]
    hear_complaints(page, wrong)
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    page.goto(f"{url}/login?next=/jobs/matches")
    page.fill("#name", "anna")
    page.fill("#password", GOOD)
    page.press("#password", "Enter")
    page.wait_for_url(f"{url}/jobs/matches")
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


def act(browser: Browser, world: World, token: str) -> None:
    """Everything that can be done on these pages, each once, with the script that keeps them up to date."""
    wrong: list[str] = []
    page, url, store = log_in(browser, world.url, wrong), world.url, world.store
    page.get_by_role("button", name="Applied Senior Python Engineer").click()
    page.wait_for_load_state()
    assert maybe(store, "match", "greenhouse:acme/1").data["status"] == "applied"  # type: ignore[union-attr]
    page.get_by_role("link", name="applied", exact=True).click()
    page.get_by_role("link", name="Senior Python Engineer", exact=True).click()
    page.check("input[value=dismissed]")
    page.fill("#note", "too far south")
    page.get_by_role("button", name="Save").click()
    page.wait_for_load_state()
    assert page.locator("#note").input_value() == "too far south"

    page.goto(f"{url}/jobs/boards/greenhouse:{token}")
    page.get_by_role("button", name="Test it now").click()
    page.get_by_role("heading", name="The test just now").wait_for()
    assert "Nothing was written" in page.locator("[role=status].notice").inner_text()
    page.get_by_role("button", name="Approve").click()
    page.wait_for_url(f"{url}/jobs/boards/greenhouse*")
    assert find_board(store, f"greenhouse:{token}").status == "active"
    page.fill("#reason-0", "enough of it")
    page.get_by_role("button", name="Disable").click()
    page.wait_for_url(f"{url}/jobs/boards/greenhouse*")
    page.get_by_role("button", name="Enable").wait_for()
    assert find_board(store, f"greenhouse:{token}").disabled_reason == "enough of it"

    page.goto(f"{url}/jobs/companies")
    page.fill("#text", "https://www.gannet.example/")
    page.get_by_role("button", name="Add").click()
    page.get_by_text("Queued as task").wait_for()
    assert "company" in {task["kind"] for task in list_tasks(store)}

    page.goto(f"{url}/jobs/why")
    page.get_by_role("button", name="Judge all again").click()
    page.get_by_text("will be judged").wait_for()
    page.fill("#value", "50")
    page.get_by_role("button", name="Set it and judge again").click()
    page.get_by_text("will be judged").wait_for()
    assert show_setting(store, "jobs.score.needed_in_city").value == 50
    page.locator("ul.tiles a").first.click()
    page.wait_for_url(f"{url}/jobs/why/*")
    page.context.close()
    assert wrong == [], "no page ran what a stranger wrote, or what we do not allow"
