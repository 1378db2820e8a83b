"""Same seed, same web; and what the days bring."""

import os
import subprocess
import sys
from datetime import timedelta

import pytest

from tests.practice.browse import get
from thresher.practice.web import DAY_ZERO, KNOWN, PracticeWeb, company, postings, practice_process
from thresher.practice.web.draw import Draw

# One address of each kind.
TOUR = (
    "https://boards-api.greenhouse.io/v1/boards/acme/jobs?content=true",
    "https://job-boards.greenhouse.io/acme",
    "https://api.lever.co/v0/postings/borealis?mode=json",
    "https://api.ashbyhq.com/posting-api/job-board/cobalt?includeCompensation=true",
    "https://api.smartrecruiters.com/v1/companies/ember/postings?limit=100",
    "https://fathom.recruitee.com/api/offers/",
    "https://apply.workable.com/api/v1/widget/accounts/garnet?details=true",
    "https://heron.jobs.personio.de/xml",
    "https://isthmus.teamtailor.com/jobs.rss",
    "https://juniper.bamboohr.com/careers/list",
    "https://www.kestrel.example/careers",
    "https://larkspur.example/api/openings",
    "https://feeds.practice.example/atom.xml",
    "https://search.practice.example/v1/search/de/2?app_key=k",
    "https://courses.practice.example/catalogue?page=3",
    "https://muenzen.practice.example/search?q=crown",
    "https://bulk.example/page/99",
    "https://some-new-firm.com/about",
)


def test_two_processes_with_one_seed_serve_the_same_bytes():
    """With different hash seeds, so that nothing hangs on the order of a set."""
    seen = []
    for hash_seed in ("1", "2"):
        os.environ["PYTHONHASHSEED"] = hash_seed
        try:
            with practice_process(seed=11, day=3) as web:
                seen.append([get(web, url).body for url in TOUR])
        finally:
            del os.environ["PYTHONHASHSEED"]
    assert seen[0] == seen[1]


def test_another_seed_is_another_web(web: PracticeWeb):
    with PracticeWeb(seed=8) as other:
        same = [url for url in TOUR if get(web, url).body == get(other, url).body]
    assert same == []


def test_what_was_looked_at_before_does_not_change_what_is_seen():
    with PracticeWeb(seed=7) as one, PracticeWeb(seed=7) as two:
        for day in (3, 90, 14):
            one.set_day(day)
            for url in TOUR:
                get(one, url)
        two.set_day(14)
        assert [get(one, url).body for url in TOUR] == [get(two, url).body for url in reversed(TOUR)][::-1]


def test_draws_are_the_same_on_every_python():
    """Written down once; a change here changes every practice web there is."""
    draw = Draw(7, "a", 1)
    assert [draw.below(1_000) for _ in range(10)] == FIRST_TEN


FIRST_TEN = [257, 217, 863, 289, 551, 324, 976, 183, 358, 387]


def lives(token: str, days: int) -> dict[tuple[int, int], list[tuple[int, str, int]]]:
    """Each posting by place and round: on which days it is open, with title and revision."""
    found: dict[tuple[int, int], list[tuple[int, str, int]]] = {}
    for day in range(days):
        for each in postings(7, company(7, token), DAY_ZERO + timedelta(days=day)):
            found.setdefault((each.place, each.round), []).append((day, each.title, each.revision))
    return found


def test_postings_open_change_close_and_are_listed_again():
    found = lives("acme", 120)
    opened = [days for days in found.values() if days[0][0] > 0]
    closed = [days for days in found.values() if days[-1][0] < 119]
    edited = [days for days in found.values() if days[-1][2] > days[0][2]]
    again = [
        key
        for key, days in found.items()
        if (key[0], key[1] - 1) in found and found[key[0], key[1] - 1][-1][1] == days[0][1]
    ]
    assert opened
    assert closed
    assert edited
    assert again


def test_a_posting_is_open_for_one_stretch_and_keeps_its_number():
    for days in lives("acme", 120).values():
        numbers = [day for day, *_ in days]
        assert numbers == list(range(numbers[0], numbers[-1] + 1))


def test_an_edit_changes_only_what_was_edited():
    who = company(7, "acme")
    before = {each.id: each for each in postings(7, who, DAY_ZERO)}
    for each in postings(7, who, DAY_ZERO + timedelta(days=8)):
        if each.id in before and each.revision > before[each.id].revision:
            assert (each.city, each.mode, each.duties, each.opened) == tuple(
                getattr(before[each.id], name) for name in ("city", "mode", "duties", "opened")
            )
            assert each.updated > before[each.id].updated


def test_a_relisted_posting_has_another_number_and_the_same_requisition():
    who = company(7, "acme")
    seen = {}
    for day in range(200):
        for each in postings(7, who, DAY_ZERO + timedelta(days=day)):
            seen[each.place, each.round] = each
    pairs = [(seen[key], seen[key[0], key[1] + 1]) for key in seen if (key[0], key[1] + 1) in seen]
    relisted = [
        (one, two)
        for one, two in pairs
        if one.title.split(" (")[0] == two.title.split(" (")[0] and one.duties == two.duties
    ]
    assert relisted
    assert all(one.id != two.id and one.requisition == two.requisition for one, two in relisted)


def test_moving_the_day_changes_a_board_and_moving_back_restores_it(web: PracticeWeb):
    url = TOUR[0]
    first = get(web, url)
    web.set_day(20)
    later = get(web, url)
    web.set_day(0)
    again = get(web, url)
    assert first.body == again.body != later.body
    assert first.headers["etag"] == again.headers["etag"] != later.headers["etag"]


def test_every_known_company_always_has_something_open():
    for token in KNOWN:
        for day in (0, 10, 45, 200):
            assert postings(7, company(7, token), DAY_ZERO + timedelta(days=day)), (token, day)


def test_a_time_without_a_zone_and_a_day_out_of_reach_are_refused(web: PracticeWeb):
    with pytest.raises(ValueError, match="no time zone"):
        web.set_time(DAY_ZERO.replace(tzinfo=None))
    with pytest.raises(ValueError, match="out of reach"):
        web.set_day(1_000_000)


def test_a_process_refuses_a_port_that_is_taken(web: PracticeWeb):
    line = [sys.executable, "-m", "thresher.practice.web", "--port", str(web.port)]
    ran = subprocess.run(line, capture_output=True, text=True, check=False, timeout=30)
    assert (ran.returncode, "choose another --port" in ran.stderr) == (2, True)
