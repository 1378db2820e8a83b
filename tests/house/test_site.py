"""The documentation as a site: strict when it is built, and whole, quiet and readable in a real browser."""

import json
import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, sync_playwright

from tests.house import pictures
from tests.house.paper import ROOT
from tests.house.site.build import MARK, build, sources
from tests.house.site.markdown import png_size
from tests.house.site.navigation import ROOMS, place
from thresher.fetch.chromium import find

SEARCHED = "fence"
MAX_PICTURES = 1_500_000  # bytes
PHONE, DESK = {"width": 360, "height": 740}, {"width": 1_400, "height": 900}
# Of each sort one: the front, lists, pictures, code, tables; and pages of long words and wide tables.
LOOKED_AT = ("index.html", "tutorial/first-ten-minutes.html", "how-to/index.html", "reference/states.html")
WIDE = ("reference/cli.html", "reference/http-api.html", "explanation/performance.html", "architecture.html")
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Of what depends on colours and widths, only these are asked a second time.
COLOURS = ["color-contrast", "target-size"]
QUIET = {"resultTypes": ["violations"], "preload": False}  # else it asks for the style sheet itself
ALL = {"runOnly": {"type": "tag", "values": LEVELS}, **QUIET}
SOME = {"runOnly": {"type": "rule", "values": COLOURS}, **QUIET}
RUN = "options => axe.run(document, options).then(found => found.violations)"
AXE = Axe().axe_script
# What a page loads by itself, and where its links lead.
LOADED = re.compile(r'<(?:img|script|source|link)\b[^>]*?\b(?:src|srcset|href)="([^"]*)"')
LINKED = re.compile(r'<a\b[^>]*?\bhref="([^"#]*)')
NAVIGATION = re.compile(r"<nav\b.*?</nav>", re.DOTALL)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    assert build(ROOT, folder) == [], "run: make docs"
    return folder


def outside(address: str) -> bool:
    return re.match(r"[a-z]+:|//", address) is not None


def test_every_page_is_there_and_navigation_leads_to_it(site: Path):
    seen, waits = set[Path](), deque([site / "index.html"])
    while waits:
        page = waits.popleft()
        if page in seen:
            continue
        seen.add(page)
        for part in NAVIGATION.findall(page.read_text("utf-8")):
            waits += [(page.parent / link).resolve() for link in LINKED.findall(part) if link]
    assert {path.relative_to(site).as_posix() for path in seen} == {place(name) for name in sources(ROOT)}


def test_every_link_leads_to_a_file_and_nothing_is_loaded_from_elsewhere(site: Path):
    broken, foreign = [], []
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        loaded = LOADED.findall(text)
        foreign += [(page.name, address) for address in loaded if outside(address)]
        ours = (address for address in (*loaded, *LINKED.findall(text)) if address and not outside(address))
        broken += [(page.name, address) for address in ours if not (page.parent / address).is_file()]
    assert (broken, foreign) == ([], [])
    assert "@import" not in (styles := (site / "style.css").read_text("utf-8"))
    assert "url(" not in styles


def test_every_section_can_be_searched(site: Path):
    text = (site / "search-index.js").read_text("utf-8")
    rows = json.loads(text.removeprefix("const PAGES = ").removesuffix(";\n"))
    assert {row[0].partition("#")[0] for row in rows} == {place(name) for name in sources(ROOT)}
    assert any(SEARCHED in row[3] for row in rows)


def test_a_site_is_replaced_as_a_whole_and_a_folder_of_somebody_else_is_left_alone(tmp_path: Path):
    root = small(tmp_path / "root")
    made, other = tmp_path / "made", tmp_path / "other"
    for _ in range(2):
        assert build(root, made) == []
        assert (made / MARK).exists()
        assert not (made / "old.html").exists()
        (made / "old.html").touch()
    other.mkdir()
    (other / "thesis.txt").write_text("mine", "utf-8")
    assert build(root, other) == [f"{other} has other files in it; choose an empty folder"]
    assert [path.name for path in other.iterdir()] == ["thesis.txt"]


def small(root: Path, **changed: str) -> Path:
    """A repository with a page in every room; the keywords are further pages by their name, or others."""
    texts = {"README.md": "# All\n\n[A tutorial](docs/tutorial/one.md#more)\n"}
    for room in ROOMS:
        texts[f"{room}/index.md"] = "# Room\n\n- [One](one.md)\n"
        texts[f"{room}/one.md"] = "# One\n\n## More\n\nText.\n"
    for name, text in {**texts, **changed}.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return root


ONE = "docs/how-to/one.md"


@pytest.mark.parametrize(
    ("page", "text", "told"),
    [
        (ONE, "# A\n\n\n[b](gone.md)\n", f"{ONE}:4: nothing is at gone.md"),
        (ONE, "# A\n\n[b](../../../etc/passwd)\n", f"{ONE}:3: nothing is at ../../../etc/passwd"),
        (ONE, "# A\n\n[b](../tutorial/one.md#less)\n", f"{ONE}:3: docs/tutorial/one.md has no heading #less"),
        (ONE, "# A\n\n[b](#less)\n", f"{ONE}:3: {ONE} has no heading #less"),
        (ONE, "# A\n\n![](one.md)\n", f"{ONE}:3: say what is seen on one.md: ![words](one.md)"),
        (ONE, "# A\n\n![b](gone.png)\n", f"{ONE}:3: no picture of ours is at gone.png"),
        (
            ONE,
            "# A\n\n![b](https://a.example/b.png)\n",
            f"{ONE}:3: no picture of ours is at https://a.example/b.png",
        ),
        (
            ONE,
            "# A\n\n<script>alert(1)</script>\n",
            f"{ONE}:3: write Markdown, not HTML: <script>alert(1)</script>",
        ),
        (ONE, "# A\n\nb <b>c</b>\n", f"{ONE}:3: write Markdown, not HTML: <b>"),
        (
            ONE,
            "# A\n\n| b | |\n|---|---|\n| c | d |\n\n| e | f |\n",
            f"{ONE}:7: this row belongs to no table; is there a blank line before it? | e | f |",
        ),
        (ONE, "# A\n\n# B\n", f"{ONE}:3: a page has one title; begin this heading with ##"),
        (ONE, "No title.\n", f"{ONE}: it has no title"),
        (
            "docs/how-to/two.md",
            "# Two\n",
            "docs/how-to/two.md: no navigation leads here; list it in docs/how-to/index.md",
        ),
        (
            "docs/else/two.md",
            "# Two\n",
            f"docs/else/two.md: no navigation leads here; no room is there: {', '.join(ROOMS)}",
        ),
        ("docs/pictures/two.png", "no PNG", "docs/pictures/two.png: no page shows it"),
    ],
)
def test_what_would_be_broken_is_told_with_its_line_and_nothing_is_written(
    page: str, text: str, told: str, tmp_path: Path
):
    assert told in build(small(tmp_path / "root", **{page: text}), tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_a_room_without_an_index_is_told(tmp_path: Path):
    root = small(tmp_path / "root")
    (root / "docs/tutorial/index.md").unlink()
    assert "docs/tutorial/index.md: there is no such page" in build(root, tmp_path / "site")


def test_a_picture_has_its_size_and_is_another_one_in_the_dark(tmp_path: Path):
    root = small(tmp_path / "root", **{ONE: "# A\n\n![b](../pictures/b.png)\n"})
    (root / "docs/pictures").mkdir()
    head = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x20\x00\x00\x00\x10"
    for name in ("b.png", "b-dark.png"):
        (root / "docs/pictures" / name).write_bytes(head)
    assert build(root, tmp_path / "site") == []
    html = (tmp_path / "site/how-to/one.html").read_text("utf-8")
    assert '<source srcset="../pictures/b-dark.png" media="(prefers-color-scheme: dark)">' in html
    assert 'width="32" height="16"' in html
    assert (tmp_path / "site/pictures/b-dark.png").read_bytes() == head


def test_the_pictures_are_those_that_are_taken_and_small():
    """That pages show all of them is what the build insists on; test_examples.py takes them from a demo."""
    kept = {path.name: path for path in pictures.FOLDER.iterdir()}
    assert sorted(kept) == sorted(each.file for each in pictures.PICTURES), "run: make screenshots"
    assert [each.name for each in pictures.PICTURES if png_size(kept[each.file]) != each.size] == []
    assert sum(path.stat().st_size for path in kept.values()) < MAX_PICTURES


# In a browser.


@pytest.fixture(scope="module")
def visited(site: Path) -> Iterator[tuple[Page, list[str]]]:
    """A page of Chromium, and what was wrong with what it showed so far."""
    chromium = find()
    if chromium is None:
        pytest.fail("there is no Chromium: run python -m thresher.fetch.chromium")
    wrong: list[str] = []
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=str(chromium.path), args=["--no-sandbox"])
        page = browser.new_context(reduced_motion="reduce").new_page()
        page.on("console", lambda message: wrong.append(f"{page.url}: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"{page.url}: {error}"))
        page.on("request", lambda asked: asked.url.startswith("file:") or wrong.append(f"asks {asked.url}"))
        yield page, wrong
        browser.close()


@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_page_is_accessible_fits_a_phone_and_asks_nobody(
    name: str, site: Path, visited: tuple[Page, list[str]]
):
    page, wrong = visited
    page.set_viewport_size(DESK)  # type: ignore[arg-type]
    page.emulate_media(color_scheme="light")
    page.goto((site / name).as_uri())
    page.evaluate(AXE)
    found = [("light", each) for each in page.evaluate(RUN, ALL)]
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.emulate_media(color_scheme="dark")
    found += [("dark", each) for each in page.evaluate(RUN, SOME)]
    assert [
        (how, each["id"], [node["html"][:120] for node in each["nodes"][:3]]) for how, each in found
    ] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert wrong == []


@pytest.mark.parametrize("name", WIDE)
def test_what_is_wider_than_a_phone_scrolls_by_itself(name: str, site: Path, visited: tuple[Page, list[str]]):
    page, wrong = visited
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.goto((site / name).as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert wrong == []


def test_a_search_finds_a_word_from_the_disk_and_leads_to_its_section(
    site: Path, visited: tuple[Page, list[str]]
):
    page, wrong = visited
    page.set_viewport_size(DESK)  # type: ignore[arg-type]
    page.goto((site / "how-to" / "index.html").as_uri())
    page.keyboard.press("/")
    page.keyboard.type("gate lane")
    page.wait_for_selector("#results a")
    assert "found" in page.inner_text("#count")
    assert "Lane" in page.inner_text("#results") or "lane" in page.inner_text("#results")
    page.click("#results a >> nth=0")
    page.wait_for_load_state()
    assert Path(page.url.partition("#")[0].removeprefix("file://")).is_file()
    page.fill("#query", "no word like zzyzx <img src=x>")
    page.wait_for_function("document.getElementById('count').textContent.startsWith('Nothing')")
    page.keyboard.press("Escape")
    assert page.is_hidden("#found")
    assert wrong == []


def test_a_search_puts_the_page_about_a_word_first_and_enter_opens_it(
    site: Path, visited: tuple[Page, list[str]]
):
    page, wrong = visited
    page.set_viewport_size(DESK)  # type: ignore[arg-type]
    page.goto((site / "index.html").as_uri())
    page.fill("#query", "webhook")
    page.wait_for_selector("#results a")
    shown = [link.get_attribute("href") or "" for link in page.locator("#results a").all()]
    assert shown[0] == "./how-to/receive-webhooks.html"
    assert sum("reference/cli.html" in each for each in shown[:10]) == 3, "the commands leave room for others"
    with page.expect_navigation():
        page.press("#query", "Enter")
    assert page.url == (site / "how-to" / "receive-webhooks.html").as_uri()
    assert wrong == []


def test_no_row_of_a_table_is_as_long_as_a_phone(site: Path, visited: tuple[Page, list[str]]):
    """Where the last column, which has the sentences, has no room, a sentence is a column of single words."""
    page, wrong = visited
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.goto((site / "how-to" / "monitor.html").as_uri())
    heights = "[...document.querySelectorAll('tbody tr')].map(row => row.offsetHeight)"
    assert max(page.evaluate(heights)) <= PHONE["height"] / 3
    assert wrong == []


def test_pages_work_without_scripts(site: Path, visited: tuple[Page, list[str]]):
    page, _ = visited
    browser = page.context.browser
    assert browser
    quiet = browser.new_context(java_script_enabled=False, viewport=PHONE)  # type: ignore[arg-type]
    shown = quiet.new_page()
    shown.goto((site / "index.html").as_uri())
    shown.click("header nav >> text=How to")
    shown.click(".side >> text=Back up, restore and move a project")
    assert shown.inner_text("h1") == "Back up, restore and move a project"
    assert shown.is_hidden("#query"), "a search that cannot work is not offered"
    quiet.close()


def test_the_site_is_built_by_make_and_kept_out_of_git():
    assert re.search(
        r"^docs: .*\n\t\$\(BIN\)/python -m tests.house.site$",
        (ROOT / "Makefile").read_text("utf-8"),
        re.MULTILINE,
    )
    assert "/site/" in (ROOT / ".gitignore").read_text("utf-8").splitlines()
