"""Runs and groups on the command line."""

from pathlib import Path

import pytest

from tests.cli.conftest import Thresher, added

APP = """
from thresher import *


async def order(ctx):
    children = tuple(NewTask("part", {"name": name}, key=name) for name in ctx.task.payload.get("parts", ()))
    return Done(children=children, group=Run("bicycle", subject="a [red]bicycle[/red]", since=1, then=NewTask("assemble")))


async def part(ctx):
    name = ctx.task.payload["name"]
    if name == "wait":
        return Snooze(3600, "tomorrow")
    if name == "box":
        return Done(children=(NewTask("part", {"name": "saddle"}, key="saddle"),), group=Group("box"))
    return Failed("out of stock") if name == "bell" else Done(counts={"parts": 1})


async def assemble(ctx):
    return Done(stop=Stop("all there", Verdict.FOUND))


app = App("bikes", pipelines=tuple(Pipeline(stage.__name__, Stage(stage)) for stage in (order, part, assemble)))
"""


@pytest.fixture
def bikes(queue: Thresher, project: Path) -> Thresher:
    (project / "app.py").write_text(APP)
    return queue


@pytest.mark.promise(20)
def test_a_run_is_shown_while_it_runs_and_when_it_has_ended(bikes: Thresher):
    added(bikes, "order", "--payload", '{"parts": ["frame", "bell", "wait"]}')
    bikes("run")
    (run,) = bikes("runs", "list", "--running", "--json").json
    assert (run["state"], run["members"], run["live"], run["failed"], run["counts"]) == (
        "running",
        3,
        1,
        1,
        {"parts": 1},
    )
    assert (run["subject"], run["app"], run["since_at"][:4], run["until_at"]) == (
        "a [red]bicycle[/red]",
        "bikes",
        "1970",
        None,
    )
    assert "1 running" in bikes("status").out
    assert bikes("status", "--json").json["runs"] == 1

    (waiting,) = bikes("tasks", "list", "--run", run["id"], "--state", "pending", "--json").json
    bikes("tasks", "cancel", waiting["id"])
    bikes("run")
    shown = bikes("runs", "show", run["id"])
    assert all(
        words in shown.out
        for words in ("a [red]bicycle[/red]", "found: all there", "1 cancelled", "1 parts", "--state failed")
    )
    assert bikes("runs", "list", "--running").out.strip() == "No runs match."
    assert "all there" in bikes("runs", "list", "--name", "order", "--of", "bikes").out


def test_groups_are_listed_when_they_are_asked_for_and_stand_below_the_run(bikes: Thresher):
    added(bikes, "order", "--payload", '{"parts": ["box"]}')
    bikes("run")
    assert len(bikes("runs", "list", "--json").json) == 1
    group, run = bikes("runs", "list", "--all", "--json").json
    assert (group["parent_id"], group["subject"], run["members"]) == (run["id"], None, 2)
    assert [each["id"] for each in bikes("runs", "show", run["id"], "--json").json["below"]] == [group["id"]]
    assert "groups below" in bikes("runs", "show", run["id"]).out
    assert len(bikes("tasks", "list", "--run", run["id"], "--json").json) == 2


def test_a_run_that_does_not_exist_is_an_error_with_advice(bikes: Thresher):
    result = bikes("runs", "show", 99)
    assert (result.code, "thresher runs list --all" in result.err) == (4, True)


@pytest.mark.promise(20)
def test_a_run_is_cancelled_with_the_groups_below_it(bikes: Thresher):
    added(bikes, "order", "--payload", '{"parts": ["frame", "wait"]}')
    bikes("run")
    (run,) = bikes("runs", "list", "--json").json
    told = bikes("runs", "cancel", run["id"], "--reason", "sold out")
    assert told.out.strip() == "1 task cancelled."
    (waiting,) = bikes("tasks", "list", "--run", run["id"], "--state", "cancelled", "--json").json
    assert waiting["reason"] == "sold out"
    bikes("run")
    assert "found: all there" in bikes("runs", "show", run["id"]).out, "what follows the run has run"
    assert bikes("runs", "cancel", run["id"], "--json").json == {
        "run": run["id"],
        "cancelled": 0,
        "asked": 0,
        "live": 0,
    }
    unknown = bikes("runs", "cancel", 99)
    assert (unknown.code, "there is no run or group 99" in unknown.err) == (4, True)
