"""Every platform, from the address of a board to the last field of its postings, against the practice web:
what was planted is read."""

from functools import cache
from urllib.parse import urlsplit

import pytest

from thresher.core.page import Page, Via
from thresher.practice.web import DAY_ZERO, HOSTED, Company, board_url, directory, postings
from thresher.practice.web import PracticePosting as Planted
from thresher.practice.web.web import Web
from thresher.reading.inspect.body import Format, read_body
from thresher.reading.inspect.inspection import inspect
from thresher.reading.platforms.boards import Board, recognise
from thresher.reading.platforms.calls import Call, detail_call, list_call, owner_call, owner_name
from thresher.reading.postings.posting import Posting

SEED = 7
WEB = Web(SEED)
TODAY = DAY_ZERO.date()
MAX_PAGES = 10


@cache
def companies() -> dict[str, Company]:
    """The smallest company of each platform that has a few openings."""
    found: dict[str, Company] = {}
    for each in sorted(directory(SEED, 400), key=lambda each: len(rows_of(each))):
        if len(rows_of(each)) >= 3 and each.platform in HOSTED:
            found.setdefault(each.platform, each)
    return found


def rows_of(who: Company) -> tuple[Planted, ...]:
    return postings(SEED, who, WEB.calendar.now)


def sent(call: Call | None) -> Page:
    assert call is not None
    parts = urlsplit(call.url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    exchange = WEB.arrive(parts.netloc, call.method, target, call.headers)
    answer, _ = WEB.answer(exchange, call.headers, call.body)
    return Page(call.url, call.url, answer.status, answer.headers, answer.body, via=Via.HTTP)


def board_of(who: Company) -> Board:
    found = recognise(board_url(who))
    assert found is not None
    assert (found.platform, found.token) == (
        who.platform,
        who.token if who.platform != "icims" else f"careers-{who.token}",
    )
    return found


def listed(board: Board) -> list[Posting]:
    found: dict[str, Posting] = {}
    call = list_call(board)
    for number in range(1, MAX_PAGES):
        seen = inspect(sent(call), TODAY)
        new = [each for each in seen.postings if each.key and each.key not in found]
        found |= {each.key: each for each in new if each.key}
        call = list_call(board, at=len(found), page=number, cursor=seen.next)
        if call is None or not new:
            break
    return list(found.values())


@pytest.mark.parametrize("platform", HOSTED)
def test_the_whole_list_is_read_with_keys_and_addresses(platform: str):
    who = companies()[platform]
    found = listed(board_of(who))
    planted = [
        row for row in rows_of(who) if platform != "ashby" or row.place % 9 != 8
    ]  # these are not to be shown
    assert sorted(each.title for each in found) == sorted(row.title for row in planted)
    assert all(each.key and each.url and each.url.startswith("https://") for each in found)


@pytest.mark.parametrize("platform", HOSTED)
def test_list_and_detail_together_say_all_there_is(platform: str):
    who = companies()[platform]
    board = board_of(who)
    by_title = {row.title: row for row in rows_of(who)}
    for posting in listed(board)[:5]:
        row, whole = by_title[posting.title], _completed(board, posting)
        assert row.city[0] in (whole.location or ""), (platform, whole.location)
        assert len(whole.description or "") > 200
        assert whole.posted_date == row.opened.date()
        assert whole.employment_type or platform == "greenhouse"  # it never says
        assert whole.remote is None or whole.remote == row.mode


def _completed(board: Board, posting: Posting) -> Posting:
    """What the list says, and for what it leaves out, the posting's own answer, else its page."""
    call = detail_call(board, posting) or Call(posting.url or "")
    (detail,) = inspect(sent(call), TODAY).postings
    names = ("location", "posted_date", "employment_type", "salary", "description", "remote")
    return Posting(
        posting.title,
        url=posting.url,
        **{name: getattr(detail, name) or getattr(posting, name) for name in names},
    )


@pytest.mark.parametrize("platform", [each for each in HOSTED if each != "workday"])
def test_the_board_tells_the_name_of_its_owner(platform: str):
    who = companies()[platform]
    board = board_of(who)
    body = read_body(sent(owner_call(board)))
    name = owner_name(board, body.text if body.format is Format.HTML else body.data)
    assert who.name.split()[0] in (name or "")
