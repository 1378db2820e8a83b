"""The pages about candidates and roles: what people see, what they change, what is asked twice, and that
nothing which strangers wrote ever runs."""

import re
from urllib.parse import urlencode

import pytest

from tests.apps.roles.http.scraping import job
from tests.web.pages.visitor import page, with_anna
from thresher.admin.records import maybe, write_records
from thresher.apps.roles.service import platforms
from thresher.apps.roles.service.roles import find
from thresher.apps.roles.service.scrapes import list_sessions
from thresher.apps.roles.store.matches import replace_matches
from thresher.core.errors import UnknownName
from thresher.core.record import Link, Record

EVIL = "<img src=x onerror=alert(1)>"
BERTA = {
    "name": "Berta Stone",
    "email": "berta@example.com",
    "title": "Harbour Pilot",
    "roles": "Harbour Pilot",
    "skills": "python, radar",
    "experience_years": "7",
    "locations": "Lyon, France",
}
TEXT = "We need python and radar. You have at least 5 years of experience. Lyon, France."


def section(text: str, name: str) -> str:
    return " ".join(text.partition(f'id="{name}"')[2].partition("</section>")[0].split())


def market(world, anna) -> int:
    """Berta, whom a posting of her role fits; the role."""
    assert anna.post("/candidates", **BERTA).status == 303
    role = find(world.store, "Harbour Pilot").id
    data = {
        "title": f"Pilot {EVIL}",
        "company_name": "Harbour Works",
        "location": "Lyon, France",
        "description": TEXT,
        "state": "open",
        "seen_at": 5,
        "url": "javascript:alert(1)",
    }
    links = (Link("role", str(role)),)
    write_records(world.store, [Record("posting", "indeed/1", data, links, marks=("state", "seen_at"))])
    ids = [
        maybe(world.store, kind, key).id
        for kind, key in (("candidate", "berta@example.com"), ("posting", "indeed/1"))
    ]
    with world.store.write() as session:
        rows = [(*ids, 8_250, 4_000, 1_500, 1_500, 1_000, 250)]
        given = {"role": role, "candidates": ids[:1], "postings": ids[1:], "rows": rows}
        replace_matches(session, given, world.clock.now())
    return role


@pytest.mark.promise(7)
def test_what_is_empty_says_what_was_not_searched(world):
    anna = with_anna(world).log_in()
    assert "There are no candidates yet, so there is nobody to search for" in anna.see("/candidates")
    assert "No role is pending" in anna.see("/roles")
    assert "No role waits for your review" in anna.see("/roles?status=proposed")
    role = world.role("Gardener", 1)
    assert "Nobody has searched for it yet" in section(anna.see(f"/roles/{role}"), "postings")


@pytest.mark.promise(6)
def test_a_candidate_is_added_shown_and_removed_once_somebody_is_sure(world):
    anna = with_anna(world).log_in()
    told = anna.post("/candidates", **BERTA)
    assert (told.status, told.headers["Location"]) == (303, "/candidates/berta%40example.com")
    shown = anna.see(told.headers["Location"])
    role = find(world.store, "Harbour Pilot").id
    assert f'href="/roles/{role}"' in section(shown, "wants")
    assert "No posting of the wanted roles fits" in section(shown, "matches")
    assert "7 years" in section(shown, "facts")
    assert ">Berta Stone<" in anna.see("/candidates")
    assert ">Berta Stone<" in anna.see(f"/candidates?role={role}")
    path = "/candidates/berta@example.com"
    asked = page(anna.post(path, do="remove"), 200)
    assert "This cannot be undone" in section(asked, "sure")
    assert maybe(world.store, "candidate", "berta@example.com") is not None
    assert anna.post(path, do="remove", sure="yes").headers["Location"] == "/candidates"
    assert maybe(world.store, "candidate", "berta@example.com") is None
    assert find(world.store, "Harbour Pilot").candidates == 0
    anna.see(path, 404)


def test_a_form_with_a_mistake_comes_back_as_it_was_filled_in(world):
    anna = with_anna(world).log_in()
    for more, says in (
        ({"experience_years": "many"}, "years such as 7"),
        ({"email": "nobody"}, "must be an address"),
        ({"name": ""}, "a candidate needs a name"),
    ):
        shown = page(anna.post("/candidates", **{**BERTA, **more}), 400)
        assert says in shown
        assert 'value="Harbour Pilot"' in shown
    told = anna.post("/candidates", file=f"name,colour\nBerta,{EVIL}\n")
    assert "colour" in page(told, 400)
    assert "paste the lines" in page(anna.post("/candidates", file=" "), 400)
    assert world.rows("select count(*) from records where kind = 'candidate'") == [(0,)]


def test_many_candidates_come_from_the_lines_of_a_file(world):
    anna = with_anna(world).log_in()
    lines = "".join(f"Person {at},p{at}@example.com,Cook\n" for at in range(60))
    told = anna.post("/candidates", file=f"name,email,roles\n{lines}")
    assert told.headers["Location"] == "/candidates?added=60"
    shown = anna.see("/candidates?added=60")
    assert "60 candidates of the file are here now" in shown
    following = re.search(r'rel="next" href="([^"]*)"', shown)
    assert following
    rest = anna.see(following[1].replace("&amp;", "&"))
    assert section(shown, "found").count("rowheader") + section(rest, "found").count("rowheader") == 60


@pytest.mark.promise(13)
def test_a_match_is_explained_part_by_part_with_the_words_and_its_status_kept(world):
    anna = with_anna(world).log_in()
    role = market(world, anna)
    listed = section(anna.see("/candidates/berta@example.com"), "matches")
    assert "skills 40, experience 15, location 15, salary 10, semantic 2" in listed
    assert "<b>82</b>" in listed or "<b>83</b>" in listed
    pair = {"candidate": "berta@example.com", "posting": "indeed/1"}
    shown = anna.see(f"/candidates/matches?{urlencode(pair)}")
    assert "python" in section(shown, "skills")
    assert "“<bdi>" in section(shown, "parts"), "a part has the words that it rests on"
    told = anna.post("/candidates/matches", **pair, status="shortlisted", note="call\r\nher")
    assert told.status == 303
    shown = anna.see(told.headers["Location"])
    assert 'value="shortlisted" checked' in shown
    assert "call\nher</textarea>" in shown
    assert "Berta Stone" in anna.see("/candidates/matches?posting=indeed/1")
    assert "who it fits" in section(anna.see(f"/roles/{role}"), "postings")
    assert "No match is <bdi>applied" in anna.see(
        "/candidates/matches?candidate=berta@example.com&status=applied"
    )
    anna.see("/candidates/matches", 400)
    assert page(anna.post("/candidates/matches", **pair, status="burnt"), 400)


def test_roles_stand_in_the_order_in_which_scrapers_are_given_them(world):
    for name, wanted, priority in (("Cook", 1, "normal"), ("Pilot", 9, "normal"), ("Baker", 1, "urgent")):
        world.role(name, wanted, priority=priority)
    anna = with_anna(world).log_in()
    shown = section(anna.see("/roles"), "found")
    names = re.findall(r'href="/roles/\d+"><bdi>(\w+)</bdi>', shown)
    assert names == [each.claim()["role"]["name"] for each in [world.scraper()] for _ in range(3)]
    assert "Pilot" in anna.see("/roles?text=pil")
    assert "must be one of" in anna.see("/roles?status=burnt", 400)


def test_many_roles_are_paged_without_a_gap(world):
    for at in range(120):
        world.role(f"Role {chr(97 + at % 26)}{chr(97 + at // 26)}")
    anna = with_anna(world).log_in()
    for first in ("/roles", "/roles?status=all"):
        seen, path = [], first
        while path:
            shown = anna.see(path)
            seen += re.findall(r'<a href="/roles/(\d+)"><bdi>', shown)
            found = re.search(r'rel="next" href="([^"]*)"', shown)
            path = found[1].replace("&amp;", "&") if found else None
        assert len(seen) == len(set(seen)) == 120, first


def test_doubtful_roles_are_approved_and_rejected(world):
    role = world.role("Gardener")
    with world.store.write() as session:
        session.run("update roles set status = 'proposed' where id = :id", {"id": role})
    anna = with_anna(world).log_in()
    assert "Approve" in section(anna.see("/roles?status=proposed"), "found")
    assert anna.post(f"/roles/{role}", do="approve").status == 303
    assert find(world.store, str(role)).status == "pending"
    assert anna.post(f"/roles/{role}", do="reject").status == 303
    assert find(world.store, str(role)).status == "rejected"
    assert "only a role that is" in page(anna.post(f"/roles/{role}", do="reject"), 409)
    assert page(anna.post(f"/roles/{role}", do="burn"), 400)


@pytest.mark.promise(6)
def test_a_merge_a_split_and_another_name_say_first_what_they_would_do(world):
    anna = with_anna(world).log_in()
    pilot = market(world, anna)
    cook = world.role("Cook", 2, aliases=("Galley Cook",))
    path = f"/roles/{cook}"
    asked = page(anna.post(path, do="merge", into="Harbour Pilot"), 200)
    assert "Cook becomes a part of Harbour Pilot: 2 candidates, 0 postings and 2 names move there" in asked
    assert find(world.store, "Cook").id == cook, "nothing is done before somebody is sure"
    assert "did you mean" in page(anna.post(path, do="merge", into="Harbor Pilott", sure="yes"), 404)
    asked = page(anna.post(path, do="split", name="Galley Chief", aliases="Galley Cook", candidates=""), 200)
    assert "Galley Chief becomes a role of its own, out of Cook: 1 names and 0 candidates" in asked
    told = anna.post(path, do="split", name="Galley Chief", aliases="Galley Cook", sure="yes")
    assert find(world.store, "Galley Cook").id == int(told.headers["Location"].rpartition("/")[2])
    assert "stays one of its names" in page(anna.post(path, do="rename", name="Ship Cook"), 200)
    assert anna.post(path, do="rename", name="Ship Cook", sure="yes").status == 303
    assert (find(world.store, "Cook").name, find(world.store, "Cook").id) == ("Ship Cook", cook)
    assert anna.post(path, do="priority", priority="urgent").status == 303
    assert find(world.store, "Cook").priority == "urgent"
    told = anna.post(path, do="merge", into=str(pilot), sure="yes")
    assert told.headers["Location"] == f"/roles/{pilot}"
    assert find(world.store, "Cook").id == pilot
    anna.see(path, 404)


def test_a_role_is_added_and_a_name_that_is_none_is_refused(world):
    anna = with_anna(world).log_in()
    told = anna.post("/roles", name="Tide Reader", aliases="Tide Watcher\n", priority="high")
    assert told.headers["Location"] == f"/roles/{find(world.store, 'Tide Watcher').id}"
    shown = page(anna.post("/roles", name="?!", aliases="", priority="normal"), 400)
    assert "must be one line of text" in shown


def test_a_platform_is_paused_and_resumed_and_a_session_ended(world):
    anna = with_anna(world).log_in()
    platforms.save(world.store, "dice", {"every": "1h"})
    world.role("Gardener", 1)
    assert anna.post("/scrapers", do="pause", name="dice").status == 303
    shown = section(anna.see("/scrapers"), "platforms")
    assert "paused on the dashboard" in shown
    assert "Resume" in shown
    assert anna.post("/scrapers", do="resume", name="dice").status == 303
    assert "Pause for 6 hours" in section(anna.see("/scrapers"), "platforms")
    north = world.scraper("north")
    claimed = north.claim()
    told = anna.post("/scrapers", do="end", name=claimed["session_id"], reason="it hangs")
    assert told.status == 303, told.body
    (ended,) = list_sessions(world.store)["sessions"]
    assert (ended.status, ended.error_message) == ("failed", "it hangs")
    assert find(world.store, "Gardener").status == "pending", "the role is in the queue again"
    assert [each.failures for each in platforms.list_views(world.store)] == [0], "and nothing else is blamed"
    assert north.claim()["role"]["name"] == "Gardener"
    assert "has failed (it hangs)" in page(anna.post("/scrapers", do="end", name=claimed["session_id"]), 409)
    north.say("/jobs", claimed, 409, jobs=[job(1)])
    for fields, status in (({"do": "pause", "name": "nobody"}, 404), ({"do": "burn", "name": ""}, 400)):
        assert page(anna.post("/scrapers", **fields), status)


@pytest.mark.promise(6)
def test_late_postings_are_imported_or_dropped_once_somebody_is_sure(world):
    anna = with_anna(world).log_in()
    world.role("Gardener", 1)
    north = world.scraper("north")
    for number in (1, 2):
        held = north.claim()
        world.pass_time(7_200)
        with world.store.write() as session:
            session.run(
                "update scrape_sessions set lease_until = 1 where session_id = :it",
                {"it": held["session_id"]},
            )
        north.say("/jobs", held, 409, jobs=[job(number)])
    numbers = [row[0] for row in world.rows("select id from late_posts order by id")]
    assert len(numbers) == 2
    assert anna.post("/scrapers", do="import", name=numbers[0]).status == 303
    asked = page(anna.post("/scrapers", do="drop", name=numbers[1]), 200)
    assert "They are gone then" in asked
    decided = "select decision from late_posts order by id"
    assert world.rows(decided) == [("imported",), (None,)]
    assert anna.post("/scrapers", do="drop", name=numbers[1], sure="yes").status == 303
    assert world.rows(decided) == [("imported",), ("dropped",)]
    assert "was already dropped" in page(anna.post("/scrapers", do="import", name=numbers[1]), 409)


@pytest.mark.promise(17)
def test_what_strangers_wrote_is_shown_and_never_run_nor_followed(world):
    anna = with_anna(world).log_in()
    role = market(world, anna)
    assert anna.post("/candidates", name=f"Eve {EVIL}", roles=f"Cook {EVIL}", skills=EVIL).status == 303
    pair = urlencode({"candidate": "berta@example.com", "posting": "indeed/1"})
    paths = (
        "/candidates",
        "/roles?status=all",
        f"/roles/{role}",
        "/candidates/berta@example.com",
        f"/candidates/matches?{pair}",
        "/candidates/matches?posting=indeed/1",
        "/hiring/postings/indeed/1",
        "/scrapers",
    )
    shown = {path: anna.see(path) for path in paths}
    assert [path for path, text in shown.items() if EVIL in text] == []
    assert [path for path, text in shown.items() if re.search(r'(href|src|action)="javascript:', text)] == []
    assert [path for path, text in shown.items() if 'href="/api/' in text] == []
    assert "Eve &lt;img" in shown["/candidates"]


def test_a_change_without_the_token_of_the_login_is_refused(world):
    anna = with_anna(world).log_in()
    role = market(world, anna)
    for path, fields in (
        ("/candidates", BERTA),
        ("/candidates/berta@example.com", {"do": "remove", "sure": "yes"}),
        (f"/roles/{role}", {"do": "reject"}),
        ("/roles", {"name": "Cook"}),
        ("/scrapers", {"do": "pause", "name": "dice"}),
    ):
        assert anna.send(path, **fields).status == 403, path
    assert maybe(world.store, "candidate", "berta@example.com") is not None
    with pytest.raises(UnknownName):
        find(world.store, "Cook")
