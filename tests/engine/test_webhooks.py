"""Webhooks: no event is lost and none becomes two deliveries, whoever dies; every message is signed; and a
receiver may misbehave as it likes."""

import asyncio
import json
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.workshop import PATIENCE, Workshop, one_stage
from tests.harness.databases import file_and_server, only_postgres, only_sqlite
from tests.harness.hand import Hand
from tests.harness.receiver import Receiver, answer, receiving
from tests.harness.tasks import rows
from thresher import App, Done, NewEvent, NewTask
from thresher.admin import webhooks as control
from thresher.admin.gates import closed_gates, closed_sentence
from thresher.config.outward import Outward
from thresher.core.clock import MINUTE, SECOND
from thresher.core.errors import NotAllowed, UnknownName, UsageError
from thresher.core.event import EventKind
from thresher.core.webhook import Webhook, signature
from thresher.engine import webhooks as engine
from thresher.engine.machine import RETRIES
from thresher.engine.registry import Registry
from thresher.engine.stage_context import Services
from thresher.engine.webhooks import forward_events
from thresher.fetch.guard import Guard
from thresher.runtime import make_fetcher
from thresher.store import webhooks
from thresher.store.events import record_event
from thresher.store.prune import AGING, prune_aged

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "receive-webhooks.md"
pytest_generate_tests = file_and_server
APP = App("tea", events={"cup_broke": "A cup was dropped.", "cup_made": "A cup was made."})


def verifier() -> Callable[..., bool]:
    """The function that the documentation gives to receivers."""
    (code,) = re.findall(r"```python\n(.*?)```", HOW_TO.read_text("utf-8"), re.DOTALL)
    space: dict[str, Any] = {}
    exec(code, space)  # what the page tells people to run
    return space["verify"]


class Post:
    """A workshop, a receiver, and a webhook `billing` that leads there."""

    def __init__(self, shop: Workshop, receiver: Receiver, **settings: Any) -> None:
        self.shop, self.receiver, self.store = shop, receiver, shop.store
        self.registry = shop.set_up(APP, **{"host__interval": 0.0, "webhook__timeout": 5.0, **settings})
        self.outward = Outward(allow=(receiver.allow,))

    def add(self, *events: str, name: str = "billing") -> str:
        guard = Guard(self.outward.allow)
        return control.add_webhook(self.store, guard, name, self.receiver.url, events or ("*",)).secret

    def happen(self, kind: str = "cup_broke", **detail: Any) -> None:
        with self.store.write() as session:
            record_event(session, kind, self.store.backend.now(session), **detail)

    def work(self) -> None:
        """Forward and deliver until nothing can be done now."""
        asyncio.run(self.at_work())

    async def at_work(self) -> None:
        forward_events(self.registry, self.store)
        fetcher = make_fetcher(self.outward, lambda: self.store.settings, self.store)
        worker = self.shop.worker(self.registry, until_idle=True, services=Services(fetcher))
        await asyncio.wait_for(worker.run(), PATIENCE)

    async def pinged(self) -> control.Pinged:
        fetcher = make_fetcher(self.outward, lambda: self.store.settings)
        try:
            return await control.ping(self.store, fetcher, "billing")
        finally:
            await fetcher.close()

    def later(self, microseconds: int) -> None:
        self.shop.clock.advance(microseconds)

    def deliveries(self, name: str = "billing") -> list[control.DeliveryView]:
        return control.list_deliveries(self.store, name)

    def one(self) -> control.DeliveryView:
        (found,) = self.deliveries()
        return found

    def hooks(self) -> dict[str, Webhook]:
        with self.store.read() as session:
            return {each.name: each for each in webhooks.list_all(session)}

    def failures(self) -> int:
        return int(rows(self.store, "select failures from tasks where kind = 'webhook_delivery'")[0][0])

    def hook(self) -> control.WebhookView:
        return control.show_webhook(self.store, "billing")


@pytest.fixture
def story(workshop: Workshop) -> Callable[..., None]:
    def run(tell: Callable[[Post], Any], *says: str, **settings: Any) -> None:
        async def whole() -> None:
            async with receiving(*says) as receiver:
                post = Post(workshop, receiver, **settings)
                await asyncio.get_running_loop().run_in_executor(None, tell, post)

        asyncio.run(whole())

    return run


def test_a_message_is_small_json_and_the_snippet_of_the_how_to_verifies_it(story, monkeypatch):
    verify = verifier()

    def tell(post: Post) -> None:
        secret = post.add("cup_broke")
        post.happen("cup_made")
        post.happen(colour="red")
        post.work()
        (got,) = post.receiver.got
        said = json.loads(got.body)
        assert list(said) == ["id", "kind", "at", "about", "subject", "data", "complete"]
        assert (said["kind"], said["about"], said["data"]) == (
            "cup_broke",
            "A cup was dropped.",
            {"colour": "red"},
        )
        assert (said["at"], said["subject"]) == ("2023-11-14T22:13:20.000Z", {"task": None, "source": None})
        assert (got.path, got.headers["webhook-id"], got.headers["content-type"]) == (
            "/hook",
            said["id"],
            "application/json",
        )
        now = int(got.headers["webhook-timestamp"])
        assert verify(secret, got.headers, got.body)
        assert not verify(secret, got.headers, got.body + b" ")
        assert not verify("whsec_AAAA", got.headers, got.body)
        monkeypatch.setattr("time.time", lambda: float(now + 301))
        assert not verify(secret, got.headers, got.body), "somebody sends an old message again"
        assert (post.one().state, post.one().says) == ("succeeded", "127.0.0.1 answered 204")

    story(tell)


def test_the_signature_is_the_one_of_the_convention():
    """The example of the specification of Standard Webhooks."""
    secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"test": 2432232314}'
    assert (
        signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)
        == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    )


@pytest.mark.promise(1)
@pytest.mark.promise(2)
def test_an_event_and_its_deliveries_are_one_transaction(story, monkeypatch):
    def tell(post: Post) -> None:
        post.add()
        post.happen()

        def dies(*_: object) -> None:
            raise RuntimeError("killed in between")

        with monkeypatch.context() as broken:
            broken.setattr(webhooks, "mark_forwarded", dies)
            with pytest.raises(RuntimeError):
                forward_events(post.registry, post.store)
        assert post.deliveries() == []
        for _ in range(3):
            forward_events(post.registry, post.store)
        assert [each.kind for each in post.deliveries()] == ["cup_broke"]

    story(tell)


@pytest.mark.promise(2)
def test_many_workers_that_forward_at_once_make_one_delivery_of_each_event(story, workshop, monkeypatch):
    monkeypatch.setattr(engine, "FORWARD_AT_ONCE", 7)

    def tell(post: Post) -> None:
        post.add()
        for number in range(40):
            post.happen(number=number)
        stores = [post.store, *(workshop.machine() for _ in range(3))]
        threads = [threading.Thread(target=forward_events, args=(post.registry, each)) for each in stores]
        for each in threads:
            each.start()
        for each in threads:
            each.join(PATIENCE)
        said = rows(post.store, "select payload from tasks")
        numbers = [json.loads(row[0])["message"]["data"].get("number") for row in said]
        assert sorted(numbers) == list(range(40))

    story(tell)


@only_postgres
@pytest.mark.promise(1)
def test_an_event_that_is_committed_after_later_ones_is_delivered_too(story, workshop, database):
    def tell(post: Post) -> None:
        post.add()
        slow = Hand(database, post.store)
        with slow.store.write() as session:
            record_event(session, "cup_broke", post.shop.clock.now(), number=1)
        post.happen(number=2)
        forward_events(post.registry, post.store)
        assert len(post.deliveries()) == 1
        slow.commit()
        forward_events(post.registry, post.store)
        assert len(post.deliveries()) == 2

    story(tell)


@pytest.mark.promise(8)
def test_a_failed_delivery_is_tried_again_with_the_same_id_and_bytes(story):
    def tell(post: Post) -> None:
        post.add()
        post.happen()
        post.work()
        assert (post.one().state, post.one().says) == (
            "retryable",
            "ServerError: 127.0.0.1 answered 500: oops",
        )
        assert post.one().next_at is not None
        post.later(10 * SECOND)
        post.work()
        first, second = post.receiver.got
        assert (first.headers["webhook-id"], first.body) == (second.headers["webhook-id"], second.body)
        assert (post.one().state, post.one().attempts) == ("succeeded", 2)

    story(tell, answer(500, "oops"), answer(200))


TROUBLES = {
    "hang": "TimedOut",
    "drop": "ConnectionFailed",
    answer(302, location="http://10.0.0.1/"): "a redirect, which is not followed",
    answer(404, "\x1b[31mno\u202e such <b>hook"): "answered 404: [31mno such <b>hook",
    "HTTP/1.1 500 Oh\r\ncontent-length: 99\r\n\r\ncut off": "127.0.0.1 answered 500",
    answer(400, "token=Gr8-Horse-Battery9 is wrong"): "answered 400: token=*** is wrong",
    "SSH-2.0-OpenSSH\r\n\r\n": "",
}


@pytest.mark.promise(8)
@pytest.mark.promise(18)
def test_whatever_a_receiver_does_the_delivery_waits_and_says_why(story):
    def tell(post: Post) -> None:
        post.add("cup_broke")
        post.happen()
        for number, (said, why) in enumerate(TROUBLES.items(), 1):
            post.receiver.tell(said)
            post.work()
            found = post.one()
            assert (found.state, post.failures()) == ("retryable", number), said
            assert why in found.says
            assert found.says.isprintable()
            control.resume_webhook(post.store, "billing")  # the breaker, after five
            post.later(20 * MINUTE)
        assert len(post.receiver.got) == len(TROUBLES), "no redirect was followed, nothing was sent twice"

    story(tell, webhook__timeout=0.3)


@pytest.mark.promise(1)
@pytest.mark.parametrize(
    "says",
    [
        "huge",
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nlies",
        "HTTP/1.1 202 OK\r\ncontent-length: 9\r\nconnection: close\r\n\r\ncut",
    ],
)
def test_a_message_that_was_accepted_is_not_sent_again_for_what_came_with_it(story, says):
    def tell(post: Post) -> None:
        post.add("cup_broke")
        pinged = asyncio.run(post.pinged())
        assert (pinged.ok, pinged.why) == (True, None)
        post.happen()
        post.work()
        assert (post.one().state, post.one().attempts) == ("succeeded", 1)

    story(tell, says)


@pytest.mark.promise(20)
def test_webhooks_tell_of_each_other_only_what_waits_for_a_person(story):
    def tell(post: Post) -> None:
        post.add(name="other")
        hook = post.hooks()["other"]
        for kind in EventKind:
            assert hook.wants(kind, "source:webhook.billing") == (kind in ("gate_disabled", "gate_resumed"))
            assert hook.wants(kind, "source:shop")
            assert not hook.wants(kind, "source:webhook.other")

    story(tell)


@pytest.mark.promise(8)
@pytest.mark.promise(10)
def test_a_429_lets_all_deliveries_of_the_webhook_wait_and_spends_no_attempt(story):
    def tell(post: Post) -> None:
        post.add("cup_broke")
        post.happen()
        post.work()
        assert post.failures() == 0
        assert (post.hook().state, post.hook().held_back) == ("paused", 1)
        assert "127.0.0.1 answered 429" in str(post.hook().why)
        post.happen()
        post.later(119 * SECOND)
        post.work()
        assert len(post.receiver.got) == 1
        post.later(2 * SECOND)
        post.work()
        assert len(post.receiver.got) == 3
        assert [each.state for each in post.deliveries()] == ["succeeded", "succeeded"]

    story(tell, answer(429, retry_after="120"), answer(204))


@pytest.mark.promise(1)
@pytest.mark.promise(20)
def test_a_410_disables_the_webhook_visibly_and_its_deliveries_wait(story):
    def tell(post: Post) -> None:
        post.add()
        post.happen()
        post.work()
        post.happen()
        post.work()
        assert len(post.receiver.got) == 1
        assert (post.hook().state, post.hook().held_back) == ("disabled", 2)
        with post.store.read() as session:
            (shut,) = closed_gates(session, post.store.backend.now(session))
        assert closed_sentence(shut) == (
            "source:webhook.billing is disabled (undeliverable): Undeliverable: 127.0.0.1 answered 410: it wants no "
            "more messages; it stays closed until you enable it: thresher sources enable webhook.billing"
        )
        assert rows(post.store, "select count(*) from events where kind = 'gate_disabled'") == [(1,)]
        control.resume_webhook(post.store, "billing")
        post.work()
        assert [each.state for each in post.deliveries()] == ["succeeded", "succeeded"]
        assert {json.loads(each.body)["kind"] for each in post.receiver.got} == {"cup_broke"}, (
            "not its own troubles"
        )

    story(tell, answer(410), answer(204))


@pytest.mark.promise(17)
def test_an_address_that_has_become_private_is_never_reached(story):
    def tell(post: Post) -> None:
        post.add("cup_broke")
        post.outward = Outward()  # the project allows it no more; so would a name that leads elsewhere now
        post.happen()
        post.work()
        assert post.receiver.got == []
        assert post.hook().state == "disabled"
        assert "this machine (loopback)" in str(post.hook().why) or "port" in str(post.hook().why)

    story(tell)


def last_attempt(post: Post) -> None:
    with post.store.write() as session:
        session.run("update tasks set failures = :most", {"most": RETRIES.limit})


@pytest.mark.promise(1)
def test_a_dead_endpoint_is_disabled_and_a_message_it_does_not_take_fails(story):
    def tell(post: Post) -> None:
        post.add("cup_broke")
        post.happen()
        forward_events(post.registry, post.store)
        last_attempt(post)
        post.work()
        assert (post.one().state, post.hook().state) == ("pending", "disabled")
        assert "nothing could be delivered to 127.0.0.1 in 15 attempts" in str(post.hook().why)
        post.later(MINUTE)
        with post.store.write() as session:  # other messages have arrived since
            session.run("update gates set last_success = :now", {"now": post.shop.clock.now()})
        control.resume_webhook(post.store, "billing")
        post.work()
        assert (post.one().state, post.hook().state) == ("failed", "open")
        task = control.replay(post.store, post.registry, "billing", post.one().task)
        post.receiver.tell(answer(200))
        post.work()
        assert (task, post.one().state) == (post.one().task, "succeeded")
        again = control.replay(post.store, post.registry, "billing", task)
        assert again != task
        with pytest.raises(NotAllowed, match=r"on its way again already"):
            control.replay(post.store, post.registry, "billing", task)
        post.work()
        assert len({each.headers["webhook-id"] for each in post.receiver.got}) == 1
        with pytest.raises(UnknownName, match="has no delivery 99"):
            control.replay(post.store, post.registry, "billing", 99)

    story(tell, answer(500))


@pytest.mark.promise(17)
def test_both_secrets_sign_after_a_rotation_until_the_old_one_ends(story):
    def tell(post: Post) -> None:
        old = post.add("cup_broke")
        new = control.rotate_secret(post.store, "billing", keep=60).secret
        assert new != old
        for wait in (0, 61 * SECOND):
            post.later(wait)
            post.happen()
            post.work()
        for got, secrets in zip(post.receiver.got, ((new, old), (new,)), strict=True):
            at = int(got.headers["webhook-timestamp"])
            signed = [signature(each, got.headers["webhook-id"], at, got.body) for each in secrets]
            assert got.headers["webhook-signature"].split(" ") == signed

    story(tell)


@pytest.mark.promise(17)
def test_the_secret_is_in_no_row_but_its_own_and_in_no_line_of_the_log(story, caplog):
    def tell(post: Post) -> None:
        secret = post.add("cup_broke")
        bare = secret.removeprefix("whsec_")
        post.happen()
        post.work()
        made = control.show_webhook(post.store, "billing")
        assert bare not in repr(made) + repr(control.rotate_secret(post.store, "billing")) + caplog.text
        with post.store.read() as session:
            assert bare not in repr(webhooks.endpoint(session, {"name": "billing"}, 0))
            assert bare not in repr(webhooks.list_all(session))
        for table in ("tasks", "events", "audit", "gates", "sources", "attempts", "results"):
            assert bare not in repr(rows(post.store, f"select * from {table}"))

    story(tell, answer(500, "oops"))


def test_details_that_are_too_large_are_left_out_and_the_message_says_so(story):
    def tell(post: Post) -> None:
        post.add("cup_broke")
        post.happen(words="x" * 20_000)
        post.work()
        said = json.loads(post.receiver.got[0].body)
        assert (said["data"], said["complete"]) == ({}, False)

    story(tell)


def test_a_webhook_hears_nothing_of_before_and_a_removed_one_nothing_more(story):
    def tell(post: Post) -> None:
        post.happen()
        post.later(SECOND)
        post.add()
        post.add(name="other")
        forward_events(post.registry, post.store)
        assert post.deliveries() == []
        control.pause_webhook(post.store, "billing", "tea time")
        post.happen()
        post.work()
        assert (post.hook().held_back, len(post.receiver.got)) == (1, 2), "the other hears of the pause, too"
        assert control.remove_webhook(post.store, "billing") == 1
        post.happen()
        post.work()
        assert len(post.receiver.got) == 4
        with pytest.raises(UnknownName, match="there is no webhook 'billing'"):
            post.deliveries()
        assert rows(post.store, "select count(*) from sources where name = 'webhook.billing'") == [(0,)]
        post.add("cup_broke")
        assert post.hook().state == "open"

    story(tell)


@pytest.mark.promise(1)
def test_an_event_is_not_pruned_before_it_was_forwarded(story):
    def tell(post: Post) -> None:
        (aging,) = [each for each in AGING if each.setting == "history.events"]
        post.add("cup_broke")
        post.happen()
        post.later(10_000 * 24 * 60 * MINUTE)
        prune_aged(post.store, aging)
        forward_events(post.registry, post.store)
        assert len(post.deliveries()) == 1
        prune_aged(post.store, aging)
        assert rows(post.store, "select count(*) from events") == [(0,)]

    story(tell)


def test_what_a_stage_tells_is_delivered_before_a_run_is_over(story, workshop):
    async def drop(ctx):
        return Done(events=(NewEvent("cup_broke", {"colour": "red"}),))

    def tell(post: Post) -> None:
        app = one_stage("drop", drop)
        app = App(app.name, pipelines=app.pipelines, events=APP.events)
        post.registry = workshop.set_up(app, host__interval=0.0, webhook__every=3_600.0)
        post.add("cup_broke")
        (task,) = workshop.put(post.registry, NewTask("drop"))
        post.work()
        (got,) = post.receiver.got
        assert json.loads(got.body)["subject"] == {"task": task, "source": None}

    story(tell)


def test_a_delivery_cannot_be_made_by_hand():
    with pytest.raises(UsageError, match="is made for an event, not by hand"):
        Registry([]).admit(NewTask("webhook_delivery", {"webhook": "billing"}))


@pytest.mark.parametrize(
    ("name", "url", "events", "says"),
    [
        ("Billing!", "https://hooks.example/", ["*"], "lower-case letters"),
        ("b", "https://10.0.0.1/", ["*"], "10.0.0.1 is a private network"),
        ("b", "https://169.254.169.254/", ["*"], "the metadata service of a cloud"),
        ("b", "https://[::ffff:127.0.0.1]/", ["*"], "this machine"),
        ("b", "https://localhost/", ["*"], "fetch.allow"),
        ("b", "http://hooks.example/", ["*"], "needs an https address"),
        ("b", "https://u:secret@hooks.example/", ["*"], "user name or password"),
        ("b", "ftp://hooks.example/", ["*"], "only http and https"),
        ("b", "https://hooks.example/" + "x" * 3_000, ["*"], "the limit is 2,000"),
        ("b", "https://hooks.example/", [], "name at least one kind of event"),
        ("b", "https://hooks.example/", ["cup_brake"], "there is no event kind 'cup_brake'"),
        ("b", "https://hooks.example/", ["task_ended"], "is no event that webhooks can deliver"),
    ],
)
@only_sqlite
@pytest.mark.promise(17)
def test_a_wrong_webhook_is_refused_with_advice_and_nothing_is_kept(workshop, name, url, events, says):
    workshop.set_up(APP)
    with pytest.raises(UsageError, match=re.escape(says)) as refused:
        control.add_webhook(workshop.store, Guard(), name, url, events)
    assert "secret" not in str(refused.value)
    assert control.list_webhooks(workshop.store) == []
