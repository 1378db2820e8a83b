"""The page about scrapers: what waits and why, who works, what came of it, and what an empty table means."""

import re

import pytest

from tests.apps.roles.http.scraping import job
from tests.web.pages.visitor import with_anna
from thresher.apps.roles.service import platforms
from thresher.apps.roles.service.monitor import read_monitor

EVIL = "<img src=x onerror=alert(1)>"


def section(text: str, name: str) -> str:
    return " ".join(text.partition(f'id="{name}"')[2].partition("</section>")[0].split())


def test_what_scrapers_do_is_shown_with_its_reasons_and_its_rows(world):
    anna = with_anna(world).log_in()
    zebra, ape = world.role("Zebra keeper", 3), world.role("Ape keeper", 2, priority="high")
    world.role("Gardener", priority="low")
    north = world.scraper("north")
    first = north.claim()
    world.pass_time(45)
    north.say("/jobs", first, jobs=[job(1), job(2), {"title": "no id"}])
    second = north.claim()
    world.pass_time(600)
    shown = anna.see("/scrapers")
    assert re.search(r'href="/roles\?status=pending"><b>1</b> pending', shown)
    ended = section(shown, "ended")
    assert f'href="/roles/{ape}"' in ended
    assert '<span class="pill found">found</span>' in ended
    assert re.findall(r'class="number tally">(\w+)</td>', ended) == ["45s", "3", "2", "0", "0", "1"]
    running = section(shown, "running")
    assert f'href="/roles/{zebra}"' in running
    assert "50m</td>" in running
    waiting = section(shown, "next")
    assert "Gardener" in waiting
    assert "Zebra" not in waiting
    assert "waits for 10m 45s; low priority counts as 7d less" in waiting
    assert "Arrived too late" not in section(shown, "next")
    world.pass_time(3_600)
    north.say("/jobs", second, 409, jobs=[job(3)])
    late = section(anna.see("/scrapers"), "late")
    assert "thresher late import NUMBER" in late
    assert 'data-label="Postings" class="number">1<' in late


def test_a_place_in_the_queue_is_explained_by_what_it_is_made_of(world):
    world.role("Wanted", 45, priority="urgent")
    world.role("Plain")
    world.pass_time(3_600)
    wanted, plain = read_monitor(world.store).next_roles
    assert re.fullmatch(
        r"waits for 1h; urgent priority counts as 14d more; 45 candidates count as \w+ \w+ more", wanted.why
    )
    assert plain.why == "waits for 1h"


@pytest.mark.promise(7)
def test_what_is_empty_says_whether_nothing_was_found_or_nothing_was_checked(world):
    anna = with_anna(world).log_in()
    shown = anna.see("/scrapers")
    assert "No session has ended" in section(shown, "ended")
    assert "there are no candidates yet" in section(shown, "next")
    assert "No platforms: scrapers may search anywhere" in section(shown, "platforms")
    assert "Nothing that arrived too late" in section(shown, "late")
    world.role("Gardener", 1)
    assert "1 role waits" in section(anna.see("/scrapers"), "running")
    north = world.scraper("north")
    north.say("/jobs", north.claim(), jobs=[])
    shown = anna.see("/scrapers")
    assert "Nothing was found: of the latest 1 sessions 0 proved that there is nothing" in section(
        shown, "ended"
    )
    assert '<span class="pill unknown">unknown</span>' in section(shown, "ended")


@pytest.mark.promise(17)
def test_what_strangers_wrote_is_shown_and_never_run(world):
    anna = with_anna(world).log_in()
    platforms.save(world.store, "x<b>", {"every": "1h"})
    platforms.pause(world.store, "x<b>", 3_600, f"why {EVIL}")
    platforms.save(world.store, "dice", {"every": "1h"})
    role = world.role(f"Role {EVIL}", 1)
    assert role
    north = world.scraper(f"north {EVIL}")
    first = north.claim()
    north.say("/fail", first, reason=f"it said {EVIL} {{{{7*7}}}} \N{RIGHT-TO-LEFT OVERRIDE}{'x' * 600}")
    north.say("/jobs", first, 409, jobs=[job(1, platform="dice")])
    shown = anna.see("/scrapers")
    assert EVIL not in shown
    for name, said in (
        ("ended", "it said &lt;img"),
        ("late", "Role &lt;img"),
        ("platforms", "why &lt;img"),
        ("next", "Role &lt;img"),
    ):
        assert said in section(shown, name), name
    assert "{{7*7}}" in shown
    assert "x" * 400 not in shown, "a long message is shown by its beginning"


def test_the_navigation_says_where_one_is(world):
    anna = with_anna(world).log_in()
    assert 'href="/scrapers" aria-current="page"' in anna.see("/scrapers")
    shown = anna.see("/keys")
    assert 'href="/keys" aria-current="page"' in shown
    assert 'href="/scrapers" aria-current' not in shown
