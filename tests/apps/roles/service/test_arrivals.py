"""Postings that a scraper brings: counted, linked, in one transaction, however often and by however many at
once."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Barrier, Thread
from typing import Any

import pytest

from tests.apps.roles.service.arriving import (
    HOUR,
    REGISTRY,
    SCRAPER,
    body,
    claim,
    counts,
    everything,
    held,
    job,
    matchings,
    post,
    postings,
    role,
    status,
)
from thresher.apps.roles.demand import Demand
from thresher.apps.roles.service.arrivals import drop_late, import_late, late_posts, receive
from thresher.apps.roles.store.platforms import save_platform
from thresher.apps.roles.store.queue import Holder
from thresher.apps.roles.store.roles import merge_roles, reject_role
from thresher.apps.roles.store.rows import Platform
from thresher.core.app import App
from thresher.core.clock import FrozenClock
from thresher.core.errors import InvalidPayload, NotAllowed, UnknownName, UsageError
from thresher.core.json_stream import NotJson
from thresher.core.outcome import Done
from thresher.core.pipeline import Pipeline, Stage
from thresher.core.spooled import Spooled
from thresher.engine.registry import Registry
from thresher.store.session import Session
from thresher.store.settings import change_setting, refresh_settings
from thresher.store.store import Store

Open = Callable[..., Store]
PROOF = {"url": "https://monster.example/?q=python", "says": "No jobs found"}


def test_new_postings_are_imported_and_the_session_is_completed(store: Store, clock: FrozenClock) -> None:
    wanted, token = held(store)
    clock.advance(45_000_000)
    answer = post(store, token, job(1), job(2))
    assert counts(answer) == (2, 2, 0, 0, 0)
    assert {
        name: answer[name]
        for name in ("session_id", "duration_seconds", "matching_triggered", "verdict", "session_status")
    } == {
        "session_id": token,
        "duration_seconds": 45,
        "matching_triggered": True,
        "verdict": "found",
        "session_status": "completed",
    }
    assert answer["role_status"] == status(store, wanted) == "completed"
    found = postings(store)["monster/m-1"]
    assert found.linked("role") == (str(wanted),)
    assert found.linked("id") == ("monster/m-1",)
    assert found.marks == {"state": "open", "seen_at": clock.now(), "content": found.data["content"]}
    assert found.data["first_seen"] == clock.now()
    assert found.data["session"] == token
    assert matchings(store) == [{"role": wanted, "postings": [1, 2], "session": token}]


@pytest.mark.promise(2)
@pytest.mark.promise(20)
def test_that_postings_came_in_is_an_event_and_a_task_of_whoever_follows_it(store: Store) -> None:
    pipeline = Pipeline("audit", Stage(lambda ctx: Done(), name="audit"))
    auditor = App("audits", pipelines=(pipeline,), follows={"jobs_imported": "audit"})
    registry = Registry([*REGISTRY.apps, auditor])
    wanted, token = held(store)
    sent = body(token, job(1), job(2), {"title": "nobody's"})
    for _ in range(2):  # the answer was lost, and it is sent again
        receive(store, registry, SCRAPER, sent)
    told = {
        "job_ids": [1, 2],
        "global_role_id": wanted,
        "role_name": "Python Developer",
        "session_id": token,
        "source": "scraper",
    }
    with store.read() as session:
        events = session.rows("select detail from events where kind = 'jobs_imported'")
        followed = session.rows("select payload from tasks where kind = 'audit'")
    assert [json.loads(each) for (each,) in events] == [json.loads(each) for (each,) in followed] == [told]


@pytest.mark.promise(1)
def test_postings_that_are_not_stored_are_not_told(store: Store) -> None:
    _, token = held(store)
    with pytest.raises(NotJson):
        receive(store, REGISTRY, SCRAPER, Spooled.of(b"".join(body(token, job(1)).pieces())[:-3]))
    post(store, token)
    with store.read() as session:
        assert session.rows("select count(*) from events where kind = 'jobs_imported'") == [(0,)]


@pytest.mark.promise(9)
def test_a_posting_found_under_a_second_role_belongs_to_both(store: Store) -> None:
    first, brought = held(store, "Python Developer")
    post(store, brought, job(1), job(2))
    second, token = held(store, "Django Developer")
    answer = post(store, token, job(1, session="made up"), job(2, title="Changed"), job(3))
    assert counts(answer) == (3, 1, 2, 0, 0)
    assert [found.data["session"] for _, found in sorted(postings(store).items())] == [
        brought,
        brought,
        token,
    ]
    assert {key: found.linked("role") for key, found in postings(store).items()} == {
        "monster/m-1": (str(first), str(second)),
        "monster/m-2": (str(first), str(second)),
        "monster/m-3": (str(second),),
    }
    assert postings(store)["monster/m-2"].data["title"] == "Changed"
    assert sorted(matchings(store)[-1]["postings"]) == [1, 2, 3]


@pytest.mark.promise(9)
def test_the_same_content_under_another_number_is_one_posting_with_both_numbers(store: Store) -> None:
    wanted, token = held(store)
    post(store, token, job(1), complete=False)
    twin = job(1, external_job_id="d-9", platform="Dice", job_url="https://dice.example/9", salary="90k")
    answer = post(store, token, twin)
    assert counts(answer) == (1, 0, 0, 1, 0)  # its salary is new
    (found,) = postings(store).values()
    assert found.linked("id") == ("dice/d-9", "monster/m-1")
    assert (found.data["platform"], found.data["number"], found.data["salary"]["text"]) == (
        "monster",
        "m-1",
        "90k",
    )
    assert found.linked("role") == (str(wanted),)


def test_a_twin_that_words_it_differently_does_not_change_it_back_and_forth(store: Store) -> None:
    _, token = held(store)
    long = "x " * 200
    post(store, token, job(1, description=long + "one"), complete=False)
    answer = post(store, token, job(1, description=long + "two", external_job_id="other"), complete=False)
    assert answer["reasons"] == {"unchanged": 1}
    assert post(store, token, job(1, description=long + "one"))["reasons"] == {"unchanged": 1}


def test_a_posting_twice_in_a_body_counts_once_and_keeps_its_numbers(store: Store) -> None:
    _, token = held(store)
    answer = post(store, token, job(1), job(1), job(1, external_job_id="again"), job(2))
    assert counts(answer) == (4, 2, 0, 0, 2)
    assert answer["reasons"] == {"duplicate_in_batch": 2}
    assert [skip["index"] for skip in answer["skips"]] == [1, 2]
    assert postings(store)["monster/m-1"].linked("id") == ("monster/again", "monster/m-1")
    assert matchings(store)[0]["postings"] == [1, 2]


def test_a_posting_that_changed_is_updated_and_one_that_did_not_is_seen(
    store: Store, clock: FrozenClock
) -> None:
    _, token = held(store)
    post(store, token, job(1), job(2), complete=False)
    first = clock.now()
    clock.advance(HOUR // 2)
    answer = post(store, token, job(1), job(2, salary_min=5), complete=False)
    assert counts(answer) == (2, 0, 0, 1, 1)
    assert answer["reasons"] == {"unchanged": 1}
    assert {
        key: (found.data["first_seen"], found.marks["seen_at"], found.seen)
        for key, found in postings(store).items()
    } == {
        "monster/m-1": (first, clock.now(), 2),
        "monster/m-2": (first, clock.now(), 2),
    }
    assert matchings(store)[-1]["postings"] == [2]


def test_a_closed_posting_that_is_seen_again_is_open(store: Store) -> None:
    _, token = held(store)
    post(store, token, job(1), complete=False)
    with store.write() as session:
        session.run(
            'update records set data = replace(data, \'"state":"open"\', \'"state":"closed","closed_at":5\')'
        )
        session.run("update marks set word = 'closed' where name = 'state'")
    assert counts(post(store, token, job(1))) == (1, 0, 0, 1, 0)
    (found,) = postings(store).values()
    assert (found.data["state"], found.marks["state"], "closed_at" in found.data) == ("open", "open", False)


def test_facts_that_were_read_from_the_old_text_go_with_it(store: Store) -> None:
    _, token = held(store)
    post(store, token, job(1), complete=False)
    with store.write() as session:
        session.run('update records set data = replace(data, \'"state"\', \'"facts":{"skills":[]},"state"\')')
    post(store, token, job(1), job(2), complete=False)
    assert "facts" in postings(store)["monster/m-1"].data
    post(store, token, job(1, description="Quite another text."), complete=False)
    assert "facts" not in postings(store)["monster/m-1"].data


def test_one_bad_posting_does_not_sink_the_others(store: Store) -> None:
    _, token = held(store)
    answer = post(
        store,
        token,
        {"title": 1},
        job(1),
        7,
        job(2, skills=3),
        job(3, external_job_id=None, job_url=None),
        job(4, title=" "),
    )
    assert counts(answer) == (6, 1, 0, 0, 5)
    assert answer["reasons"] == {"invalid": 5}
    assert [(skip["index"], skip["detail"]) for skip in answer["skips"]][1:3] == [
        (2, "it must be an object"),
        (3, "skills must be a list of strings"),
    ]
    assert answer["verdict"] == "found"


@pytest.mark.promise(7)
def test_a_body_of_nothing_but_garbage_has_found_nothing(store: Store) -> None:
    wanted, token = held(store)
    answer = post(store, token, {}, {"title": "no id"}, None)
    assert (answer["verdict"], answer["session_status"], answer["role_status"]) == (
        "unknown",
        "completed",
        "pending",
    )
    assert status(store, wanted) == "pending"
    assert matchings(store) == []


@pytest.mark.promise(7)
def test_an_empty_body_without_a_verdict_completes_the_session_and_not_the_role(store: Store) -> None:
    wanted, token = held(store)
    answer = post(store, token)
    assert (
        answer["jobs_found"],
        answer["verdict"],
        answer["session_status"],
        answer["matching_triggered"],
    ) == (
        0,
        "unknown",
        "completed",
        False,
    )
    assert "goes back to the queue" in answer["message"]
    assert status(store, wanted) == "pending"


def test_a_setting_lets_any_post_complete_the_role(store: Store) -> None:
    change_setting(store, "roles.any_post_completes", 1, "anna")
    refresh_settings(store)
    wanted, token = held(store)
    answer = post(store, token)
    assert (answer["verdict"], answer["role_status"], status(store, wanted)) == (
        "unknown",
        "completed",
        "completed",
    )
    assert "because roles.any_post_completes is 1" in answer["message"]
    blocked, token = held(store, "Nurse")
    assert post(store, token, verdict="blocked")["role_status"] == status(store, blocked) == "pending", (
        "whoever says that it was blocked is believed"
    )


@pytest.mark.promise(13)
def test_what_is_said_of_an_empty_platform_does_not_deny_what_came_from_another(store: Store) -> None:
    with store.write() as session:
        for name in ("dice", "indeed"):
            save_platform(session, Platform(name), store.backend.now(session))
    _, token = held(store)
    answer = post(store, token, job(1, platform="dice"))
    assert (answer["jobs_imported"], answer["role_status"]) == (1, "pending")
    assert answer["message"].startswith(
        "postings came from dice, and none from indeed, and nothing proves that there is nothing there: "
        "the role goes back to the queue for indeed."
    )


@pytest.mark.promise(13)
def test_postings_of_a_platform_that_is_not_the_session_s_are_named(store: Store) -> None:
    with store.write() as session:
        save_platform(session, Platform("dice"), store.backend.now(session))
    _, token = held(store)
    answer = post(store, token, job(1, platform="dice.com"))
    assert (
        "postings came from dice.com (dice.com is not a platform of this session), and none from dice"
        in (answer["message"])
    )


@pytest.mark.promise(13)
def test_a_body_without_one_usable_posting_says_so(store: Store) -> None:
    _, token = held(store)
    answer = post(store, token, {"title": "nobody's"})
    assert answer["jobs_skipped"] == 1
    assert answer["message"].startswith("no posting that could be used was sent, and nothing proves")


@pytest.mark.promise(7)
@pytest.mark.parametrize(
    "proof",
    [
        None,
        {},
        "none",
        {"url": "https://a.example"},
        {"url": "https://a.example", "says": "Welcome"},
        {"says": "No jobs found"},
        {"url": "ftp://a.example", "says": "No jobs found"},
        {"url": "https://a.example", "control": {"query": "nurse", "results": 0}},
        {"url": "https://a.example", "control": {"query": "", "results": 5}},
        {"url": "https://a.example", "control": {"query": "x", "results": True}},
    ],
)
def test_that_there_is_nothing_wants_a_proof(store: Store, proof: Any) -> None:
    wanted, token = held(store)
    before = everything(store)
    with pytest.raises(InvalidPayload, match="proof"):
        post(store, token, verdict="empty", proof=proof)
    assert everything(store) == before
    assert status(store, wanted) == "processing"


@pytest.mark.parametrize(
    "proof", [PROOF, {"url": "https://a.example/s", "control": {"query": "nurse", "results": 120}}]
)
def test_a_proven_empty_look_completes_the_role(store: Store, proof: Any) -> None:
    wanted, token = held(store)
    answer = post(store, token, verdict="empty", proof=proof)
    assert (answer["verdict"], answer["role_status"], status(store, wanted)) == (
        "empty",
        "completed",
        "completed",
    )


@pytest.mark.promise(7)
def test_a_look_cannot_be_empty_with_postings_nor_have_found_something_without(store: Store) -> None:
    _, token = held(store)
    with pytest.raises(InvalidPayload, match="cannot be empty"):
        post(store, token, job(1), verdict="empty", proof=PROOF)
    with pytest.raises(InvalidPayload, match="no posting was sent"):
        post(store, token, verdict="found")
    assert postings(store) == {}


@pytest.mark.promise(7)
@pytest.mark.parametrize("verdict", ["blocked", "failed"])
def test_a_blocked_look_keeps_what_it_found_and_gives_the_role_back(store: Store, verdict: str) -> None:
    wanted, token = held(store)
    answer = post(store, token, job(1), verdict=verdict)
    assert (answer["jobs_imported"], answer["verdict"], answer["session_status"]) == (1, verdict, "failed")
    assert status(store, wanted) == "pending"


def test_batches_leave_the_session_open_and_the_last_one_ends_it(store: Store, clock: FrozenClock) -> None:
    wanted, token = held(store)
    for number in range(3):
        clock.advance(HOUR * 3 // 4)  # each batch is a sign of life
        answer = post(store, token, job(number), complete=False)
        assert (answer["session_status"], answer["role_status"], answer["verdict"]) == (
            "in_progress",
            "processing",
            None,
        )
    answer = post(store, token)
    assert (answer["verdict"], answer["session_status"], status(store, wanted)) == (
        "found",
        "completed",
        "completed",
    )
    with store.read() as session:
        assert session.rows("select found, imported, status from scrape_sessions") == [(3, 3, "completed")]
        assert session.rows("select imported from roles") == [(3,)]


@pytest.mark.promise(7)
def test_each_platform_is_judged_by_what_was_found_there(store: Store) -> None:
    with store.write() as session:
        for name in ("Dice", "indeed", "monster", "zip"):
            save_platform(session, Platform(name), store.backend.now(session))
    wanted, token = held(store)
    post(store, token, job(1, platform="dice"), complete=False)
    post(store, token, platform="zip", verdict="blocked", complete=False)
    answer = post(store, token, job(2), verdicts={"indeed": "empty"}, proof=PROOF)
    assert (answer["verdict"], answer["role_status"]) == ("found", "pending")
    with store.read() as session:
        turns = dict(
            session.rows("select platform, verdict from role_turns where role_id = :role", {"role": wanted})
        )
    assert turns == {"Dice": "found", "indeed": "empty", "monster": "found", "zip": "blocked"}


@pytest.mark.promise(7)
def test_a_platform_of_which_nothing_is_said_goes_back(store: Store) -> None:
    with store.write() as session:
        for name in ("dice", "monster"):
            save_platform(session, Platform(name), store.backend.now(session))
    wanted, token = held(store)
    answer = post(store, token, job(1))
    assert (answer["verdict"], answer["role_status"]) == ("found", "pending")
    with store.read() as session:
        turns = session.rows(
            "select platform, state, verdict from role_turns where role_id = :role order by platform",
            {"role": wanted},
        )
    assert turns == [("dice", "waiting", "unknown"), ("monster", "done", "found")]
    with pytest.raises(InvalidPayload, match="not a platform of this session"):
        post(store, claim(store), verdicts={"indeed": "blocked"})


def test_a_key_brings_only_postings_of_its_platforms(store: Store) -> None:
    role(store)
    holder = Holder(2, "dice only", ("Dice",))
    answer = post(store, claim(store, holder), job(1), job(2, platform="dice"), holder=holder)
    assert counts(answer) == (2, 1, 0, 0, 1)
    assert answer["reasons"] == {"platform_not_allowed": 1}
    assert list(postings(store)) == ["dice/m-2"]


def test_postings_that_name_no_platform_take_that_of_the_body(store: Store) -> None:
    _, token = held(store)
    answer = post(
        store, token, job(1, platform=None), job(2, platform=None, external_job_id=None), platform="Dice"
    )
    assert answer["platforms"] == {"dice": 2}
    assert "dice/m-1" in postings(store)


@pytest.mark.promise(2)
def test_the_same_body_again_gets_the_same_answer_and_changes_nothing(
    store: Store, clock: FrozenClock
) -> None:
    _, token = held(store)
    first, again = post(store, token, job(1)), everything(store)
    clock.advance(10 * HOUR)
    assert post(store, token, job(1)) == first
    assert everything(store) == again


@pytest.mark.promise(1)
def test_a_late_body_is_refused_and_kept(store: Store, clock: FrozenClock) -> None:
    wanted, token = held(store)
    clock.advance(HOUR + 1)
    for _ in range(2):  # sent again it is kept once
        with pytest.raises(NotAllowed, match=r"ran out of time.*its 2 postings are kept for review"):
            post(store, token, job(1), job(2))
    assert postings(store) == {}
    (late,) = late_posts(store)
    assert (late.role_id, late.postings, late.token, late.decision) == (wanted, 2, token, None)
    found = import_late(store, REGISTRY, late.id)
    assert (found.imported, found.role_id) == (2, wanted)
    assert set(postings(store)) == {"monster/m-1", "monster/m-2"}
    assert matchings(store) == [{"role": wanted, "postings": [1, 2], "session": token}]
    # Nobody has looked at the session yet; the import did not complete it.
    assert status(store, wanted) == "processing"
    assert late_posts(store) == []
    with pytest.raises(NotAllowed, match="already imported"):
        import_late(store, REGISTRY, late.id)


@pytest.mark.promise(1)
def test_a_late_body_that_names_its_platform_once_is_imported_as_if_it_had_been_in_time(
    store: Store, clock: FrozenClock
) -> None:
    _, token = held(store)
    clock.advance(HOUR + 1)
    nameless = {name: value for name, value in job(1).items() if name != "platform"}
    with pytest.raises(NotAllowed):
        post(store, token, nameless, platform="Monster")
    (late,) = late_posts(store)
    assert import_late(store, REGISTRY, late.id).imported == 1
    assert set(postings(store)) == {"monster/m-1"}


def test_a_scraper_whose_role_was_merged_or_rejected_under_it_is_told_so(store: Store) -> None:
    gone, token = held(store)
    into = role(store, "Snake Charmer")
    with store.write() as session:
        merge_roles(session, gone, into, store.backend.now(session), Demand.of(store.settings))
    with pytest.raises(NotAllowed, match=rf"has failed \(merged into role {into}\): nothing was imported"):
        post(store, token, job(1))
    other = claim(store)
    with store.write() as session:
        reject_role(session, into, store.backend.now(session))
    with pytest.raises(NotAllowed, match=r"has failed \(the role was rejected\): nothing was imported"):
        post(store, other, job(1))
    assert [each.role_id for each in late_posts(store)] == [into, into]


@pytest.mark.promise(2)
def test_a_session_whose_role_went_to_another_imports_nothing(store: Store, clock: FrozenClock) -> None:
    _, token = held(store)
    clock.advance(HOUR + 1)
    other = claim(store, Holder(9, "other", None))
    with pytest.raises(NotAllowed):
        post(store, token, job(1))
    assert post(store, other, job(2), holder=Holder(9, "other", None))["role_status"] == "completed"
    assert list(postings(store)) == ["monster/m-2"]
    (late,) = late_posts(store)
    assert drop_late(store, late.id).id == late.id
    with pytest.raises(NotAllowed, match="already dropped"):
        drop_late(store, late.id)
    with pytest.raises(UnknownName):
        drop_late(store, 77)


def test_a_second_body_after_the_end_is_kept_for_review(store: Store) -> None:
    _, token = held(store)
    post(store, token, job(1))
    with pytest.raises(NotAllowed, match="is completed"):
        post(store, token, job(2))
    assert len(late_posts(store)) == 1


@pytest.mark.promise(18)
def test_a_session_that_is_over_cannot_fill_the_disk(make_store: Open, clock: FrozenClock) -> None:
    store = make_store(roles__late_limit=2)
    _, token = held(store)
    clock.advance(2 * HOUR)
    for number in range(4):
        with pytest.raises(NotAllowed, match="kept for review" if number < 2 else "is not kept"):
            post(store, token, job(number))
    assert len(late_posts(store)) == 2


@pytest.mark.promise(17)
def test_the_session_of_another_key_and_no_session_are_told_alike(store: Store) -> None:
    _, token = held(store)
    before = everything(store)
    said = set()
    for asked, holder in ((token, Holder(2, "thief", None)), ("no-such-session", SCRAPER)):
        with pytest.raises(UnknownName) as told:
            post(store, asked, job(1), holder=holder)
        said.add(str(told.value))
    assert len(said) == 1
    assert everything(store) == before


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"session_id": ""},
        {"session_id": None},
        {"session_id": 7},
        {"session_id": "x" * 300},
        {"session_id": "\0"},
    ],
)
def test_a_body_without_a_session_is_told_so(store: Store, said: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="session_id is required") as told:
        receive(store, REGISTRY, SCRAPER, Spooled.of(json.dumps(said).encode()))
    assert type(told.value) is UsageError


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "null",
        '{"session_id": "a"} x',
        '{"session_id": "a", "session_id": "b"}',
        '{"session_id": "a", "jobs": {}}',
        "\xff",
    ],
)
def test_what_is_no_json_is_refused(store: Store, text: str) -> None:
    with pytest.raises(NotJson):
        receive(store, REGISTRY, SCRAPER, Spooled.of(text.encode("latin-1")))


@pytest.mark.parametrize(
    "said",
    [
        {"complete": 1},
        {"verdict": "done"},
        {"verdict": ["found"]},
        {"verdicts": []},
        {"verdicts": {"dice": "timeout"}},
        {"platform": 5},
        {"verdicts": {"x" * 100: "found"}},
        {"verdict": "blocked", "complete": False},
    ],
)
def test_a_member_that_makes_no_sense_is_refused_and_nothing_is_imported(
    store: Store, said: dict[str, Any]
) -> None:
    _, token = held(store)
    before = everything(store)
    with pytest.raises(InvalidPayload):
        post(store, token, job(1), **said)
    assert everything(store) == before


@pytest.mark.promise(1)
def test_a_body_that_breaks_off_in_its_last_posting_imports_none(store: Store) -> None:
    _, token = held(store)
    whole = json.dumps({"session_id": token, "jobs": [job(number) for number in range(700)]}).encode()
    before = everything(store)
    for end in (len(whole) - 1, len(whole) - 2, len(whole) - 40, len(whole) // 2):
        with pytest.raises(NotJson):
            receive(store, REGISTRY, SCRAPER, Spooled.of(whole[:end]))
    assert everything(store) == before
    assert receive(store, REGISTRY, SCRAPER, Spooled.of(whole))["jobs_imported"] == 700


def test_too_many_postings_are_to_be_sent_in_parts(make_store: Open) -> None:
    store = make_store(roles__post_limit=2)
    _, token = held(store)
    with pytest.raises(InvalidPayload, match="at most 2 postings"):
        post(store, token, job(1), job(2), job(3))


def test_without_the_roles_app_nothing_is_taken(store: Store) -> None:
    with pytest.raises(UsageError, match="add roles to apps"):
        receive(store, Registry([]), SCRAPER, body("x"))


def test_a_large_import_is_matched_in_portions(store: Store) -> None:
    _, token = held(store)
    post(store, token, *(job(number) for number in range(1_200)))
    asked = matchings(store)
    assert [len(each["postings"]) for each in asked] == [1_000, 200]
    assert sorted(number for each in asked for number in each["postings"]) == sorted(
        found.id for found in _all(store)
    )


def _all(store: Store) -> list[Any]:
    with store.read() as session:
        return [
            type("Row", (), {"id": row[0]})
            for row in session.rows("select id from records where kind = 'posting'")
        ]


@pytest.mark.promise(2)
def test_the_same_body_twice_at_the_same_time_is_imported_once(make_store: Open) -> None:
    stores = [make_store(), make_store()]
    _, token = held(stores[0])
    answers = _together(*[lambda each=each: post(each, token, *map(job, range(30))) for each in stores])
    assert answers[0] == answers[1]
    assert answers[0]["jobs_imported"] == 30
    assert len(matchings(stores[0])) == 1


@pytest.mark.promise(2)
@pytest.mark.promise(9)
def test_two_sessions_that_bring_the_same_postings_at_once_store_each_once_and_link_both_roles(
    make_store: Open,
) -> None:
    stores = [make_store(), make_store()]
    roles = [role(stores[0], "Python Developer"), role(stores[0], "Django Developer")]
    tokens = {}
    for _ in roles:
        token = claim(stores[0])
        with stores[0].read() as session:
            ((number,),) = session.rows(
                "select role_id from scrape_sessions where session_id = :token", {"token": token}
            )
        tokens[number] = token
    one = [job(number) for number in range(60)]
    other = [
        job(number, external_job_id=f"d-{number}", platform="dice") for number in reversed(range(30, 90))
    ]  # twins by their content
    answers = _together(
        lambda: post(stores[0], tokens[roles[0]], *one), lambda: post(stores[1], tokens[roles[1]], *other)
    )
    assert sum(answer["jobs_imported"] for answer in answers) == 90
    assert sum(answer["jobs_linked"] for answer in answers) == 30
    found = postings(stores[0]).values()
    assert len(found) == 90
    both = [each for each in found if len(each.linked("role")) == 2]
    assert len(both) == 30
    assert all(len(each.linked("id")) == 2 for each in both)
    asked = matchings(stores[0])
    assert sorted((each["role"], len(each["postings"])) for each in asked) == [(roles[0], 60), (roles[1], 60)]


def _together(*acts: Callable[[], Any]) -> list[Any]:
    """Have these done at the same time; what each brought."""
    barrier, answers = Barrier(len(acts)), list[Any]([None] * len(acts))

    def run(at: int, act: Callable[[], Any]) -> None:
        barrier.wait()
        answers[at] = act()

    threads = [Thread(target=run, args=pair) for pair in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


class Killed(Exception):
    """The process is gone."""


class Dying:
    """A session whose process dies right before its statement number `left`."""

    def __init__(self, session: Session, left: list[int]) -> None:
        self._session, self._left = session, left
        self.dialect, self.app_events, self.warnings = session.dialect, session.app_events, session.warnings

    def _live(self) -> None:
        self._left[0] -= 1
        if self._left[0] < 0:
            raise Killed

    def rows(self, sql: str, params: Any = {}) -> Any:
        self._live()
        return self._session.rows(sql, params)

    def run(self, sql: str, params: Any = {}) -> int:
        self._live()
        return self._session.run(sql, params)

    def many(self, sql: str, rows: Any) -> None:
        self._live()
        self._session.many(sql, rows)


@pytest.mark.promise(1)
@pytest.mark.promise(2)
def test_a_process_that_dies_between_any_two_statements_has_written_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, token = held(store)
    post(store, token, job(1), job(2), complete=False)
    jobs = [job(1), job(2, title="New"), job(3), job(1, external_job_id="twin"), {}]
    before, write = everything(store), store.write
    left = [0]

    @contextmanager
    def dying() -> Iterator[Any]:
        with write() as session:
            yield Dying(session, left)

    monkeypatch.setattr(store, "write", dying)
    for number in range(200):
        left[0] = number
        try:
            answer = post(store, token, *jobs)
        except Killed:
            assert everything(store) == before
        else:
            break
    assert number > 15
    assert counts(answer) == (5, 1, 0, 1, 3)
    assert len(matchings(store)) == 2
