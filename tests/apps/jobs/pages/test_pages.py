"""The pages: what people see of matches, boards, companies and postings, what they change, and that nothing
which strangers wrote ever runs."""

import re
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files

import pytest

from tests.apps.jobs.cli.project import company, posting
from tests.apps.jobs.pages.scene import EVIL, fill, many
from tests.web.conftest import Answer
from tests.web.pages.visitor import Visitor, page, with_anna
from thresher.admin.health import needs_person
from thresher.admin.records import maybe, write_records
from thresher.admin.settings import show_setting
from thresher.admin.tasks import list_tasks
from thresher.apps.hiring.groups import group
from thresher.apps.jobs.service.boards import find_board
from thresher.apps.jobs.service.matches import save_view
from thresher.apps.jobs.service.postings import set_profile
from thresher.core.clock import DAY
from thresher.core.record import Record

ONE, TWO = "greenhouse:acme/1", "greenhouse:acme/2"
ALL = (
    "/jobs/matches",
    "/jobs/matches?status=all",
    f"/jobs/matches/{ONE}",
    f"/jobs/matches/{TWO}",
    "/jobs/boards",
    "/jobs/boards?status=pending",
    "/jobs/boards/greenhouse:heron",
    "/jobs/boards/greenhouse:old",
    "/jobs/companies",
    "/jobs/companies/acme.com",
    "/jobs/companies/rude.com",
    "/jobs/why",
    "/jobs/why/score",
    "/jobs/why/unknown",
    "/hiring/postings",
    f"/hiring/postings/{TWO}",
    "/hiring/postings/greenhouse:acme/4",
)


def section(text: str, name: str) -> str:
    return " ".join(text.partition(f'id="{name}"')[2].partition("</section>")[0].split())


def titles(text: str) -> list[str]:
    """The titles of the cards, in their order."""
    return re.findall(r"<h3><a [^>]*><bdi>(.*?)</bdi>", text)


def profile(world) -> None:
    text = (files("thresher.apps.jobs") / "example_profile.yaml").read_text("utf-8")
    set_profile(world.store, text, "example")


def status_of(world, key: str) -> object:
    return maybe(world.store, "match", key).data["status"]


@pytest.mark.promise(7)
def test_what_is_empty_says_what_was_not_checked(world):
    anna = with_anna(world).log_in()
    assert "No matches: no company has been added yet" in section(anna.see("/jobs/matches"), "found")
    assert "No boards: no company has been added yet" in section(anna.see("/jobs/boards"), "found")
    assert "No companies have been added" in section(anna.see("/jobs/companies"), "found")
    assert "No postings: no company has been added yet" in section(anna.see("/hiring/postings"), "found")
    assert "no company has been added yet" in anna.see("/jobs/why")
    for path in ("/jobs/matches", "/jobs/boards", "/jobs/why"):
        assert '<a href="/jobs/companies">Companies</a></p>' in anna.see(path), "where one is added"
    profile(world)
    assert "No posting is open, so none was judged" in anna.see("/jobs/why")


@pytest.mark.promise(13)
def test_a_match_is_a_card_with_its_points_and_the_words_they_rest_on(world):
    fill(world.store)
    anna = with_anna(world).log_in()
    shown = anna.see("/jobs/matches")
    assert titles(shown) == ["Senior Python Engineer", "Engineer &lt;img src=x onerror=alert(1)&gt;"]
    card = section(shown, "found").partition('<ul class="cards">')[2].partition('<div class="card-head">')[2]
    card = card.partition('<div class="card-head">')[0]
    for said in ("91", "Acme", "Portland, OR", "$100k-$120k", "+12", "python, postgresql"):
        assert said in card, said
    assert "“<bdi>Python and PostgreSQL</bdi>”" in card, "a point has the words that it rests on"
    assert "-2</b>" in card
    assert "you aim at $150,000" in card
    assert 'href="https://acme.com/jobs/1" rel="noopener noreferrer"' in card
    assert "Not stated: <bdi>location</bdi>" in shown


@pytest.mark.promise(2)
def test_what_a_person_did_is_kept_and_brings_them_back_to_their_list(world):
    fill(world.store)
    anna = with_anna(world).log_in()
    told = anna.post("/jobs/matches?min_score=80", key=ONE, status="applied")
    assert (told.status, told.headers["Location"]) == (303, "/jobs/matches?min_score=80")
    assert status_of(world, ONE) == "applied"
    assert "Senior Python" not in anna.see("/jobs/matches"), "what is dealt with leaves the new ones"
    assert titles(anna.see("/jobs/matches?status=applied")) == ["Senior Python Engineer"]
    assert anna.post("/jobs/matches?status=applied", key=ONE, status="new").status == 303
    assert len(titles(anna.see("/jobs/matches"))) == 2
    told = anna.post("/jobs/matches", key=ONE, status="dismissed", note="too far\r\nsouth", stay="1")
    assert told.headers["Location"] == f"/jobs/matches/{ONE.replace(':', '%3A')}"
    shown = anna.see(told.headers["Location"])
    assert "too far\nsouth</textarea>" in shown
    assert 'value="dismissed" checked' in shown
    assert page(anna.post("/jobs/matches", key="nobody", status="new"), 404)
    assert page(anna.post("/jobs/matches", key=ONE, status="burnt"), 400)
    assert status_of(world, ONE) == "dismissed"


def test_matches_are_filtered_by_the_address_and_paged_without_a_gap(world):
    at = fill(world.store)
    keys = many(world.store, 60, at)
    anna = with_anna(world).log_in()
    seen, path = [], "/jobs/matches"
    while path:
        shown = anna.see(path)
        seen += re.findall(r'<h3><a href="/jobs/matches/([^"]*)"', shown)
        found = re.search(r'rel="next" href="([^"]*)"', shown)
        path = found[1].replace("&amp;", "&") if found else None
    assert len(seen) == len(set(seen)) == len(keys) + 2
    assert titles(anna.see("/jobs/matches?min_score=90")) == ["Senior Python Engineer"]
    assert titles(anna.see("/jobs/matches?words=python&company=ACME"))[0] == "Senior Python Engineer"
    assert "No match is like that" in anna.see("/jobs/matches?company=nobody")
    assert "must be a whole number" in anna.see("/jobs/matches?min_score=many", 400)
    assert "must be one of" in anna.see("/jobs/matches?status=burnt", 400)
    anna.see("/jobs/matches?colour=red", 400)
    save_view(world.store, f"near {EVIL}", {"status": "new", "min_score": 85, "nonsense": 1})
    assert 'href="/jobs/matches?status=new&amp;min_score=85"' in anna.see("/jobs/matches")


def test_what_is_new_since_the_last_visit_is_marked(world):
    at = fill(world.store)
    anna = with_anna(world).log_in()
    told = anna.ask("GET", "/jobs/matches")
    assert '<span class="pill live">new</span>' not in page(told), "the first visit has nothing before it"
    visited = remembering(anna, told)
    world.pass_time(7_200)
    many(world.store, 1, at)
    shown = page(visited())
    assert shown.count('<span class="pill live">new</span>') == 1
    assert "Your last visit ended" in shown
    assert titles(page(visited("/jobs/matches?status=all&fresh=1"))) == ["Opening 0"]
    world.pass_time(7_200)
    assert '<span class="pill live">new</span>' not in page(visited()), "that was a visit of its own"


def remembering(anna: Visitor, told: Answer) -> Callable[..., Answer]:
    """A browser that keeps the cookie of its visits, too."""
    jar = [told]

    def ask(path: str = "/jobs/matches") -> Answer:
        visit = jar[-1].headers["Set-Cookie"].partition(";")[0]
        jar.append(replace(anna, cookie=f"{anna.cookie}; {visit}").ask("GET", path))
        return jar[-1]

    return ask


@pytest.mark.promise(13)
def test_the_page_of_a_match_has_the_whole_explanation_and_what_a_model_prepared(world):
    fill(world.store)
    anna = with_anna(world).log_in()
    shown = anna.see(f"/jobs/matches/{ONE}")
    assert "Saved as a match; it passed the filter" in section(shown, "why")
    assert "Score 91 of 100; 80 are needed." in section(shown, "why")
    assert "Builds things" in section(shown, "prepared")
    assert "Projects" not in section(shown, "prepared"), "an empty list is left out"
    assert "A match since" in section(shown, "history")
    assert "No model was asked" in section(anna.see(f"/jobs/matches/{TWO}"), "prepared")
    anna.see("/jobs/matches/nobody", 404)


@pytest.mark.promise(16)
def test_a_board_that_waits_is_shown_with_its_evidence_and_approved_or_rejected(world):
    fill(world.store)
    anna = with_anna(world).log_in()
    shown = section(anna.see("/jobs/boards?status=pending"), "found")
    for said in ("a search engine named it", "medium", "brought 3 of 12 postings", "Deckhand"):
        assert said in shown, said
    told = anna.post("/jobs/boards/greenhouse:heron", do="enable")
    assert (told.status, told.headers["Location"]) == (303, "/jobs/boards/greenhouse%3Aheron")
    assert find_board(world.store, "greenhouse:heron").status == "active"
    assert "No board waits for your decision" in anna.see("/jobs/boards?status=pending")
    told = anna.post("/jobs/boards/greenhouse:heron", do="disable", reason=" ")
    assert "say why the board is not read" in page(told, 400)
    assert anna.post("/jobs/boards/greenhouse:heron", do="disable", reason="not theirs").status == 303
    found = find_board(world.store, "greenhouse:heron")
    assert (found.status, found.disabled_reason) == ("disabled", "not theirs")
    told = anna.post("/jobs/boards/greenhouse:heron", do="disable", reason="again")
    assert "already disabled: not theirs" in page(told, told.status)


def test_a_broken_board_says_why_and_starts_anew(world):
    fill(world.store)
    anna = with_anna(world).log_in()
    shown = section(anna.see("/jobs/boards?status=disabled"), "found")
    assert "5 failures in a row" in shown
    assert ">5 failures since</a>" in shown
    assert anna.post("/jobs/boards/greenhouse:old", do="enable").status == 303
    found = find_board(world.store, "greenhouse:old")
    assert (found.status, found.failures) == ("active", 0)
    assert [task["kind"] for task in list_tasks(world.store)] == ["scrape_source"]
    assert "no posting has a salary any more" in anna.see("/jobs/boards/greenhouse:acme")


def test_what_is_excluded_says_so_and_is_not_tested(world):
    fill(world.store)
    anna = with_anna(world).log_in()
    assert ">excluded</span>" in section(anna.see("/jobs/companies"), "found")
    assert "nothing of it is requested" in anna.see("/jobs/companies/rude.com")
    shown = anna.see("/jobs/boards/greenhouse:rude")
    assert "Test it now" not in shown
    told = anna.post("/jobs/boards/greenhouse:rude", do="test")
    assert "is excluded, so nothing of it is requested" in page(told, told.status)


def test_companies_are_listed_with_their_tier_and_every_number_leads_to_its_rows(world):
    fill(world.store)
    anna = with_anna(world).log_in()
    shown = section(anna.see("/jobs/companies?tier=A"), "found")
    assert ">Acme<" in shown
    assert "Heron" not in shown
    assert 'href="/jobs/boards?company=acme.com">2</a>' in shown
    assert 'href="/hiring/postings?company=acme.com">5</a>' in shown
    assert section(anna.see("/hiring/postings?company=acme.com"), "found").count("<tr role") == 6
    assert section(anna.see("/jobs/boards?company=acme.com"), "found").count("<tr role") == 3
    shown = anna.see("/jobs/companies/acme.com")
    assert "+50 office in Portland - &#39;our office in Portland, Oregon&#39;" in section(shown, "why")
    assert "our 240 people" in section(shown, "known")
    anna.see("/jobs/companies/nobody", 404)
    assert "No company is like that" in anna.see("/jobs/companies?status=failed")
    assert "None of the 3 companies that were read has the tier S" in anna.see("/jobs/companies?tier=S")


def test_companies_that_only_wait_to_be_read_hide_none_that_was(world):
    now = fill(world.store)
    waiting = [
        Record("company", f"waits{number}.example", {"status": "analyzing"}, marks=("status",))
        for number in range(60)
    ]
    write_records(world.store, [*waiting, company("gull.com", "Gull", now - DAY, tier="B")])
    anna = with_anna(world).log_in()
    shown = anna.see("/jobs/companies")
    assert ">Acme<" in section(shown, "found")
    assert section(shown, "found").index(">Acme<") < section(shown, "found").index(">Gull<")
    assert "waits" not in section(shown, "found")
    ways = dict(re.findall(r"<a href=\"([^\"]*)\"[^>]*>[^<]*<small>(\d+)<", shown))
    assert (ways["/jobs/companies"], ways["/jobs/companies?tier=B"]) == ("4", "1")
    assert (ways["/jobs/companies?status=analyzing"], ways["/jobs/companies?all=1"]) == ("60", "64")
    assert section(anna.see("/jobs/companies?status=analyzing"), "found").count("<tr role") == 51
    assert "before=waits" in anna.see("/jobs/companies?all=1")
    behind = section(anna.see("/jobs/companies?before=acme.com"), "found")
    assert ">Gull<" in behind
    assert ">Acme<" not in behind


@pytest.mark.parametrize(
    ("kind", "text", "task"),
    [
        ("company", "https://www.gannet.example/", "company"),
        ("board", "https://boards.greenhouse.io/gannet", "source_discovery"),
        ("posting", "https://gannet.example/jobs/1", "job"),
    ],
)
def test_a_form_adds_what_it_is_given(world, kind, text, task):
    anna = with_anna(world).log_in()
    told = anna.post("/jobs/companies", kind=kind, text=text, company="")
    assert told.status == 303, told.body
    (made,) = list_tasks(world.store)
    assert (made["kind"], told.headers["Location"]) == (task, f"/jobs/companies?queued={made['id']}#new")
    path = told.headers["Location"].partition("#")[0]
    assert f'Queued as <a href="/tasks/{made["id"]}">' in anna.see(path)


def test_a_form_with_a_mistake_says_what_the_command_says_and_keeps_what_was_typed(world):
    fill(world.store)
    anna = with_anna(world).log_in()
    for kind, text, says in (
        ("company", f"javascript:{EVIL}", "is no company"),
        ("board", "not an address", "URL"),
        ("company", "", "name a company"),
        ("ship", "acme.com", "cannot be added"),
    ):
        told = anna.post("/jobs/companies", kind=kind, text=text, company="")
        shown = page(told, 400)
        assert says in shown, shown
        assert text.replace("<", "&lt;").replace(">", "&gt;") in shown
    for text, says in (("acme.com", "is already known"), ("rude.com", "is excluded")):
        told = anna.post("/jobs/companies", kind="company", text=text, company="")
        assert says in page(told, 200)
    assert list_tasks(world.store) == []


@pytest.mark.promise(13)
def test_why_there_are_not_more_matches_is_counted_listed_and_changed_there(world):
    fill(world.store)
    profile(world)
    anna = with_anna(world).log_in()
    shown = anna.see("/jobs/why")
    assert 'href="/jobs/why/score"><b>1</b>' in section(shown, "reasons")
    assert "Harbour Engineer" in anna.see("/jobs/why/score")
    assert "76 of 80 points" in anna.see("/jobs/why/score")
    assert "HTTP 500" in anna.see("/jobs/why/unknown")
    assert "No open posting was turned down for this" in anna.see("/jobs/why/salary_floor")
    told = anna.post("/jobs/why/change", name="jobs.score.needed", value="70")
    assert told.status == 303, told.body
    assert show_setting(world.store, "jobs.score.needed").value == 70
    assert {task["kind"] for task in list_tasks(world.store)} == {"job"}
    assert "4 postings will be judged" in anna.see(told.headers["Location"])
    for name, value, says in (
        ("jobs.score.needed", "many", "must be"),
        ("web.rate", "1", "is not set here"),
    ):
        assert says in page(anna.post("/jobs/why/change", name=name, value=value), 400)
    told = anna.post("/jobs/why/judge", all="1")
    assert told.headers["Location"] == "/jobs/why?judging=0", "they wait already"


@pytest.mark.promise(7)
def test_postings_that_wait_for_a_judgement_are_listed_where_they_are_counted(world):
    at = fill(world.store)
    profile(world)
    anna = with_anna(world).log_in()
    assert "/jobs/why/waiting" not in anna.see("/jobs/why")
    empty = "None of the newest 5,000 open postings waits to be judged"
    assert empty in anna.see("/jobs/why/waiting")
    keys = [f"greenhouse:acme/{each}" for each in ("8", "9")]
    write_records(world.store, [posting(each, f"Rigger {each[-1]}", at) for each in keys])
    group(world.store, ONE, keys[1])  # which is judged by the first of its group
    assert 'href="/jobs/why/waiting">1 is not judged yet</a>' in section(anna.see("/jobs/why"), "reasons")
    shown = anna.see("/jobs/why/waiting")
    assert "Rigger 8" in section(shown, "list")
    assert section(shown, "list").count("rowheader") == 1
    assert empty in anna.see(f"/jobs/why/waiting?before={keys[0]}")


def test_a_change_that_a_page_offers_is_one_that_it_makes(world):
    profile(world)
    fill(world.store)
    anna = with_anna(world).log_in()
    shown = section(anna.see("/jobs/why"), "change")
    offered = re.search(r'name="name" value="([^"]*)".*?name="value" value="([^"]*)"', shown)
    assert offered, shown
    assert offered[1] == "jobs.score.needed_in_city"
    assert "there is 1 more match" in shown
    assert "Harbour Engineer" in section(anna.see("/jobs/why"), "nearest")
    assert anna.post("/jobs/why/change", name=offered[1], value=offered[2]).status == 303
    assert str(show_setting(world.store, offered[1]).value) == offered[2]


def test_postings_are_filtered_by_what_was_decided_unknown_ones_too(world):
    fill(world.store)
    anna = with_anna(world).log_in()
    shown = section(anna.see("/hiring/postings?outcome=unknown"), "found")
    assert ">Cook<" in shown
    assert "Harbour Engineer" not in shown
    for query, number in (
        ("outcome=saved", 2),
        ("outcome=saved&company=acme.com", 2),
        ("outcome=skipped&board=greenhouse:acme", 1),
        ("state=closed", 1),
        ("board=nobody", 0),
        ("query=nobody&outcome=saved", 0),
    ):
        found = section(anna.see(f"/hiring/postings?{query}"), "found")
        assert found.count("rowheader") == number, query
    shown = anna.see("/hiring/postings/greenhouse:acme/4")
    assert "could not be judged: HTTP 500" in section(shown, "why")
    shown = anna.see(f"/hiring/postings/{ONE}")
    assert "“<bdi>$100k-$120k</bdi>”" in section(shown, "read")
    anna.see("/hiring/postings/nobody", 404)


def test_postings_of_one_opening_are_named_and_taken_apart(world):
    fill(world.store)
    group(world.store, ONE, "greenhouse:acme/5")
    anna = with_anna(world).log_in()
    assert "Harbour Engineer" in section(anna.see(f"/hiring/postings/{ONE}"), "same")
    assert anna.post(f"/hiring/postings/{ONE}").status == 303
    assert 'id="same"' not in anna.see(f"/hiring/postings/{ONE}")
    told = anna.post(f"/hiring/postings/{ONE}")
    assert "is not in a group" in page(told, told.status)


def test_what_needs_a_person_leads_to_the_page_where_it_is_done(world):
    fill(world.store)
    anna = with_anna(world).log_in()
    pages = {each.page for each in needs_person(world.store, world.shop.registry.apps) if each.page}
    assert {
        "/jobs/boards?status=pending",
        "/jobs/boards?status=disabled",
        "/hiring/postings?outcome=unknown",
    } <= pages
    for path in pages:
        if path.startswith(("/jobs", "/hiring")):
            assert "rowheader" in anna.see(path) or 'class="cards"' in anna.see(path)


@pytest.mark.promise(17)
def test_what_strangers_wrote_is_shown_and_never_run_nor_followed(world):
    fill(world.store)
    profile(world)
    anna = with_anna(world).log_in()
    shown = {path: anna.see(path) for path in ALL}
    assert [path for path, text in shown.items() if EVIL in text] == []
    assert [path for path, text in shown.items() if re.search(r'(href|src|action)="javascript:', text)] == []
    assert "Engineer &lt;img" in shown["/jobs/matches"]
    assert "Cook &lt;img" in shown["/jobs/boards?status=pending"]


@pytest.mark.promise(7)
def test_no_page_leads_a_person_to_raw_json(world):
    fill(world.store)
    profile(world)
    anna = with_anna(world).log_in()
    assert [path for path in ALL if 'href="/api/' in anna.see(path)] == []


def test_a_change_without_the_token_of_the_login_is_refused(world):
    fill(world.store)
    anna = with_anna(world).log_in()
    for path, fields in (
        ("/jobs/matches", {"key": ONE, "status": "dismissed"}),
        ("/jobs/boards/greenhouse:heron", {"do": "enable"}),
        ("/jobs/boards/greenhouse:heron", {"do": "test"}),
        ("/jobs/companies", {"kind": "company", "text": "gannet.example"}),
        ("/jobs/why/change", {"name": "jobs.score.needed", "value": "1"}),
        (f"/hiring/postings/{ONE}", {}),
    ):
        assert anna.send(path, **fields).status == 403, path
    assert (status_of(world, ONE), list_tasks(world.store)) == ("new", [])
