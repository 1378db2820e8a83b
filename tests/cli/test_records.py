from pathlib import Path

import pytest

from tests.cli.conftest import Thresher

APP = """
from thresher import *


async def find(ctx):
    name = ctx.task.payload["name"]
    links = tuple(Link("shelf", shelf) for shelf in ctx.task.payload["shelves"])
    return Done(records=(Record("book", name, {"title": name.title()}, links),))


app = App("library", pipelines=(Pipeline("find", Stage(find)),))
"""


@pytest.fixture
def library(project: Path, queue: Thresher) -> Thresher:
    (project / "app.py").write_text(APP)
    for name, shelf in (("emma", "a"), ("kim", "b"), ("emma", "b")):
        queue("add", "find", "--payload", f'{{"name": "{name}", "shelves": ["{shelf}"]}}')
        assert queue("run").code == 0
    return queue


@pytest.mark.promise(20)
def test_records_are_shown_the_newest_first_with_what_they_belong_to(library: Thresher):
    kim, emma = library("records", "--json").json
    assert (kim["key"], emma["key"], emma["data"], emma["seen"]) == ("kim", "emma", {"title": "Emma"}, 2)
    assert emma["links"] == ["shelf=a", "shelf=b"]
    assert '{"title": "Emma"}' in library("records").out


def test_records_are_found_by_kind_key_and_link(library: Thresher):
    assert [each["key"] for each in library("records", "--link", "shelf=a", "--json").json] == ["emma"]
    assert [each["key"] for each in library("records", "--kind", "book", "--key", "kim", "--json").json] == [
        "kim"
    ]
    assert library("records", "--kind", "apple", "--json").json == []
    assert [each["key"] for each in library("records", "--before", "2", "--json").json] == ["emma"]


def test_an_empty_answer_says_what_it_may_mean(library: Thresher):
    assert "nothing has been looked for yet" in library("records", "--kind", "apple").out


def test_a_link_without_a_target_is_refused(library: Thresher):
    result = library("records", "--link", "shelf")
    assert (result.code, "name=target" in result.err) == (2, True)
