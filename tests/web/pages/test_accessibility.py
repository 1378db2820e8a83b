"""Every page of the dashboard in a real browser, with data behind it: light and dark, on a desk and on a
phone. No rule of accessibility is broken, nothing is pushed sideways or refused, or comes from elsewhere.
Then every form that was seen is filled in and sent.

With THRESHER_SCREENSHOTS=FOLDER every page is also drawn into that folder.
"""

import os
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from importlib.resources import files
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, sync_playwright
from starlette.routing import compile_path
from yarl import URL

from tests.apps.extractions import filled as extraction_scene
from tests.apps.jobs.pages import scene as job_scene
from tests.apps.prices import scene as price_scene
from tests.apps.queries import scene as query_scene
from tests.apps.roles.http.scraping import World, job
from tests.apps.roles.http.scraping import world as a_world
from tests.harness.groups import opened
from tests.harness.receiver import Receiver, answer, receiver_on_thread
from tests.harness.tasks import claim, done, entry, failed, put, retry, settle, worker
from tests.house.paper import ROOT
from tests.web.conftest import APPS
from tests.web.pages.visitor import GOOD, Visitor, with_anna
from thresher.admin import admins, sources, webhooks
from thresher.admin.keys import create_key
from thresher.admin.tasks import cancel
from thresher.apps.jobs.service.postings import set_profile
from thresher.core.event import EventKind
from thresher.engine.webhooks import forward_events
from thresher.fetch.chromium import find
from thresher.fetch.guard import Guard
from thresher.store.store import Store
from thresher.web.pages import PAGES
from thresher.web.pages.page import app_pages

pytestmark = [pytest.mark.promise(17), pytest.mark.promise(20)]

PROJECT = "apps: [extractions, jobs, prices, queries, roles]\nsettings:\n  web.rate: 1000000\n"
DESK, PHONE = {"width": 1_280, "height": 900}, {"width": 360, "height": 740}
EVIL = "<img src=x onerror=alert(1)>"
MAX_SHAPES = 80
FOLDER = os.environ.get("THRESHER_SCREENSHOTS", "")
SETTLE = "() => new Promise(requestAnimationFrame)"
# Level A and AA of WCAG, and what is simply good practice; and of these what depends on colours and widths.
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
ALL_RULES = {"runOnly": {"type": "tag", "values": LEVELS}, "resultTypes": ["violations"]}
SOME_RULES = {
    "runOnly": {"type": "rule", "values": ["color-contrast", "target-size"]},
    "resultTypes": ["violations"],
}
LOOKS = (("desk", DESK, "light", ALL_RULES), ("phone", PHONE, "dark", SOME_RULES))
AXE = Axe().axe_script
RUN = "options => axe.run(document, options).then(found => found.violations)"


def fill(world: World) -> None:
    """Something of everything that pages show, some of it written by strangers to do harm."""
    store = world.store
    query_scene.fill(store, note=EVIL)
    price_scene.fill(store)
    extraction_scene.fill(store)
    job_scene.fill(store)
    set_profile(store, (files("thresher.apps.jobs") / "example_profile.yaml").read_text("utf-8"), "example")
    world.role("Zebra keeper", 3)
    scraper = world.scraper("north")
    scraper.say("/jobs", scraper.claim(), jobs=[job(1), {"title": "no id"}])
    world.role("Yak keeper", 2)
    scraper.claim()
    sources.add(store, "tea", {})
    sources.add(store, "cafe", {"rate": "2", "in_flight": "3", "trip_after": "3"})
    sources.pause(store, "cafe", 3_600, f"closed {EVIL} " + "for a very long reason " * 8)
    sources.add(store, "bar", {})
    sources.disable(store, "bar", EVIL)
    who = worker(store, EVIL)
    put(store, *(entry(gates=["source:tea"], key=f"{number}", kind="visit") for number in range(6)))
    put(store, entry(gates=["source:cafe"], key="waits"))
    for number, task in enumerate(claim(store, 4, who)):
        settle(store, (done, failed, retry, failed)[number](task))
    opened(store, entry("part", key="1"), subject="the shop", key="shop")
    admins.create_admin(store, "zoe", GOOD, "viewer")
    create_key(store, "robot", ["read"], apps=APPS)


def allowing(receiver: Receiver) -> str:
    """What a project says that may post to a receiver on this machine."""
    return f'fetch: {{allow: ["{receiver.allow}"]}}\n'


def fill_webhooks(world: World, receiver: Receiver) -> None:
    """A webhook with one delivery that was cancelled and one that waits. Its receiver answers to do harm."""
    receiver.tell(answer(200, EVIL))
    kinds = [EventKind.GATE_PAUSED]
    webhooks.add_webhook(world.store, Guard([receiver.allow]), "billing", receiver.url, kinds)
    for name in ("tea", "cafe"):
        sources.pause(world.store, name, 3_600, EVIL)
    forward_events(world.shop.registry, world.store)
    *_, cancelled = webhooks.list_deliveries(world.store, "billing")
    cancel(world.store, [cancelled.task], EVIL)


@dataclass
class Walk:
    """Pages that were seen, and what was wrong with them."""

    context: BrowserContext
    url: str
    wrong: list[str] = field(default_factory=list)
    wrong_forms: list[str] = field(default_factory=list)
    seen: dict[str, str] = field(default_factory=dict)  # the path of a page's row, and where it was looked at
    forms: dict[str, tuple[str, str]] = field(
        default_factory=dict
    )  # the same of a form: where it is, its action
    sent: dict[str, int] = field(default_factory=dict)  # and how it was answered
    dead: list[str] = field(default_factory=list)  # what a viewer is offered and may not use

    def open(self) -> Page:
        page = self.context.new_page()
        page.on("console", lambda message: self.heard(page, message.type, message.text))
        page.on("pageerror", lambda error: self.note(page, f"script: {error}"))
        page.on("request", lambda request: self.foreign(page, request.url))
        return page

    def heard(self, page: Page, kind: str, text: str) -> None:
        if kind in ("error", "warning"):  # the rest is advice of this browser
            self.note(page, f"{kind}: {text}")

    def note(self, page: Page, text: str) -> None:
        self.wrong.append(f"{page.url}: {text}")

    def foreign(self, page: Page, address: str) -> None:
        if not address.startswith((f"{self.url}/", "data:")):
            self.note(page, f"asks {address}")


SHAPES = [
    (each.path, compile_path(each.path)[0])
    for each in (*PAGES, *app_pages(APPS, PAGES))
    if each.method == "GET"
]
# No pages: files, a stream, a picture, and what only strangers see.
NO_PAGE = re.compile(r"\.(css|js|svg)$|^/live$|/screenshot$|^/(login|setup)$")
# What needs more than this scene has: the reason why no link leads there.
UNSEEN = {"/datasets/{old}/diff/{new}": "there is one data set"}
# What is shown as it was when it was asked for.
STILL = {
    "/failures/retry": "the tasks that would be retried",
    "/jobs/why": "judging every posting again takes long; it is asked for",
    "/jobs/why/{rule}": "the same",
    "/account": "only its reader changes it",
    "/people/{person_id}": "its forms",
    "/keys/{key_id}/revoke": "a question",
    "/runs/{run}/cancel": "a question",
    "/webhooks/{name}/remove": "a question",
}
POSTS = [
    (each.path, compile_path(each.path)[0])
    for each in (*PAGES, *app_pages(APPS, PAGES))
    if each.method == "POST"
]
# Forms that this scene does not have: the test that sends them, and its words. The last two send the form
# without a browser.
ELSEWHERE = {
    "/setup": ("tests/web/pages/test_browser.py", "text=Create the first administrator"),
    "/login": ("tests/web/pages/test_accessibility.py", 'page.press("#password", "Enter")'),
    "/candidates/matches": ("tests/apps/roles/pages/test_people_browser.py", 'name="Save"'),
    "/sources/{name:path}/test": ("tests/web/pages/test_sources.py", 'post("/sources/cafe/test")'),
    "/hiring/postings/{key:path}": ("tests/apps/jobs/pages/test_pages.py", 'post(f"/hiring/postings/'),
}
# What is written into fields that are empty, by their names.
WRITTEN = {
    "lasts": "2h",
    "name": "something new",
    "reason": "tea time",
    "note": "a note",
    "password": GOOD,
    "again": GOOD,
    "current": GOOD,
    "every": "7d",
    "rate": "2",
    "url": "https://shop.example/list",
    "titles": "cook",
    "roles": "cook",
}
# The same of single forms, which refuse those.
WRITTEN_IN = {"/webhooks": {"name": "something-new"}}
# Forms that are for everybody, and what leads somewhere.
OWN = {"/logout", "/account/password"}
FORM = re.compile(r'<form [^>]*method="post" action="([^"]+)"')
LINK = re.compile(r'<a [^>]*href="(/[^"#]*)')
GONE = 0  # instead of a status: what another form did took this one away
# One of many goes before all at once, and these end what others need.
FIRST = ("/tasks/{task}/retry",)
LAST = ("revoke", "password", "remove", "logout")


def shape(path: str) -> str | None:
    """The row of a page that answers for a path."""
    found = next((name for name, pattern in SHAPES if pattern.match(path)), None)
    return None if found is None or NO_PAGE.search(path) else found


def log_in(page: Page, url: str) -> None:
    page.goto(f"{url}/login")
    page.fill("#name", "anna")
    page.fill("#password", GOOD)
    page.press("#password", "Enter")
    page.wait_for_url(f"{url}/")


def walk(found: Walk) -> None:
    """Look at one page of every shape, from the front page on by links alone."""
    page, waits = found.open(), deque(["/"])
    log_in(page, found.url)
    while waits:
        path = waits.popleft()
        name = shape(URL(path, encoded=True).path)
        if name is None or name in found.seen or len(found.seen) >= MAX_SHAPES:
            continue
        found.seen[name] = path
        answer = page.goto(found.url + path)
        if answer is None or answer.status != 200:
            found.note(page, f"status {answer and answer.status}")
            continue
        examine(found, page, name)
        if is_still(page) and name not in STILL:
            found.note(page, "has rows or numbers that are not live")
        collect(found, page, path)
        waits += page.eval_on_selector_all(
            "a[href^='/']", "links => links.map(each => each.getAttribute('href').split('#')[0])"
        )


def dead_ends(viewer: Visitor) -> list[str]:
    """Links and forms that somebody is shown who may change nothing, and that lead to a refusal."""
    waits, seen, found = deque(["/"]), set[str | None](), list[str]()
    while waits:
        path = waits.popleft()
        name = shape(URL(path, encoded=True).path)
        if name is None or name in seen:
            continue
        seen.add(name)
        told = viewer.ask("GET", path)
        if told.status != 200:
            found.append(f"a link to {path}: {told.status}")
        html = told.body.decode()
        forms = {unescape(each) for each in FORM.findall(html)}
        found += [f"{path} has a form to {each}" for each in sorted(forms - OWN)]
        waits += [unescape(each) for each in LINK.findall(html)]
    assert len(seen) > MAX_SHAPES / 2
    return found


def examine(found: Walk, page: Page, name: str) -> None:
    """The page on a desk by day and on a phone by night. It is loaded once: its style changes at once, and
    colours and widths are all that differs.
    """
    page.evaluate(AXE)
    for width, view, scheme, rules in LOOKS:
        page.set_viewport_size(view)  # type: ignore[arg-type]
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.evaluate(SETTLE)
        for broken in page.evaluate(RUN, rules):
            nodes = "; ".join(str(node["html"])[:160] for node in broken["nodes"][:3])
            found.note(page, f"[{width} {scheme}] {broken['id']}: {broken['help']}: {nodes}")
        wide = page.evaluate("document.documentElement.scrollWidth")
        if wide > view["width"]:
            found.note(page, f"[{width}] is {wide} wide")
    if FOLDER:
        for width, view in (("desk", DESK), ("phone", PHONE)):
            for scheme in ("light", "dark"):
                draw(
                    page, f"{name.strip('/').replace('/', '-') or 'overview'}-{width}-{scheme}", view, scheme
                )


def is_still(page: Page) -> bool:
    """Whether a page shows rows or numbers that do not keep up with the database."""
    return bool(
        page.evaluate("""() => [...document.querySelectorAll("main table, main .tiles, main dl")]
        .some(each => !each.closest("[data-live][id]"))""")
    )


def draw(page: Page, name: str, view: dict[str, int], scheme: str) -> None:
    place = Path(FOLDER)
    place.mkdir(parents=True, exist_ok=True)
    page.set_viewport_size(view)  # type: ignore[arg-type]
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.screenshot(path=place / f"{re.sub(r'[^a-z0-9-]', '', name)}.png", full_page=True)


def collect(found: Walk, page: Page, path: str) -> None:
    """The forms of a page, one of each row."""
    for action in page.eval_on_selector_all(
        "form[method=post]", "forms => forms.map(each => each.getAttribute('action') || location.pathname)"
    ):
        row = post_row(URL(action, encoded=True).path)
        assert row, f"{path} has a form to {action}, which no page answers"
        found.forms.setdefault(row, (path, action))


def post_row(path: str) -> str | None:
    return next((name for name, pattern in POSTS if pattern.match(path)), None)


def send_all(found: Walk, world: World) -> None:
    """Send one form of each row; those that appear only after another was sent, too."""
    page = found.open()
    for path in more_pages(world.store):
        page.goto(found.url + path)
        collect(found, page, path)
    while waits := [row for row in found.forms if row not in found.sent]:
        row = min(waits, key=turn)
        send(found, page, row)


def turn(row: str) -> int:
    """When a form is sent: before others, with them, or behind them."""
    return -1 if row in FIRST else next((at for at, word in enumerate(LAST, 1) if word in row), 0)


def more_pages(store: Store) -> list[str]:
    """Pages of the same rows on which other forms are."""
    with store.read() as session:
        ids = [
            session.rows(f"select max(id) from tasks where state = '{state}' and group_id is null")[0][0]
            for state in ("failed", "pending")
        ]
        ((person,),) = session.rows("select id from admins where name = 'zoe'")
    return [
        *(f"/tasks/{task}" for task in ids),
        "/sources/cafe",
        "/sources/bar",
        "/sources/tea",
        f"/people/{person}",
    ]


def send(found: Walk, page: Page, row: str) -> None:
    """Fill in a form as somebody would, and press its button."""
    path, action = found.forms[row]
    page.goto(found.url + path)
    form = page.locator(f"form[method=post][action='{action}']").first
    if not form.count():
        found.sent[row] = GONE
        return
    form.evaluate(
        """(form, [written, token]) => {
            form.closest("details")?.setAttribute("open", "");
            const boxes = [...form.querySelectorAll("fieldset input[type=checkbox]")];
            if (boxes.length && !boxes.some(each => each.checked)) boxes[0].checked = true;
            for (const each of form.querySelectorAll("input:not([type=hidden]), textarea")) {
                if (each.type === "checkbox" || each.type === "datetime-local") continue;
                if (each.type === "radio") { each.checked = true; continue; }
                if (!each.value && (each.required || written[each.name]))
                    each.value = written[each.name] || { number: "1", date: "2026-01-02", password: token }[each.type] || "something";
            }
        }""",
        [WRITTEN | WRITTEN_IN.get(row, {}), GOOD],
    )
    with page.expect_response(lambda answer: answer.request.method == "POST") as told:
        form.locator("button").first.click()
    found.sent[row] = told.value.status
    page.wait_for_load_state()
    if row != "/logout" and told.value.status < 400:
        collect(found, page, URL(page.url, encoded=True).raw_path_qs)


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    chromium = find()
    if chromium is None:
        pytest.fail("there is no Chromium: run python -m thresher.fetch.chromium")
    with (
        receiver_on_thread() as receiver,
        a_world(tmp_path_factory.mktemp("accessible"), said=PROJECT + allowing(receiver)) as world,
    ):
        fill(world)
        fill_webhooks(world, receiver)
        with_anna(world)
        dead = dead_ends(Visitor(world.url).log_in("zoe"))  # before the browser has a loop of its own here
        with sync_playwright() as player:
            browser = player.chromium.launch(executable_path=str(chromium.path), args=["--no-sandbox"])
            context = browser.new_context(viewport=DESK, reduced_motion="reduce")  # type: ignore[arg-type]
            found = Walk(context, world.url, dead=dead)
            try:
                walk(found)
                found.wrong, noted = [], found.wrong
                send_all(found, world)
                found.wrong, found.wrong_forms = noted, found.wrong
            finally:
                browser.close()
        yield found


def test_every_page_is_accessible_fits_and_keeps_to_itself(walked):
    assert walked.wrong == [], "\n".join(walked.wrong)


def test_every_form_of_the_dashboard_is_sent_by_a_browser(walked):
    assert sorted({name for name, _ in POSTS} - walked.sent.keys() - ELSEWHERE.keys()) == []
    for path, words in ELSEWHERE.values():
        assert words in (ROOT / path).read_text("utf-8"), path
    # Done, or shown again with what is wrong: never forbidden, not found, or broken.
    assert {
        row: (each, walked.forms[row])
        for row, each in walked.sent.items()
        if each not in (200, 201, 303, 400, 409)
    } == {}
    assert [each for each in walked.wrong_forms if "script" in each] == []


def test_a_viewer_is_shown_no_form_and_no_link_that_they_may_not_use(walked):
    assert walked.dead == []


def test_links_lead_from_the_front_page_to_every_page(walked):
    wanted = {name for name, _ in SHAPES if not NO_PAGE.search(name)} - UNSEEN.keys()
    assert sorted(wanted - walked.seen.keys()) == []
