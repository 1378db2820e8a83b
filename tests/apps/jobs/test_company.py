"""The company pipeline on a real store and a real, local web."""

import json
from collections.abc import Iterator

import pytest

from tests.apps.jobs.analyst import Analyst
from tests.engine.asking import models
from tests.engine.workshop import Workshop
from tests.harness.databases import Database, only_files, with_processes
from thresher import Record
from thresher.core.clock import DAY, SECOND
from thresher.hiring.records import company_key, entry
from thresher.hiring.technology import known_as
from thresher.practice.web import DAY_ZERO, KNOWN, Knob, PracticeWeb, Trouble, board_url, company, traits
from thresher.reading.platforms.boards import recognise
from thresher.reading.platforms.platform import platform_named
from thresher.store import blobs

SEED = 7
PROFILE = {
    "city": "Portland",
    "region": "OR",
    "country": "US",
    "skills": {
        "python": {"rank": "required"},
        "go": {"rank": "required"},
        "react": {"rank": "ok"},
        "php": {"rank": "strike"},
    },
}


@pytest.fixture
def analyst(database: Database, web: PracticeWeb) -> Iterator[Analyst]:
    shop = Workshop(database)
    shop.clock.advance(int(DAY_ZERO.timestamp()) * SECOND - shop.clock.now())
    yield Analyst(shop, web)
    shop.close()


def site(token: str) -> str:
    return f"https://{company(SEED, token).site}/"


def key(token: str) -> str:
    return company_key(None, site(token))


def test_a_company_is_read_from_its_own_pages(analyst):
    ended = analyst.look(site("acme"), via="user")
    found = analyst.company(key("acme"))
    who, known = company(SEED, "acme"), traits(SEED, company(SEED, "acme"))
    assert (ended["state"], found.data["status"], found.data["completeness"]) == (
        "succeeded",
        "complete",
        "good",
    )
    assert (found.data["name"], found.data["website"]) == (who.name, site("acme"))
    assert (found.data["founded"], found.data["employees"]) == (who.founded, who.staff)
    assert (found.data["headquarters"], found.data["mission"]) == (known.headquarters, known.mission)
    assert found.data["size_category"] == (
        "small" if who.staff <= 100 else "medium" if who.staff <= 1_000 else "large"
    )
    assert found.data["remote_first"] == known.remote_first


@only_files  # what the pages of each say; that both databases keep it is the matter of the other tests
@pytest.mark.parametrize("token", sorted(KNOWN))
def test_every_known_company_is_read_right_and_its_board_is_found(analyst, token):
    who, known = company(SEED, token), traits(SEED, company(SEED, token))
    analyst.look(site(token))
    data = analyst.company(key(token)).data
    assert (data["founded"], data["employees"], data["headquarters"]) == (
        who.founded,
        who.staff,
        known.headquarters,
    )
    assert data["remote_first"] == known.remote_first
    if who.platform == "scripted":
        assert [url for _, url in analyst.discoveries()] == [None]
        return  # its careers page is an empty shell without a browser, so its board is looked for by name
    assert {known_as(name) for name in known.tech} <= set(data["tech"])
    assert data["ai_focus"] == known.ai_focus
    board = recognise(board_url(who))
    if board is None:
        # A page of its own, or a platform under its own domain, waits for a person unless the platform can be
        # trusted.
        assert data["board_url"]
        return
    platform = platform_named(board.platform)
    assert platform is not None
    assert (data["board_url"], data["board_confidence"]) == (board.url, platform.confidence)
    spawned = [url for _, url in analyst.discoveries()]
    assert spawned == ([board.url.rstrip("/")] if platform.confidence == "high" else []) or spawned == [
        board.url
    ]


@pytest.mark.promise(14)
def test_every_value_stands_where_the_record_says_in_the_text_that_was_kept(analyst):
    analyst.look(site("acme"))
    found = analyst.company(key("acme"))
    assert found.evidence is not None
    assert found.evidence.source is not None
    text = blobs.get(analyst.store, found.evidence.source).decode()
    places = found.evidence.places
    assert {"about", "mission", "culture", "size", "founded", "headquarters", "tech.0"} <= set(places)
    for name, place in places.items():
        assert place is not None, name
        assert text[place.start : place.end] == place.quote
    assert places["mission"].quote == found.data["mission"]
    assert places["tech.0"].quote.lower() in (found.data["tech"][0], "html")


def test_the_pages_asked_for_are_few_and_none_is_guessed_that_a_link_names(analyst):
    analyst.look(site("acme"))
    careers = ("careers", "jobs", "career")[company(SEED, "acme").layout]
    assert analyst.asked() == ["/", "/about", f"/{careers}"]


def test_a_company_that_is_known_well_and_freshly_is_not_read_again(analyst):
    analyst.look(site("acme"))
    asked = len(analyst.asked())
    ended = analyst.look(site("acme"))
    assert (ended["state"], len(analyst.asked())) == ("skipped", asked)
    assert "is complete" in ended["reason"]


def test_force_reads_it_again_and_age_does_too(analyst):
    analyst.look(site("acme"))
    assert analyst.look(site("acme"), force=True)["state"] == "succeeded"
    analyst.shop.clock.advance(31 * DAY)
    assert analyst.look(site("acme"))["state"] == "succeeded"


def test_a_name_without_a_site_is_written_down_and_waits(analyst):
    ended = analyst.look(name="Acme Anvils")
    assert (ended["state"], analyst.asked()) == ("skipped", [])
    assert analyst.company("acmeanvils").data["status"] == "unknown_site"


def test_a_name_whose_site_is_known_already_is_that_company(analyst):
    analyst.write(
        entry(
            "company", key("acme"), {"name": "Acme Anvils", "name_key": "acmeanvils", "website": site("acme")}
        )
    )
    assert analyst.look(name="Acme Anvils, Inc.")["state"] == "succeeded"
    assert list(analyst.records("company")) == [key("acme")]


def test_a_board_given_as_a_site_is_looked_at_as_a_board(analyst):
    ended = analyst.look("https://boards.greenhouse.io/acme", name="Acme Anvils")
    assert ended["state"] == "skipped"
    assert analyst.company("acmeanvils").data["status"] == "unknown_site"
    ((payload, url),) = analyst.discoveries()
    assert (url.endswith("/acme"), json.loads(payload)["company"]) == (True, "acmeanvils")


def test_a_task_that_names_nobody_fails_and_says_what_it_needs(analyst):
    ended = analyst.look()
    assert ended["state"] == "failed"
    assert "name or a website" in ended["reason"]


def test_a_board_that_is_known_is_not_discovered_again(analyst):
    board = recognise(board_url(company(SEED, "acme")))
    assert board is not None
    analyst.write(
        entry("board", "greenhouse:acme", {"url": board.url, "platform": "greenhouse", "status": "active"})
    )
    analyst.look(site("acme"))
    assert analyst.discoveries() == []


def test_a_board_that_is_less_sure_is_tried_before_a_person_is_asked_about_it(analyst):
    analyst.look(site("borealis"))
    data = analyst.company(key("borealis")).data
    assert (data["board_confidence"], len(analyst.discoveries())) == ("medium", 1)
    assert "lever" in data["board_url"]


def test_a_site_that_is_down_fails_the_task_and_the_record_says_so(analyst):
    analyst.web.turn(down("www.acme.example"))
    ended = analyst.look(site("acme"))
    assert ended["state"] == "failed"
    data = analyst.company(key("acme")).data
    assert data["status"] == "failed"
    assert data["problem"]


def test_what_was_known_survives_a_site_that_is_down(analyst):
    analyst.look(site("acme"))
    before = analyst.company(key("acme")).data
    analyst.shop.clock.advance(31 * DAY)
    analyst.web.turn(down("www.acme.example"))
    assert analyst.look(site("acme"))["state"] == "failed"
    after = analyst.company(key("acme")).data
    assert (after["status"], after["about"], after["tier"]) == ("complete", before["about"], before["tier"])


def test_points_come_from_the_profile_and_each_is_shown_with_its_words(analyst):
    analyst.write(Record("profile", "me", PROFILE))
    analyst.look(site("acme"))
    data = analyst.company(key("acme")).data
    assert data["score"] == max(0, sum(part["points"] for part in data["score_parts"]))
    assert all(part.get("quote") or part.get("note") for part in data["score_parts"])
    assert all(part["points"] == 0 or part["quote"] for part in data["score_parts"])


def test_without_a_profile_no_points_are_given_and_that_is_said(analyst):
    analyst.look(site("acme"))
    notes = {part["rule"]: part.get("note", "") for part in analyst.company(key("acme")).data["score_parts"]}
    assert "no profile" in notes["city"]
    assert "no profile" in notes["technology"]


def test_looking_twice_changes_nothing_but_the_time(analyst):
    analyst.look(site("acme"))
    first = dict(analyst.company(key("acme")).data)
    analyst.look(site("acme"), force=True)
    second = dict(analyst.company(key("acme")).data)
    first.pop("analyzed_at"), second.pop("analyzed_at")
    assert first == second
    assert len(analyst.discoveries()) <= 2


def down(host: str) -> Knob:
    return Knob(Trouble.STATUS, host=host, status=500)


BARE = "<html><body><h1>Tarn Tools</h1><p>{}</p></body></html>"
SAYS = "culture: We are kind to each other, to the horses, and to the people who feed them every day."


def bare(text: str) -> tuple[Knob, ...]:
    """A site of one page."""
    host = "www.tarn.example"
    return Knob(Trouble.BODY, host=host, path="/", text=BARE.format(text)), *(
        Knob(Trouble.STATUS, host=host, path=f"/{path}", status=404)
        for path in ("about", "company", "careers", "jobs")
    )


def only_home(text: str) -> list[Knob]:
    home, *others = bare(text)
    return [*others, home]  # of two knobs that match the first one wins


@pytest.fixture
def asking(database: Database, web: PracticeWeb) -> Iterator[Analyst]:
    shop = Workshop(database)
    yield Analyst(shop, web, models=models(web))
    shop.close()


def calls(analyst: Analyst) -> int:
    return sum(each.method == "POST" for each in analyst.web.log())


def test_pages_that_do_not_exist_are_no_failure(analyst):
    analyst.web.turn(*only_home("We are two people and a horse."))
    ended = analyst.look("https://www.tarn.example/")
    assert (ended["state"], ended["failures"]) == ("skipped", 0)
    assert analyst.asked() == ["/", "/about", "/about-us", "/company", "/careers", "/jobs"]
    data = analyst.company("tarn.example").data
    assert (data["status"], data["completeness"]) == ("partial", "none")
    assert "too little" in ended["reason"]


def test_a_company_that_shows_no_board_is_looked_for_by_name(analyst):
    analyst.web.turn(*only_home("We are two people and a horse."))
    analyst.look("https://www.tarn.example/", name="Tarn Tools")
    ((payload, url),) = analyst.discoveries()
    assert (json.loads(payload)["name"], json.loads(payload)["website"], url) == (
        "Tarn Tools",
        "https://www.tarn.example/",
        None,
    )


def test_nothing_is_guessed_where_guessing_is_switched_off(database, web):
    shop = Workshop(database)
    analyst = Analyst(shop, web, **{"jobs.guess_boards": 0})
    web.turn(*only_home("We are two people and a horse."))
    analyst.look("https://www.tarn.example/", name="Tarn Tools")
    assert analyst.discoveries() == []
    shop.close()


@with_processes
def test_a_model_is_asked_only_for_what_the_rules_did_not_find(asking):
    asking.web.turn(*only_home(SAYS))
    asking.look("https://www.tarn.example/", name="Tarn Tools")
    found = asking.company("tarn.example")
    assert calls(asking) == 1
    assert found.data["culture"].startswith("We are kind")
    assert found.data["culture"].startswith(found.evidence.places["culture"].quote)


@with_processes
@pytest.mark.promise(14)
def test_what_a_model_makes_up_is_kept_as_unverified(asking):
    asking.web.turn(*only_home(SAYS), Knob(Trouble.INVENTED, host="*", path="/v1"))
    asking.look("https://www.tarn.example/", name="Tarn Tools")
    found = asking.company("tarn.example")
    made_up = [name for name, place in found.evidence.places.items() if place is None]
    assert all(found.data.get(name) for name in made_up)
    assert made_up
    assert all(place is None or place.quote for place in found.evidence.places.values())


@with_processes
def test_a_model_that_answers_nonsense_does_not_hold_a_company_up(asking):
    asking.web.turn(*only_home(SAYS), Knob(Trouble.NOT_JSON, host="*", path="/v1"))
    assert asking.look("https://www.tarn.example/", name="Tarn Tools")["state"] == "succeeded"
    assert calls(asking) > 0
    assert "culture" not in asking.company("tarn.example").data


@with_processes
def test_a_budget_that_is_used_up_does_not_hold_a_company_up(database, web):
    shop = Workshop(database)
    analyst = Analyst(shop, web, models=models(web), **{"budget.day": 0.0})
    web.turn(*only_home(SAYS))
    assert analyst.look("https://www.tarn.example/", name="Tarn Tools")["state"] == "succeeded"
    assert calls(analyst) == 0
    shop.close()


def test_a_page_in_trouble_is_tried_again_and_then_done_without(analyst):
    analyst.web.turn(Knob(Trouble.STATUS, host="www.acme.example", path="/about", status=500))
    ended = analyst.look(site("acme"))
    assert (ended["state"], ended["failures"]) == ("succeeded", 1)
    assert analyst.company(key("acme")).data["founded"] == company(SEED, "acme").founded


def test_a_wall_before_one_page_hides_that_page_only(analyst):
    careers = ("careers", "jobs", "career")[company(SEED, "acme").layout]
    analyst.web.turn(Knob(Trouble.CAPTCHA, host="www.acme.example", path=f"/{careers}"))
    assert analyst.look(site("acme"))["state"] == "succeeded"
    data = analyst.company(key("acme")).data
    assert data["mission"]
    assert data["board_confidence"] == "low"
    ((payload, url),) = analyst.discoveries()
    assert ("url" in json.loads(payload), url) == (False, None)  # what nobody saw is looked for by name


def test_a_profile_that_cannot_be_read_gives_no_points_and_stops_nobody(analyst):
    analyst.write(Record("profile", "me", {"city": 5, "nonsense": True}))
    assert analyst.look(site("acme"))["state"] == "succeeded"


def test_the_company_is_written_down_before_its_site_is_read(analyst):
    analyst.web.turn(Knob(Trouble.RATE_LIMITED, host="www.acme.example", seconds=3_600))
    assert analyst.look(site("acme"))["state"] == "pending"
    assert analyst.company(key("acme")).data["status"] == "analyzing"


def test_a_page_of_its_own_does_not_replace_a_board_that_is_known(analyst):
    known = {"board_url": "https://jobs.lever.co/kestrel", "board_confidence": "medium"}
    careers = Knob(
        Trouble.BODY,
        host="www.tarn.example",
        path="/careers",
        text=BARE.format("We look for a cook who can sail."),
    )
    analyst.web.turn(careers, *only_home(SAYS))
    analyst.write(entry("company", "tarn.example", known))
    analyst.look("https://www.tarn.example/")
    data = analyst.company("tarn.example").data
    assert data["careers_url"] == "https://www.tarn.example/careers"
    assert {name: data[name] for name in known} == known


@pytest.mark.parametrize("website", ["https://", "ftp://acme.example", "not a site", "http://[::1"])
def test_a_site_that_is_no_address_fails_at_once_and_says_so(analyst, website):
    ended = analyst.look(name="Acme", website=website)
    assert (ended["state"], analyst.asked()) == ("failed", [])
    assert "website" in ended["reason"]


def test_the_openings_are_looked_for_under_jobs_where_there_is_no_careers_page(analyst):
    jobs = Knob(
        Trouble.BODY,
        host="www.tarn.example",
        path="/jobs",
        text=BARE.format('<a href="https://jobs.lever.co/tarn">Open positions</a>'),
    )
    analyst.web.turn(jobs, *only_home(SAYS))
    analyst.look("https://www.tarn.example/")
    data = analyst.company("tarn.example").data
    assert analyst.asked()[-2:] == ["/careers", "/jobs"]
    assert (data["board_url"], data["board_confidence"]) == ("https://jobs.lever.co/tarn", "medium")


def test_a_workday_tenant_without_its_data_centre_is_a_board_of_medium_confidence(analyst):
    link = BARE.format(f'{SAYS} <a href="https://tarn.myworkdayjobs.com/Careers">Careers</a>')
    analyst.web.turn(*only_home(link))
    analyst.look("https://www.tarn.example/")
    data = analyst.company("tarn.example").data
    url = "https://tarn.myworkdayjobs.com/Careers"
    assert (data["board_url"], data["board_confidence"]) == (url, "medium")
    assert [each[1] for each in analyst.discoveries()] == [url]
