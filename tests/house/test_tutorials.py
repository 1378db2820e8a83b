"""Each tutorial, word for word: every file, every command, everything that it shows."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Thresher, folder, thresher
from tests.house.paper import ROOT, Block
from tests.house.tutorial import Blank, Command, Reader, check, commands_of, steps
from thresher.practice.web import RemoteWeb, practice_process

__all__ = ["folder", "thresher"]

BLANKS = {
    "match-candidates": (
        Blank("$KEY", r"thr_[\w-]+"),
        Blank("THE SESSION ID", r'"session_id": ?"([^"]+)"'),
    ),
}
TUTORIALS = ("extract-a-site", "find-a-job", "follow-searches", "match-candidates", "value-things")
# Of these, the app or the project is run there.
ELSEWHERE = {
    "first-app": "tests/house/test_paper.py",
    "first-crawl": "tests/house/test_examples.py",
    "first-ten-minutes": "tests/cli/test_templates.py",
}


@pytest.fixture(scope="module")
def practice() -> Iterator[RemoteWeb]:
    with practice_process(7) as found:
        yield found


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_does_and_prints_what_it_says(
    name: str, practice: RemoteWeb, folder: Path, thresher: Thresher, monkeypatch: pytest.MonkeyPatch
):
    practice.reset()
    reader = Reader(practice.url, folder, thresher, monkeypatch, BLANKS.get(name, ()))
    reader.follow(f"docs/tutorial/{name}.md")
    assert len(reader.said) >= 8


def test_every_tutorial_is_followed():
    there = {path.stem for path in (ROOT / "docs/tutorial").glob("*.md")} - {"index"}
    assert {*TUTORIALS, *ELSEWHERE} == there
    for name, test in ELSEWHERE.items():
        assert f"docs/tutorial/{name}.md" in (ROOT / test).read_text("utf-8")


def told(text: str, *, about: bool = False) -> Command:
    (found,) = commands_of(Block("page.md", 1, "console about" if about else "console", text))
    return found


@pytest.mark.parametrize(
    ("shown", "said", "holds"),
    [
        ("23 items, 4 failed", "23 items, 4 failed", True),
        ("23 items", "24 items", False),
        ("task 90 of 12s", "task 7 of 1m 3s", True),
        ("on 2026-11-14", "on 2027-01-02", True),
        ("on 2026-02-14", "on 2026-02-15", False),
        ("a ... c", "a b c", True),
        ("c ... a", "a b c", False),
        ("first\nsecond", "second\nfirst", False),
        (" a   b \n ────", "a b", True),
    ],
)
def test_what_is_shown_is_compared(shown: str, said: str, holds: bool):
    if holds:
        check(told(f"$ thresher run\n{shown}"), said)
        return
    with pytest.raises(AssertionError, match="the page shows"):
        check(told(f"$ thresher run\n{shown}"), said)


def test_figures_that_are_about_right_are_a_tenth_away_at_most():
    check(told("$ thresher run\nworth 100.00 USD", about=True), "worth 95.10 USD")
    with pytest.raises(AssertionError):
        check(told("$ thresher run\nworth 100.00 USD", about=True), "worth 88.00 USD")


def test_a_block_that_nobody_can_follow_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tests.house.tutorial.ROOT", tmp_path)
    monkeypatch.setattr("tests.house.paper.ROOT", tmp_path)
    (tmp_path / "page.md").write_text("Somewhere put this:\n\n```yaml\na: 1\n```\n", "utf-8")
    with pytest.raises(AssertionError, match="neither commands nor a file"):
        list(steps("page.md"))
