"""Three weeks of a search: what was planted is found, what changes is seen, what closes is closed, and
trouble closes nothing."""

from pathlib import Path

import pytest

from tests.apps.jobs.weeks import Search, compared, shown, small
from tests.harness.databases import Database, file_database, only_postgres
from thresher.core.clock import DAY, FrozenClock
from thresher.practice.web import Knob, PracticeWeb, Trouble, board_url, traits
from thresher.practice.web.posting import PostedPay

SEED = 7
WORKDAY, SMART, PAGES = small(SEED, "workday"), small(SEED, "smartrecruiters"), small(SEED, "own", quiet=True)
COMPANIES = (
    "acme",
    "borealis",
    "cobalt",
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
    WORKDAY,
    SMART,
    PAGES,
)
# What goes wrong on which day. The days between are quiet, and so are the last ones.
TROUBLES: dict[int, tuple[Knob, ...]] = {
    3: (
        Knob(Trouble.STATUS, "boards-api.greenhouse.io", status=503),
        Knob(Trouble.STATUS, "*.recruitee.com", status=500),
    ),
    5: (
        Knob(Trouble.RESET, "api.lever.co"),
        Knob(Trouble.HANG, "api.ashbyhq.com", times=1),
        Knob(Trouble.TRUNCATED, "*.bamboohr.com"),
    ),
    7: (
        Knob(Trouble.CAPTCHA, "*.jobs.personio.de", text="cloudflare"),
        Knob(Trouble.CAPTCHA, "jobs.jobvite.com", text="datadome", status=200),
    ),
    9: (
        Knob(Trouble.NO_RESULTS, "*.example", "/jobs"),
        Knob(Trouble.NO_RESULTS, "*.icims.com"),
        Knob(Trouble.NO_RESULTS, "*.pinpointhq.com"),
    ),
    11: (
        Knob(Trouble.CAP, "apply.workable.com"),
        Knob(Trouble.CAP, "*.teamtailor.com"),
        Knob(Trouble.CAP, "boards-api.greenhouse.io"),
    ),
    13: (
        Knob(Trouble.RATE_LIMITED, "api.smartrecruiters.com", seconds=600, times=2),
        Knob(Trouble.RATE_LIMITED, "api.lever.co", seconds=90, times=2),
    ),
    15: (
        Knob(Trouble.LAYOUT, "*.breezy.hr"),
        Knob(Trouble.LAYOUT, "api.rippling.com"),
        Knob(Trouble.CONSENT, "*.example", "/jobs"),
    ),
}
# Whose look finds nothing on which day. (A 429 and a timeout are waited out on the same day.)
TROUBLED = [
    (3, "acme"),
    (3, "fathom"),
    (5, "borealis"),
    (5, "juniper"),
    (7, "heron"),
    (7, "nutmeg"),
    (9, PAGES),
    (9, "mallow"),
    (9, "quartz"),
    (11, "acme"),
    (11, "garnet"),
    (11, "isthmus"),
    (15, "orchard"),
    (15, "pumice"),
    (15, PAGES),
]
WEEKS = 21


class Weeks:
    """Three weeks of looks, one every day, and what was seen to be wrong on any of them."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.false_closings: list[str] = []
        self.looks: dict[tuple[int, str], str] = {}
        search.add(*COMPANIES)
        search.work()
        search.confirm()
        self.first = {
            token: compared(shown(search.truth(token).open), search.postings(token)).pairs
            for token in COMPANIES
        }
        for day in range(1, WEEKS + 1):
            search.look(*TROUBLES.get(day, ()))
            self._note(day)
            search.reopen()

    def _note(self, day: int) -> None:
        for token in COMPANIES:
            pairs = compared(shown(self.search.truth(token).open), self.search.postings(token)).pairs
            self.false_closings += [
                f"day {day}: {record.key}" for _, record in pairs if record.data["state"] == "closed"
            ]
            board = self.search.board(token).data
            fresh = board["last_look"]["at"] >= self.search.clock.now() - DAY // 2
            self.looks[day, token] = board["last_look"]["verdict"] if fresh else "waiting"


def every_company_and_its_board_are_found(weeks: Weeks) -> None:
    for token in COMPANIES:
        who, board = weeks.search.who(token), weeks.search.board(token).data
        assert weeks.search.company(token).data["name"] == who.name
        assert (board["platform"], board["status"]) == (
            {"kestrel": "rss", PAGES: "site"}.get(token, who.platform),
            "active",
        )
        assert who.platform == "own" or board["url"] == board_url(who) or token in board["token"]


def what_a_company_is_like_is_read_from_its_pages(weeks: Weeks) -> None:
    for token in COMPANIES:
        planted, said = traits(SEED, weeks.search.who(token)), weeks.search.company(token).data
        assert (said["founded"], said["employees"], said["headquarters"]) == (
            planted.founded,
            planted.size,
            planted.headquarters,
        )
        assert (said["mission"], planted.culture in said["culture"]) == (planted.mission, True)
        assert (said["remote_first"], said["ai_focus"]) == (planted.remote_first, planted.ai_focus), token
        used, found = {name.lower() for name in planted.tech}, set(said["tech"])
        assert used <= found
        assert not {"react", "go", "rust", "java"} & found - used, token
        (city,) = [part["points"] for part in said["score_parts"] if part["rule"] == "city"]
        assert (city > 0) == planted.in_portland, token


def what_a_posting_asks_for_is_read_or_left_open_and_never_wrong(weeks: Weeks) -> None:
    for planted, record in (each for pairs in weeks.first.values() for each in pairs):
        said, about = record.data["facts"], f"{record.key}: {planted.title}"
        pay, years = said.get("pay"), said.get("experience")
        assert (years and years["low"]) == planted.demands.years, about
        asked, found = {name.lower() for name in planted.skills}, set(said.get("skills") or ())
        assert asked <= found, about
        assert all(name in planted.title.lower() for name in found - asked), about
        if pay:
            assert PostedPay(pay["year_low"], pay["year_high"], pay["currency"]) == planted.pay, about
        if said.get("workplace") and "hybrid" not in planted.title:
            assert said["workplace"] == planted.mode, about


def every_posting_that_is_open_is_known_as_open_and_reads_as_it_does_now(weeks: Weeks) -> None:
    for token in COMPANIES:
        found = compared(shown(weeks.search.truth(token).open), weeks.search.postings(token))
        assert [each.title for each in found.missing] == [], token
        assert [
            (each.title, record.data["state"])
            for each, record in found.pairs
            if record.data["state"] != "open"
        ] == []
        assert [record.data["title"] for _, record in found.pairs] == [each.title for each, _ in found.pairs]


def every_posting_that_closed_is_closed_after_two_looks(weeks: Weeks) -> None:
    # A feed may show only what is new; what it does not show any more is asked for itself, after a few days
    # and once more.
    for token in COMPANIES:
        gone = shown(weeks.search.truth(token, until=WEEKS - (5 if token == "kestrel" else 1)).closed)
        found = compared([*shown(weeks.search.truth(token).open), *gone], weeks.search.postings(token))
        numbers = {each.id for each in gone}
        states = [(each.title, record.data["state"]) for each, record in found.pairs if each.id in numbers]
        assert [title for title, state in states if state != "closed"] == [], token


def no_trouble_closes_a_posting_that_is_open(weeks: Weeks) -> None:
    assert weeks.false_closings == []


def trouble_is_seen_as_such_and_is_over_when_it_is_over(weeks: Weeks) -> None:
    """Else the check before would prove nothing."""
    quiet = {
        (day, token): verdict
        for (day, token), verdict in weeks.looks.items()
        if day not in TROUBLES and day - 1 not in TROUBLES
    }
    assert {each: verdict for each, verdict in quiet.items() if verdict != "found"} == {}
    assert [(day, token) for day, token in TROUBLED if weeks.looks[day, token] == "found"] == []


def nothing_is_known_that_was_never_there(weeks: Weeks) -> None:
    for token in COMPANIES:
        truth = weeks.search.truth(token, since=-1)
        assert [
            each.key
            for each in compared(shown([*truth.open, *truth.closed]), weeks.search.postings(token)).invented
        ] == []


def every_board_is_well_again_and_none_was_given_up(weeks: Weeks) -> None:
    boards = {token: weeks.search.board(token).data for token in COMPANIES}
    found = {
        token: (data["status"], data["last_look"]["verdict"], data["failures"])
        for token, data in boards.items()
    }
    assert {token: each for token, each in found.items() if each != ("active", "found", 0)} == {}


def what_was_edited_is_a_change_and_not_another_posting(weeks: Weeks) -> None:
    for token in COMPANIES:
        edited = [each for each in shown(weeks.search.truth(token).changed) if each.title.endswith(")")]
        found = compared(edited, weeks.search.postings(token))
        assert found.missing == []
        assert [
            record.key for _, record in found.pairs if record.data["first_seen"] != record.created_at
        ] == []


def what_is_listed_again_is_known_to_be_the_same(weeks: Weeks) -> None:
    """Under another number it is another posting, of the same group; under the old one it is the old posting,
    opened again."""
    again = 0
    for token in COMPANIES:
        truth = weeks.search.truth(token)
        rounds = {(each.place, each.round): each for each in shown(truth.closed)}
        pairs = {
            each.id: record
            for each, record in compared(
                shown([*truth.open, *truth.closed]), weeks.search.postings(token)
            ).pairs
        }
        for new in shown(truth.relisted):
            old = rounds.get((new.place, new.round - 1))
            record, before = pairs.get(new.id), pairs.get(old.id) if old else None
            if record is None or old is None or old.revision:
                continue  # once edited it has another text
            again += 1
            same_number = before is None and record.data.get("relisted", 0) >= 1
            assert same_number or (
                before and record.data.get("group") and record.data["group"] == before.data.get("group")
            ), record.key
    assert again > 3


def every_posting_was_judged(weeks: Weeks) -> None:
    assert [
        (kind, count)
        for (kind, state), count in weeks.search.kinds().items()
        if kind == "job" and state == "failed"
    ] == []
    judged = {each.key for each in weeks.search.records("decision")}
    alone = [
        each
        for each in weeks.search.records("posting")
        if each.data["state"] == "open" and not each.data.get("group")
    ]
    assert [each.key for each in alone if each.key not in judged] == []


def the_same_again_writes_nothing_new_and_asks_only_whether_something_has_changed(weeks: Weeks) -> None:
    """It moves the clock on, and nothing else: the web is what it was."""
    search = weeks.search

    def written() -> dict[str, dict[str, object]]:
        kinds = ("company", "posting", "group", "decision", "match")
        return {f"{kind} {each.key}": dict(each.data) for kind in kinds for each in search.records(kind)}

    def again() -> None:
        search.tomorrow()
        search.scrape()
        search.work()

    search.set(
        jobs__recheck_days=365.0, jobs__reread_days=365.0
    )  # else some pages are asked for every day, as they should be
    again()  # what was missed for the first time yesterday is closed now
    again()
    before, kinds, since = written(), search.kinds(), len(search.web.log())
    looked = {token: search.board(token).data["scraped_at"] for token in COMPANIES}
    again()
    assert written() == before
    assert {kind for kind, _ in search.kinds() - kinds} == {"scrape", "scrape_source"}
    assert all(search.board(token).data["scraped_at"] > looked[token] for token in COMPANIES)
    asked = search.requests(since)
    assert [each.target for each in asked if each.method == "GET" and each.status != 304] == []
    assert len({(each.host, each.target) for each in asked if each.method == "GET"}) == sum(
        each.method == "GET" for each in asked
    )


CHECKS = (
    every_company_and_its_board_are_found,
    what_a_company_is_like_is_read_from_its_pages,
    what_a_posting_asks_for_is_read_or_left_open_and_never_wrong,
    every_posting_that_is_open_is_known_as_open_and_reads_as_it_does_now,
    every_posting_that_closed_is_closed_after_two_looks,
    no_trouble_closes_a_posting_that_is_open,
    trouble_is_seen_as_such_and_is_over_when_it_is_over,
    nothing_is_known_that_was_never_there,
    every_board_is_well_again_and_none_was_given_up,
    what_was_edited_is_a_change_and_not_another_posting,
    what_is_listed_again_is_known_to_be_the_same,
    every_posting_was_judged,
    the_same_again_writes_nothing_new_and_asks_only_whether_something_has_changed,
)


# One test, so that the weeks are lived through once, however many processes share the tests.
@pytest.mark.promise(7)
@pytest.mark.promise(9)
def test_three_weeks_of_a_search(tmp_path: Path, subtests: pytest.Subtests):
    database = file_database(tmp_path, FrozenClock())
    with PracticeWeb(SEED) as web:
        search = Search(database, web)
        weeks = Weeks(search)
        for check in CHECKS:
            with subtests.test(check.__name__.replace("_", " ")):
                check(weeks)
        search.close()
    database.close()


@only_postgres
def test_the_search_goes_on_like_this_on_postgresql(database: Database):
    with PracticeWeb(SEED) as web:
        search = Search(database, web)
        search.add("acme", "orchard")
        search.work()
        search.confirm()
        for day in (5, 10, 11):
            search.look(day=day)
        for token in ("acme", "orchard"):
            truth = search.truth(token)
            found = compared([*truth.open, *truth.closed], search.postings(token))
            open_now = {each.id for each in truth.open}
            assert found.missing == []
            assert {record.data["state"] for each, record in found.pairs if each.id in open_now} == {"open"}
        search.close()
