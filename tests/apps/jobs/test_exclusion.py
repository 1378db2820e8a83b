"""What the profile excludes is not requested: not its site, not its board, not even their robots.txt; and
when it is no longer excluded, it goes on."""

from collections.abc import Iterator
from importlib.resources import files

import pytest
import yaml

from tests.apps.jobs.weeks import Search
from tests.harness.databases import Database, only_files
from tests.harness.tasks import rows
from thresher import NewTask
from thresher.admin.events import list_events
from thresher.admin.explain import explain
from thresher.apps.jobs.app import app
from thresher.apps.jobs.service.boards import ask_boards, show_board
from thresher.apps.jobs.service.companies import ask_review, list_companies, show_company
from thresher.apps.jobs.service.postings import set_profile
from thresher.practice.web import Knob, PracticeWeb, Trouble
from thresher.store import sources

EXAMPLE = yaml.safe_load((files("thresher.apps.jobs") / "example_profile.yaml").read_text("utf-8"))
BOARD = "greenhouse:acme"
API = "boards-api.greenhouse.io"
SITE = "www.acme.example"


@pytest.fixture
def search(database: Database, web: PracticeWeb) -> Iterator[Search]:
    found = Search(database, web)
    yield found
    found.close()


def profile(search: Search, **excluded: list[str]) -> None:
    """Set a profile that excludes these, as a person does: the review is asked for."""
    use(search, **excluded)
    ask_review(search.store, search.registry)


def use(search: Search, **excluded: list[str]) -> None:
    """The same before anything was reviewed."""
    set_profile(search.store, yaml.safe_dump({**EXAMPLE, "excluded": excluded}), "profile.yaml")


def asked(search: Search, host: str) -> list[str]:
    """What a host was asked, robots.txt included."""
    return [each.path for each in search.web.log(host)]


def told(search: Search, kind: str) -> list[dict[str, object]]:
    return [event["detail"] for event in list_events(search.store, kind=kind, limit=100)]


@pytest.mark.promise(16)
@pytest.mark.parametrize(
    "excluded",
    [
        {"domains": ["acme.example"]},
        {"companies": ["Acme Anvils"]},
        {"keywords": ["acme*"]},
    ],
)
@only_files
def test_an_excluded_company_and_its_board_are_asked_for_nothing(search: Search, excluded):
    use(search, **excluded)
    search.add("acme")
    ask_boards(
        search.store,
        search.registry,
        ["https://job-boards.greenhouse.io/acme"],
        company="acme.example",
        name="Acme Anvils",
    )
    search.put(NewTask("company", {"name": "Acme Anvils", "website": f"https://{SITE}/"}))
    search.work()
    assert search.web.log() == []
    assert {state for (kind, state) in search.kinds() if kind in ("company", "source_discovery")} == {
        "skipped"
    }
    assert search.company("acme").data["status"] == "excluded"
    assert {event["company"] for event in told(search, "excluded") if "company" in event} == {"acme.example"}


@pytest.mark.promise(16)
def test_a_company_excluded_while_its_task_waits_is_not_requested_and_goes_on_when_it_is_not(search: Search):
    search.add("acme")
    with search.store.write() as session:
        sources.add_gate(session, f"host:{SITE}", sources.GateLimits())
    sources.pause(search.store, f"host:{SITE}", 3_600_000_000, "not yet")
    search.work(hours=0)
    assert asked(search, SITE) == []
    profile(search, domains=["acme.example"])
    sources.resume(search.store, f"host:{SITE}")
    search.work()
    assert search.web.log() == []
    shown = show_company(search.store, "acme.example").company
    assert (shown.status, shown.excluded) == ("excluded", "you exclude the domain acme.example")
    assert any(shown.excluded in each for each in explain(search.store, [app], "acme.example").sentences)
    assert {event["company"] for event in told(search, "excluded")} == {"acme.example"}
    profile(search)
    search.work()
    assert search.company("acme").data["status"] == "complete"
    assert search.board("acme").data["status"] == "active"
    assert search.board("acme").data["last_look"]["verdict"] == "found"
    assert {"company": "acme.example", "was": shown.excluded} in told(search, "readmitted")


@pytest.mark.promise(16)
@pytest.mark.parametrize("reviewed", [True, False])
def test_an_enrolled_board_of_an_excluded_company_is_not_read_and_is_read_again(
    search: Search, reviewed: bool
):
    search.add("acme")
    search.work()
    assert search.board("acme").data["status"] == "active"
    before = len(search.web.log())
    (profile if reviewed else use)(search, domains=["acme.example"])
    search.look()
    assert len(search.web.log()) == before
    board = show_board(search.store, BOARD).board
    assert (board.status, board.excluded) == ("active", "you exclude the domain acme.example")
    assert any("Nothing of it is requested" in each for each in explain(search.store, [app], BOARD).sentences)
    events = len(told(search, "excluded"))
    assert events
    search.look()
    assert len(search.web.log()) == before
    assert len(told(search, "excluded")) == events  # not once a round
    profile(search)
    search.work()
    search.look()
    assert len(asked(search, API)) > 0
    assert search.board("acme").data["excluded"] is None
    assert search.board("acme").data["last_look"]["at"] == search.board("acme").data["scraped_at"]
    assert len(search.web.log()) > before


@only_files
def test_a_scrape_that_waits_for_its_host_is_not_made_once_its_company_is_excluded(search: Search):
    search.add("acme")
    search.work()
    search.begin(1)
    sources.pause(search.store, f"host:{API}", 3_600_000_000, "not yet")
    search.scrape()
    search.work(hours=0)
    before = len(search.web.log())
    use(search, companies=["Acme Anvils"])
    sources.resume(search.store, f"host:{API}")
    search.work()
    assert len(search.web.log()) == before
    (reason,) = rows(
        search.store, "select reason from tasks where kind = 'scrape_source' and state = 'skipped'"
    )[0]
    assert reason == "excluded: you exclude the company Acme Anvils"


@only_files
def test_a_board_that_was_excluded_before_anybody_looked_is_looked_at_when_it_no_longer_is(search: Search):
    profile(search, domains=["greenhouse.io"])
    ask_boards(search.store, search.registry, ["https://job-boards.greenhouse.io/acme"])
    search.work()
    assert search.web.log() == []
    board = show_board(search.store, BOARD).board
    assert (board.status, board.reason) == ("pending", "excluded: you exclude the domain greenhouse.io")
    profile(search)
    search.work()
    board = show_board(search.store, BOARD).board
    assert (board.excluded, board.confidence) == (None, "high")


@only_files
def test_a_page_that_leads_to_an_excluded_domain_is_not_followed_there(search: Search):
    profile(search, domains=["rival.example"])
    page = '<html><body><h1>Acme</h1><a href="https://jobs.rival.example/">Careers</a></body></html>'
    search.web.turn(Knob(Trouble.BODY, SITE, "/", text=page))
    search.add("acme")
    search.work()
    assert asked(search, "jobs.rival.example") == []
    assert asked(search, SITE)
    assert {"url": "https://jobs.rival.example/", "reason": "you exclude the domain rival.example"} in told(
        search, "excluded"
    )


@only_files
def test_a_posting_of_an_excluded_domain_is_filtered_although_its_board_is_somebody_elses(search: Search):
    search.add("acme")
    search.work()
    posting = search.postings("acme")[0].key
    use(search, domains=["acme.example"])
    before = len(search.web.log())
    (task,) = search.put(NewTask("job", {"posting": posting}, key=posting))
    search.work()
    assert search.shop.fields(task)["reason"] == "you exclude the domain acme.example"
    assert len(search.web.log()) == before


@only_files
def test_excluded_companies_can_be_listed(search: Search):
    profile(search, companies=["Acme Anvils"])
    search.add("acme", "orchard")
    search.work()
    assert [each.key for each in list_companies(search.store, status="excluded")] == ["acme.example"]
