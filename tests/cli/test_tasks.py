import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Thresher, added


def test_a_payload_comes_as_text_from_a_file_or_from_stdin(
    queue: Thresher, project: Path, monkeypatch: pytest.MonkeyPatch
):
    (project / "payload.json").write_text('{"n": 2}')
    monkeypatch.setattr("sys.stdin", io.StringIO('{"n": 3}'))
    ids = [added(queue, "free", "--payload", text) for text in ('{"n": 1}', "@payload.json", "-")]
    assert [queue("tasks", "show", each, "--json").json["task"]["payload"] for each in ids] == [
        {"n": 1},
        {"n": 2},
        {"n": 3},
    ]


def test_a_task_carries_what_add_was_given(queue: Thresher):
    task_id = added(
        queue,
        "free",
        "--url",
        "HTTPS://A.example/b?utm_source=x",
        "--key",
        "k",
        "--priority",
        "-5",
        "--delay",
        "1h30m",
    )
    task = queue("tasks", "show", task_id, "--json").json["task"]
    assert (task["url"], task["dedupe_key"], task["priority"], task["state"]) == (
        "https://a.example/b",
        "k",
        -5,
        "pending",
    )
    assert task["run_at"] > task["created_at"]


def test_asking_twice_with_one_key_adds_once_and_names_the_task(queue: Thresher):
    first = added(queue, "free", "--key", "k")
    again = queue("add", "free", "--key", "k", "--json").json
    assert (again["id"], again["new"]) == (first, False)
    assert "nothing was added" in queue("add", "free", "--key", "k").out


def test_a_file_of_tasks_is_added_whole(queue: Thresher, project: Path):
    lines = [{"kind": "free", "payload": {"n": n}, "key": f"k{n % 3}", "delay": "10m"} for n in range(5)]
    (project / "many.jsonl").write_text("\n".join(map(json.dumps, lines)))
    result = queue("add", "--from", "many.jsonl", "--json").json
    assert (result["added"], result["already"], len(result["ids"])) == (3, 2, 3)


@pytest.mark.promise(20)
def test_tasks_are_listed_by_everything_they_can_be_told_apart_by(queue: Thresher):
    flaky = added(queue, "work", "--payload", '{"how": "flaky"}')
    failed = added(queue, "free", "--payload", '{"how": "fail"}')
    queue("run")
    waiting = added(queue, "work", "--url", "https://a.example/x?utm_medium=y", "--delay", "1h")

    def ids(*argv: str | int) -> list[int]:
        return [task["id"] for task in queue("tasks", "list", *argv, "--json").json]

    assert ids() == [waiting, failed, flaky]
    assert ids("--state", "retryable") == [flaky]
    assert ids("--kind", "free") == [failed]
    assert ids("--source", "doors") == [waiting, flaky]
    assert ids("--source", "source:doors") == [waiting, flaky]
    assert ids("--error", "Transient") == [flaky]
    assert ids("--url", "https://a.example/x") == [waiting]
    assert ids("--limit", 1) == [waiting]
    assert ids("--before", failed) == [flaky]
    assert "--before" in queue("tasks", "list", "--limit", 1).out
    assert queue("tasks", "list", "--state", "asleep").code == 2
    assert "No tasks match" in queue("tasks", "list", "--kind", "nobody").out


@pytest.mark.promise(20)
def test_a_task_is_shown_with_its_attempts_and_why_it_waits(queue: Thresher):
    task = added(queue, "work", "--payload", '{"how": "flaky", "at": 5}')
    assert "no worker is running" in queue("tasks", "show", task).out
    queue("run")
    shown = queue("tasks", "show", task, "--json").json
    assert [(each["claim"], each["ending"], each["error"]) for each in shown["attempts"]] == [
        (1, "retry", "Transient")
    ]
    assert shown["attempts"][0]["ended_at"].endswith("Z")
    assert shown["task"]["payload"] == {"how": "flaky", "at": 5}
    assert len(shown["waits"]) == 1
    assert "after Transient" in shown["waits"][0]


def test_words_of_a_hostile_page_are_shown_and_not_obeyed(queue: Thresher):
    task = added(queue, "work", "--payload", '{"how": "flaky"}')
    queue("run")
    for argv in (
        ["tasks", "show", task],
        ["tasks", "list"],
        ["tasks", "tree", task],
        ["sources", "show", "doors"],
    ):
        out = queue(*argv).out
        assert "[red]ladder[/red]" in out
        assert "\x1b" not in out


@pytest.mark.promise(20)
@pytest.mark.promise(6)
def test_the_tree_shows_who_came_from_whom_and_what_was_refused(queue: Thresher):
    root = added(queue, "work", "--payload", '{"how": "loop"}', "--url", "https://a.example/")
    queue("run")
    tree = queue("tasks", "tree", root + 1, "--json").json
    assert (tree["root"]["task"]["id"], tree["shown"], tree["whole"]) == (root, 2, True)
    assert [child["task"]["url"] for child in tree["root"]["children"]] == ["https://a.example/1"]
    assert [refusal["rule"] for refusal in tree["root"]["refusals"]] == ["in_ancestry"]
    drawn = queue("tasks", "tree", root).out
    assert "Refused: work https://a.example/ (in_ancestry" in drawn
    shown = queue("tasks", "show", root)
    assert "1 child" in shown.out
    assert "in_ancestry" in shown.out


@pytest.mark.promise(6)
def test_status_and_doctor_say_that_a_lineage_has_grown_deep(queue: Thresher):
    queue("config", "set", "lineage.alert_depth", "0")
    root = added(queue, "work", "--payload", '{"how": "loop"}', "--url", "https://a.example/")
    queue("run")
    told = "1 lineage has grown deeper than lineage.alert_depth"
    assert told in " ".join(queue("status").out.split())
    assert queue("status", "--json").json["deep"] == 1
    assert told in " ".join(queue("doctor").out.split())
    (event,) = queue("events", "--kind", "lineage_deep", "--json").json
    assert (event["task_id"], event["detail"]["depth"]) == (root, 1)


def test_failed_tasks_are_sent_back_and_others_are_not(queue: Thresher):
    failed = added(queue, "free", "--payload", '{"how": "fail"}')
    done = added(queue, "free")
    queue("run")

    refused = queue("tasks", "retry", failed, done)
    assert refused.code == 5
    assert f"{done} is succeeded" in refused.err
    assert queue("tasks", "retry", failed, 999).code == 4
    assert queue("tasks", "show", failed, "--json").json["task"]["state"] == "failed"

    assert queue("tasks", "retry", failed, "--json").json == {"retried": [failed], "key_taken": []}
    task = queue("tasks", "show", failed, "--json").json["task"]
    assert (task["state"], task["failures"]) == ("pending", 0)


def test_a_task_whose_key_is_taken_stays_ended(queue: Thresher):
    first = added(queue, "free", "--key", "k", "--payload", '{"how": "fail"}')
    queue("run")
    added(queue, "free", "--key", "k")
    result = queue("tasks", "retry", first)
    assert result.code == 0
    assert f"a live task has their key: {first}" in result.out


def test_waiting_tasks_are_cancelled_with_a_reason(queue: Thresher):
    task = added(queue, "free")
    assert "1 task cancelled" in queue("tasks", "cancel", task, "--reason", "not needed").out
    shown = queue("tasks", "show", task, "--json").json["task"]
    assert (shown["state"], shown["reason"]) == ("cancelled", "not needed")
    assert queue("tasks", "cancel", task).code == 5
    assert queue("tasks", "cancel", 999).code == 4
    assert queue("tasks", "retry", task).code == 0


@pytest.mark.promise(20)
def test_waiting_prints_the_result_and_exits_by_the_state(queue: Thresher):
    ids = {
        how: added(queue, "free", "--payload", f'{{"how": "{how}"}}')
        for how in ("result", "done", "filter", "fail")
    }
    ids["cancel"] = added(queue, "free", "--delay", "1d")
    ids["live"] = added(queue, "free", "--delay", "1d")
    queue("run")
    queue("tasks", "cancel", ids["cancel"])
    found = {how: queue("tasks", "wait", task_id, "--timeout", "0.1") for how, task_id in ids.items()}
    codes = {"result": 0, "done": 0, "filter": 10, "fail": 12, "cancel": 13, "live": 124}
    assert {how: result.code for how, result in found.items()} == codes
    assert found["result"].out.startswith('{"doors": 3,')
    assert "\x9b" not in found["result"].out  # nothing that a terminal obeys
    assert "it cannot be done" in found["fail"].out
    assert f"task {ids['live']} is still pending" in found["live"].out
    said = queue("tasks", "wait", ids["result"], "--json").json
    assert (said["state"], said["result"]["doors"]) == ("succeeded", 3)
    assert queue("tasks", "wait", 4711).code == 4
    assert '"doors": 3' in queue("tasks", "show", ids["result"]).out
