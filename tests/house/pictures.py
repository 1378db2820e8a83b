"""The pictures of the dashboard that the documentation shows, taken from the demo.

`make screenshots` takes them again. A test takes them on every run, too, from a demo that another test has
started: it compares sizes and titles with those that are kept, and no pixels, for ages and fonts differ.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import BrowserContext, Page, sync_playwright

from tests.house.paper import ROOT
from tests.house.site.markdown import png_size
from thresher.fetch.chromium import ADVICE, find

FOLDER = ROOT / "docs" / "pictures"
FRONT, DESK, PHONE = (1_280, 680), (1_280, 800), (390, 780)
COLOURS = 256  # a page has few; a picture that names them is a third as large
PASSWORD = "only for as long as it takes"
SETUP = re.compile(r"http://[\d.:]+/setup#token=ths_\S+")
SECONDS = 300


@dataclass(frozen=True)
class Picture:
    """A page to take a picture of. `title` is what its head says, and `links` lead to it from its path."""

    name: str
    path: str
    title: str
    links: tuple[str, ...] = ()
    size: tuple[int, int] = DESK
    scheme: str = "light"
    at: str = ""  # what the picture begins with

    @property
    def file(self) -> str:
        return f"{self.name}.png"


PICTURES = (
    Picture("overview", "/", "Overview", size=FRONT),
    Picture("overview-dark", "/", "Overview", size=FRONT, scheme="dark"),
    Picture("overview-phone", "/", "Overview", size=PHONE),
    Picture("tasks-phone", "/tasks", "Tasks", size=PHONE, scheme="dark"),
    Picture("sources", "/sources", "Sources"),
    Picture("matches", "/jobs/matches", "Matches"),
    Picture("why-nothing", "/jobs/why", "Why nothing"),
    Picture("dataset", "/datasets", "Data set", ("main a[href^='/datasets/']",), at="#items"),
    Picture(
        "evidence",
        "/datasets",
        "numbered",
        ("main a[href^='/datasets/']", "main a[href*='/pages/']"),
        at="h2",
    ),
    Picture(
        "item", "/prices", "Morgan", ("main a[href^='/prices/']:has-text('Morgan')",), size=(1_280, 1_000)
    ),
    Picture("query", "/queries", "payroll", ("main a[href^='/queries/']:has-text('payroll')",)),
    Picture("signals", "/signals", "Signals"),
    Picture(
        "candidate-match",
        "/candidates",
        "",
        ("main a[href^='/candidates/matches']", "main a[href*='posting=']"),
    ),
)


def take(setup: str, folder: Path) -> dict[str, str]:
    """Become the first administrator by a set-up link, and take every picture; their titles."""
    chromium = find()
    if chromium is None:
        raise RuntimeError(f"there is no Chromium: {ADVICE}")
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=str(chromium.path), args=["--no-sandbox"])
        try:
            context = browser.new_context(reduced_motion="reduce", locale="en-GB", timezone_id="UTC")
            url = enter(context, setup)
            return {each.name: draw(context.new_page(), url, each, folder / each.file) for each in PICTURES}
        finally:
            browser.close()


def enter(context: BrowserContext, setup: str) -> str:
    """Log in as a new administrator; the address of the dashboard."""
    page, url = context.new_page(), setup.partition("/setup")[0]
    page.goto(setup)
    for field, value in (("name", "anna"), ("password", PASSWORD), ("again", PASSWORD)):
        page.fill(f"#{field}", value)
    page.click("text=Create the first administrator")
    page.wait_for_url(f"{url}/login")
    page.fill("#name", "anna")
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")
    page.wait_for_url(f"{url}/")
    page.close()
    return url


def draw(page: Page, url: str, picture: Picture, file: Path) -> str:
    """Take one picture; the title of its page."""
    width, height = picture.size
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme="dark" if picture.scheme == "dark" else "light")
    go(page, url + picture.path)
    for link in picture.links:
        go(page, url + str(page.locator(link).first.get_attribute("href")))
    title = page.title()
    assert picture.title in title, f"{picture.name}: the page is {title}"
    if picture.at:
        page.locator(picture.at).first.evaluate("each => each.scrollIntoView()")
    file.write_bytes(smaller(page.screenshot()))
    page.close()
    return title


def go(page: Page, address: str) -> None:
    answer = page.goto(address)
    assert answer is not None
    assert answer.status == 200, f"{address}: {answer.status}"


def smaller(png: bytes) -> bytes:
    """The same picture in few colours."""
    with Image.open(BytesIO(png)) as whole, BytesIO() as out:
        few = whole.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(out, "PNG", optimize=True)
        return out.getvalue()


def differing(folder: Path) -> list[str]:
    """Pictures that were taken into a folder and are not of the kind that is kept."""
    return [
        each.name
        for each in PICTURES
        if not (FOLDER / each.file).is_file() or png_size(folder / each.file) != png_size(FOLDER / each.file)
    ]


@contextmanager
def demo(folder: Path) -> Iterator[str]:
    """The demo at work; the link by which its first administrator is made."""
    line = [sys.executable, "-m", "thresher", "demo", "--port", "0", "--no-browser"]
    with subprocess.Popen(line, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield next(found[0] for said in process.stdout if (found := SETUP.search(said)))
        finally:
            process.terminate()
            process.communicate(timeout=SECONDS)


def main() -> int:
    with tempfile.TemporaryDirectory() as place, demo(Path(place)) as setup:
        for name, title in take(setup, FOLDER).items():
            size = (FOLDER / f"{name}.png").stat().st_size
            print(f"docs/pictures/{name}.png  {size // 1_000:>4} kB  {title}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
