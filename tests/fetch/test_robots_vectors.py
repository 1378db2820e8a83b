"""RFC 9309 as a table: every case is answered right, or more carefully than the vector asks for."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.fetch.robots import MAX_LINE, read_rules

ONLY_X = "Allow: /x/\nDisallow: /"
NOT_HERE = "User-agent: reaper\nDisallow: /\n"
OPEN = "User-agent: reaper\nDisallow: /\nAllow: "
FORBIDDEN, ALLOWED = False, True

AGENTS = [
    # A product token ends with the first character that none has, and its case does not matter.
    ("User-agent: reaper/2.1\nDisallow: /", "reaper", "/a", FORBIDDEN),
    ("User-agent: reaper bot\nDisallow: /", "reaper", "/a", FORBIDDEN),
    ("User-agent: reaper*\nDisallow: /", "reaper", "/a", FORBIDDEN),
    ("User-agent: reaper2\nDisallow: /", "reaper", "/a", FORBIDDEN),
    ("User-agent: REAPER\nDisallow: /", "Reaper", "/a", FORBIDDEN),
    (f"User-agent: ReApEr BiNdEr\n{ONLY_X}", "reaper", "/x/y", ALLOWED),
    (f"User-agent: ReApEr BiNdEr\n{ONLY_X}", "reaper", "/a", FORBIDDEN),
    (f"User-agent: *\nDisallow: /\nUser-agent: reaper binder\n{ONLY_X}", "reaper", "/x/y", ALLOWED),
    (f"User-agent: *\nDisallow: /\nUser-agent: reaper binder\n{ONLY_X}", "reaper binder", "/x/y", FORBIDDEN),
    ("User-agent: reaper-binder\nDisallow: /", "reaper", "/a", ALLOWED),
    ("User-agent: reap\nDisallow: /", "reaper", "/a", ALLOWED),
    ("User-agent: reaper\nDisallow: /", "reaper2", "/a", FORBIDDEN),
    ("User-agent: reaper3\nDisallow: /", "reaper2", "/a", ALLOWED),
    ("User-agent: Mäher\nDisallow: /", "Mäher", "/a", FORBIDDEN),
    ("User-agent: ツ\nDisallow: /", "reaper", "/a", ALLOWED),
    ("User-agent:\nDisallow: /", "reaper", "/a", ALLOWED),
    ("User-agent: *\nDisallow: /", "", "/a", FORBIDDEN),
    ("User-agent: * everybody\nDisallow: /", "reaper", "/a", FORBIDDEN),
    # Our own group counts alone; without one, that for everybody; without that, nothing is forbidden.
    ("User-agent: *\nAllow: /\nUser-agent: reaper\nDisallow: /", "reaper", "/a", FORBIDDEN),
    ("User-agent: *\nAllow: /\nUser-agent: reaper\nDisallow: /", "binder", "/a", ALLOWED),
    ("User-agent: *\nDisallow: /x/\nUser-agent: reaper\nDisallow: /y/", "reaper", "/x/1", ALLOWED),
    ("User-agent: *\nDisallow: /x/\nUser-agent: reaper\nDisallow: /y/", "reaper", "/y/1", FORBIDDEN),
    ("User-agent: binder\nDisallow: /\nUser-agent: thatcher\nDisallow: /", "reaper", "/a", ALLOWED),
    ("", "reaper", "/a", ALLOWED),
    ("", "", "", ALLOWED),
    (NOT_HERE, "reaper", "", FORBIDDEN),
]

TWO_GROUPS = """allow: /early/

user-agent: reaper
disallow: /
allow: /x/
user-agent: binder
disallow: /
allow: /y/


allow: /w/
user-agent: thatcher

user-agent: reaper
allow: /z/
disallow: /
"""
GROUPS = [
    *((TWO_GROUPS, "reaper", path, path in ("/x/1", "/z/1")) for path in ("/x/1", "/z/1", "/y/1", "/early/")),
    *((TWO_GROUPS, "binder", path, path in ("/y/1", "/w/1")) for path in ("/y/1", "/w/1", "/z/1", "/early/")),
    *((TWO_GROUPS, "thatcher", path, path == "/z/1") for path in ("/z/1", "/early/")),
    # What is no rule of a group does not end its list of agents.
    *(
        (f"User-agent: binder\n{other}\nUser-agent: *\nDisallow: /", agent, "/", FORBIDDEN)
        for other in (
            "Sitemap: https://shop.example/map.xml",
            "Whatever: unknown",
            "Host: shop.example",
            "no colon here",
            "# a remark",
            "",
        )
        for agent in ("reaper", "binder")
    ),
    # A delay is a rule of its group.
    ("User-agent: *\nCrawl-delay: 10\n\nUser-agent: binder\nDisallow: /", "reaper", "/a", ALLOWED),
    ("User-agent: reaper\nDisallow:\nUser-agent: *\nDisallow: /", "reaper", "/a", ALLOWED),
]

LINES = [
    ("user-agent reaper\ndisallow /", "reaper", "/x/y", FORBIDDEN),
    ("user agent: reaper\ndisallow /", "reaper", "/x/y", FORBIDDEN),
    ("agent: reaper\nnothing: /", "reaper", "/x/y", ALLOWED),
    *(
        (f"{ua}: reaper\n{allow}: /x/\n{no}: /", "reaper", path, path == "/x/y")
        for ua, allow, no in (
            ("USER-AGENT", "ALLOW", "DISALLOW"),
            ("uSeR-aGeNt", "AlLoW", "dIsAlLoW"),
            ("user-agent", "allow", "disallow"),
        )
        for path in ("/x/y", "/a/b")
    ),
    *(
        (f"User-agent: *\n{wrong}: /a", "reaper", "/a", FORBIDDEN)
        for wrong in ("Dissallow", "Disalow", "Diasllow", "Disallaw", "Dissalow")
    ),
    ("User-agent: *\n\t Disallow \t:\t /a \t", "reaper", "/a", FORBIDDEN),
    ("User-agent: *\n# Disallow: /\nDisallow: /x/y#z\nAllow: /", "reaper", "/x/y", FORBIDDEN),
    ("User-agent: *\n# Disallow: /\nDisallow: /x/y#z\nAllow: /", "reaper", "/x/a", ALLOWED),
    ("User-agent: *\nDisallow: a/", "reaper", "/a/b", FORBIDDEN),
    ("User-agent: *\nDisallow: /a b", "reaper", "/a%20b", FORBIDDEN),
]

MAX_LENGTH = [
    ("Disallow: /x/page.html\nAllow: /x/", "/x/page.html", FORBIDDEN),
    ("Allow: /x/page.html\nDisallow: /x/", "/x/page.html", ALLOWED),
    ("Allow: /x/page.html\nDisallow: /x/", "/x/", FORBIDDEN),
    ("Disallow:\nAllow:", "/x", ALLOWED),
    ("Disallow: /\nAllow: /", "/x", ALLOWED),
    ("Disallow: /x\nAllow: /x/", "/x", FORBIDDEN),
    ("Disallow: /x\nAllow: /x/", "/x/", ALLOWED),
    ("Disallow: /x/page.html\nAllow: /x/page.html", "/x/page.html", ALLOWED),
    ("Allow: /page\nDisallow: /*.html", "/page.html", FORBIDDEN),
    ("Allow: /page\nDisallow: /*.html", "/page", ALLOWED),
    ("Allow: /x/page.\nDisallow: /*.html", "/x/page.html", ALLOWED),
    ("Allow: /x/page.\nDisallow: /*.html", "/x/y.html", FORBIDDEN),
    ("Allow: /p\nDisallow: /", "/page", ALLOWED),
    ("Allow: /folder\nDisallow: /folder", "/folder/page", ALLOWED),
    ("Allow: /page\nDisallow: /*.htm", "/page.htm", FORBIDDEN),
    ("Allow: /$\nDisallow: /", "/", ALLOWED),
    ("Allow: /$\nDisallow: /", "/page.htm", FORBIDDEN),
    ("Disallow: /x/", "/X/", ALLOWED),
    ("Disallow: /X/", "/x/", ALLOWED),
    ("Disallow: /", "/robots.txt", ALLOWED),
]

PATTERNS = {
    "/trout": "/trout /trout.html /trout/brown.html /troutheads /troutheads/a.html /trout.html?id=1 | /Trout.asp /seatrout /?id=trout /bar",
    "/trout*": "/trout /trout.html /trout/brown.html /troutheads /trout.html?id=1 | /Trout.bar /seatrout /?id=trout",
    "/trout/": "/trout/ /trout/brown /trout/?brown /trout/?id=1 | /trout /trout.html /Trout/Brown.html",
    "/*.php": "/a.php /b/a.php /b/a.php?c //b/any.php.html /a.php/ /index?f=a.php/ | /php/ /index?php /windows.PHP",
    "/*.php$": "/a.php /b/a.php | /a.php?c /a.php/ /a.php5 /php/ /a?php /aaaphpaaa //windows.PHP",
    "/trout*.php": "/trout.php /troutheads/seatrout.php?c | /Trout.PHP",
    "/x/*/z": "/x//z /x/y/z /x/a/b/z1 | /x/z /x/y/q",
    "/a*a": "/aa /aba | /a",
    "/a*a$": "/aa /aba | /a /aab",
    "*/z$": "/z /a/z | /z/",
    "/x$": "/x | /x/ /x/y /xy",
    "/f/index.html": "/f/ /f/index.html | /f/index.htm /f/a /f",
}

ESCAPES = [
    ("/foo/bar?a=b&c=https://x.y?z&q", "/foo/bar?a=b&c=https://x.y?z&q", ALLOWED),
    ("/a/ツ", "/a/%E3%83%84", ALLOWED),
    ("/a/%e3%83%84", "/a/%E3%83%84", ALLOWED),
    ("/a/%E3%83%84", "/a/%e3%83%84", ALLOWED),
    ("/a/ツ", "/a/ツ", FORBIDDEN),
    ("/a/%E3%83%84", "/a/ツ", FORBIDDEN),  # a URL is to be escaped before it is asked about
    ("/a/%62%61%7A", "/a/baz", FORBIDDEN),
    ("/a/%62%61%7A", "/a/%62%61%7A", ALLOWED),
    ("/%7ejoe/", "/~joe/", ALLOWED),
    ("/~joe/", "/%7Ejoe/", ALLOWED),
    ("/a%2fb", "/a/b", FORBIDDEN),
    ("/a%2fb", "/a%2Fb", ALLOWED),
    ("/a%3cd", "/a<d", ALLOWED),
]
FORBIDDING = [
    ("/a/ツ", "/a/%E3%83%84"),
    ("/a/ツ", "/a/ツ"),
    ("/a/%e3%83%84", "/a/ツ"),
    ("/a/%62%61%7A", "/a/baz"),
    ("/a/baz", "/a/%62%61%7A"),
    ("/caf\udce9", "/caf%E9"),
    ("/~joe", "/%7ejoe"),
    ("/a|b", "/a%7Cb"),
    ("/a%7cb", "/a|b"),
    ("/100%", "/100%25"),
    ("/x/a%24", "/x/a$b"),
    ("/x%2Ax/a", "/x*x/a"),
    ("/x$/a", "/x$/a"),
    ("/x$/a", "/x%24/a"),
    ("/x/a$", "/x/a$"),
    ("/x/a$", "/x/a%24"),
]


def allows(text, agent, path):
    return read_rules(text.encode("utf-8", "surrogateescape"), agent).allows(
        f"https://shop.example{path}" if path else ""
    )


def cases():
    yield from (*AGENTS, *GROUPS, *LINES)
    yield from ((f"User-agent: *\n{text}", "reaper", path, allowed) for text, path, allowed in MAX_LENGTH)
    for pattern, paths in PATTERNS.items():
        matched, _, others = paths.partition(" | ")
        yield from ((OPEN + pattern, "reaper", path, ALLOWED) for path in matched.split())
        yield from ((OPEN + pattern, "reaper", path, FORBIDDEN) for path in others.split())
    yield from ((OPEN + pattern, "reaper", path, allowed) for pattern, path, allowed in ESCAPES)
    yield from (
        (f"User-agent: *\nDisallow: {pattern}", "reaper", path, FORBIDDEN) for pattern, path in FORBIDDING
    )


@pytest.mark.promise(16)
def test_every_vector_is_answered_right():
    wrong = [
        (text, agent, path)
        for text, agent, path, allowed in cases()
        if allows(text, agent, path) is not allowed
    ]
    assert wrong == []
    assert sum(1 for _ in cases()) > 180


@pytest.mark.promise(16)
@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://shop.example", "/"),
        ("https://shop.example/a;b?c#d", "/a;b?c"),
        ("https://shop.example?a", "/?a"),
        ("shop.example/a", "/a"),
        ("//shop.example/b/c", "/b/c"),
        ("/a/b?c=https://d.e/", "/a/b?c=https://d.e/"),
        ("shop.example;a", "/;a"),
        ("", "/"),
        ("https://me:pass@shop.example:8443/a", "/a"),
    ],
)
def test_only_path_and_query_of_a_url_count(url, path):
    assert not read_rules(f"User-agent: *\nDisallow: {path}$".encode(), "reaper").allows(url)


@pytest.mark.promise(16)
@pytest.mark.parametrize("bom", [b"\xef\xbb\xbf", b"\xef\xbb", b"\xef"])
def test_half_a_byte_order_mark_hides_no_rule(bom):
    assert not read_rules(bom + b"User-agent: *\nDisallow: /", "reaper").allows("https://shop.example/")


@pytest.mark.promise(16)
def test_a_line_that_is_too_long_forbids_as_far_as_it_is_read_and_allows_nothing():
    long = "/x/" + "a" * MAX_LINE
    assert not allows(f"User-agent: *\nDisallow: {long}/y", "reaper", f"{long}/z")
    assert allows(f"User-agent: *\nDisallow: {long}/y", "reaper", "/z")
    assert not allows(f"User-agent: *\nDisallow: /\nAllow: {long}/y", "reaper", f"{long}/z")


@pytest.mark.promise(18)
def test_no_pattern_takes_longer_than_its_length_deserves():
    hostile = "/" + "*a" * 5_000
    text = "User-agent: *\n" + f"Disallow: {hostile}b$\n" * 20 + "Disallow: /*b*b*b\n" * 5_000
    assert allows(
        text, "reaper", "/" + "a" * 8_000
    )  # one that tries again and again would still be at it tomorrow
    assert not allows(text, "reaper", "/" + "a" * 8_000 + "b")


@given(st.text("ab*$/", max_size=10), st.text("ab/", max_size=12))
def test_a_pattern_means_what_the_slow_way_says(pattern, path):
    text, whole = pattern.removesuffix("$"), pattern.endswith("$")
    slow = ".*".join(re.escape(piece) for piece in ("/" + text).split("*"))
    meant = re.match(slow + ("$" if whole else ""), "/" + path) is not None
    assert allows(f"User-agent: *\nDisallow: /\nAllow: /{pattern}", "reaper", "/" + path) is meant
    assert allows(f"User-agent: *\nDisallow: /{pattern}", "reaper", "/" + path) is not meant


@pytest.mark.parametrize(
    ("said", "delay"),
    [("10", 10), ("2.5 # seconds", 2.5), ("10s", 10), ("-1", None), ("soon", None), ("9" * 400, None)],
)
def test_a_delay_is_a_number_of_seconds(said, delay):
    assert (
        read_rules(
            f"User-agent: reaper\nCrawl-delay: {said}\nUser-agent: *\nCrawl-delay: 99".encode(), "reaper"
        ).crawl_delay
        == delay
    )


def test_the_longest_delay_of_our_groups_counts():
    assert (
        read_rules(
            b"User-agent: *\nCrawl-delay: 2\nCrawl-delay: 9\nDisallow:\nUser-agent: *\nCrawl-delay: 5",
            "reaper",
        ).crawl_delay
        == 9
    )
