"""What a robots.txt says to us, whatever its author meant it to look like."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.fetch.agent import agent_of
from thresher.fetch.robots import MAX_BYTES, RobotsRuling, read_rules

SITE = "https://shop.example"


def rules(text, agent="Thresher"):
    return read_rules(text.encode() if isinstance(text, str) else text, agent)


@pytest.mark.promise(16)
@pytest.mark.parametrize(
    ("text", "path", "allowed"),
    [
        ("User-agent: *\nDisallow: /private", "/private/1", False),
        ("User-agent: *\nDisallow: /private", "/public", True),
        ("user-agent: thresher\ndisallow: /", "/", False),
        ("User-agent: Thresher\nAllow: /\nUser-agent: *\nDisallow: /", "/x", True),
        ("User-agent: *\nDisallow: /\nUser-agent: Thresher\nDisallow: /a", "/b", True),
        ("User-agent: other\nUser-agent: Thresher\nDisallow: /", "/", False),
        ("User-agent: other\nDisallow: /", "/", True),
        ("User-agent: other\nDisallow: /a\n\nUser-agent: another\nDisallow: /", "/", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("User-agent: *\nAllow: /a\nDisallow: /a", "/a", True),
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf?z", True),
        ("User-agent: *\nDisallow:", "/", True),
        ("User-agent: *\nDisallow: /%7Ejoe", "/~joe", False),
        ("User-agent: *\nDisallow: /\n", "/robots.txt", True),
        ("Disallow: /", "/", True),
        ("", "/", True),
    ],
)
def test_the_group_and_the_longest_line_decide(text, path, allowed):
    assert rules(text).allows(SITE + path) is allowed


def test_a_ruling_names_the_line():
    file = rules("User-agent: *\nDisallow: /a\nAllow: /a/b")
    assert file.ruling(f"{SITE}/a/x?y=1") == RobotsRuling(allowed=False, rule="Disallow: /a")
    assert file.ruling(f"{SITE}/a/b") == RobotsRuling(allowed=True, rule="Allow: /a/b")
    assert file.ruling(f"{SITE}/c") == RobotsRuling(allowed=True, rule=None)


def test_the_delay_and_the_sitemaps_are_read():
    file = rules("User-agent: *\nCrawl-delay: 2.5\nSitemap: https://shop.example/map.xml")
    assert (file.crawl_delay, file.sitemaps) == (2.5, ("https://shop.example/map.xml",))
    assert rules("User-agent: other\nCrawl-delay: 9").crawl_delay is None
    assert rules("User-agent: *\nCrawl-delay: -1\nCrawl-delay: nan\nCrawl-delay: inf").crawl_delay is None


@pytest.mark.parametrize("coding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_hides_no_rule(coding):
    assert not rules("User-agent: *\nDisallow: /".encode(coding)).allows(f"{SITE}/")


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end_is_one(ends):
    assert not rules(f"User-agent: *{ends}Disallow: /a{ends}").allows(f"{SITE}/a")


@pytest.mark.parametrize(
    "page", ["<!DOCTYPE html>\nUser-agent: *\nDisallow: /", "  \n<html><pre>User-agent: *\nDisallow: /"]
)
def test_a_page_that_came_instead_forbids_nothing(page):
    assert rules(page).allows(f"{SITE}/")


@pytest.mark.promise(18)
def test_only_the_first_part_of_an_endless_file_counts_and_no_half_line_of_it():
    head = "User-agent: *\nDisallow: /early\n"
    filler = "# nothing\n" * (MAX_BYTES // 10)
    file = rules(head + filler + "Disallow: /late\n")
    assert not file.allows(f"{SITE}/early")
    assert file.allows(f"{SITE}/late")
    cut = head + "#" * (MAX_BYTES - len(head) - len("\nDisallow: /")) + "\nDisallow: /only-this"
    assert rules(cut).allows(f"{SITE}/anything")


@pytest.mark.promise(18)
def test_ten_thousand_agents_times_ten_thousand_rules_stay_small():
    agents = "".join(f"User-agent: a{number}\n" for number in range(12_000))
    file = agents + "User-agent: *\n" + "".join(f"Disallow: /{number}\n" for number in range(12_000))
    # only our own group is kept; a rule for each agent would be more than there is memory
    tracemalloc.start()
    try:
        assert not rules(file).allows(f"{SITE}/777")
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()


@given(st.binary(max_size=2_000), st.text(max_size=50))
def test_any_bytes_can_be_read_and_asked(body, path):
    file = read_rules(body, "Thresher")
    file.ruling(f"{SITE}/{path}")


@pytest.mark.parametrize(
    ("given_agent", "contact", "token", "says"),
    [
        (None, None, "Thresher", "Thresher/"),
        (None, "https://me.example/bot", "Thresher", "(+https://me.example/bot)"),
        ("Gleaner/2.0", "me@example.com", "Gleaner", "Gleaner/2.0 (+me@example.com)"),
        (
            "Mozilla/5.0 (compatible; Gleaner/2.0; +https://g.example)",
            None,
            "Gleaner",
            "Mozilla/5.0 (compatible; Gleaner/2.0",
        ),
    ],
)
def test_an_agent_says_who_it_is_and_is_known_by_its_name(given_agent, contact, token, says):
    agent = agent_of(given_agent, contact)
    assert agent.token == token
    assert says in agent.header
