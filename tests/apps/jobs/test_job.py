"""One posting through its whole walk: completed, read, put beside what is known, filtered, scored, saved; and
always with its reasons."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.apps.jobs.weeks import Search
from tests.harness import tasks
from tests.harness.databases import Database, only_files
from thresher import NewTask
from thresher.apps.hiring.groups import group, ungroup
from thresher.apps.jobs.decision import explain
from thresher.apps.jobs.model import DecisionRecord
from thresher.core.record import Found, Link, Record, pack
from thresher.hiring.kinds import BOARD, COMPANY, POSTING
from thresher.hiring.records import company_name_key, entry
from thresher.hiring.same_opening import GroupReason
from thresher.practice.web import Knob, PracticeWeb, Trouble
from thresher.store.records import file_record

TEXT = (
    "We build software for harbours and the people who work there. You will own services from the first sketch to production, write "
    "Python every day, keep PostgreSQL fast and review the work of others. You bring at least 7 years of experience. This role is fully "
    "remote within the United States. The salary is $160,000 - $190,000 a year. We meet twice a year, in Portland."
)
POSTED = "2026-03-01"


@pytest.fixture
def search(database: Database, web: PracticeWeb) -> Iterator[Search]:
    found = Search(database, web)
    yield found
    found.close()


def write(search: Search, *records: Record) -> None:
    with search.store.write() as session:
        for each in records:
            file_record(session, pack(each, 65_536), 0, search.clock.now())


def posting(key: str = "greenhouse:acme/1", **said: Any) -> Record:
    usual = {
        "title": "Senior Software Engineer",
        "company_name": "Harbour Works",
        "location": "Remote - US",
        "description": TEXT,
        "posted": POSTED,
        "url": f"https://harbour.example/{key.rpartition('/')[2]}",
        "board": key.rpartition("/")[0],
        "number": key.rpartition("/")[2],
        "state": "open",
        "first_seen": 1,
    }
    data = {name: value for name, value in {**usual, **said}.items() if value is not None}
    return entry(POSTING, key, data, Link("board", key.rpartition("/")[0]))


def judge(search: Search, *keys: str, **payload: Any) -> list[tuple[str, str | None]]:
    """Ask for these postings to be judged; how each task ended, and why."""
    found = []
    for key in keys:
        (task_id,) = search.put(NewTask("job", {"posting": key, **payload}, key=key))
        search.work()
        found += tasks.rows(search.store, f"select state, reason from tasks where id = {task_id}")
    return found


def kestrel(website: str = "https://www.kestrel.example/") -> Record:
    """A company that is known, so that nobody goes and looks at its site."""
    said = {
        "name": "Kestrel Optics",
        "name_key": company_name_key("Kestrel Optics"),
        "status": "complete",
        "website": website,
    }
    return entry(COMPANY, "kestrel.example", said)


def one(search: Search, kind: str, key: str | None = None) -> Found:
    (found,) = [each for each in search.records(kind) if key in (None, each.key)]
    return found


@pytest.mark.promise(13)
def test_what_fits_becomes_a_match_and_says_why(search: Search) -> None:
    write(search, posting())
    ((state, reason),) = judge(search, "greenhouse:acme/1")
    assert state == "succeeded", reason
    match, decision = one(search, "match"), one(search, "decision")
    assert (match.data["status"], match.data["score"], decision.data["outcome"]) == (
        "new",
        decision.data["score"],
        "saved",
    )
    assert sum(part["points"] for part in decision.data["components"]) == match.data["score"]
    assert "python" in match.data["matched_skills"]
    assert any("python" in line.lower() for line in explain(DecisionRecord.of(decision)))
    assert match.linked("posting") == ("greenhouse:acme/1",)


@pytest.mark.promise(14)
def test_every_fact_says_where_in_the_posting_it_stands(search: Search) -> None:
    write(search, posting())
    judge(search, "greenhouse:acme/1")
    found = one(search, POSTING)
    assert found.data["facts"]["pay"]["year_high"] == 190_000
    assert found.data["facts"]["experience"]["low"] == 7
    assert found.evidence is not None
    for name in ("facts.pay", "facts.experience", "facts.workplace", "facts.level"):
        place = found.evidence.places[name]
        assert place is not None, name
        if place.start is not None:
            assert found.data["description"][place.start : place.end] == place.quote


@pytest.mark.promise(13)
def test_what_is_filtered_names_the_rule_and_quotes_the_posting(search: Search) -> None:
    write(search, posting(description=TEXT + " You must hold a security clearance."))
    ((state, reason),) = judge(search, "greenhouse:acme/1")
    assert (state, search.records("match")) == ("filtered", [])
    (rejection,) = one(search, "decision").data["rejections"]
    assert rejection["severity"].startswith("hard")
    assert "security clearance" in rejection["quote"]
    assert reason == rejection["reason"]


def test_what_fits_too_little_is_skipped_with_its_score(search: Search) -> None:
    write(
        search,
        posting(
            title="Engineer",
            location="Berlin, Germany",
            description="We look for an engineer who likes Go. " * 8,
        ),
    )
    ((state, reason),) = judge(search, "greenhouse:acme/1")
    decision = one(search, "decision").data
    assert (state, decision["outcome"]) == ("skipped", "skipped"), reason
    assert decision["score"] < decision["needed"]
    assert str(decision["score"]) in (reason or "")


@pytest.mark.promise(13)
def test_a_posting_that_says_nothing_is_not_rejected_for_what_it_does_not_say(search: Search) -> None:
    write(
        search,
        posting(
            location=None, posted=None, description="We look for somebody who builds things with us. " * 6
        ),
    )
    judge(search, "greenhouse:acme/1")
    assert {
        each["name"]
        for each in one(search, "decision").data["rejections"]
        if each["severity"].startswith("hard")
    } == set()


def test_a_stop_list_stops_before_anything_is_fetched(search: Search, web: PracticeWeb) -> None:
    write(
        search,
        posting(
            title="Sales Engineer, security clearance",
            description=None,
            url="https://www.kestrel.example/careers/1",
        ),
    )
    ((state, _),) = judge(search, "greenhouse:acme/1")
    assert (state, search.requests()) == ("filtered", [])
    assert one(search, "decision").data["outcome"] == "filtered"


def test_without_a_profile_postings_are_read_and_kept(search: Search) -> None:
    with search.store.write() as session:
        session.run("delete from marks where kind = 'profile'")
        session.run("delete from records where kind = 'profile'")
    write(search, posting())
    ((state, reason),) = judge(search, "greenhouse:acme/1")
    assert state == "succeeded"
    assert "profile" in (reason or "")
    assert one(search, POSTING).data["facts"]["level"] == "senior"
    assert search.records("decision") == []


def test_a_posting_whose_list_says_too_little_is_completed_from_its_page(
    search: Search, web: PracticeWeb
) -> None:
    planted = search.truth("kestrel").open[0]
    url = f"https://www.kestrel.example/careers/{planted.id}-{planted.slug}"
    row = {
        "title": planted.title,
        "description": None,
        "url": url,
        "location": None,
        "company_name": "Kestrel Optics",
    }
    write(search, kestrel(), posting("site:kestrel/1", **row))
    ((state, reason),) = judge(search, "site:kestrel/1")
    assert state in ("filtered", "skipped", "succeeded"), reason
    found = one(search, POSTING)
    assert len(found.data["description"]) > 200
    assert found.data["title"] == planted.title
    assert [each.path for each in search.requests()] == [f"/careers/{planted.id}-{planted.slug}"]


def test_a_board_that_answers_for_each_posting_is_asked_in_its_own_way(search: Search) -> None:
    who = search.who("juniper")
    planted = search.truth("juniper").open[0]
    board = {
        "platform": "bamboohr",
        "token": "juniper",
        "url": "https://juniper.bamboohr.com/careers",
        "parts": {"token": "juniper"},
    }
    write(search, entry(BOARD, "bamboohr:juniper", {**board, "status": "active"}))
    row = {"title": planted.title, "number": str(planted.id), "company_name": who.name}
    write(search, posting("bamboohr:juniper/x", **row, description=None, url=None))
    judge(search, "bamboohr:juniper/x")
    assert len(one(search, POSTING).data["description"]) > 200
    assert [each.path for each in search.requests()] == [f"/careers/{planted.id}/detail"]


def test_a_posting_whose_page_is_gone_is_skipped(search: Search) -> None:
    write(search, posting(description=None, url="https://www.kestrel.example/careers/1-gone"))
    ((state, reason),) = judge(search, "greenhouse:acme/1")
    assert state == "skipped"
    assert "gone" in (reason or "")


@pytest.mark.promise(7)
def test_a_page_that_cannot_be_read_leaves_what_the_list_said(search: Search, web: PracticeWeb) -> None:
    web.turn(
        Knob(
            Trouble.BODY,
            "www.kestrel.example",
            "/careers/1",
            text="<html><body><p>Welcome to our shop.</p></body></html>",
        )
    )
    write(search, posting(description=None, url="https://www.kestrel.example/careers/1"))
    judge(search, "greenhouse:acme/1")
    assert one(search, POSTING).data["title"] == "Senior Software Engineer"


@pytest.mark.promise(9)
def test_the_same_opening_on_another_board_is_grouped_and_not_judged_again(search: Search) -> None:
    write(
        search,
        posting("greenhouse:acme/1"),
        posting("lever:acme/b7", first_seen=2, url="https://jobs.lever.co/acme/b7"),
    )
    first, second = judge(search, "greenhouse:acme/1", "lever:acme/b7")
    assert (first[0], second[0]) == ("succeeded", "skipped")
    assert "greenhouse:acme/1" in (second[1] or "")
    made = one(search, "group")
    assert (made.data["lead"], made.data["members"]) == (
        "greenhouse:acme/1",
        ["greenhouse:acme/1", "lever:acme/b7"],
    )
    assert made.data["reason"]
    assert {each.linked("group") for each in search.records(POSTING)} == {(made.key,)}
    assert [each.key for each in search.records("match")] == ["greenhouse:acme/1"]
    assert judge(search, "lever:acme/b7")[0][0] == "skipped"
    assert len(search.records("group")) == 1


def test_what_a_person_took_apart_stays_apart_also_by_way_of_a_third(search: Search) -> None:
    write(search, posting("greenhouse:acme/1"), posting("lever:acme/b7", url="https://jobs.lever.co/acme/b7"))
    write(search, posting("ashby:acme/9", url="https://jobs.ashbyhq.com/acme/9"))
    write(search, entry(POSTING, "ashby:acme/9", {}, Link("apart", "greenhouse:acme/1")))
    ended = judge(search, "greenhouse:acme/1", "lever:acme/b7", "ashby:acme/9")
    assert [state for state, _ in ended] == ["succeeded", "skipped", "succeeded"]


@pytest.mark.promise(9)
def test_what_a_person_put_together_stays_together_and_one_speaks_for_it(search: Search) -> None:
    other = {"title": "Engineer, Harbours", "description": TEXT.replace("harbours", "ships"), "first_seen": 2}
    write(
        search,
        posting("greenhouse:acme/1"),
        posting("lever:acme/b7", url="https://jobs.lever.co/acme/b7", **other),
    )
    judge(search, "greenhouse:acme/1")
    made = group(search.store, "greenhouse:acme/1", "lever:acme/b7")
    ((state, reason),) = judge(search, "lever:acme/b7")
    assert state == "skipped"
    assert "greenhouse:acme/1: a person said so" in (reason or "")
    write(
        search, posting("ashby:acme/9", url="https://jobs.ashbyhq.com/acme/9", **{**other, "first_seen": 3})
    )
    ((state, reason),) = judge(search, "ashby:acme/9")
    found = one(search, "group")
    assert (state, found.key, found.data["lead"]) == ("skipped", made.group, "greenhouse:acme/1")
    assert (found.data["reason"], found.data["members"]) == (
        GroupReason.SAID,
        ["ashby:acme/9", "greenhouse:acme/1", "lever:acme/b7"],
    )
    assert [each.key for each in search.records("match")] == ["greenhouse:acme/1"]


@pytest.mark.promise(9)
def test_what_was_put_together_by_hand_can_be_taken_apart_by_hand(search: Search) -> None:
    write(
        search,
        posting("greenhouse:acme/1"),
        posting("lever:acme/b7", title="Engineer, Harbours", url="https://jobs.lever.co/acme/b7"),
    )
    group(search.store, "greenhouse:acme/1", "lever:acme/b7")
    ungroup(search.store, search.registry, "lever:acme/b7")
    search.work()
    ended = judge(search, "greenhouse:acme/1", "lever:acme/b7")
    assert [reason for _, reason in ended if "the same opening" in (reason or "")] == []
    assert {each.linked("group") for each in search.records(POSTING)} == {()}


def test_another_title_is_another_opening(search: Search) -> None:
    write(
        search,
        posting("greenhouse:acme/1"),
        posting("greenhouse:acme/2", title="Senior Software Engineer (Payments)"),
    )
    assert [state for state, _ in judge(search, "greenhouse:acme/1", "greenhouse:acme/2")] == [
        "succeeded",
        "succeeded",
    ]
    assert search.records("group") == []


def test_a_company_that_nobody_knows_gets_a_task_and_nobody_waits_for_it(search: Search) -> None:
    write(search, posting())
    ((state, _),) = judge(search, "greenhouse:acme/1")
    assert state == "succeeded"
    assert [each.data["status"] for each in search.records(COMPANY)] == ["unknown_site"]
    assert search.kinds()[("company", "skipped")] == 1


def declared(host: str = "feeds.practice.example", path: str = "/1", **organization: Any) -> Knob:
    """A posting's page that declares who hires."""
    said = {
        "@context": "https://schema.org",
        "@type": "JobPosting",
        "title": "Senior Software Engineer",
        "description": TEXT,
        "hiringOrganization": {"@type": "Organization", "name": "Kestrel Optics", **organization},
    }
    html = f"<html><head><script type='application/ld+json'>{json.dumps(said)}</script></head><body><p>{TEXT}</p></body></html>"
    return Knob(Trouble.BODY, host, path, text=html)


def test_a_company_that_nobody_knows_is_looked_for_on_the_site_that_the_posting_names(
    search: Search, web: PracticeWeb
):
    web.turn(
        declared(sameAs=["https://www.linkedin.com/company/kestrel", "https://www.kestrel.example/about"])
    )
    write(
        search,
        posting(description=None, company_name="Kestrel Optics", url="https://feeds.practice.example/1"),
    )
    judge(search, "greenhouse:acme/1")
    found = one(search, COMPANY, "kestrel.example").data
    assert (found["website"], found["name"]) == ("https://www.kestrel.example/", "Kestrel Optics")
    assert one(search, POSTING, "greenhouse:acme/1").data["company_site"] == "https://www.kestrel.example/"


@only_files  # the address is judged before anything is written
@pytest.mark.parametrize(
    "said",
    [
        "https://www.linkedin.com/company/kestrel",
        "https://jobs.lever.co/kestrel",
        "https://kestrel.bamboohr.com/careers",
        "javascript:alert(1)",
        "http://127.0.0.1/",
        "https://feeds.practice.example/companies/kestrel",
        "https://www.tarn.example/",
        {"@id": "#"},
        7,
        [[["x"]]],
        "https://kestrel.example:secret@evil.example/",
        "",
    ],
)
@pytest.mark.promise(17)
def test_an_address_that_is_not_called_as_the_company_is_no_site_of_it(
    search: Search, web: PracticeWeb, said: Any
):
    web.turn(declared(url=said, sameAs=said))
    write(
        search,
        posting(description=None, company_name="Kestrel Optics", url="https://feeds.practice.example/1"),
    )
    judge(search, "greenhouse:acme/1")
    assert [each.data["status"] for each in search.records(COMPANY)] == ["unknown_site"]


def test_the_site_of_a_company_that_is_known_is_not_taken_from_a_posting(search: Search, web: PracticeWeb):
    web.turn(declared(url="https://www.kestrel.example/"))
    write(search, kestrel("https://k.example/"))
    write(
        search,
        posting(description=None, company_name="Kestrel Optics", url="https://feeds.practice.example/1"),
    )
    judge(search, "greenhouse:acme/1")
    assert one(search, COMPANY).data["website"] == "https://k.example/"


def test_a_company_that_is_known_by_name_is_linked_and_not_asked_for_again(search: Search) -> None:
    name = "Harbour Works Inc."
    known = {"name": name, "name_key": company_name_key(name), "status": "complete", "size_category": "large"}
    write(search, entry(COMPANY, "harbour.example", known), posting())
    judge(search, "greenhouse:acme/1")
    assert one(search, POSTING).linked("company") == ("harbour.example",)
    assert not any(kind == "company" for kind, _ in search.kinds())
    assert any(
        part["name"] == "size" and part["points"] for part in one(search, "decision").data["components"]
    )


def test_a_second_judgement_leaves_the_person_s_status_alone(search: Search) -> None:
    write(search, posting())
    judge(search, "greenhouse:acme/1")
    write(search, Record("match", "greenhouse:acme/1", {"status": "applied"}, merge=True, marks=("status",)))
    judge(search, "greenhouse:acme/1")
    assert (one(search, "match").data["status"], len(search.records("match"))) == ("applied", 1)


def test_an_address_that_a_person_names_becomes_a_posting(search: Search) -> None:
    planted = search.truth("kestrel").open[0]
    url = f"https://www.kestrel.example/careers/{planted.id}-{planted.slug}"
    write(search, kestrel())
    search.put(NewTask("job", {}, url=url))
    search.work()
    found = one(search, POSTING)
    assert (found.data["title"], found.data["state"], found.data["url"]) == (planted.title, "open", url)


def test_a_task_that_names_nothing_says_what_it_wants(search: Search) -> None:
    search.put(NewTask("job", {}))
    search.work()
    ((state, reason),) = tasks.rows(search.store, "select state, reason from tasks where kind = 'job'")
    assert state == "failed"
    assert "posting" in reason
