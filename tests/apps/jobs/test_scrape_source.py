"""One look at one board, on the real engine: what is there is found, what is gone is closed, and what cannot
be read closes nothing."""

import pytest

from tests.apps.jobs.looking import GREENHOUSE, scraping
from tests.apps.jobs.scraping import Scraping
from tests.harness.databases import only_files, with_processes
from thresher.admin.events import list_events
from thresher.apps.jobs.service.boards import check_boards, show_board
from thresher.core.clock import HOUR, day_of
from thresher.hiring.records import entry
from thresher.practice.web import Knob, Trouble
from thresher.store import blobs

__all__ = ["scraping"]


@only_files
@pytest.mark.parametrize(
    "token",
    [
        "acme",
        "borealis",
        "cobalt",
        "ember",
        "fathom",
        "garnet",
        "heron",
        "isthmus",
        "juniper",
        "kestrel",
        "mallow",
        "nutmeg",
        "orchard",
        "pumice",
        "quartz",
    ],
)
def test_every_opening_of_a_board_is_found_and_the_look_is_complete(scraping: Scraping, token: str):
    key = scraping.add(token)
    (task,) = scraping.look(key, day=0)
    assert scraping.shop.state(task) == "succeeded", scraping.shop.fields(task)["reason"]
    look = scraping.last_look(key)
    planted = sorted(
        each.title for each in scraping.planted(token) if token != "cobalt" or each.place % 9 != 8
    )
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
@pytest.mark.parametrize(
    "token",
    ["acme", "borealis", "cobalt", "fathom", "garnet", "heron", "juniper", "orchard", "pumice", "quartz"],
)
def test_a_board_that_has_not_changed_costs_one_conditional_request_and_nothing_is_written_but_the_look(
    scraping: Scraping, token: str
):
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
        Knob(
            Trouble.BODY, GREENHOUSE, text="<html><body><h1>Maintenance</h1><p>Back soon.</p></body></html>"
        ),
        Knob(Trouble.LAYOUT, GREENHOUSE),
        Knob(Trouble.CAP, GREENHOUSE, number=3),
        Knob(Trouble.TOTAL, GREENHOUSE, number=4),
        Knob(Trouble.CAPTCHA, GREENHOUSE, text="cloudflare"),
        Knob(Trouble.CONSENT, GREENHOUSE),
        Knob(Trouble.STATUS, GREENHOUSE, status=503),
        Knob(Trouble.TRUNCATED, GREENHOUSE),
    ],
    ids=lambda knob: f"{knob.trouble}-{knob.status or knob.text[:12]}",
)
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
    assert any("stay open until another complete look" in alarm for alarm in scraping.board(key)["alarms"])
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
    assert "with other ids" in scraping.board(key)["alarms"][0]
    numbers = {each.data["number"] for each in scraping.postings(key)}
    assert all(
        number not in {each.key.rpartition("/")[2] for each in scraping.postings(key)} for number in numbers
    )


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
)
def test_a_list_that_is_not_whole_is_read_as_far_as_it_goes_and_closes_nothing(
    scraping: Scraping, knob: Knob
):
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
def test_a_board_that_cannot_be_read_says_why_keeps_the_page_and_is_disabled_after_five_failures(
    scraping: Scraping, caplog
):
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
    assert "is not a list as the file" in look["reason"]
    assert scraping.store.settings is not None
    assert kept(scraping, look["hash"]) == b'{"oops": true}'
    assert (
        scraping.board(key)["disabled_tag"],
        "5 failures in a row" in scraping.board(key)["disabled_reason"],
    ) == ("failing", True)
    (event,) = list_events(scraping.store, kind="board_disabled")
    assert (event["detail"]["board"], event["detail"]["tag"], event["task_id"]) == (key, "failing", task)
    logged = [each.getMessage() for each in caplog.records if "board_disabled" in each.getMessage()]
    assert len(logged) == 1
    assert key in logged[0]
    (check,) = check_boards(scraping.store)
    assert check.verdict == "warn"
    day = day_of(scraping.board(key)["disabled_at"]).isoformat()
    told = f"1 board is disabled by trouble (failing 1): {key} since {day}: 5 failures in a row"
    assert check.found.startswith(told)
    assert f"thresher boards enable {key}" in str(check.advice)
    shown = show_board(scraping.store, key).board
    assert shown.last_success_at is not None
    assert shown.scraped_at is not None
    assert shown.last_success_at < shown.scraped_at
    assert any(alarm.startswith("no rows 5 times in a row") for alarm in scraping.board(key)["alarms"])
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


def kept(scraping: Scraping, digest: str) -> bytes:
    return blobs.get(scraping.store, digest)
