"""Webhooks over HTTP and in the dashboard: the secret is shown once, and only operators look at addresses."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.harness.receiver import Receiver, answer, receiver_on_thread
from tests.harness.tasks import rows
from tests.web.conftest import Api, served, workshop
from tests.web.pages.visitor import GOOD, Visitor
from thresher.admin.admins import create_admin
from thresher.admin.keys import create_key
from thresher.admin.webhooks import show_webhook
from thresher.core.webhook import EVERY
from thresher.engine.webhooks import forward_events
from thresher.runtime import Runtime

pytestmark = pytest.mark.promise(17)
BODY = {"name": "billing", "events": ["gate_paused", "cup_broke"]}
APP = 'from thresher import App\napp = App("tea", events={"cup_broke": "A cup was dropped."})\n'


@dataclass(frozen=True)
class Post:
    """A served project, a receiver, and who asks."""

    shop: Runtime
    receiver: Receiver
    operator: Api
    reader: Api

    @property
    def body(self) -> dict[str, object]:
        return {**BODY, "url": self.receiver.url}


@pytest.fixture(scope="module")
def post(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Post]:
    folder: Path = tmp_path_factory.mktemp("webhooks")
    (folder / "app.py").write_text(APP)
    with receiver_on_thread() as receiver:
        (folder / "thresher.yaml").write_text(
            f'apps: [app.py]\nfetch: {{allow: ["{receiver.allow}"]}}\nsettings: {{web.rate: 100000}}\n'
        )
        with workshop(folder) as shop, served(shop) as url:
            operator = Api(url, create_key(shop.store, "anna", ["write"]).token)
            yield Post(shop, receiver, operator, Api(url, create_key(shop.store, "bert", ["read"]).token))


def test_a_program_adds_a_webhook_and_learns_its_secret_once(post):
    made = post.operator.ask("POST", "/api/webhooks", json=post.body)
    assert (made.status, made.headers["Cache-Control"]) == (201, "no-store")
    secret = made.json["secret"]
    assert made.json["made_by"] == "key anna"
    assert {name: made.json[name] for name in post.body} == post.body
    post.operator.ask("POST", "/api/webhooks", json=post.body).problem(409)
    one = post.operator.ask("GET", "/api/webhooks/billing")
    listed = post.operator.ask("GET", "/api/webhooks")
    assert [one.json] == listed.json == [{k: v for k, v in made.json.items() if k != "secret"}]
    rotated = post.operator.post("/api/webhooks/billing/rotate", {"keep": "2h"})
    assert rotated["secret"] != secret
    assert rotated["old_secret_until_at"]
    told = [row[0] for row in rows(post.shop.store, "select action from audit order by id")]
    assert told[-1] == "POST /api/webhooks/billing/rotate keep='2h'"
    assert secret[6:20] not in str(told) + one.body.decode()


def test_a_ping_says_what_came_back_and_a_delivery_is_listed_and_repeated(post):
    post.receiver.tell(answer(500, "<b>oops\x1b[31m"))
    found = post.operator.post("/api/webhooks/billing/test")
    assert (found["ok"], found["status"], found["answer"]) == (False, 500, "<b>oops [31m")
    post.operator.post("/api/webhooks/billing/pause", {"for": "1h", "reason": "tea"})
    assert post.operator.get("/api/webhooks/billing")["why"] == "tea"
    assert post.operator.post("/api/webhooks/billing/resume")["state"] == "open"
    post.operator.post("/api/webhooks/billing/pause")
    assert post.operator.get("/api/webhooks/billing")["state"] == "disabled"
    post.operator.post("/api/webhooks/billing/resume")
    with post.shop.store.write() as session:
        session.run(
            "insert into events (at, kind, detail) select max(created_at), 'cup_broke', '{}' from webhooks"
        )
    forward_events(post.shop.registry, post.shop.store)
    (delivery,) = post.operator.get("/api/webhooks/billing/deliveries?limit=10")
    assert (delivery["kind"], delivery["state"], delivery["attempts"]) == ("cup_broke", "pending", 0)
    path = f"/api/webhooks/billing/deliveries/{delivery['task']}/replay"
    post.operator.ask("POST", path).problem(409)
    post.operator.post(f"/api/tasks/{delivery['task']}/cancel")
    assert post.operator.post(path) == {"task": delivery["task"]}
    post.operator.ask("POST", "/api/webhooks/billing/deliveries/999/replay").problem(404)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"url": "https://10.0.0.1/"}, 400),
        ({"url": "https://hooks.example/\0"}, 422),
        ({"events": ["nonsense"]}, 400),
        ({"events": []}, 400),
        ({"name": "../x"}, 400),
        ({"secret": "mine"}, 422),
    ],
)
def test_wrong_input_is_a_problem_that_says_why(post, change, status):
    post.operator.ask("POST", "/api/webhooks", json={**post.body, "name": "other", **change}).problem(status)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/webhooks"),
        ("GET", "/api/webhooks/billing"),
        ("GET", "/api/webhooks/billing/deliveries"),
        ("POST", "/api/webhooks/billing/test"),
        ("DELETE", "/api/webhooks/billing"),
    ],
)
def test_a_reader_sees_no_address_and_changes_nothing(post, method, path):
    assert "needs a key with the scope write" in post.reader.ask(method, path).problem(403)["error"]


def test_a_person_does_the_same_in_the_dashboard(post):
    create_admin(post.shop.store, "carla", GOOD)
    carla = Visitor(post.operator.url).log_in("carla")
    wrong = carla.post("/webhooks", name="<b>Bad", url=post.receiver.url, event="cup_broke")
    assert wrong.status == 400
    assert "lower-case letters" in wrong.body.decode()
    assert "&lt;b&gt;Bad" in wrong.body.decode()
    assert '<details id="kinds" open>' in wrong.body.decode(), "what was chosen is in sight"
    assert '<details id="kinds">' in carla.see("/webhooks")
    assert carla.post("/webhooks", name="all", url=post.receiver.url).status == 201
    assert show_webhook(post.shop.store, "all").events == [EVERY], "who chooses none means all"
    assert carla.post("/webhooks/all/remove").status == 303
    made = carla.post("/webhooks", name="dash", url=post.receiver.url, event=["cup_broke", "gate_paused"])
    assert made.status == 201
    assert "whsec_" in made.body.decode()
    assert "dash" in carla.see("/webhooks")
    post.receiver.tell(answer(200, "<script>alert(1)</script>"))
    tried = carla.post("/webhooks/dash/test").body.decode()
    assert "It answered 200" in tried
    assert "&lt;script&gt;alert(1)" in tried
    post.receiver.tell("drop")
    assert "did not take the test message" in carla.post("/webhooks/dash/test").body.decode()
    assert carla.post("/webhooks/dash/pause").status == 303
    assert "paused in the dashboard" in carla.see("/webhooks/dash")
    assert carla.post("/webhooks/dash/resume").status == 303
    with post.shop.store.write() as session:
        session.run(
            "insert into events (at, kind, detail) select max(created_at), 'cup_broke', '{}' from webhooks"
        )
    forward_events(post.shop.registry, post.shop.store)
    assert "cup_broke" in carla.see("/webhooks/dash")
    assert "whsec_" in carla.post("/webhooks/dash/rotate").body.decode()
    assert "that wait are cancelled" in carla.see("/webhooks/dash/remove")
    assert carla.post("/webhooks/dash/remove").status == 303
    assert carla.ask("GET", "/webhooks/dash").status == 404
    told = [row[0] for row in rows(post.shop.store, "select action from audit where via = 'dashboard'")]
    assert (
        f"POST /webhooks name='dash' url='{post.receiver.url}' event='cup_broke' event='gate_paused'" in told
    )
    assert json.dumps(told).count("whsec_") == 0
