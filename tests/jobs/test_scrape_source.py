"""One look at one board, on the real engine: what is there is found, what is gone is closed, and what cannot be read closes nothing."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.harness.databases import Database, only_files, with_processes
from tests.jobs.scraping import Scraping
from thresher.core.clock import HOUR
from thresher.hiring.records import entry
from thresher.practice.web import Knob, PracticeWeb, Trouble
from thresher.reading.boards import Board
from thresher.store import blobs

GREENHOUSE = "boards-api.greenhouse.io"


@pytest.fixture
def scraping(database: Database, web: PracticeWeb) -> Iterator[Scraping]:
    found = Scraping(database, web)
    yield found
    found.close()


@only_files
@pytest.mark.parametrize(
    "token",
    ["acme", "borealis", "cobalt", "ember", "fathom", "garnet", "heron", "isthmus", "juniper", "kestrel", "mallow", "nutmeg", "orchard",
     "pumice", "quartz"],
)  # fmt: skip
def test_every_opening_of_a_board_is_found_and_the_look_is_complete(scraping: Scraping, token: str):
    key = scraping.add(token)
    (task,) = scraping.look(key, day=0)
    assert scraping.shop.state(task) == "succeeded", scraping.shop.fields(task)["reason"]
    look = scraping.last_look(key)
    planted = sorted(each.title for each in scraping.planted(token) if token != "cobalt" or each.place % 9 != 8)
    assert scraping.titles(key) == planted
    assert (look["verdict"], look["complete"], look["found"]) == ("found", True, len(planted)), look["reason"]
    assert len(scraping.jobs()) == len(planted)
    assert scraping.board(key)["open"] == len(planted)


@with_processes
def test_a_posting_says_what_its_row_said_and_where_it_stood(scraping: Scraping):
    key = scraping.add("acme")
    scraping.look(key, day=0)
    planted = {str(each.id): each for each in scraping.planted("acme")}
    for record in scraping.postings(key):
        truth = planted[record.data["number"]]
        assert record.key == f"{key}/{truth.id}"
        assert record.data["title"] == truth.title
        assert record.data["posted"] == truth.opened.date().isoformat()
        assert (record.data["company"], record.data["company_name"]) == ("acme.example", "Acme Anvils")
        assert record.data["url"] == f"https://job-boards.greenhouse.io/acme/jobs/{truth.id}"
        assert (record.data["missed"], record.data["revision"], record.data["relisted"]) == (0, 0, 0)
        assert record.evidence is not None
        assert record.evidence.source == scraping.last_look(key)["hash"]
        assert record.evidence.verified("title")
        assert set(record.linked("board") + record.linked("company")) == {key, "acme.example"}


@only_files
@pytest.mark.parametrize("token", ["acme", "borealis", "cobalt", "fathom", "garnet", "heron", "juniper", "orchard", "pumice", "quartz"])
def test_a_board_that_has_not_changed_costs_one_conditional_request_and_nothing_is_written_but_the_look(scraping: Scraping, token: str):
    key = scraping.add(token)
    scraping.look(key, day=0)
    before = {each.key: (each.updated_at, each.seen) for each in scraping.postings(key, None)}
    since = scraping.requests()[-1].number
    scraping.look(key, day=0.01)
    asked = scraping.requests(since)
    assert [(each.method, each.status) for each in asked] == [("GET", 304)]
    assert "if-none-match" in asked[0].headers
    assert {each.key: (each.updated_at, each.seen) for each in scraping.postings(key, None)} == before
    assert len(scraping.jobs()) == len(before)
    assert scraping.last_look(key)["at"] == scraping.clock.now()


@only_files
@pytest.mark.promise(7)
def test_what_closes_is_closed_after_two_looks_and_what_is_edited_is_judged_again(scraping: Scraping):
    key = scraping.add("acme")
    seen: dict[str, float] = {}
    for day in range(40):
        scraping.look(key, day=day)
        for each in scraping.planted("acme"):
            seen[str(each.id)] = day
        for record in scraping.postings(key, None):
            gone = day - seen[record.data["number"]]
            assert record.data["state"] == ("open" if gone < 2 else "closed"), (day, record.data)
            assert record.data["missed"] == min(gone, 1), (day, record.data)
    closed = scraping.postings(key, "closed")
    assert closed
    assert all(each.data["closed_at"] > each.data["first_seen"] for each in closed)
    assert any(each.data["revision"] for each in scraping.postings(key, None))
    assert {each.key for each in scraping.postings(key, None)} == set(scraping.jobs())


@only_files
@pytest.mark.promise(7)
@pytest.mark.parametrize(
    "knob",
    [
        Knob(Trouble.STATUS, GREENHOUSE, status=404),
        Knob(Trouble.BODY, GREENHOUSE, text='{"jobs": [], "meta": {"total": 18}}', kind="application/json"),
        Knob(Trouble.BODY, GREENHOUSE, text='{"oops": true}', kind="application/json"),
        Knob(Trouble.BODY, GREENHOUSE, text="<html><body><h1>Maintenance</h1><p>Back soon.</p></body></html>"),
        Knob(Trouble.LAYOUT, GREENHOUSE),
        Knob(Trouble.CAP, GREENHOUSE, number=3),
        Knob(Trouble.TOTAL, GREENHOUSE, number=4),
        Knob(Trouble.CAPTCHA, GREENHOUSE, text="cloudflare"),
        Knob(Trouble.CONSENT, GREENHOUSE),
        Knob(Trouble.STATUS, GREENHOUSE, status=503),
        Knob(Trouble.TRUNCATED, GREENHOUSE),
    ],
    ids=lambda knob: f"{knob.trouble}-{knob.status or knob.text[:12]}",
)  # fmt: skip
def test_no_trouble_however_long_closes_a_posting(scraping: Scraping, knob: Knob):
    key = scraping.add("acme")
    scraping.look(key, day=0)
    number = len(scraping.postings(key))
    for _ in range(4):
        scraping.look(key, day=scraping.day + 1 / 24, knobs=(knob,))
    assert len(scraping.postings(key)) == number
    assert all(each.data["missed"] == 0 for each in scraping.postings(key))
    assert not scraping.last_look(key)["complete"] or scraping.last_look(key)["at"] < scraping.clock.now()


@only_files
@pytest.mark.promise(7)
def test_a_board_that_says_that_it_is_empty_is_believed_only_the_third_time(scraping: Scraping):
    key = scraping.add("acme")
    scraping.look(key, day=0)
    number = len(scraping.postings(key))
    empty = Knob(Trouble.NO_RESULTS, GREENHOUSE)
    for look in (1, 2):
        scraping.look(key, day=look / 24, knobs=(empty,))
        assert len(scraping.postings(key)) == number
        assert scraping.last_look(key)["verdict"] == "confirmed_empty"
        assert any(alarm.startswith("no rows") for alarm in scraping.board(key)["alarms"])
    assert any("held open until another complete look" in alarm for alarm in scraping.board(key)["alarms"])
    scraping.look(key, day=3 / 24)
    assert [each.data["missed"] for each in scraping.postings(key)] == [0] * number
    for look in (4, 5, 6):
        scraping.look(key, day=look / 24, knobs=(empty,))
    assert len(scraping.postings(key, "closed")) == number
    scraping.look(key, day=7 / 24)
    assert {each.data["relisted"] for each in scraping.postings(key)} == {1}
    assert len(scraping.jobs()) == 2 * number


@only_files
@pytest.mark.promise(7)
def test_numbers_that_change_with_every_answer_neither_close_nor_open_anything(scraping: Scraping):
    key = scraping.add("acme")
    knob = Knob(Trouble.ROTATING_IDS, GREENHOUSE)
    for look in range(4):
        scraping.look(key, day=look / 24, knobs=(knob,))
    assert len(scraping.postings(key, None)) == len(scraping.planted("acme"))
    assert len(scraping.jobs()) == len(scraping.planted("acme"))
    assert "under other numbers" in scraping.board(key)["alarms"][0]
    numbers = {each.data["number"] for each in scraping.postings(key)}
    assert all(number not in {each.key.rpartition("/")[2] for each in scraping.postings(key)} for number in numbers)


@only_files
@pytest.mark.promise(7)
@pytest.mark.parametrize(
    "knob",
    [
        Knob(Trouble.CAP, "api.smartrecruiters.com", number=120),
        Knob(Trouble.TOTAL, "api.smartrecruiters.com", number=3),
        Knob(Trouble.TOTAL, "api.smartrecruiters.com", number=-14),
        Knob(Trouble.DUPLICATES, "api.smartrecruiters.com", number=7),
        Knob(Trouble.STATUS, "api.smartrecruiters.com", status=404, after=1),
        Knob(Trouble.BODY, "api.smartrecruiters.com", text="{}", kind="application/json", after=2),
    ],
    ids=lambda knob: f"{knob.trouble}-{knob.number}",
)  # fmt: skip
def test_a_list_that_is_not_whole_is_read_as_far_as_it_goes_and_closes_nothing(scraping: Scraping, knob: Knob):
    key = scraping.add("ember")
    scraping.look(key, day=0)
    number = len(scraping.postings(key))
    for look in (1, 2, 3):
        (task,) = scraping.look(key, day=look, knobs=(knob,))
        assert scraping.shop.state(task) == "succeeded"
        assert not scraping.last_look(key)["complete"], scraping.last_look(key)
    assert len(scraping.postings(key, "closed")) == 0
    assert len(scraping.postings(key)) >= number


@only_files
def test_offsets_that_wrap_are_harmless_where_the_total_is_true(scraping: Scraping):
    key = scraping.add("ember")
    scraping.look(key, day=0, knobs=(Knob(Trouble.WRAP, "api.smartrecruiters.com"),))
    assert scraping.last_look(key)["complete"]


@only_files
@pytest.mark.promise(10)
def test_an_empty_list_is_no_proof_where_every_name_is_answered_so(scraping: Scraping):
    key = scraping.add("ember")
    scraping.look(key, day=0)
    number = len(scraping.postings(key))
    (task,) = scraping.look(key, day=1, knobs=(Knob(Trouble.NO_RESULTS, "api.smartrecruiters.com"),))
    assert scraping.shop.state(task) == "failed"
    assert (scraping.last_look(key)["verdict"], scraping.board(key)["failures"]) == ("unknown", 1)
    assert len(scraping.postings(key)) == number


@with_processes
@pytest.mark.promise(10)
def test_a_board_that_cannot_be_read_says_why_keeps_the_page_and_is_disabled_after_five_failures(scraping: Scraping):
    key = scraping.add("acme")
    scraping.look(key, day=0)
    broken = Knob(Trouble.BODY, GREENHOUSE, text='{"oops": true}', kind="application/json")
    for failures in range(1, 6):
        (task,) = scraping.look(key, knobs=(broken,))
        assert scraping.shop.state(task) == "failed"
        assert scraping.board(key)["failures"] == failures
        assert scraping.board(key)["status"] == ("active" if failures < 5 else "disabled")
    look = scraping.last_look(key)
    assert look["verdict"] == "unknown"
    assert "no shape of a list" in look["reason"]
    assert scraping.store.settings is not None
    assert kept(scraping, look["hash"]) == b'{"oops": true}'
    assert (scraping.board(key)["disabled_tag"], "5 failures in a row" in scraping.board(key)["disabled_reason"]) == ("failing", True)
    assert any(alarm.startswith("no rows in 5 looks in a row") for alarm in scraping.board(key)["alarms"])
    (task,) = scraping.look(key)
    assert scraping.shop.state(task) == "skipped"


@only_files
@pytest.mark.promise(10)
def test_one_good_look_ends_the_count_of_failures(scraping: Scraping):
    key = scraping.add("acme")
    scraping.look(key, day=0, knobs=(Knob(Trouble.STATUS, GREENHOUSE, status=404),))
    board = scraping.board(key)
    assert (board["failures"], board["last_look"]["verdict"]) == (1, "unknown")
    assert board["last_look"]["reason"].startswith("Gone: ")
    scraping.look(key)
    assert scraping.board(key)["failures"] == 0


@only_files
@pytest.mark.promise(10)
def test_a_wall_is_the_hosts_trouble_and_no_failure_of_the_board(scraping: Scraping):
    key = scraping.add("acme")
    (task,) = scraping.look(key, day=0, knobs=(Knob(Trouble.CAPTCHA, GREENHOUSE, text="cloudflare"),))
    assert (scraping.shop.state(task), scraping.board(key)["failures"]) == ("pending", 0)
    scraping.reopen()
    scraping.work()
    assert scraping.shop.state(task) == "succeeded"


@only_files
@pytest.mark.promise(16)
def test_a_board_that_a_person_disables_while_it_waits_is_not_looked_at(scraping: Scraping):
    key = scraping.add("acme")
    (task,) = scraping.look(key, day=0, knobs=(Knob(Trouble.RATE_LIMITED, GREENHOUSE, seconds=60),))
    scraping.write(entry("board", key, {"status": "disabled", "disabled_reason": "not now"}))
    since = scraping.requests()[-1].number
    scraping.clock.advance(HOUR)
    scraping.work()
    assert (scraping.shop.state(task), scraping.requests(since)) == ("skipped", [])


@only_files
def test_a_list_past_its_cap_is_read_in_parts_and_proven(scraping: Scraping):
    key = scraping.add("dunlin")
    (task,) = scraping.look(key, day=0)
    planted = scraping.planted("dunlin")
    look = scraping.last_look(key)
    assert len(planted) > 2_000
    assert (look["complete"], look["found"], look["total"]) == (True, len(planted), len(planted)), look["reason"]
    assert "asked for in parts by" in scraping.shop.fields(task)["reason"]
    assert len(scraping.postings(key)) == len(planted)


@only_files
@pytest.mark.promise(2)
def test_a_walk_that_is_interrupted_goes_on_without_asking_again(scraping: Scraping):
    key = scraping.add("ember")
    (task,) = scraping.look(key, day=0, knobs=(Knob(Trouble.STATUS, "api.smartrecruiters.com", status=503, after=2, times=1),))
    assert scraping.shop.state(task) == "retryable"
    scraping.clock.advance(HOUR)
    scraping.work()
    assert scraping.shop.state(task) == "succeeded"
    assert [each.target.rpartition("offset=")[2] for each in scraping.requests()] == ["0", "100", "200", "200"]
    assert scraping.last_look(key)["complete"]


@only_files
@pytest.mark.promise(7)
def test_a_walk_that_was_held_up_for_a_day_begins_anew(scraping: Scraping):
    key = scraping.add("ember")
    (task,) = scraping.look(key, day=0, knobs=(Knob(Trouble.STATUS, "api.smartrecruiters.com", status=503, after=2, times=1),))
    scraping.clock.advance(24 * HOUR)
    scraping.work()
    assert scraping.shop.state(task) == "succeeded"
    assert [each.target.rpartition("offset=")[2] for each in scraping.requests()] == ["0", "100", "200", "0", "100", "200"]


@only_files
def test_a_feed_shows_the_newest_only_and_keeps_the_names_of_the_companies(scraping: Scraping):
    key = scraping.add_board(Board("rss", None, "https://feeds.practice.example/rss.xml"), "Practice openings")
    for look in range(5):
        (task,) = scraping.look(key, day=3 * look)
        assert scraping.shop.state(task) == "succeeded", scraping.shop.fields(task)["reason"]
    look = scraping.last_look(key)
    assert (look["found"], look["complete"]) == (50, False)
    assert scraping.postings(key, "closed") == []
    assert len(scraping.postings(key)) > 50


@only_files
def test_a_look_stops_early_at_known_pages_only_while_a_complete_one_is_fresh(scraping: Scraping):
    key = scraping.add("dunlin")
    scraping.look(key, day=0)
    since = scraping.requests()[-1].number
    scraping.look(key, day=0.2)
    assert len(scraping.requests(since)) < 10
    look = scraping.last_look(key)
    assert (look["complete"], look["reason"]) == (False, "stopped: 2 pages in a row with nothing new")
    assert scraping.postings(key, "closed") == []
    scraping.look(key, day=1.2)
    assert scraping.last_look(key)["complete"]


@only_files
def test_an_opening_that_another_board_keeps_gains_a_link_and_is_nobody_elses(scraping: Scraping):
    own = scraping.add("kestrel")
    scraping.look(own, day=0)
    jobs = len(scraping.jobs())
    other = scraping.add_board(Board("site", None, "https://www.kestrel.example/careers?page=2"), "Somebody")
    scraping.look(other, day=0.01)
    shared = scraping.postings(other, None)
    assert shared
    assert {each.data["board"] for each in shared} == {own}
    assert len(scraping.jobs()) == jobs


@only_files
def test_an_address_that_leads_nowhere_does_not_cost_the_look(scraping: Scraping):
    key = scraping.add("acme")
    rows = [
        {"id": 1, "title": "A\x00B", "absolute_url": "javascript:alert(1)"},
        {"id": 2, "title": "Long", "absolute_url": f"https://x.example/{'a' * 9_000}", "content": "語" * 40_000},
    ]
    (task,) = scraping.look(key, day=0, knobs=(answer(rows),))
    assert scraping.shop.state(task) == "succeeded", scraping.shop.fields(task)["reason"]
    assert [each.data.get("url") for each in scraping.postings(key)] == [None, None]


@only_files
@pytest.mark.promise(7)
def test_a_page_that_only_a_script_fills_is_unknown_where_there_is_no_browser_and_no_model(scraping: Scraping):
    key = scraping.add("larkspur")
    (task,) = scraping.look(key, day=0)
    assert scraping.shop.state(task) == "failed"
    assert (scraping.last_look(key)["verdict"], "JavaScript" in scraping.last_look(key)["reason"]) == ("unknown", True)


@only_files
@pytest.mark.promise(14)
def test_a_page_that_no_rule_reads_is_read_by_a_model_and_only_what_stands_there_counts(database: Database, web: PracticeWeb):
    scraping = Scraping(database, web, thinks=True)
    key = scraping.add("kestrel")
    wanted = [each.title for each in scraping.planted("kestrel")[:4]]
    prose = "".join(f"<p>We would love to meet someone who would like to be our {title}, and so would they.</p>" for title in wanted)
    page = f"<html><head><title>Join us</title></head><body><h1>Join us</h1><article>{prose}</article></body></html>"
    (task,) = scraping.look(key, day=0, knobs=(Knob(Trouble.BODY, "www.kestrel.example", "/careers", text=page),))
    assert scraping.shop.state(task) == "succeeded", scraping.shop.fields(task)["reason"]
    assert set(wanted) <= set(scraping.titles(key))
    assert all(title in prose for title in scraping.titles(key))
    assert {each.data.get("url") for each in scraping.postings(key)} == {None}  # the model named one, which stands nowhere
    assert not scraping.last_look(key)["complete"]
    scraping.close()


@only_files
@pytest.mark.promise(2)
def test_a_field_that_a_whole_board_stops_saying_is_an_alarm_and_is_not_forgotten(scraping: Scraping):
    key = scraping.add("acme")
    for day, text in ((0, "Forge things."), (1, "")):
        rows = [
            {"id": each, "title": f"Smith {each}", "absolute_url": f"https://acme.example/{each}", "content": text} for each in range(8)
        ]
        scraping.look(key, day=day, knobs=(answer(rows),))
    assert scraping.board(key)["alarms"] == ["description is said by 0% of the rows, after 100%"]
    assert {each.data["description"] for each in scraping.postings(key)} == {"Forge things."}


@only_files
def test_rows_that_share_one_address_are_all_judged(scraping: Scraping):
    key = scraping.add("acme")
    rows = [{"id": each, "title": f"Smith {each}", "absolute_url": "https://acme.example/careers"} for each in range(5)]
    scraping.look(key, day=0, knobs=(answer(rows),))
    assert len(scraping.jobs()) == 5


# --- addresses


def smiths(*urls: str) -> Knob:
    return answer([{"id": at, "title": f"Smith {at}", "absolute_url": url, "content": "Forge. " * 40} for at, url in enumerate(urls)])


@only_files
@pytest.mark.promise(2)
def test_a_new_address_of_a_known_posting_is_written_and_judged_with_once(scraping: Scraping):
    key = scraping.add("acme")
    at = "https://acme.example/jobs"
    scraping.look(key, day=0, knobs=(smiths(f"{at}/a", f"{at}/b", f"{at}/c"),))
    scraping.look(key, knobs=(smiths(f"{at}/a", f"{at}/b-again", f"{at}/c?utm_source=feed"),))
    found = {each.key.rpartition("/")[2]: each.data for each in scraping.postings(key)}
    assert {name: data["url"] for name, data in found.items()} == {"0": f"{at}/a", "1": f"{at}/b-again", "2": f"{at}/c"}
    assert {data["revision"] for data in found.values()} == {0}
    assert [each.rpartition("/")[2] for each in scraping.jobs()] == ["0", "1", "2", "1"]
    scraping.look(key, knobs=(smiths(f"{at}/a", f"{at}/b-again", f"{at}/c?utm_source=mail"),))
    assert (len(scraping.jobs()), scraping.last_look(key)["moved"]) == (4, 0)


@only_files
@pytest.mark.promise(7)
def test_a_posting_that_is_back_after_one_missed_look_has_the_address_it_has_now(scraping: Scraping):
    key = scraping.add("acme")
    rows = [{"id": each, "title": f"Smith {each}", "absolute_url": f"https://acme.example/{each}"} for each in range(3)]
    scraping.look(key, day=0, knobs=(answer(rows),))
    scraping.look(key, knobs=(answer(rows[1:]),))
    scraping.look(key, knobs=(answer([{**rows[0], "absolute_url": "https://acme.example/new/0"}, *rows[1:]]),))
    (back,) = [each.data for each in scraping.postings(key) if each.key.endswith("/0")]
    assert (back["url"], back["missed"], back["state"]) == ("https://acme.example/new/0", 0, "open")


@only_files
@pytest.mark.promise(7)
@pytest.mark.parametrize("where", ["?session={}", "/s{}"])
def test_addresses_that_are_new_with_every_answer_are_not_judged_every_day(scraping: Scraping, where: str):
    key = scraping.add("acme")
    for day in range(5):
        scraping.look(key, day=day, knobs=(smiths(*(f"https://acme.example/{each}{where.format(day)}" for each in "abcdef")),))
    assert len(scraping.jobs()) <= 12
    assert len(scraping.postings(key, None)) == 6
    assert {each.data["revision"] for each in scraping.postings(key)} == {0}


def careers(*hrefs: str, titles: tuple[str, ...] = ()) -> Knob:
    named = titles or tuple(f"Lens Grinder {at}" for at in range(len(hrefs)))
    rows = "".join(
        f'<li class="opening"><h3><a href="{href}">{title}</a></h3><span class="location">Portland, OR</span></li>'
        for href, title in zip(hrefs, named, strict=True)
    )
    page = f"<html><head><title>Careers</title></head><body><h1>Open positions</h1><ul class='openings'>{rows}</ul></body></html>"
    return Knob(Trouble.BODY, "www.kestrel.example", "/careers", text=page)


SLUGS = tuple(f"/careers/{number}-lens-grinder-{place}" for place, number in enumerate(range(4711, 4717)))


@only_files
@pytest.mark.promise(9)
def test_an_edit_that_changes_the_words_of_an_address_is_no_second_posting(scraping: Scraping):
    key = scraping.add("kestrel", url="https://www.kestrel.example/careers", platform="site")
    scraping.look(key, day=0, knobs=(careers(*SLUGS),))
    first = {each.key for each in scraping.postings(key)}
    assert len(first) == 6
    renamed = ("/careers/4711-head-lens-grinder", *SLUGS[1:])
    titles = ("Head Lens Grinder", *(f"Lens Grinder {at}" for at in range(1, 6)))
    for _ in range(3):
        scraping.look(key, knobs=(careers(*renamed, titles=titles),))
    assert {each.key for each in scraping.postings(key, None)} == first
    (edited,) = [each.data for each in scraping.postings(key) if each.data["title"] == "Head Lens Grinder"]
    assert (edited["url"], edited["revision"]) == ("https://www.kestrel.example/careers/4711-head-lens-grinder", 1)
    assert len(scraping.jobs()) == 7


@only_files
@pytest.mark.promise(7)
def test_a_posting_that_goes_while_another_comes_is_not_the_other(scraping: Scraping):
    key = scraping.add("kestrel", url="https://www.kestrel.example/careers", platform="site")
    scraping.look(key, day=0, knobs=(careers(*SLUGS),))
    scraping.look(key, knobs=(careers("/careers/4790-lens-grinder-0", *SLUGS[1:]),))
    assert len(scraping.postings(key, None)) == 7


def answer(rows: list[dict[str, Any]]) -> Knob:
    """A board that answers with these rows."""
    return Knob(Trouble.BODY, GREENHOUSE, text=json.dumps({"jobs": rows, "meta": {"total": len(rows)}}), kind="application/json")


def kept(scraping: Scraping, digest: str) -> bytes:
    return blobs.get(scraping.store, digest)
