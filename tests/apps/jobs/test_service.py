"""What a person may do with companies, boards, postings and matches, and what they see of them: on every
database."""

from dataclasses import replace

import pytest

from thresher.admin.events import list_events
from thresher.admin.explain import explain
from thresher.admin.records import PORTION, every, maybe, write_records
from thresher.apps.hiring.checks import what_was_checked
from thresher.apps.hiring.groups import group, ungroup
from thresher.apps.hiring.postings import list_postings, show_posting
from thresher.apps.jobs.app import app as jobs
from thresher.apps.jobs.model import DECISION_MARKS, MATCH_MARKS
from thresher.apps.jobs.service.boards import disable_board, enable_board, list_boards, show_board
from thresher.apps.jobs.service.companies import ask_companies, list_companies, read_wish, show_company
from thresher.apps.jobs.service.matches import Search, list_matches, list_views, save_view, set_status
from thresher.apps.jobs.service.postings import ask_postings, judge_again, set_profile
from thresher.core.app import App
from thresher.core.clock import DAY
from thresher.core.errors import ConfigError, NotAllowed, UnknownName
from thresher.core.outcome import Done
from thresher.core.pipeline import Pipeline, Stage
from thresher.core.record import Link, Record
from thresher.engine.registry import Registry
from thresher.hiring.records import company_name_key, entry


async def nothing(ctx):
    return Done()


REGISTRY = Registry(
    [
        App(
            "jobs",
            tuple(
                Pipeline(kind, Stage(nothing))
                for kind in ("company", "source_discovery", "scrape_source", "job")
            ),
        )
    ]
)


def now(store) -> int:
    with store.read() as session:
        return store.backend.now(session)


def board(key: str, **data) -> Record:
    return entry(
        "board",
        key,
        {"platform": "greenhouse", "status": "active", "company": "acme.com", **data},
        Link("company", "acme.com"),
    )


def posting(key: str, **data) -> Record:
    said = {
        "title": "Engineer",
        "company_name": "Acme",
        "company": "acme.com",
        "board": "greenhouse:acme",
        "state": "open",
        **data,
    }
    return entry("posting", key, said, Link("board", "greenhouse:acme"), Link("company", "acme.com"))


def match(key: str, score: int, at: int) -> Record:
    data = {
        "posting": key,
        "title": "Engineer",
        "company": "Acme",
        "score": score,
        "priority": "high",
        "decided_at": at,
    }
    return Record(
        "match", key, data, merge=True, initial={"status": "new", "notified_at": 0}, marks=MATCH_MARKS
    )


@pytest.mark.promise(19)
def test_a_search_is_seen_and_steered_the_same_on_every_database(store):
    at = now(store)
    company = entry(
        "company",
        "acme.com",
        {"name": "Acme", "name_key": company_name_key("Acme"), "tier": "A", "status": "complete"},
    )
    write_records(
        store,
        [
            company,
            board("greenhouse:acme", scraped_at=at),
            posting("greenhouse:acme/1", seen_at=at),
            posting("greenhouse:acme/2"),
        ],
    )
    write_records(store, [match("greenhouse:acme/1", 91, at), match("greenhouse:acme/2", 95, at - 9 * DAY)])
    write_records(
        store, [Record("decision", "greenhouse:acme/1", {"outcome": "saved"}, marks=DECISION_MARKS)]
    )
    assert [(each.key, each.boards, each.postings) for each in list_companies(store, tier="A")] == [
        ("acme.com", 1, 2)
    ]
    assert [each.key for each in show_company(store, "acme.com").boards] == ["greenhouse:acme"]
    assert show_board(store, "greenhouse:acme").postings == {"open": 2, "closed": 0}
    assert [each.key for each in list_boards(store, company="acme.com", status="active")] == [
        "greenhouse:acme"
    ]
    assert [each.key for each in list_postings(store, seen_since=1)] == ["greenhouse:acme/1"]
    assert [each.score for each in list_matches(store, Search(status="new"), at)] == [95, 91]
    assert [each.score for each in list_matches(store, Search(since="7d"), at)] == [91]
    save_view(store, "fresh", {"since": "7d", "nonsense": 1})
    assert [(each.name, each.matches) for each in list_views(store, at)] == [("fresh", 1)]
    checked = what_was_checked(store)
    assert (checked.companies, checked.boards, checked.looked_at, checked.postings, checked.saved) == (
        1,
        1,
        1,
        2,
        1,
    )


@pytest.mark.promise(2)
def test_what_a_person_says_of_a_match_outlives_every_analysis(store):
    at = now(store)
    write_records(store, [match("a/1", 91, at)])
    set_status(store, ["a/1"], "applied", "sent on Monday")
    for score in (80, 99):
        write_records(store, [match("a/1", score, at)])
    (mine,) = list_matches(store, Search(status="applied"), at)
    assert (mine.score, mine.note) == (99, "sent on Monday")
    assert list_matches(store, Search(status="new"), at) == []


@pytest.mark.promise(10)
def test_an_enabled_board_starts_anew_and_a_disabled_one_stays_so(store):
    write_records(
        store,
        [board("greenhouse:acme", status="disabled", failures=5, disabled_tag="failing", proof="a link")],
    )
    asked = enable_board(store, REGISTRY, "greenhouse:acme")
    data = maybe(store, "board", "greenhouse:acme").data
    assert (data["status"], data["failures"], data["proof"], asked.task is not None) == (
        "active",
        0,
        "a link",
        True,
    )
    assert [each.key for each in list_boards(store, status="active")] == ["greenhouse:acme"]
    disable_board(store, "greenhouse:acme", "not ours")
    assert list_boards(store, status="active") == []
    with pytest.raises(NotAllowed, match="not ours"):
        disable_board(store, "greenhouse:acme", "again")
    events = [(each["kind"], each["detail"]) for each in list_events(store)]
    assert events == [
        ("board_disabled", {"board": "greenhouse:acme", "tag": "admin", "reason": "not ours"}),
        ("board_enabled", {"board": "greenhouse:acme"}),
    ]


@pytest.mark.promise(17)
def test_a_board_that_an_administrator_disabled_is_enabled_by_an_administrator_only(store):
    write_records(store, [board("greenhouse:acme", status="active", failures=0)])
    disable_board(store, "greenhouse:acme", "a guess", by_admin=False)
    enable_board(store, REGISTRY, "greenhouse:acme", by_admin=False)
    disable_board(store, "greenhouse:acme", "a guess", by_admin=False)
    disable_board(store, "greenhouse:acme", "a lawyer wrote")  # it was disabled, and is so for good now
    with pytest.raises(NotAllowed, match=r"an administrator has disabled greenhouse:acme \(a lawyer"):
        enable_board(store, REGISTRY, "greenhouse:acme", by_admin=False)
    with pytest.raises(NotAllowed, match="already disabled: a lawyer wrote"):
        disable_board(store, "greenhouse:acme", "mine", by_admin=False)
    enable_board(store, REGISTRY, "greenhouse:acme")
    assert [each.key for each in list_boards(store, status="active")] == ["greenhouse:acme"]


def test_a_board_is_not_enabled_where_nobody_could_read_it(store):
    write_records(store, [board("greenhouse:acme", status="pending")])
    with pytest.raises(UnknownName, match="was not changed"):
        enable_board(store, Registry([]), "greenhouse:acme")
    assert maybe(store, "board", "greenhouse:acme").data["status"] == "pending"


def test_groups_are_made_and_undone(store):
    write_records(store, [posting(f"feed/{name}") for name in "abc"])
    made = group(store, "feed/a", "feed/b")
    assert group(store, "feed/c", "feed/a").members == ["feed/a", "feed/b", "feed/c"]
    left = ungroup(store, REGISTRY, "feed/a")
    assert (left.group, left.members) == (made.group, ["feed/b", "feed/c"])
    alone = show_posting(store, "feed/a")
    assert (alone.group, alone.same, sorted(alone.apart)) == (None, [], ["feed/b", "feed/c"])
    assert maybe(store, "group", made.group).linked("posting") == ("feed/b", "feed/c")
    assert group(store, "feed/b", "feed/a").members == ["feed/a", "feed/b", "feed/c"]
    assert show_posting(store, "feed/a").apart == []


@pytest.mark.promise(2)
def test_one_company_asked_for_many_times_is_one_task(store):
    wishes = [
        read_wish(text)
        for text in ("acme.com", "www.acme.com", "https://ACME.com/careers", "Blue Heron", "blue heron inc")
    ] * 300
    asked = ask_companies(store, REGISTRY, wishes)
    assert (len(asked), len({each.task for each in asked})) == (1_500, 2)
    assert {each.key for each in asked} == {"acme.com", "blueheron"}


def test_postings_are_judged_again_in_any_number(store):
    write_records(store, [posting(f"feed/{at}") for at in range(PORTION + 7)])
    write_records(
        store,
        [
            posting("feed/closed", state="closed"),
            Record("decision", "feed/3", {"outcome": "skipped"}, marks=DECISION_MARKS),
        ],
    )
    assert judge_again(store, REGISTRY) == PORTION + 6
    assert judge_again(store, REGISTRY, every=True) == 1
    assert len(list(every(store, "posting"))) == PORTION + 8


def test_a_posting_that_a_person_found_is_read_from_its_address(store):
    (asked,) = ask_postings(store, REGISTRY, ["https://acme.com/jobs/1#apply"])
    assert asked.key.startswith("url/")
    assert "Task 1 is pending" in explain(store, [jobs], str(asked.task)).sentences[0]


def test_what_a_model_prepared_for_an_application_is_explained_and_listed(store):
    said = {"summary": "Builds harbours.", "ats_keywords": ["python", "ports"], "projects": []}
    best = match("greenhouse:acme/1", 91, now(store))
    write_records(
        store, [posting("greenhouse:acme/1"), replace(best, data={**best.data, "resume_intake": said})]
    )
    told = explain(store, [jobs], "greenhouse:acme/1").sentences
    assert "For your application, summary: Builds harbours." in told
    assert "For your application, ats keywords: python, ports" in told
    assert not any("projects" in line for line in told)
    assert list_matches(store, Search(), now(store))[0].resume_intake == said


def test_a_profile_too_large_to_keep_is_refused(store):
    with pytest.raises(ConfigError):
        set_profile(store, f"titles: [{'x' * 200_000}]\n", "me.yaml")
    assert maybe(store, "profile", "me") is None
