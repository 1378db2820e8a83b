import pytest

from tests.cli.conftest import Thresher, added


@pytest.fixture
def declared(queue: Thresher) -> Thresher:
    """The app's sources are there."""
    added(queue, "work")
    return queue


def gate(queue: Thresher, name: str) -> dict[str, object]:
    return queue("sources", "show", name, "--json").json["gate"]


def test_before_anything_ran_there_are_no_sources(queue: Thresher):
    assert "thresher sources add" in queue("sources", "list").out


@pytest.mark.promise(20)
def test_sources_are_listed_with_the_reason_for_every_pause(declared: Thresher):
    declared("sources", "pause", "doors", "--for", "10m", "--reason", "they asked us to")
    listed = {each["source"]: each for each in declared("sources", "list", "--json").json}
    assert set(listed) == {"doors", "good", "bad", "slow"}
    assert (listed["doors"]["state"], listed["doors"]["tag"], listed["doors"]["why"]) == (
        "paused",
        "admin",
        "they asked us to",
    )
    assert listed["doors"]["opens_at"].endswith("Z")
    assert listed["slow"]["rate"] == 0.5
    out = declared("sources", "list").out
    assert "they asked us to" in out
    assert "1 per 2s" in out


@pytest.mark.promise(20)
def test_a_source_says_when_it_last_went_well(declared: Thresher):
    assert gate(declared, "doors")["last_success_at"] is None
    assert "never" in declared("sources", "show", "doors").out
    assert declared("run").code == 0
    listed = {each["source"]: each["last_success_at"] for each in declared("sources", "list", "--json").json}
    assert listed == {
        "doors": gate(declared, "doors")["last_success_at"],
        "good": None,
        "bad": None,
        "slow": None,
    }
    assert listed["doors"].endswith("Z")
    assert "success" in declared("sources", "list").out
    assert "never" not in declared("sources", "show", "doors").out


def test_a_paused_source_holds_its_tasks_until_it_is_resumed(declared: Thresher):
    declared("sources", "pause", "source:doors", "--for", "1h")
    assert declared("run", "--json").json["attempts"] == {}
    assert "paused" in declared("tasks", "show", 1).out
    assert declared("sources", "resume", "doors").code == 0
    assert declared("run", "--json").json["attempts"] == {"done": 1}


def test_a_disabled_source_is_opened_only_by_enabling_it(declared: Thresher):
    assert declared("sources", "disable", "doors", "--reason", "lawyers").code == 0
    assert (gate(declared, "doors")["state"], gate(declared, "doors")["tag"]) == ("disabled", "admin")
    refused = declared("sources", "resume", "doors")
    assert refused.code == 5
    assert "lawyers" in refused.err
    assert "enable doors" in refused.err
    assert declared("sources", "pause", "doors", "--for", "1m").code == 5
    assert declared("sources", "enable", "doors").code == 0
    assert gate(declared, "doors")["state"] == "open"


def test_limits_are_changed_one_by_one_and_taken_away(declared: Thresher):
    assert (
        declared(
            "sources",
            "limit",
            "doors",
            "--rate",
            "30/m",
            "--burst",
            "3",
            "--in-flight",
            "2",
            "--cooldown",
            "1m",
        ).code
        == 0
    )
    now = gate(declared, "doors")
    assert (now["rate"], now["burst"], now["max_in_flight"], now["trip_after"], now["cooldown"]) == (
        0.5,
        3,
        2,
        5,
        60,
    )
    assert declared("sources", "limit", "doors", "--rate", "none", "--trip-after", "none").code == 0
    now = gate(declared, "doors")
    assert (now["rate"], now["max_in_flight"], now["trip_after"]) == (None, 2, None)


def test_a_source_is_added_once(queue: Thresher):
    assert queue("sources", "add", "acme", "--rate", "2", "--in-flight", "1").code == 0
    assert (gate(queue, "acme")["rate"], gate(queue, "acme")["trip_after"]) == (2, 5)
    again = queue("sources", "add", "acme")
    assert again.code == 5
    assert "sources limit acme" in again.err


@pytest.mark.parametrize(
    ("argv", "code", "says"),
    [
        (["pause", "nobody", "--for", "1m"], 4, "nobody"),
        (["show", "host:nobody.example"], 4, "host:nobody.example"),
        (["pause", "doors", "--for", "0s"], 2, "longer than 0"),
        (["pause", "doors", "--for", "a while"], 2, "10m"),
        (["pause", "doors"], 2, "how long the pause lasts"),
        (["pause", "doors", "--for", "1h", "--until", "2999-01-01 08:00 UTC"], 2, "not both"),
        (["pause", "doors", "--until", "2020-01-01 08:00 UTC"], 2, "is over"),
        (["pause", "doors", "--until", "2999-01-01 08:00"], 2, "time zone"),
        (["pause", "doors", "--until", "2999-01-01 08:00 UTC"], 2, "ten years"),
        (["limit", "doors"], 2, "--rate"),
        (["limit", "doors", "--rate", "0"], 2, "above 0"),
        (["limit", "doors", "--rate", "fast"], 2, "30/m"),
        (["limit", "doors", "--in-flight", "0"], 2, "from 1 to"),
        (["limit", "doors", "--burst", "many"], 2, "whole number"),
        (["add", "two words"], 2, "not contain spaces"),
        (["add", "host:x"], 2, "or colons"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(
    declared: Thresher, argv: list[str], code: int, says: str
):
    before = declared("sources", "list", "--all", "--json").json
    result = declared("sources", *argv)
    assert (result.code, result.out) == (code, "")
    assert says in result.err
    assert declared("sources", "list", "--all", "--json").json == before


def test_a_test_runs_the_probe_and_says_whether_a_task_could_start(declared: Thresher):
    good = declared("sources", "test", "good")
    assert good.code == 0
    assert "three doors found" in good.out
    assert "a task could start now" in good.out
    nothing = declared("sources", "test", "doors", "--json").json
    assert (nothing["probe"]["ran"], nothing["could_start"]) == (False, True)


@pytest.mark.promise(10)
def test_a_failed_test_counts_and_says_why_nothing_could_start(declared: Thresher):
    bad = declared("sources", "test", "bad")
    assert bad.code == 1
    assert "Unauthorized: bad key" in bad.out
    assert "closed by its breaker" in bad.out
    assert gate(declared, "bad")["state"] == "tripped"
    assert declared("sources", "resume", "bad").code == 0
    assert gate(declared, "bad")["state"] == "open"


@pytest.mark.promise(20)
def test_every_change_of_a_gate_is_an_event_that_can_be_read(declared: Thresher):
    declared("sources", "pause", "doors", "--for", "10m", "--reason", "tea")
    declared("sources", "resume", "doors")
    declared("sources", "disable", "slow")
    kinds = [event["kind"] for event in declared("events", "--json").json]
    assert kinds == ["gate_disabled", "gate_resumed", "gate_paused"]
    (paused,) = declared("events", "--kind", "gate_paused", "--json").json
    assert (paused["gate"], paused["detail"]["reason"], paused["detail"]["until"][-1]) == (
        "source:doors",
        "tea",
        "Z",
    )
    assert len(declared("events", "--source", "doors", "--json").json) == 2
    assert "tea" in declared("sources", "show", "doors").out
    assert "until: for ever" in declared("events").out
    wrong = declared("events", "--kind", "nonsense")
    assert wrong.code == 2
    assert "gate_paused" in wrong.err


@pytest.mark.promise(16)
def test_robots_goes_off_by_name_with_a_reason_and_is_shown_until_it_is_on_again(declared: Thresher):
    queue = declared
    assert "give a reason" in queue("sources", "robots", "doors", "off").err
    assert queue("sources", "robots", "nobody", "off", "--reason", "x").code == 4
    assert queue("sources", "robots", "doors", "perhaps").code == 2
    for name in ("doors", "host:never-met.example"):
        assert queue("sources", "robots", name, "off", "--reason", "leave in writing").code == 0
    assert "leave in writing" in queue("sources", "list").out
    assert "ignored since" in queue("sources", "show", "host:never-met.example").out
    shown = queue("sources", "show", "doors", "--json").json
    assert shown["gate"]["robots_off_reason"] == "leave in writing"
    assert shown["gate"]["robots_off_at"]
    checks = {check["name"]: check for check in queue("doctor", "--json").json["checks"]}
    assert checks["robots.txt"]["verdict"] == "warn"
    assert "source:doors" in checks["robots.txt"]["found"]
    for name in ("doors", "host:never-met.example"):
        assert queue("sources", "robots", name, "on").code == 0
    checks = {check["name"]: check for check in queue("doctor", "--json").json["checks"]}
    assert checks["robots.txt"]["verdict"] == "ok"
    assert "robots_waived" in queue("events").out
