"""Platforms as files: what a person may write, which mistakes are named, and how a project's own count before
the built-in ones."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pytest

from tests.reading.pages import look
from thresher.core.errors import ConfigError
from thresher.reading.platforms.answers import read_answer
from thresher.reading.platforms.boards import Board, recognise
from thresher.reading.platforms.calls import list_call
from thresher.reading.platforms.platform import (
    Confidence,
    platform_named,
    platforms,
    read_platform,
    read_platforms,
    use_platforms,
)

TODAY = date(2026, 3, 9)
OWN = """
name: ladders
list:
  url: https://ladders.example/api/openings?per_page=50
paging: {kind: page, parameter: page, size: 50, first: 1}
confidence: high
answers:
  - rows: openings
    row_has: [name, link]
    root_has: [openings, count]
    total: count
    fields:
      id: number
      title: name
      url: link
      company: {template: "Acme Ladders"}
      location: place
      remote: [{path: anywhere, is: {true: remote, false: onsite}}]
"""
PAGES = """
name: rungs
list:
  url: https://rungs.example/work
cards:
  - rows: .old-row
    title: b
  - rows: .opening
    title: [h3, a]
    url: a@href
    location: .place
    id: a@data-number
"""


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    yield
    use_platforms(())


def test_a_file_without_a_token_is_a_board_by_itself():
    use_platforms([read_platform(OWN, "ladders.yaml")])
    board = recognise("https://ladders.example/api/openings?per_page=50")
    assert board == Board("ladders", None, "https://ladders.example/api/openings?per_page=50")
    call, second = list_call(board), list_call(board, at=50)
    assert call is not None
    assert second is not None
    assert (call.url, second.url) == (board.url, f"{board.url}&page=2")
    assert recognise("https://ladders.example/other") is None


def test_the_answer_of_an_own_board_is_read_by_its_file():
    use_platforms([read_platform(OWN, "ladders.yaml")])
    row = {
        "number": 7,
        "name": "Ladder maker",
        "link": "https://ladders.example/7",
        "place": "Leeds",
        "anywhere": False,
    }
    listing = read_answer({"openings": [row], "count": 1}, today=TODAY)
    assert listing is not None
    posting = listing.postings[0]
    assert (listing.platform, listing.total) == ("ladders", 1)
    assert (posting.key, posting.company, posting.location, posting.remote) == (
        "7",
        "Acme Ladders",
        "Leeds",
        "onsite",
    )


def test_the_rows_of_an_own_page_are_read_by_the_first_selectors_that_find_any():
    use_platforms([read_platform(PAGES, "rungs.yaml")])
    rows = "".join(
        f'<div class="opening"><a href="/w/{n}" data-number="n{n}">Rung maker {n}</a><i class="place">Leeds</i></div>'
        for n in range(6)
    )
    found = look(f"<html><body>{rows}</body></html>", url="https://rungs.example/work")
    assert [posting.title for posting in found.postings] == [f"Rung maker {n}" for n in range(6)]
    assert (found.postings[0].key, found.postings[0].location) == ("n0", "Leeds")
    assert found.board is not None
    assert found.board.platform == "rungs"


def test_own_platforms_come_first_and_replace_those_of_the_same_name():
    other = read_platform("name: lever\nurls: ['^work\\.lever\\.example/(?P<token>\\w+)']\n", "lever.yaml")
    use_platforms([other])
    assert platforms()[0] is other
    assert platform_named("lever") is other
    assert recognise("https://jobs.lever.co/acme") is None
    use_platforms([])
    assert recognise("https://jobs.lever.co/acme") is not None


def test_saying_the_same_again_changes_nothing():
    own = read_platforms([("ladders.yaml", OWN), ("rungs.yaml", PAGES)])
    use_platforms(own)
    before = platforms()
    use_platforms(own)
    assert platforms() == before


def test_two_files_of_one_name_are_refused_and_nothing_changes():
    before = platforms()
    with pytest.raises(ConfigError, match="two files describe the platform ladders"):
        use_platforms(read_platforms([("a.yaml", OWN), ("b.yaml", OWN)]))
    assert platforms() == before


def test_readers_in_other_threads_see_all_platforms_or_the_new_ones_never_a_part():
    own = [read_platform(OWN, "ladders.yaml")]
    sizes = {len(platforms()), len(platforms()) + 1}

    def work(number: int) -> int:
        use_platforms(own if number % 2 else ())
        return len(platforms())

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(work, range(400))) <= sizes


@pytest.mark.parametrize(
    ("text", "line", "key", "advice"),
    [
        ("name: x\nlist:\n  url: ftp://x.example/\n", 3, "list.url", "starts with https://"),
        ("name: x\nlist:\n  url: https://x.example/\n  body: text\n", 4, "list.body", "sent as JSON"),
        ("name: x\nlist:\n  url: https://x.example/\n  method: DELETE\n", 4, "list.method", "GET, POST"),
        (
            "name: x\nlist:\n  url: https://x.example/\n  headers: [a]\n",
            4,
            "list.headers",
            "mapping of text",
        ),
        ("name: x\nlist: {url: 'https://x.example/{token}'}\n", 2, "list", "(?P<token>...)"),
        (
            "name: x\nurls: ['^x/(?P<token>.)']\nlist: {url: 'https://x.example/{token}/{site}'}\n",
            3,
            "list",
            "(?P<site>...)",
        ),
        (
            "name: x\nurls: ['^x/(?P<token>.)']\nlist: {url: 'https://x.example/{token}'}\n",
            3,
            "list",
            "home is missing",
        ),
        ("name: x\n\nurls:\n  - ^ok/(?P<token>.)\n  - (\n", 5, "urls[1]", "not a regular expression"),
        ("name: x\nurls: word\n", 2, "urls", "not a list"),
        ("name: X y\n", 1, "name", "is not a valid name"),
        ("name: x\nguess: first\n", 2, "guess", "whole number"),
        ("name: x\nguess: true\n", 2, "guess", "whole number"),
        ("name: x\nconfidence: sure\n", 2, "confidence", "high, medium, low"),
        ("name: x\nempty_is_proof: maybe\n", 2, "empty_is_proof", "true or false"),
        ("name: x\nday_first: maybe\n", 2, "day_first", "true or false"),
        ("name: x\npaging: {kind: offset, size: 10}\n", 2, "paging", "parameter and size"),
        ("name: x\npaging: {facets: [a]}\n", 2, "paging.facets", "facet is missing"),
        ("name: x\npaging:\n  in: cookie\n", 3, "paging.in", "query, body"),
        ("name: x\npaging: {facet: {path: a}}\n", 2, "paging.facet", "parameter is missing"),
        ("name: x\nauth:\n  env: 'my secret!'\n", 3, "auth.env", "never the secret itself"),
        ("name: x\nauth: {env: KEY, as: header}\n", 2, "auth.name", "the header"),
        ("name: x\nauth: {env: KEY, as: cookie}\n", 2, "auth.as", "bearer, header, query"),
        ("name: x\nowner: {url: 'https://x.example/'}\n", 2, "owner", "path in data, or select in a page"),
        (
            "name: x\nanswers:\n  - row_has: [t]\n    fields:\n      title: t\n      remote: [x]\n",
            6,
            "answers[0].fields.remote",
            "anywhere: remote",
        ),
        (
            "name: x\nanswers:\n  - row_has: [t]\n    fields:\n      title: t\n      colour: t\n",
            6,
            "answers[0].fields.colour",
            "not a known key",
        ),
        (
            "name: x\nanswers:\n  - row_has: [t]\n    fields: {title: 7}\n",
            4,
            "answers[0].fields.title",
            "not a field",
        ),
        (
            "name: x\nanswers:\n  - row_has: [t]\n    hidden: x\n    fields: {title: t}\n",
            4,
            "answers[0].hidden",
            "{path: listed",
        ),
        ("name: x\ncards:\n  - rows: 'li['\n    title: a\n", 3, "cards[0].rows", "not a CSS selector"),
        ("name: x\ncards:\n  - rows: li\n    title: [a, 'b[']\n", 4, "cards[0].title", "not a CSS selector"),
        ("name: x\nposting: /(?P<id>\n", 2, "posting", "not a regular expression"),
    ],
)
def test_a_mistake_is_named_with_its_file_line_and_key(text: str, line: int, key: str, advice: str):
    with pytest.raises(ConfigError) as raised:
        read_platform(text, "x.yaml")
    assert str(raised.value).startswith(f"x.yaml, line {line}: {key}: ")
    assert advice in str(raised.value)


def test_a_file_of_millions_of_characters_is_not_read():
    with pytest.raises(ConfigError, match="a page or two"):
        read_platform("# x\n" * 100_000, "x.yaml")


def test_a_file_nested_without_end_is_not_yaml():
    for text in ("[" * 50_000, "- " * 50_000, "name: x\nlist: " + "{a: " * 50_000):
        with pytest.raises(ConfigError, match=r"x\.yaml"):
            read_platform(text, "x.yaml")


def test_names_inside_names_do_not_grow_without_end():
    lines = ["name: x", "a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 20)]
    with pytest.raises(ConfigError, match=r"x\.yaml"):
        read_platform("\n".join(lines), "x.yaml")


def test_every_platform_that_lists_says_all_that_a_look_needs():
    hosted = [each for each in platforms() if each.name in WANTED]
    assert len(hosted) == len(WANTED)
    for platform in hosted:
        assert platform.endpoint is not None, platform.name
        assert platform.owner is not None or platform.name == "workday", platform.name
        assert platform.confidence in Confidence
        assert platform.answers or platform.cards, platform.name
        said = any("description" in answer.fields for answer in platform.answers)
        assert said or platform.detail is not None, platform.name
        assert platform.posting is not None or all("id" in answer.fields for answer in platform.answers), (
            platform.name
        )


WANTED = (
    "greenhouse",
    "lever",
    "ashby",
    "workday",
    "smartrecruiters",
    "recruitee",
    "workable",
    "personio",
    "teamtailor",
    "bamboohr",
    "icims",
    "jobvite",
    "breezy",
    "rippling",
    "pinpoint",
)
