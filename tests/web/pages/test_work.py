"""The pages about work: tasks, failures, runs and events, found, explained, sent back and cancelled by a
person in a browser that runs nothing."""

import re
from html import unescape

import pytest

from tests.harness.tasks import entry, fields_of, state_of
from tests.web.pages.visitor import page, with_anna
from tests.web.pages.work import EVIL, FRAMES, fails, fill
from thresher.admin import browse
from thresher.admin.explain import explain

pytestmark = pytest.mark.promise(20)


@pytest.fixture
def work(world):
    return fill(world.store)


@pytest.fixture
def visitor(world, work):
    return with_anna(world).log_in()


def rows(text: str) -> list[int]:
    """The tasks, runs or events that a page lists."""
    return [int(found) for found in re.findall(r'<tr role="row" id="\w+-(\d+)"', text)]


def test_every_filter_of_tasks_stands_in_the_address_and_finds_what_it_says(work, visitor):
    everything = rows(visitor.see("/tasks"))
    assert everything == sorted(everything, reverse=True)
    assert len(everything) == work.waiting
    for asked, wanted in {
        "state=failed&error=Malformed": [work.hostile, *reversed(work.failed)],
        "state=failed&error=Malformed&source=shop": [*reversed(work.failed)],
        "state=failed&error=Malformed&source=none": [work.hostile],
        "state=delayed": [work.retried],
        "state=due&kind=item": [work.waiting],
        "source=source:shop&state=due": [work.waiting],
        f"lineage={work.root}": [work.child, work.root],
        "text=SHOP.example": [work.child, work.root],
        "text=item%201": [work.failed[1]],
        "text=%25": [work.hostile],
        "text=_": [],
        f"run={work.run}&state=failed": [work.run_failed],
        "kind=nothing": [],
    }.items():
        assert rows(visitor.see(f"/tasks?{asked}")) == wanted, asked


def test_a_filter_that_makes_no_sense_is_refused_with_a_sentence(visitor):
    assert "there is no state" in visitor.see("/tasks?state=odd", 400)
    assert "whole number" in visitor.see("/tasks?run=x", 400)
    assert "whole number" in visitor.see(f"/tasks?before={'9' * 40}", 400)
    assert "no parameter" in visitor.see("/tasks?colour=red", 400)
    assert "90s, 10m" in visitor.see("/failures?newer=soon", 400)
    assert "no event kind" in visitor.see("/events?kind=odd", 400)
    for path in ("/tasks/x", "/tasks/99999", f"/tasks/{'9' * 30}", "/runs/x", "/runs/99999"):
        visitor.see(path, 404)


def test_a_long_list_goes_on_page_by_page_and_says_how_far_it_has_looked(work, visitor, monkeypatch):
    monkeypatch.setattr("thresher.web.pages.tasks.browse_tasks", few)
    seen, path = list[int](), "/tasks?kind=item"
    for _ in range(20):
        text = visitor.see(path)
        seen += rows(text)
        found = re.search(r'rel="next" href="([^"]+)"', text)
        if not found:
            break
        path = found[1].replace("&amp;", "&")
        assert path.startswith("/tasks?kind=item&before=")
    assert seen == [work.waiting, work.child, work.hostile, *reversed(work.failed)]
    monkeypatch.setattr("thresher.store.search.WINDOW", 3)
    monkeypatch.setattr("thresher.admin.browse.WINDOW", 3)
    vain = visitor.see("/tasks?kind=nothing")
    assert "Nothing was found among the 3 tasks before" in vain
    assert "Look further back" in vain
    assert "all that there are were looked at" not in vain


def few(store, query, *, before=None, limit=2):
    return browse.browse_tasks(store, query, before=before, limit=2)


def test_a_list_says_why_each_task_waits_or_how_it_ended(work, visitor):
    text = visitor.see("/tasks")
    assert "source:shop is disabled (auth): the shop&#39;s key was refused" in text
    assert "TimedOut: no answer" in text
    assert "Malformed: no price on the page" in text
    assert FRAMES[0].split(":")[0] not in text, "where it was raised stands on the page of the task"


def test_the_page_of_a_task_shows_its_attempts_with_the_end_of_the_traceback(work, visitor):
    text = visitor.see(f"/tasks/{work.failed[0]}")
    (trace,) = re.findall(r'<pre class="trace"[^>]*>(.*?)</pre>', text, re.DOTALL)
    assert [line.split(" ", 1)[1] for line in trace.replace("&#39;", "'").strip().splitlines()] == [*FRAMES]
    assert "It was raised at shop/read.py:12" in text
    waiting = visitor.see(f"/tasks/{work.waiting}")
    assert "it stays closed until you enable it" in waiting
    assert "It has not been tried yet" in waiting
    assert 'href="/sources/shop"' in waiting


def test_the_page_of_a_task_shows_what_it_wrote_with_the_evidence_and_what_was_refused(work, visitor):
    text = visitor.see(f"/tasks/{work.root}")
    assert "1 of 2 values have evidence" in text
    assert "<q><bdi>Oak table</bdi></q>" in text
    assert re.search(r"price</bdi></b> <span class=\"pill unknown\">unverified", text)
    assert "in_ancestry" in text
    assert f'href="/tasks/{work.child}"' in text
    below = visitor.see(f"/tasks/{work.child}")
    assert f'spawned by <a href="/tasks/{work.root}">' in below
    assert "unverified: price" in text


def test_a_failed_task_is_sent_back_and_a_waiting_one_cancelled_by_a_button(world, work, visitor):
    one = work.failed[0]
    assert f'action="/tasks/{one}/retry"' in visitor.see(f"/tasks/{one}")
    told = visitor.post(f"/tasks/{one}/retry")
    assert (told.status, told.headers["Location"]) == (303, f"/tasks/{one}")
    assert state_of(world.store, one) == "pending"
    told = visitor.post(f"/tasks/{one}/cancel")
    assert (told.status, told.headers["Location"]) == (303, f"/tasks/{one}")
    assert fields_of(world.store, one)["reason"] == "cancelled by administrator anna"
    again = page(visitor.post(f"/tasks/{one}/cancel"), 409)
    assert "only waiting or running tasks can be cancelled" in again
    page(visitor.send(f"/tasks/{one}/retry"), 403)
    assert state_of(world.store, one) == "cancelled"


def test_failures_are_grouped_and_every_number_leads_to_its_tasks(work, visitor):
    text = visitor.see("/failures")
    for number, path in re.findall(r'data-label="Tasks" class="number"><a href="([^"]+)">(\d+)', text):
        assert len(rows(visitor.see(number.replace("&amp;", "&")))) == int(path)
    assert len(re.findall(r"Retry…", text)) == 3
    assert FRAMES[0].replace("'", "&#39;") in text
    assert "retrying" in text
    assert "TimedOut" not in visitor.see("/failures?state=failed")
    assert "Gone" not in visitor.see("/failures?error=Malformed").split("<h2")[1]
    assert "No failure matches" in visitor.see("/failures?older=1d")
    assert re.search(r'href="/tasks\?[^"]*newer=2h', visitor.see("/failures?newer=2h"))


def test_a_dry_run_shows_only_what_it_would_send_back(world, work, visitor):
    world.pass_time(7_200)
    late = fails(world.store, entry("item", key="late"))
    assert rows(visitor.see("/failures/retry?error=Malformed&newer=1h")) == [late]
    assert rows(visitor.see("/tasks?state=failed&error=Malformed&newer=1h")) == [late]
    visitor.post("/failures/retry", error="Malformed", newer="1h")
    assert state_of(world.store, late) == "pending"
    assert {state_of(world.store, each) for each in work.failed} == {"failed"}


def test_a_group_is_sent_back_after_a_dry_run_that_changes_nothing(world, work, visitor):
    asked = "error=Malformed&kind=item&source=source%3Ashop"
    shown = visitor.see(f"/failures/retry?{asked}")
    assert "Retry 3 failed tasks?" in shown
    assert rows(shown) == [*reversed(work.failed)]
    assert {state_of(world.store, each) for each in work.failed} == {"failed"}
    told = visitor.post("/failures/retry", error="Malformed", kind="item", source="source:shop")
    assert (told.status, told.headers["Location"]) == (303, "/failures?retried=3")
    assert "3 tasks were sent back to waiting" in visitor.see("/failures?retried=3")
    assert {state_of(world.store, each) for each in work.failed} == {"pending"}
    assert state_of(world.store, work.hostile) == "failed"
    assert "No failed task matches: all were looked at" in visitor.see(f"/failures/retry?{asked}")
    page(visitor.send("/failures/retry", error="Gone"), 403)


def test_a_run_shows_its_tasks_by_state_and_every_number_leads_to_them(work, visitor):
    listed = visitor.see("/runs")
    assert rows(listed) == [work.run]
    assert rows(visitor.see("/runs?running=1&app=test")) == [work.run]
    assert "No run matches" in visitor.see("/runs?app=nobody")
    text = visitor.see(f"/runs/{work.run}")
    tiles = re.findall(rf'<a href="(/tasks\?run={work.run}[^"]*)"><b>(\d+)</b>', text)
    assert len(tiles) == 7
    for path, number in tiles:
        assert len(rows(visitor.see(path.replace("&amp;", "&")))) == int(number), path


def test_a_run_is_cancelled_after_a_question(world, work, visitor):
    assert f'href="/runs/{work.run}/cancel"' in visitor.see(f"/runs/{work.run}")
    assert "1 task has not ended" in visitor.see(f"/runs/{work.run}/cancel")
    told = visitor.post(f"/runs/{work.run}/cancel")
    assert (told.status, told.headers["Location"]) == (303, f"/runs/{work.run}")
    ((asked,),) = world.rows("select cancelling from tasks where id = :id", id=work.run_live)
    assert asked == 1
    page(visitor.send(f"/runs/{work.run}/cancel"), 403)


def test_events_are_listed_by_kind_and_gate_and_lead_to_their_task_and_source(work, visitor):
    text = visitor.see("/events")
    assert "gate_disabled" in text
    assert 'href="/sources/shop"' in text
    assert "the shop&#39;s key was refused" in visitor.see("/events?kind=gate_disabled&source=shop")
    refused = visitor.see("/events?kind=spawn_refused")
    assert f'href="/tasks/{work.root}"' in refused
    assert "in_ancestry" in refused
    assert "No event matches: all that there are were looked at" in visitor.see("/events?kind=worker_lost")


def test_hostile_text_stays_text_on_every_page(work, visitor):
    for path in ("/tasks", f"/tasks/{work.hostile}", "/failures", "/failures/retry"):
        text = visitor.see(path)  # every tag and attribute is one of ours
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text, path
    assert "{{7*7}}" in visitor.see(f"/tasks/{work.hostile}")
    for field in ("kind", "error", "source", "text"):
        quoted = "%22%3E%3Cscript%3Ealert(1)%3C/script%3E"
        assert "<script>alert" not in visitor.see(f"/tasks?{field}={quoted}")
    assert EVIL not in visitor.see("/events")


def test_an_empty_page_says_whether_anything_was_looked_at(world):
    visitor = with_anna(world).log_in()
    assert "There are no tasks yet" in visitor.see("/tasks")
    assert "No task matches: all that there are were looked at" in visitor.see("/tasks?state=failed")
    assert "Nothing has failed" in visitor.see("/failures")
    assert "There are no runs yet" in visitor.see("/runs")
    assert "Nothing has happened yet" in visitor.see("/events")


def test_the_numbers_of_the_front_page_lead_to_as_many_rows(work, visitor):
    text = visitor.see("/")
    tiles = re.findall(r'<a href="(/tasks\?state=\w+)"><b>(\d+)</b>', text)
    assert len(tiles) == 4
    for path, number in tiles:
        assert len(rows(visitor.see(path))) == int(number), path
    for path in set(re.findall(r'href="(/(?:tasks|failures|runs|events)[^"]*)"', text)):
        visitor.see(path.replace("&amp;", "&"))


def test_the_page_of_a_task_says_what_the_terminal_says(world, work, visitor):
    for task_id in (work.failed[0], work.hostile, work.retried, work.waiting, work.root, work.run_live):
        text = unescape(visitor.see(f"/tasks/{task_id}"))
        told = explain(world.store, (), str(task_id)).sentences
        assert told
        for sentence in told:
            assert f"<li><bdi>{sentence.rstrip('.')}.</bdi></li>" in text, sentence
