"""A posting that was not read is no match: what misses the minimal listing, or could not be fetched, is kept
as unknown with the reason, and is judged as soon as it can be read."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.apps.jobs.test_job import TEXT, declared, judge, kestrel, one, posting, write
from tests.apps.jobs.weeks import Search
from tests.engine.asking import models
from tests.harness.databases import Database, only_files
from thresher import NewTask
from thresher.admin.explain import explain
from thresher.admin.tasks import retry
from thresher.apps.hiring.postings import list_postings, show_posting
from thresher.apps.jobs.app import app
from thresher.apps.jobs.decision import match
from thresher.apps.jobs.service.matches import Search as Matches
from thresher.apps.jobs.service.matches import list_matches, set_status
from thresher.apps.jobs.service.postings import ask_postings, check_postings, judge_again
from thresher.core.errors import UnknownName
from thresher.core.record import Record
from thresher.hiring.kinds import POSTING
from thresher.practice.web import Knob, PracticeWeb, Trouble

HOST, PATH = "www.kestrel.example", "/open/1"
URL = f"https://{HOST}{PATH}"
CLEARANCE = "You must hold an active security clearance."


@pytest.fixture
def search(database: Database, web: PracticeWeb) -> Iterator[Search]:
    found = Search(database, web)
    yield found
    found.close()


def plain_page(*paragraphs: str, headline: str = "Senior Software Engineer", title: str = "") -> Knob:
    """A page that declares nothing: a headline and paragraphs."""
    menu = "<nav><a href='/'>Home</a> <a href='/about'>About</a></nav>"
    text = "".join(f"<p>{each}</p>" for each in paragraphs)
    html = f"<html><head><title>{title or headline}</title></head><body>{menu}<h1>{headline}</h1>{text}</body></html>"
    return Knob(Trouble.BODY, HOST, PATH, text=html)


def listed(**said: Any) -> Record:
    """A row of a board that says nothing but a title and where it leads."""
    return posting("greenhouse:acme/1", **{"description": None, "url": URL, **said})


@pytest.mark.promise(13)
def test_the_text_of_a_plain_page_is_read_and_judged(search: Search, web: PracticeWeb) -> None:
    web.turn(plain_page(TEXT, CLEARANCE))
    write(search, kestrel(), listed())
    ((state, reason),) = judge(search, "greenhouse:acme/1")
    assert (state, search.records("match")) == ("filtered", []), reason
    (rejection,) = one(search, "decision").data["rejections"]
    assert "security clearance" in rejection["quote"]
    found = one(search, POSTING).data
    text = found["description"]
    assert (found["method"], TEXT in text) == ("text", True)
    assert "Home" not in text


def test_a_plain_page_that_a_person_adds_has_a_title_a_company_and_a_text(
    search: Search, web: PracticeWeb
) -> None:
    web.turn(plain_page(TEXT, CLEARANCE, title="Senior Software Engineer | Kestrel Optics"))
    write(search, kestrel())
    ask_postings(search.store, search.registry, [URL])
    search.work()
    found = one(search, POSTING).data
    assert (found["title"], found["company_name"]) == ("Senior Software Engineer", "Kestrel Optics")
    assert one(search, "decision").data["outcome"] == "filtered"


@pytest.mark.promise(7)
@pytest.mark.parametrize(
    ("said", "missing"),
    [
        ({"description": "x" * 100}, ["description"]),
        ({"description": "x" * 101}, None),
        ({"description": None, "url": None}, ["url", "description"]),
        ({"description": TEXT, "company_name": None}, ["company"]),
    ],
)
def test_what_misses_the_minimal_listing_is_unknown_and_says_what_it_misses(
    search: Search, web: PracticeWeb, said: dict[str, Any], missing: list[str] | None
) -> None:
    web.turn(Knob(Trouble.BODY, HOST, PATH, text="<html><body><p>Welcome to our shop.</p></body></html>"))
    write(search, listed(**said))
    ((state, reason),) = judge(search, "greenhouse:acme/1")
    found, decision = one(search, POSTING).data, one(search, "decision").data
    assert search.records("match") == []
    if missing is None:
        assert (decision["outcome"], found["completeness"]) == ("skipped", "minimal")
        return
    assert (state, decision["outcome"], decision["missing"]) == ("skipped", "unknown", missing)
    assert (found["completeness"], found["lacks"][: len(missing)]) == ("none", missing)
    assert (reason or "").startswith("unknown: ")
    assert (reason or "").removeprefix("unknown: ") == decision["problem"]
    (shown,) = list_postings(search.store, outcome="unknown")
    assert (shown.key, shown.outcome, shown.completeness) == ("greenhouse:acme/1", "unknown", "none")
    told = explain(search.store, [app], "greenhouse:acme/1")
    assert (told.outcome, decision["problem"] in told.sentences[0]) == ("unknown", True)


def test_a_text_that_nobody_declared_does_not_replace_a_longer_one(search: Search, web: PracticeWeb) -> None:
    web.turn(plain_page("Apply now."))
    write(search, posting("greenhouse:acme/1", url=URL))
    judge(search, "greenhouse:acme/1", fresh=True)
    assert one(search, POSTING).data["description"] == TEXT
    assert one(search, "decision").data["outcome"] == "saved"


@only_files
def test_a_posting_says_where_its_text_was_read(search: Search, web: PracticeWeb) -> None:
    web.turn(declared("www.kestrel.example", PATH))
    write(search, kestrel(), listed(), posting("greenhouse:acme/2", title="Staff Software Engineer"))
    judge(search, "greenhouse:acme/1", "greenhouse:acme/2")
    assert {each.key[-1]: each.data["method"] for each in search.records(POSTING)} == {
        "1": "page",
        "2": "list",
    }


def test_a_posting_with_place_date_and_requirements_is_complete(search: Search) -> None:
    write(search, posting(), posting("greenhouse:acme/2", posted=None, title="Staff Software Engineer"))
    judge(search, "greenhouse:acme/1", "greenhouse:acme/2")
    said = {each.key[-1]: (each.data["completeness"], each.data["lacks"]) for each in search.records(POSTING)}
    assert said == {"1": ("good", []), "2": ("minimal", ["posted"])}


@only_files  # what a page says does not depend on the database
@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (("We are sorry, this position has been filled. " * 4,), "has been filled"),
        (("Nothing of what you look for is here. " * 9,), "does not name"),
    ],
)
@pytest.mark.promise(7)
def test_a_page_that_is_not_the_posting_s_does_not_describe_it(
    search: Search, web: PracticeWeb, page: tuple[str], reason: str
) -> None:
    web.turn(plain_page(*page, headline="Our shop" if "name" in reason else "Senior Software Engineer"))
    write(search, kestrel(), listed())
    judge(search, "greenhouse:acme/1")
    decision = one(search, "decision").data
    assert (decision["outcome"], search.records("match")) == ("unknown", [])
    assert reason in decision["problem"]


@only_files
@pytest.mark.parametrize(
    "said", ["We take applications until the position is filled.", "This role is not open to agencies."]
)
def test_an_opening_that_is_open_until_it_is_filled_is_open(
    search: Search, web: PracticeWeb, said: str
) -> None:
    web.turn(plain_page(said, TEXT))
    write(search, kestrel(), listed())
    judge(search, "greenhouse:acme/1")
    assert one(search, "decision").data["outcome"] == "saved"


@only_files
def test_a_link_that_leads_to_another_posting_does_not_describe_this_one(
    search: Search, web: PracticeWeb
) -> None:
    other = plain_page(TEXT, headline="Warehouse Clerk")
    web.turn(
        Knob(Trouble.REDIRECT, HOST, PATH, status=302, text=f"https://{HOST}/other"),
        replace(other, path="/other"),
    )
    write(search, kestrel(), listed())
    judge(search, "greenhouse:acme/1")
    assert one(search, "decision").data["outcome"] == "unknown"


@only_files
@pytest.mark.promise(15)
def test_no_money_is_spent_on_what_was_not_read(database: Database, web: PracticeWeb) -> None:
    search = Search(database, web, models=models(web))
    web.turn(Knob(Trouble.BODY, HOST, PATH, text="<html><body><p>Welcome.</p></body></html>"))
    write(search, kestrel(), listed())
    judge(search, "greenhouse:acme/1")
    assert one(search, "decision").data["outcome"] == "unknown"
    assert not any(each.method == "POST" for each in web.log())
    search.close()


# Postings that could not be fetched.

GONE = Knob(Trouble.STATUS, HOST, PATH, status=404)
FORBIDDEN = Knob(Trouble.STATUS, HOST, PATH, status=403)
DOWN = Knob(Trouble.STATUS, HOST, PATH, status=500)
UNREADABLE = Knob(Trouble.BODY, HOST, PATH, text="\x00\x01\x02", kind="application/octet-stream")


@pytest.mark.parametrize("trouble", [GONE, FORBIDDEN, DOWN, UNREADABLE], ids=["404", "403", "500", "bytes"])
@pytest.mark.promise(20)
def test_a_posting_that_could_not_be_read_is_kept_as_unknown_until_it_can(
    search: Search, web: PracticeWeb, trouble: Knob
) -> None:
    write(search, kestrel())
    web.turn(trouble)
    ask_postings(search.store, search.registry, [URL])
    search.work(hours=30)
    assert search.unfinished() == 0
    decision, found = one(search, "decision").data, one(search, POSTING)
    assert (decision["outcome"], found.data["url"], found.data["state"]) == ("unknown", URL, "open")
    assert decision["problem"]
    for typed in (URL, f"{URL}/?utm_source=mail", f"https://{HOST.upper()}{PATH}#top", found.key):
        told = explain(search.store, [app], typed)
        assert (told.key, told.outcome, decision["problem"] in told.sentences[0]) == (
            found.key,
            "unknown",
            True,
        )
        assert show_posting(search.store, typed).outcome == "unknown"
    web.web.panel.clear()
    web.turn(plain_page(TEXT, title="Senior Software Engineer | Kestrel Optics"))
    search.reopen()
    search.tomorrow()
    assert judge_again(search.store, search.registry) == 1
    search.work()
    assert one(search, "decision").data["outcome"] in ("saved", "skipped")
    assert list_postings(search.store, outcome="unknown") == []


@pytest.mark.promise(20)
def test_a_failed_task_that_is_sent_back_makes_its_posting_known(search: Search, web: PracticeWeb) -> None:
    write(search, kestrel())
    web.turn(FORBIDDEN)
    (asked,) = ask_postings(search.store, search.registry, [URL])
    search.work()
    (warning,) = check_postings(search.store)
    assert ("1 posting is unknown" in warning.found, warning.advice) == (
        True,
        "thresher postings list --outcome unknown",
    )
    web.web.panel.clear()
    web.turn(plain_page(TEXT))
    search.tomorrow()
    assert asked.task is not None
    retry(search.store, [asked.task])
    search.work()
    assert one(search, "decision").data["outcome"] in ("saved", "skipped")
    assert "none is unknown" in check_postings(search.store)[0].found


@pytest.mark.promise(20)
def test_a_posting_behind_a_wall_can_be_shown_and_says_what_it_waits_for(
    search: Search, web: PracticeWeb
) -> None:
    web.turn(Knob(Trouble.CAPTCHA, HOST, PATH, text="cloudflare"))
    ask_postings(search.store, search.registry, [URL])
    search.work(hours=1)
    told = explain(search.store, [app], f"{URL}/")
    assert (told.kind, told.outcome) == (POSTING, "undecided")
    assert any("anti_bot" in line or "wall" in line for line in told.sentences), told.sentences
    assert show_posting(search.store, URL).posting.outcome is None


def test_a_posting_that_was_judged_keeps_its_decision_when_its_page_fails(
    search: Search, web: PracticeWeb
) -> None:
    write(search, kestrel(), posting("greenhouse:acme/1", url=URL))
    judge(search, "greenhouse:acme/1")
    before = one(search, "decision").data
    assert before["outcome"] == "saved"
    web.turn(FORBIDDEN)
    judge(search, "greenhouse:acme/1", fresh=True)
    after = one(search, "decision").data
    assert (after["outcome"], after["score"]) == ("saved", before["score"])
    assert any("failed" in line and "403" in line for line in explain(search.store, [app], URL).sentences)


def test_the_newest_task_about_a_url_is_explained_where_no_app_knows_it(search: Search) -> None:
    (task,) = search.put(NewTask("notify", {}, url="https://nobody.example/x"))
    told = explain(search.store, [app], "https://NOBODY.example/x?utm_source=a")
    assert (told.kind, told.key) == ("task", str(task))


def test_a_posting_of_a_board_is_found_by_its_url_when_its_tasks_are_forgotten(search: Search) -> None:
    write(search, posting("greenhouse:acme/1", url=URL))
    assert show_posting(search.store, f"{URL}/?gh_src=1").posting.key == "greenhouse:acme/1"
    with pytest.raises(UnknownName, match="postings list"):
        show_posting(search.store, "https://www.kestrel.example/nothing")


# Matches that are none any more.


@pytest.mark.promise(13)
def test_a_match_that_is_judged_again_and_is_none_is_withdrawn_until_it_is_one_again(search: Search) -> None:
    write(search, posting("greenhouse:acme/1"), posting("greenhouse:acme/2", title="Staff Software Engineer"))
    judge(search, "greenhouse:acme/1", "greenhouse:acme/2")

    def shown() -> set[str]:
        return {each.key[-1] for each in list_matches(search.store, Matches(), search.clock.now())}

    assert shown() == {"1", "2"}
    set_status(search.store, ["greenhouse:acme/2"], "applied")
    search.set(jobs__score__needed=100)
    judge(search, "greenhouse:acme/1", "greenhouse:acme/2")
    assert shown() == {"2"}, "what a person has dealt with stays in the list"
    withdrawn = one(search, "match", "greenhouse:acme/1").data
    assert (withdrawn["status"], "100 are needed" in withdrawn["withdrawn"]) == ("new", True)
    told = explain(search.store, [app], "greenhouse:acme/1")
    assert (told.outcome, any("no match any more" in line for line in told.sentences)) == ("skipped", True)
    search.set(jobs__score__needed=80)
    judge(search, "greenhouse:acme/1", "greenhouse:acme/2")
    assert shown() == {"1", "2"}


def test_a_match_that_was_never_read_is_withdrawn_when_it_is_judged_again(
    search: Search, web: PracticeWeb
) -> None:
    web.turn(Knob(Trouble.BODY, HOST, PATH, text="<html><body><p>Welcome to our shop.</p></body></html>"))
    write(search, kestrel(), listed(read_at=1), match("greenhouse:acme/1", {"score": 84}))
    assert judge_again(search.store, search.registry, every=True) == 1
    search.work()
    assert one(search, "decision").data["outcome"] == "unknown"
    assert list_matches(search.store, Matches(), search.clock.now()) == []
