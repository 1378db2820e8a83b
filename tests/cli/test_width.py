"""Tables in a terminal: columns go where it is narrow, keys never, and --wide has all of them."""

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.cli.conftest import Thresher, added
from tests.harness.terminal import STYLE, in_terminal
from thresher.cli.call import CommandCall
from thresher.cli.commands import build, read_table
from thresher.cli.show import SafeConsole, chosen, marked, needed, table

# Their lists are not called so.
LISTS = ["records", "events", "audit", "jobs matches", "status", "prices queue", "doctor", "failures list"]


def lists() -> list[str]:
    """Every command of the machine and of its apps that lists something and can be called without an
    argument."""
    found = list[str]()
    for row in read_table(CommandCall()).rows.values():
        command = build(row.command)
        _walk(command, row.command.name, found)
    return sorted({*found, *(name for name in LISTS if name not in found)})


def _walk(command: Any, name: str, found: list[str]) -> None:
    for word, below in getattr(command, "commands", {}).items():
        _walk(below, f"{name} {word}", found)
    needs = [each for each in command.params if each.required]
    if name.endswith(" list") and not needs and not hasattr(command, "commands"):
        found.append(name)


@pytest.mark.parametrize("width", [80, 120])
def test_every_list_fits_a_terminal_and_no_text_steers_it(queue: Thresher, project: Path, width: int):
    (project / "thresher.yaml").write_text(
        "apps: [app.py, jobs, roles, queries, extractions, prices]\nfetch: {contact: me@example.com}\n"
    )
    assert queue("migrate").code == 0
    hostile = "https://a.example/\N{RIGHT-TO-LEFT OVERRIDE}" + "long/" * 60
    task = added(queue, "work", "--payload", json.dumps({"how": "fail"}), "--url", hostile)
    added(queue, "work", "--delay", "1h", "--key", "evening" * 20)
    assert queue("run", "--only", "test").code == 1
    queue("prices", "add", "Coin \x1b[31m of a very long name that goes on and on", "--kind", "coin")
    queue("queries", "add", "nurses", "--client", "practice", "--text", "nurse")
    queue("config", "set", "retry.base", "5")
    names = lists()
    assert len(names) > 25
    said = in_terminal(project, width, [name.split() for name in names])
    for name in names:
        shown = STYLE.sub("", said[name])
        assert "Traceback" not in shown
        assert "unexpected" not in shown, shown
        steering = [char for char in shown if not char.isprintable() and char != "\n"]
        assert steering == [], name
        too_long = [line for line in shown.splitlines() if cell_len(line.rstrip()) > width]
        assert too_long == [], name
    assert re.search(rf"^ *{task} ", STYLE.sub("", said["tasks list"]), re.MULTILINE)
    assert "retry.base" in said["config list"]


def test_wide_shows_all_columns_and_a_pipe_always_does(queue: Thresher, project: Path):
    added(queue, "work", "--url", "https://a.example/" + "x" * 40)
    narrow, wide = (
        STYLE.sub("", in_terminal(project, 60, [words])[" ".join(words)])
        for words in (["tasks", "list"], ["tasks", "list", "--wide"])
    )
    assert "Not shown, for want of room:" in narrow
    assert "last words" in narrow.split("Not shown")[1]
    head = "id kind stage state age failures url or key last words"
    assert " ".join(wide.split("\n")[1].split()) == head
    assert "https://a.example/" + "x" * 40 in wide
    piped = queue("tasks", "list").out
    assert " ".join(piped.split("\n")[1].split()) == head
    assert "\x1b" not in piped


NAMES = ["!key", "#n", "text", "-text", "-#n", "!#id", "+prose", "-+prose"]
COLUMNS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=12)


@given(COLUMNS, st.data(), st.integers(1, 300))
def test_keys_and_the_first_column_stay_and_nothing_goes_that_has_room(names, data, width):
    columns = [marked(name) for name in names]
    widths = [data.draw(st.integers(1, 60)) for _ in columns]
    kept = chosen(columns, widths, width)
    assert kept == sorted(kept)
    assert kept[0] == 0
    assert {at for at, each in enumerate(columns) if each.is_key} <= set(kept)
    if needed(columns, widths, range(len(columns)), easily=True) <= width:
        assert len(kept) == len(columns)
    if any(not columns[at].is_key for at in kept[1:]):  # something that might have gone stays: it has room
        assert needed(columns, widths, kept) <= width
    gone = [at for at in range(len(columns)) if at not in kept]
    for at in gone:
        assert needed(columns, widths, [*kept, at], easily=True) > width
    if any(not columns[at].goes_first for at in gone):  # none that matters more has made way for a wide one
        rest = [at for at, each in enumerate(columns) if not (at and each.goes_first)]
        assert needed(columns, widths, rest) > width


def drawn(width: int, *things: Any) -> str:
    """What a terminal of this width is sent."""
    out = SafeConsole(file=io.StringIO(), force_terminal=True, width=width, highlight=False, emoji=False)
    for each in things:
        out.print(each)
    return STYLE.sub("", out.file.getvalue())


def test_a_link_longer_than_the_line_stays_whole():
    link = f"http://127.0.0.1:8000/setup#token={'x' * 60}"
    said = drawn(
        80, f"Create the first administrator with this link, valid once within an hour: {link}", "end"
    )
    assert link in said.splitlines()
    assert all(len(line) <= 80 for line in said.splitlines() if line != link)


def test_a_key_longer_than_the_line_is_neither_broken_nor_cut():
    key = "site:https://a.example/" + "x" * 80
    said = drawn(80, table(["title", "!key"], [["Nurse", key]]))
    assert any(key in line for line in said.splitlines())


def test_a_reason_has_room_to_be_read_before_columns_that_matter_less_stand_beside_it():
    columns = [marked(each) for each in ("#count", "-kind", "-source", "+message")]
    assert chosen(columns, [5, 20, 20, 100], 80) == [0, 1, 3]
    assert chosen(columns, [5, 20, 20, 20], 80) == [0, 1, 2, 3]
    assert chosen(columns, [5, 20, 20, 100], 30) == [0, 3]


def test_what_a_wide_column_left_room_for_comes_back():
    columns = [marked(each) for each in ("title", "-#ago", "@address")]
    assert chosen(columns, [20, 5, 90], 80) == [0, 1]
