"""Webhooks on the command line, with a receiver on this machine and real workers that are killed."""

import json
import secrets
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.cli.conftest import Thresher
from tests.harness.databases import drop_schema
from tests.harness.forks import Command
from tests.harness.receiver import PATIENCE, Receiver, answer, receiver_on_thread

PROJECT = """apps: [app.py]
fetch: {{contact: me@example.com, allow: ["{allow}"]}}
settings:
  {{worker.poll: 0.05, worker.lease: 0.6, worker.grace: 0, reaper.every: 0.05, retry.crash_spread: 0,
  webhook.every: 0.05, webhook.timeout: 20, host.interval: 0, run.patience: 0}}
"""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiver_on_thread() as found:
        yield found


@pytest.fixture
def post(queue: Thresher, project: Path, receiver: Receiver) -> Thresher:
    (project / "thresher.yaml").write_text(PROJECT.format(allow=receiver.allow))
    return queue


def add(post: Thresher, receiver: Receiver, *more: str) -> str:
    made = post("webhooks", "add", "billing", receiver.url, "--event", "gate_paused", *more, "--json")
    assert made.code == 0, made.err
    return str(made.json["secret"])


def test_a_person_adds_tests_pauses_and_removes_a_webhook(post, receiver):
    assert "No webhooks" in post("webhooks", "list").out
    secret = add(post, receiver)
    assert secret.startswith("whsec_")
    assert receiver.got == []
    receiver.tell(answer(200, "thank \x1b[31myou"))
    tried = post("webhooks", "test", "billing")
    assert (tried.code, "✓ billing answered 200" in tried.out) == (0, True)
    assert "thank [31myou" in tried.out
    assert json.loads(receiver.got[0].body)["kind"] == "ping"
    receiver.tell(answer(500, "no"))
    refused = post("webhooks", "test", "billing")
    assert (refused.code, "✗ billing did not take it: 127.0.0.1 answered 500: no" in refused.out) == (1, True)

    assert post("webhooks", "pause", "billing", "--reason", "tea").code == 0
    assert "tea" in post("webhooks", "show", "billing").out
    assert "source:webhook.billing" in post("doctor").out
    assert post("webhooks", "resume", "billing").code == 0
    assert post("webhooks", "show", "billing", "--json").json["state"] == "open"
    rotated = post("webhooks", "rotate", "billing", "--keep", "2h").out
    assert rotated.startswith("whsec_")
    told = str([each["action"] for each in post("audit", "--json").json])
    assert "thresher webhooks add name='billing'" in told
    assert secret.removeprefix("whsec_")[:8] not in told + post("webhooks", "list", "--json").out
    assert post("webhooks", "remove", "billing").code == 0
    gone = post("webhooks", "show", "billing")
    assert (gone.code, "there is no webhook 'billing'" in gone.err) == (4, True)


def test_a_run_delivers_what_happened_and_lists_it(post, receiver):
    add(post, receiver)
    assert post("sources", "add", "doors").code == 0
    assert post("sources", "pause", "doors", "--for", "1h", "--reason", "tea").code == 0
    receiver.tell(answer(500, "oops"), answer(200))
    assert post("run").code == 0
    (found,) = post("webhooks", "deliveries", "billing", "--json").json
    assert (found["kind"], found["state"], found["attempts"]) == ("gate_paused", "retryable", 1)
    listed = post("webhooks", "deliveries", "billing").out
    assert "ServerError: 127.0.0.1 answered 500: oops" in listed
    assert "has not ended" in post("webhooks", "replay", "billing", found["task"]).err
    assert json.loads(receiver.got[0].body)["data"]["reason"] == "tea"


@pytest.fixture
def far(project: Path, thresher: Thresher, postgres_url: str, monkeypatch) -> Iterator[Thresher]:
    url = f"{postgres_url}?schema=cli_{secrets.token_hex(6)}"
    monkeypatch.setenv("THRESHER_DATABASE_URL", url)
    yield thresher
    drop_schema(url)


@pytest.mark.promise(1)
@pytest.mark.promise(2)
@pytest.mark.parametrize("where", ["queue", "far"])
def test_a_worker_that_is_killed_in_the_middle_loses_nothing_and_the_id_stays(
    where, request, project, receiver
):
    post: Thresher = request.getfixturevalue(where)
    (project / "thresher.yaml").write_text(PROJECT.format(allow=receiver.allow))
    add(post, receiver)
    assert post("sources", "add", "doors").code == 0
    assert post("sources", "pause", "doors", "--for", "1h").code == 0
    receiver.tell("hang", answer(200))
    worker = Command("worker", folder=project)
    try:
        assert receiver.heard.wait(PATIENCE)
        receiver.heard.clear()
        for child in psutil.Process(worker.pid).children():
            child.kill()
        assert receiver.heard.wait(PATIENCE), "by the next one"
        for _ in range(200):
            (found,) = post("webhooks", "deliveries", "billing", "--json").json
            if found["state"] == "succeeded":
                break
    finally:
        for each in [*psutil.Process(worker.pid).children(recursive=True), psutil.Process(worker.pid)]:
            each.kill()
        worker.close()
    assert (found["state"], found["attempts"]) == ("succeeded", 2)
    assert len({each.headers["webhook-id"] for each in receiver.got}) == 1
    assert len({each.body for each in receiver.got}) == 1
    assert len(receiver.got) == 2
