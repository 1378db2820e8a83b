"""The pages about work in a real browser, against a live worker: they change while somebody looks at them,
work with the keyboard alone, and fit a phone."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.harness.console import hear_complaints
from tests.harness.forks import Command
from tests.harness.tables import TABLES
from tests.web.conftest import served
from tests.web.pages.visitor import GOOD
from tests.web.pages.work import EVIL, Work, fill
from thresher import NewTask
from thresher.admin import admins, tasks
from thresher.config.project import read_project
from thresher.fetch.chromium import find
from thresher.runtime import Runtime, opened_runtime

pytestmark = pytest.mark.promise(20)

APP = """
from pathlib import Path
from thresher import *

def price(row):
    return row.prize

async def read(ctx):
    if not Path(__file__).with_name("mended").exists():
        price(ctx.task.payload["name"])
    return Done("read")

app = App("shop", pipelines=(Pipeline("book", Stage(read)),))
"""
PROJECT = """apps: [app.py]
settings:
  {worker.poll: 0.05, web.live_interval: 0.1, web.password_cost: 10, web.login_rate: 1000, web.login_address_rate: 1000}
"""
PATIENCE = 30_000  # milliseconds
DESK, PHONE = {"width": 1_280, "height": 900}, {"width": 360, "height": 640}


@dataclass(frozen=True)
class Shop:
    """A served project with a worker of its own, and what was in its queue before."""

    url: str
    runtime: Runtime
    folder: Path
    work: Work
    browser: Browser

    def add(self, name: str, **more: str) -> int:
        added = tasks.add(self.runtime.store, self.runtime.registry, NewTask("book", {"name": name}, **more))
        assert added.id is not None
        return added.id

    def look(self, path: str, viewport: dict[str, int] = DESK, scheme: str = "light") -> Page:
        """A page, as somebody sees who has logged in."""
        context = self.browser.new_context(viewport=viewport, color_scheme=scheme)  # type: ignore[arg-type]
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(f"{self.url}/login?next=/keys")
        page.fill("#name", "anna")
        page.fill("#password", GOOD)
        page.press("#password", "Enter")
        page.wait_for_url(f"{self.url}/keys")
        page.goto(self.url + path)
        return page


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    chromium = find()
    if chromium is None:
        pytest.fail("there is no Chromium: run python -m thresher.fetch.chromium")
    folder = tmp_path_factory.mktemp("shop")
    (folder / "app.py").write_text(APP)
    (folder / "thresher.yaml").write_text(PROJECT)
    TABLES.write(folder / "thresher.db")
    database = f"sqlite:///{folder / 'thresher.db'}?durability=process"
    with opened_runtime(database, read_project(folder)) as runtime, served(runtime) as url:
        work = fill(runtime.store)
        admins.create_admin(runtime.store, "anna", GOOD)
        worker = Command("--project", str(folder), "--database", database, "worker")
        try:
            with sync_playwright() as player:
                launched = player.chromium.launch(executable_path=str(chromium.path), args=["--no-sandbox"])
                yield Shop(url, runtime, folder, work, launched)
                launched.close()
        finally:
            worker.kill()
            worker.close()


def test_a_task_that_fails_appears_without_a_reload_and_is_sent_back_from_its_page(shop):
    page = shop.look("/tasks?kind=book")
    page.evaluate("window.loaded = 'once'")
    assert page.locator("#found .empty").count() == 1
    task_id = shop.add("Emma")
    page.wait_for_selector(f"#task-{task_id} .pill.failed")
    assert "'str' object has no attribute 'prize'" in page.inner_text(f"#task-{task_id}")
    assert page.evaluate("window.loaded") == "once"

    page.goto(f"{shop.url}/failures")
    page.evaluate("window.loaded = 'once'")
    other = shop.add("Persuasion")
    page.wait_for_selector(f"#groups a[href='/tasks/{other}']")
    assert page.evaluate("window.loaded") == "once"

    page.goto(f"{shop.url}/tasks/{task_id}")
    assert "return row.prize" in page.inner_text("#attempts .trace")
    (shop.folder / "mended").touch()
    page.click("#why button:text('Retry')")
    page.wait_for_selector("#why .pill.succeeded")
    assert [each.inner_text() for each in page.locator("#attempts .pill").all()] == ["failed", "done"]
    page.context.close()


def test_failures_are_sent_back_with_the_keyboard_alone(shop):
    page = shop.look("/failures?error=Gone")
    walk_to(page, "Retry…")
    page.keyboard.press("Enter")
    page.wait_for_url("**/failures/retry?**")
    walk_to(page, "Retry 1 task")
    page.keyboard.press("Enter")
    page.wait_for_url("**/failures?retried=1")
    assert "1 task was sent back" in page.inner_text(".notice")
    page.context.close()


def walk_to(page: Page, text: str) -> None:
    """Press Tab until something of this text has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText") == text:
            assert page.evaluate("document.activeElement.matches(':focus-visible')")
            return
    raise AssertionError(f"the keyboard does not get to {text!r}")


def test_a_filter_that_somebody_types_in_is_not_touched_by_what_changes(shop):
    page = shop.look("/tasks")
    page.fill("#text", "half a wo")
    task_id = shop.add("Sanditon")
    page.wait_for_selector(f"#task-{task_id}")
    assert page.input_value("#text") == "half a wo"
    page.keyboard.type("rd")
    page.keyboard.press("Enter")
    page.wait_for_url("**/tasks?*text=half+a+word*")
    page.context.close()


def test_hostile_titles_stay_text_while_pages_change(shop):
    page = shop.look("/tasks")
    page.on("dialog", lambda dialog: pytest.fail(f"a script of a stranger ran: {dialog.message}"))
    task_id = shop.add(EVIL, key=EVIL)
    page.wait_for_selector(f"#task-{task_id}")
    assert "<script>alert(1)</script>" in page.inner_text(f"#task-{task_id}")
    for path in (f"/tasks/{task_id}", f"/tasks/{shop.work.hostile}", "/failures"):
        page.goto(shop.url + path)
        assert "<script>alert(1)</script>" in page.inner_text("main")
    assert page.locator("main script").count() == 0
    page.context.close()


@pytest.mark.parametrize(("viewport", "scheme"), [(PHONE, "light"), (PHONE, "dark"), (DESK, "light")])
def test_nothing_is_pushed_sideways_and_nothing_is_refused(shop, viewport, scheme):
    work, said = shop.work, list[str]()
    page = shop.look("/tasks", viewport, scheme)
    hear_complaints(page, said)
    details = [f"/tasks/{each}" for each in (work.failed[0], work.hostile, work.root, work.waiting)]
    lists = ["/tasks", "/failures", "/failures/retry", "/runs", "/events", "/events?kind=spawn_refused"]
    for path in (*lists, *details, f"/runs/{work.run}"):
        page.goto(shop.url + path)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= viewport["width"], (path, wide)
    assert said == []
    page.context.close()
