"""What a terminal shows while an extraction is under way and when it is over, by the tutorial."""

from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from tests.cli.conftest import Thresher, folder, thresher
from tests.house.paper import blocks
from thresher.apps.extractions.cli.extract import picture
from thresher.apps.extractions.model import StepKind
from thresher.apps.extractions.service.extractions import ExtractionView
from thresher.apps.extractions.store.extractions import StepFigures
from thresher.practice.web import practice_process

__all__ = ["folder", "thresher"]

PAGE = "docs/tutorial/extract-a-site.md"
PORT = "8123"
# Nobody waits for politeness in a test.
SETTINGS = "settings: {host.interval: 0.001, host.in_flight: 4, run.patience: 20, worker.poll: 0.05}\n"


@pytest.fixture(scope="module")
def web() -> Iterator[str]:
    with practice_process(7) as found:
        yield found.url


@pytest.fixture
def project(web: str, folder: Path, thresher: Thresher) -> Thresher:
    (yaml,) = (block.text for block in blocks("yaml") if block.page == PAGE)
    written = yaml.replace(f"http://127.0.0.1:{PORT}", web)
    assert written != yaml
    (folder / "thresher.yaml").write_text(written + SETTINGS, "utf-8")
    return thresher


def commands() -> list[list[str]]:
    """The commands of the page, in their order."""
    return [
        line.removeprefix("$ thresher ").split()
        for block in blocks("console")
        if block.page == PAGE
        for line in block.text.splitlines()
        if line.startswith("$ thresher ")
    ]


def test_an_extraction_that_is_over_is_followed_to_its_end_at_once(project: Thresher):
    for command in commands()[:5]:
        project(*command)
    told = project("extract", "status", "1", "--watch")
    assert told.code == 0
    assert "COMPLETE: 29 of 29 pages, 23 items" in told.out
    assert "23 items from 25 pages; 4 pages failed" in told.out
    watched = project("extract", "status", "1", "--watch", "--json").json
    assert [step["kind"] for step in watched["steps"]] == ["root", "pagination", "links"]
    assert "there is no extraction 9" in project("extract", "status", 9).err
    assert "163" not in project("extract", "pages", 1, "--state", "read", "--limit", 1).err
    assert "write one of" in project("extract", "pages", 1, "--state", "burnt").err
    assert len(project("extract", "pages", 1, "--step", 0, "--json").json) == 1
    assert "There are no such items" in project("datasets", "show", "register", "--unverified").out
    assert "exclude each other" in project("datasets", "show", "register", "--unverified", "--verified").err
    assert project("datasets", "schema", "register").json["title"] == "credential"
    page = project("datasets", "diff", "1", "1", "--only", "burnt")
    assert (page.code, "write one of new, changed, gone" in page.err) == (2, True)


def test_a_bar_for_every_step_and_the_cost_so_far_are_shown_while_it_is_under_way():
    steps = (
        StepFigures(0, StepKind.ROOT, 0, "DETAIL_LINKS", total=1, succeeded=1),
        StepFigures(
            2, StepKind.LINKS, 1, "DETAIL", total=1_200, waiting=600, succeeded=599, failed=1, items=540
        ),
    )
    view = ExtractionView(
        7,
        "acme",
        1,
        "https://a.example/",
        "course",
        "IN_PROGRESS",
        None,
        is_api=False,
        created_at=0,
        started_at=1,
        moved_at=1,
        ended_at=None,
        cost=12_400,
        dropped=0,
        steps=steps,
        items=540,
    )
    written = StringIO()
    Console(file=written, width=120).print(picture(view))
    shown = written.getvalue()
    assert "links: DETAIL" in shown
    assert "600/1,200 pages, 540 items" in shown
    assert "IN_PROGRESS: 601 of 1,201 pages, 540 items, $0.0124" in shown
    assert shown.count("━") == 32 + 16, "a whole bar, and half of one"
