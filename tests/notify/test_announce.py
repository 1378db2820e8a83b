"""New matches are told of: by real workers on both databases, to a real server that is sometimes away."""

import asyncio
from typing import Any

import pytest

from tests.engine.workshop import PATIENCE, Workshop, at_work
from tests.harness.databases import Database, with_processes
from tests.harness.gates import gate_row
from tests.notify.post import Hook, Mailbox, text_of
from thresher import App, Done, NewTask, Pipeline, Record, Stage
from thresher.apps.jobs.model import MatchRecord
from thresher.apps.jobs.notify import MAX_MATCHES, SHOWN, SOURCE, announcement, letter, notify
from thresher.apps.jobs.service.matches import set_status
from thresher.apps.jobs.service.postings import set_profile
from thresher.core.clock import SECOND
from thresher.core.record import Found
from thresher.engine.stage_context import Services
from thresher.notify.notifier import Notifier
from thresher.store.records import find_records

MARKS = ("status", "score", "priority", "decided_at", "notified_at")


@pytest.fixture
def workshop(database: Database):
    found = Workshop(database)
    yield found
    found.close()


async def save(ctx: Any) -> Done:
    """As the app saves a match: the record, and the task that tells of it."""
    said = ctx.task.payload
    data = {
        "posting": said["key"],
        "title": said["title"],
        "company": "Acme",
        "url": f"https://acme.example/{said['key']}",
        "score": said["score"],
        "priority": said["priority"],
        "decided_at": ctx.now(),
    }
    match = Record(
        "match", said["key"], data, merge=True, initial={"status": "new", "notified_at": 0}, marks=MARKS
    )
    return Done(records=(match,), children=(announcement(said["key"], ctx.setting("jobs.notify.delay")),))


APP = App("jobs", pipelines=(Pipeline("save", Stage(save)), notify), sources=(SOURCE,))


def found_match(key: str, score: int = 90, priority: str = "high", title: str = "Engineer") -> NewTask:
    return NewTask("save", {"key": key, "score": score, "priority": priority, "title": title})


class Office:
    """A worker that tells, and a look at what it wrote."""

    def __init__(self, shop: Workshop, *urls: str) -> None:
        self.shop, self.urls = shop, urls
        self.registry = shop.set_up(APP, jobs__notify__delay=60)

    def work(self) -> None:
        # Its own event loop each time, so its own notifier: as after a restart.
        self.shop.drain(self.registry, services=Services(notifier=Notifier(self.urls)))

    def save(self, *new: NewTask) -> None:
        self.shop.put(self.registry, *new)
        self.work()

    def later(self, seconds: float) -> None:
        self.shop.clock.advance(int(seconds * SECOND))
        self.work()

    def told(self) -> dict[str, bool]:
        with self.shop.store.read() as session:
            return {each.key: each.data["notified_at"] > 0 for each in find_records(session, kind="match")}

    def waiting(self) -> int:
        with self.shop.store.read() as session:
            return int(
                session.rows("select count(*) from tasks where kind = 'notify' and finished_at is null")[0][0]
            )


@with_processes
def test_matches_that_come_together_make_one_message_and_are_told_once(workshop: Workshop, mailbox: Mailbox):
    office = Office(workshop, mailbox.url)
    office.save(
        found_match("a", 91), found_match("b", 97, title="Senior Engineer"), found_match("c", 75, "medium")
    )
    assert mailbox.mails == []
    office.later(61)
    (mail,) = mailbox.mails
    assert mail["Subject"] == "2 new matches, the best with 97 points"
    body = text_of(mail)
    assert body.index("Senior Engineer, Acme") < body.index("https://acme.example/a")
    assert office.told() == {"a": True, "b": True, "c": False}
    office.later(3_600)
    assert (len(mailbox.mails), office.waiting()) == (1, 0)
    office.save(found_match("a", 93))  # judged again
    office.later(61)
    assert len(mailbox.mails) == 1


@with_processes
@pytest.mark.promise(1)
def test_while_the_server_is_down_everything_waits_and_nothing_is_lost(workshop: Workshop, mailbox: Mailbox):
    office = Office(workshop, mailbox.url)
    mailbox.shut()
    office.save(found_match("a"), found_match("b"))
    for _ in range(8):  # longer than any budget of retries
        office.later(400)
    row = gate_row(workshop.store, SOURCE.gate)
    assert "no one could be notified" in row["closed_reason"]
    assert office.waiting() == 2
    with workshop.store.read() as session:
        assert session.rows("select sum(failures) from tasks where kind = 'notify'")[0][0] == 0
    mailbox.open()
    office.save(found_match("c"))
    office.later(400)
    office.later(61)
    assert office.told() == {"a": True, "b": True, "c": True}
    said = [text_of(mail) for mail in mailbox.mails]
    assert [sum(f"acme.example/{key}" in body for body in said) for key in "abc"] == [1, 1, 1]
    assert office.waiting() == 0


@with_processes
@pytest.mark.promise(2)
def test_a_worker_that_dies_after_sending_tells_again_and_a_living_one_never_does(
    workshop: Workshop, hook: Hook
):
    office = Office(workshop, hook.url)
    office.save(found_match("a"))
    workshop.clock.advance(61 * SECOND)
    dying = Notifier([hook.url])
    reached = asyncio.Event()

    class LosesItsClaim(Notifier):
        async def send(self, title: str, body: str) -> Any:
            await dying.send(title, body)
            reached.set()
            await asyncio.Event().wait()

    async def until_sent() -> None:
        worker = workshop.worker(office.registry, services=Services(notifier=LosesItsClaim([hook.url])))
        running = asyncio.create_task(worker.run())
        await asyncio.wait_for(reached.wait(), PATIENCE)
        worker.stop()
        worker.stop()  # the second one hands back at once
        await asyncio.wait_for(running, PATIENCE)

    asyncio.run(until_sent())
    assert (len(hook.told), office.told()) == (1, {"a": False})
    office.later(61)
    assert (len(hook.told), office.told()) == (2, {"a": True})
    office.later(3_600)
    assert len(hook.told) == 2


@with_processes
@pytest.mark.promise(3)
def test_two_workers_never_tell_the_same_match_at_the_same_time(workshop: Workshop, hook: Hook):
    office = Office(workshop, hook.url)
    office.save(*(found_match(f"m{at}") for at in range(12)))
    workshop.clock.advance(61 * SECOND)

    async def both() -> None:
        reaches = [Services(notifier=Notifier([hook.url])) for _ in range(2)]
        workers = [
            workshop.worker(office.registry, workshop.machine(), until_idle=True, services=services)
            for services in reaches
        ]
        await asyncio.wait_for(asyncio.gather(*(worker.run() for worker in workers)), PATIENCE)

    asyncio.run(both())
    said = " ".join(told["message"] for told in hook.told) + " "
    assert [said.count(f"acme.example/m{at}\n") + said.count(f"acme.example/m{at} ") for at in range(12)] == [
        1
    ] * 12


@with_processes
def test_a_match_that_is_saved_while_a_message_is_sent_is_told_after_it(workshop: Workshop, hook: Hook):
    office = Office(workshop, hook.url)
    office.save(found_match("a"))
    workshop.clock.advance(61 * SECOND)
    held, free = asyncio.Event(), asyncio.Event()

    class Slow(Notifier):
        async def send(self, title: str, body: str) -> Any:
            held.set()
            await free.wait()
            return await super().send(title, body)

    async def meanwhile() -> None:
        async with at_work(workshop.worker(office.registry, services=Services(notifier=Slow([hook.url])))):
            await asyncio.wait_for(held.wait(), PATIENCE)
            workshop.put(office.registry, found_match("b"))
            await workshop.store.until(lambda: "b" in office.told())
            free.set()
            await workshop.store.until(lambda: office.told()["a"])

    asyncio.run(meanwhile())
    assert office.told() == {"a": True, "b": False}
    office.later(61)
    assert office.told() == {"a": True, "b": True}
    assert ["acme.example/b" in told["message"] for told in hook.told] == [False, True]


@with_processes
def test_what_a_person_has_seen_is_no_news(workshop: Workshop, hook: Hook):
    office = Office(workshop, hook.url)
    office.save(found_match("a"), found_match("b"))
    set_status(workshop.store, ["a"], "dismissed")
    office.later(61)
    (told,) = hook.told
    assert ("acme.example/a" in told["message"], "acme.example/b" in told["message"]) == (False, True)


@with_processes
@pytest.mark.parametrize(
    ("wanted", "told"),
    [("medium", {"a": True, "b": True, "c": False}), ("never", {"a": False, "b": False, "c": False})],
)
def test_the_profile_says_from_which_priority_on(
    workshop: Workshop, hook: Hook, wanted: str, told: dict[str, bool]
):
    office = Office(workshop, hook.url)
    set_profile(workshop.store, f"notify: {wanted}\n", "profile.yaml")
    office.save(found_match("a", 90, "high"), found_match("b", 75, "medium"), found_match("c", 66, "low"))
    office.later(61)
    assert office.told() == told


@with_processes
def test_without_anybody_to_tell_matches_stay_untold_and_nothing_waits(workshop: Workshop):
    office = Office(workshop)
    office.save(found_match("a"))
    office.later(61)
    assert (office.told(), office.waiting()) == ({"a": False}, 0)


@with_processes
def test_many_matches_make_one_message_that_names_the_best(workshop: Workshop, hook: Hook):
    office = Office(workshop, hook.url)
    office.save(*(found_match(f"m{at}", 85 + at % 15) for at in range(MAX_MATCHES + 30)))
    office.later(61)
    assert len(hook.told) == 2, "as many as one settlement takes, and then the rest"
    assert all(office.told().values())
    assert f"and {MAX_MATCHES - SHOWN} more" in hook.told[0]["message"]


def test_a_hostile_title_is_one_short_line_of_the_letter():
    match = Found(
        "match",
        "a",
        {
            "title": "x\n\n99  Fake, Acme\n    https://evil.example/" + "y" * 500,
            "url": "https://a.example/",
            "score": 90,
        },
    )
    lines = letter([MatchRecord.of(match)]).splitlines()
    assert (len(lines), lines[-1]) == (2, "    https://a.example/")
    assert len(lines[0]) < 150
