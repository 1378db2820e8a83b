"""The loops that a search can run in: a posting leads to its company, the company to its board, and the board
to the posting again."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.apps.jobs.weeks import Search
from tests.harness import tasks
from tests.harness.databases import file_database
from thresher import App, Context, Done, NewTask, Outcome, Pipeline, Stage
from thresher.apps.jobs.service.boards import ask_boards
from thresher.apps.jobs.service.postings import ask_postings
from thresher.core.clock import FrozenClock
from thresher.practice.web import Knob, PracticeWeb, Trouble

MAX_DEPTH = 10


async def clip(ctx: Context) -> Outcome:
    """What a person may cut out of a newspaper: a posting, and whose it is."""
    said = ctx.task.payload
    about = {"name": said["name"], "website": said["website"]}
    return Done(
        children=(
            NewTask("job", {"url": said["url"]}, said["url"]),
            NewTask("company", about, said["website"]),
        )
    )


CLIPPINGS = App("clippings", pipelines=(Pipeline("clip", Stage(clip)),))


@pytest.fixture
def search(tmp_path: Path) -> Iterator[Search]:
    database = file_database(tmp_path, FrozenClock())
    with PracticeWeb(7) as web:
        found = Search(database, web, CLIPPINGS)
        yield found
        found.close()
    database.close()


def address_of(search: Search, token: str) -> str:
    return f"https://job-boards.greenhouse.io/{token}/jobs/{search.truth(token).open[0].id}"


def repeated(search: Search) -> list[tuple[object, ...]]:
    """Tasks that one lineage has twice."""
    every = "select coalesce(tracking_id, id), kind, lineage_key from tasks where lineage_key is not null"
    found = Counter(tasks.rows(search.store, every))
    return [each for each, count in found.items() if count > 1]


@pytest.mark.promise(6)
def test_a_posting_that_led_to_its_company_is_refused_when_the_company_s_board_leads_back_to_it(
    search: Search,
):
    """Posting, company, source, posting: the loop that is feared most."""
    url = address_of(search, "acme")
    search.put(NewTask("clip", {"url": url, "website": "https://www.acme.example/", "name": "Acme Anvils"}))
    search.work()
    assert search.board("acme").data["status"] == "active"
    assert repeated(search) == []
    (rule,) = (rule for kind, refused, rule, _ in search.refusals() if kind == "job" and refused == url)
    # On a busy machine the company's board may be read before the posting has ended.
    assert rule in {"ended_in_lineage", "live_in_lineage"}
    assert len(search.postings("acme")) == len(search.truth("acme").open)


@pytest.mark.promise(6)
def test_a_posting_of_an_unknown_company_makes_one_task_for_it_however_many_there_are(search: Search):
    ask_boards(search.store, search.registry, ["https://feeds.practice.example/rss.xml"])
    search.work()
    search.confirm()
    postings = search.records("posting")
    names = Counter(each.data["company_name"] for each in postings)
    assert len(postings) == 50
    assert len(names) > 10
    assert max(names.values()) > 1
    assert repeated(search) == []
    depth = tasks.rows(search.store, "select max(depth) from tasks")[0][0]
    assert depth <= MAX_DEPTH


@pytest.mark.promise(6)
def test_companies_whose_pages_name_each_other_end(search: Search):
    """Each careers page says that the openings are on the other's site."""
    for one, other in (("kestrel", "verbena"), ("verbena", "kestrel")):
        page = f'<html><body><h1>Careers</h1><a href="https://www.{other}.example/careers">See open positions</a></body></html>'
        search.web.turn(
            *(Knob(Trouble.BODY, f"www.{one}.example", path, text=page) for path in ("/career", "/jobs"))
        )
    search.add("kestrel", "verbena")
    search.work()
    search.confirm()
    depth, count = tasks.rows(search.store, "select max(depth), count(*) from tasks")[0]
    assert depth <= MAX_DEPTH
    assert count < 100


def test_asking_for_everything_twice_is_harmless(search: Search):
    for _ in range(2):
        search.add("acme", "orchard")
        ask_postings(search.store, search.registry, [address_of(search, "acme")])
    search.work()
    before = {kind: {each.key for each in search.records(kind)} for kind in ("company", "board", "posting")}
    search.add("acme", "orchard")
    search.work()
    assert {kind: {each.key for each in search.records(kind)} for kind in before} == before
