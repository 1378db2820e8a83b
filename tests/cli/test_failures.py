import re

import pytest

from tests.cli.conftest import Thresher, added


@pytest.fixture
def failing(queue: Thresher) -> Thresher:
    """Two failures of one kind, one of another."""
    for kind in ("free", "work", "work"):
        added(queue, kind, "--payload", '{"how": "fail"}')
    assert queue("run").code == 1
    return queue


@pytest.mark.promise(20)
def test_failures_are_grouped_with_an_example(failing: Thresher):
    groups = failing("failures", "list", "--json").json
    assert [(each["count"], each["error"], each["kind"], each["source"]) for each in groups] == [
        (2, "Failed", "work", "source:doors"),
        (1, "Failed", "free", None),
    ]
    assert groups[0]["example"] == 3
    assert groups[0]["message"] == "it cannot be done"
    assert "3 failed tasks" in failing("failures", "list").out


@pytest.mark.promise(20)
def test_what_is_tried_again_is_marked_with_its_next_attempt(failing: Thresher):
    task = added(failing, "free", "--payload", '{"how": "flaky"}')
    failing("run")
    said = failing("failures", "list").out
    assert "3 failed tasks, 1 task to be tried again" in said
    (line,) = [line for line in said.splitlines() if "retrying" in line]
    assert "Transient" in line
    assert "ladder" in line
    assert re.search(r"\bin \d+[smh]", line), "the wait is drawn at random"
    only = failing("failures", "list", "--state", "retrying", "--json").json
    assert [(each["state"], each["example"]) for each in only] == [("retrying", task)]
    assert only[0]["next_at"] > only[0]["last_at"]
    assert "Why it waits" in failing("failures", "show", task).out
    assert failing("failures", "show", task, "--json").json["task"]["error"] == "Transient"
    assert failing("failures", "list", "--state", "odd").code == 2
    assert failing("failures", "retry", "--json").json["matched"] == 3


@pytest.mark.parametrize(
    ("filters", "matched"),
    [
        ([], 3),
        (["--kind", "free"], 1),
        (["--source", "doors"], 2),
        (["--error", "Failed"], 3),
        (["--error", "Gone"], 0),
        (["--older", "1h"], 0),
        (["--newer", "1h"], 3),
        (["--kind", "work", "--newer", "1h"], 2),
    ],
)
def test_a_retry_is_a_dry_run_unless_it_is_applied(failing: Thresher, filters: list[str], matched: int):
    dry = failing("failures", "retry", *filters, "--json").json
    assert (dry["matched"], dry["applied"], dry["result"]["retried"]) == (matched, False, [])
    assert len(failing("tasks", "list", "--state", "failed", "--json").json) == 3

    wet = failing("failures", "retry", *filters, "--apply", "--json").json
    assert (wet["matched"], len(wet["result"]["retried"])) == (matched, matched)
    assert len(failing("tasks", "list", "--state", "failed", "--json").json) == 3 - matched


def test_of_two_failures_with_one_key_only_the_newer_comes_back(queue: Thresher):
    for _ in range(2):
        added(queue, "free", "--key", "k", "--payload", '{"how": "fail"}')
        queue("run")
    done = queue("failures", "retry", "--apply", "--json").json
    assert done["result"] == {"retried": [2], "key_taken": [1]}
    assert "skipped" in queue("tasks", "retry", "1").out


def test_a_bad_age_is_refused(queue: Thresher):
    result = queue("failures", "list", "--older", "yesterday")
    assert result.code == 2
    assert "1d" in result.err
