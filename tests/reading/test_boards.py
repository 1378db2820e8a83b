"""Which board an address or a page belongs to."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.core.errors import ConfigError
from thresher.reading.html.document import Document
from thresher.reading.platforms.boards import fingerprint, is_partial, recognise
from thresher.reading.platforms.platform import Platform, platforms, read_platform

ADDRESSES = [
    ("https://boards.greenhouse.io/acme", "greenhouse", "acme"),
    ("https://job-boards.eu.greenhouse.io/acme/jobs/4012", "greenhouse", "acme"),
    ("https://boards.greenhouse.io/embed/job_board?b=1&for=acme", "greenhouse", "acme"),
    ("https://boards.greenhouse.io/embed/job_app?for=acme&token=17", "greenhouse", "acme"),
    ("https://boards-api.greenhouse.io/v1/boards/acme/jobs?content=true", "greenhouse", "acme"),
    ("https://jobs.lever.co/Acme-Labs/3f1c", "lever", "Acme-Labs"),
    ("https://jobs.eu.lever.co/acme", "lever", "acme"),
    ("https://api.lever.co/v0/postings/acme?mode=json", "lever", "acme"),
    ("https://jobs.ashbyhq.com/Acme%20Labs", "ashby", "Acme Labs"),
    ("https://api.ashbyhq.com/posting-api/job-board/Acme", "ashby", "Acme"),
    ("https://acme.wd5.myworkdayjobs.com/en-US/Careers", "workday", "acme"),
    ("https://acme.wd5.myworkdayjobs.com/wday/cxs/acme/Careers/jobs", "workday", "acme"),
    ("https://wd3.myworkdaysite.com/en-US/recruiting/acme/Careers", "workday", "acme"),
    ("https://acme.myworkdayjobs.com", "workday", "acme"),
    ("https://acme.myworkdayjobs.com/en-US/Careers", "workday", "acme"),
    ("https://careers.smartrecruiters.com/Acme", "smartrecruiters", "Acme"),
    ("https://jobs.smartrecruiters.com/oneclick-ui/company/Acme/publication/1", "smartrecruiters", "Acme"),
    ("https://jobs.jobvite.com/careers/acme/job/o1", "jobvite", "acme"),
    ("https://acme.recruitee.com/o/painter", "recruitee", "acme"),
    ("https://apply.workable.com/acme/j/ABC/", "workable", "acme"),
    ("https://acme.workable.com", "workable", "acme"),
    ("https://acme.bamboohr.com/careers/12", "bamboohr", "acme"),
    ("https://acme.jobs.personio.de/job/1?language=de", "personio", "acme"),
    ("https://acme.na.teamtailor.com/jobs", "teamtailor", "acme"),
    ("https://careers-acme.icims.com/jobs/search", "icims", "careers-acme"),
    ("https://acme.breezy.hr/", "breezy", "acme"),
    ("https://ats.rippling.com/en-GB/acme/jobs", "rippling", "acme"),
    ("https://acme.pinpointhq.com/", "pinpoint", "acme"),
    ("https://jobs.gem.com/acme", "gem", "acme"),
]


@pytest.mark.parametrize(("url", "platform", "token"), ADDRESSES)
def test_an_address_is_recognised_with_its_token(url: str, platform: str, token: str):
    board = recognise(url)
    assert board is not None
    assert (board.platform, board.token) == (platform, token)


@pytest.mark.parametrize(("url", "platform", "token"), ADDRESSES)
def test_the_home_of_a_board_is_an_address_of_the_same_board(url: str, platform: str, token: str):
    board = recognise(url)
    assert board is not None
    again = recognise(board.url)
    assert again is not None
    assert (again.platform, again.token, again.url) == (platform, token, board.url)


@pytest.mark.parametrize(
    "url",
    [
        "http://www.idealever.com/jobs/lever.co",
        "https://jobs.lever.co.evil.example/acme",
        "https://evil.example/https://jobs.lever.co/acme",
        "https://evil.example/?next=jobs.lever.co/acme",
        "https://jobs.lever.co@evil.example/acme",
        "https://notgreenhouse.io/acme",
        "https://boards.greenhouse.io/",
        "https://boards.greenhouse.io/embed/job_board",
        "https://apply.workable.com/j/ABCDEF",
        "https://www.recruitee.com/",
        "https://acme.bamboohr.com/login.php",
        "ftp://jobs.lever.co/acme",
        "javascript:alert(1)",
        "not an address",
        "",
        "https://" + "a" * 9_000,
    ],
)
@pytest.mark.promise(17)
def test_an_address_that_merely_looks_like_a_board_is_none(url: str):
    assert recognise(url) is None


def test_case_counts_in_tokens_but_not_in_hosts():
    board = recognise("HTTPS://Jobs.Lever.CO/AcmeLabs")
    assert board is not None
    assert board.token == "AcmeLabs"


def test_an_address_without_a_scheme_is_recognised_too():
    board = recognise("jobs.lever.co/acme")
    assert board is not None
    assert board.url == "https://jobs.lever.co/acme"


def test_a_workday_address_with_only_a_language_still_names_the_tenant():
    board = recognise("https://acme.wd1.myworkdayjobs.com/en-us")
    assert board is not None
    assert board.token == "acme"
    assert board.endpoint is None


@pytest.mark.parametrize(
    "url",
    ["https://wd5.myworkdayjobs.com/Careers", "https://www.myworkdayjobs.com/", "https://myworkdayjobs.com"],
)
def test_a_workday_host_that_names_no_tenant_is_no_board(url: str):
    assert recognise(url) is None


@pytest.mark.parametrize(
    ("url", "partial"),
    [
        ("https://acme.myworkdayjobs.com/Careers", True),
        ("https://acme.wd5.myworkdayjobs.com/", True),
        ("https://acme.wd5.myworkdayjobs.com/Careers", False),
        ("https://boards.greenhouse.io/acme", False),
    ],
)
def test_an_address_says_whether_the_list_can_be_requested_by_it(url: str, partial: bool):
    board = recognise(url)
    assert board is not None
    assert is_partial(board) is partial


def test_a_board_says_where_its_list_is_asked_for():
    board = recognise("https://acme.wd5.myworkdayjobs.com/en-US/Careers")
    assert board is not None
    assert board.endpoint == "https://acme.wd5.myworkdayjobs.com/wday/cxs/acme/Careers/jobs"


@pytest.mark.promise(17)
def test_a_token_cannot_leave_its_place_in_the_endpoint():
    board = recognise("https://jobs.ashbyhq.com/..%2F..%2Fadmin%3Fx=1")
    assert board is None or "/admin" not in (board.endpoint or "")


def page(body: str, url: str = "https://acme.example/careers") -> Document:
    return Document.from_html(f"<html><body>{body}</body></html>", url)


@pytest.mark.parametrize(
    ("body", "platform", "token"),
    [
        (
            '<script src="https://boards.greenhouse.io/embed/job_board/js?for=acme"></script>',
            "greenhouse",
            "acme",
        ),
        ('<iframe src="https://jobs.ashbyhq.com/acme/embed"></iframe>', "ashby", "acme"),
        ('<script>fetch("https://api.lever.co/v0/postings/acme?mode=json")</script>', "lever", "acme"),
        ('<footer><a href="https://acme.breezy.hr/">Careers</a></footer>', "breezy", "acme"),
        ('<script src="https://d1.recruiteecdn.com/x.js"></script>', "recruitee", None),
        ('<link href="https://assets.teamtailor-cdn.com/a.css"><p>x</p>', "teamtailor", None),
        (
            r'<script>x = {"u": "https:\/\/boards.greenhouse.io\/acme\/jobs\/12"}</script>',
            "greenhouse",
            "acme",
        ),
        (
            '<script>x = "https://jobs.lever.co/acme/0f9b1c2d-1111-4222-8333-444455556666"</script>',
            "lever",
            "acme",
        ),
        (
            r'<script>x = "https:\/\/jobs.ashbyhq.com\/Acme%20Labs\/0f9b1c2d-1111-4222-8333-444455556666"</script>',
            "ashby",
            "Acme Labs",
        ),
        ('<script>go("https://acme.wd5.myworkdayjobs.com/en-US/Work")</script>', "workday", "acme"),
        ('<ul><li><a href="/work?gh_jid=12">Ladder maker</a></li></ul>', "greenhouse", None),
    ],
)
def test_a_page_on_a_companys_own_domain_shows_its_board(body: str, platform: str, token: str | None):
    board = fingerprint(page(body))
    assert board is not None
    assert (board.platform, board.token) == (platform, token)


def test_scripts_that_name_several_boards_name_none():
    script = "".join(f'"https://jobs.lever.co/c{n}/0f9b1c2d-1111-4222-8333-444455556666",' for n in range(3))
    assert fingerprint(page(f"<script>x = [{script}]</script>")) is None


def test_the_own_domain_of_a_company_is_asked_at_the_platforms_path():
    board = fingerprint(
        page('<script src="https://d1.recruiteecdn.com/x.js"></script>', "https://work.acme.example/")
    )
    assert board is not None
    assert board.endpoint == "https://work.acme.example/api/offers/"


def test_a_directory_of_many_boards_is_no_board():
    links = "".join(f'<a href="https://jobs.lever.co/c{n}">Company {n}</a>' for n in range(5))
    assert fingerprint(page(links)) is None


def test_of_several_boards_the_one_whose_link_speaks_of_work_is_taken():
    body = '<a href="https://jobs.lever.co/partner">our partner</a><a href="https://jobs.lever.co/acme">Careers</a>'
    board = fingerprint(page(body))
    assert board is not None
    assert board.token == "acme"


def test_a_footer_link_to_a_host_that_contains_the_name_is_no_board():
    assert fingerprint(page('<a href="http://www.idealever.com/">web design</a>')) is None


@given(st.text(max_size=300))
@settings(deadline=None)
def test_any_text_is_some_board_or_none(text: str):
    board = recognise(text)
    assert board is None or board.token


def test_every_platform_file_is_whole():
    names = [platform.name for platform in platforms()]
    assert len(names) == len(set(names))
    assert {
        "greenhouse",
        "lever",
        "ashby",
        "workday",
        "smartrecruiters",
        "jobvite",
        "recruitee",
        "workable",
        "bamboohr",
        "personio",
        "teamtailor",
        "icims",
        "breezy",
        "rippling",
        "pinpoint",
    } <= set(names)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("name: x\nurls: [(]\n", "not a regular expression"),
        ("name: x\nurls: ['^x/(?P<t>.)']\n", "(?P<token>"),
        ("name: x\nurl: []\n", "url is not a known key"),
        ("urls: []\n", "name is missing"),
        ("name: x\nanswers: [{rows: a, fields: {title: t}}]\n", "row_has"),
        ("name: x\nanswers: [{rows: a, row_has: [t], fields: {title: {some: thing}}}]\n", "is not a field"),
        ("name: x\npaging: {kind: sideways}\n", "none, offset, page, next"),
        ("name: x\ncards: [{rows: li}]\n", "rows and title are needed"),
        ("name: x\nmarks: [{pattern: x}]\n", "a mark needs has"),
        ("[", "not YAML"),
        ("just words", "not a mapping"),
    ],
)
def test_a_mistake_in_a_platform_file_is_named(text: str, advice: str):
    with pytest.raises(ConfigError, match=r"x\.yaml") as raised:
        read_platform(text, "x.yaml")
    assert advice in str(raised.value)


def reference_row(platform: Platform) -> str:
    """What the reference says of a platform."""
    endpoint, paging = platform.endpoint, platform.paging
    more = {"none": "whole", "next": "next link"}.get(paging.kind, f"{paging.kind}, {paging.size} a page")
    silent = "in the page" if platform.answers or platform.cards else "–"
    listed = f"`{endpoint.method} {endpoint.url.partition('?')[0]}`" if endpoint else silent
    return (
        "| "
        + " | ".join(
            (
                platform.name,
                f"`{platform.home}`" if platform.home else "companies' own domains",
                listed,
                more + (f", cut off at {paging.cap:,}" if paging.cap else "") if endpoint else "–",
                "yes" if platform.detail else "–",
                ("own address" if platform.owner.url else "in the list") if platform.owner else "–",
                str(platform.guess or "–"),
                platform.confidence,
                "yes" if platform.empty_is_proof else "no",
            )
        )
        + " |"
    )


def test_the_reference_lists_every_platform():
    text = (Path(__file__).parents[2] / "docs" / "reference" / "boards.md").read_text("utf-8")
    assert [row for platform in platforms() if (row := reference_row(platform)) not in text] == []


def test_the_files_that_the_pages_show_are_platforms():
    docs = Path(__file__).parents[2] / "docs"
    shown = [
        block.partition("```")[0]
        for page in ("reference/platforms.md", "how-to/add-a-board.md")
        for block in (docs / page).read_text("utf-8").split("```yaml\n")[1:]
    ]
    assert [read_platform(text, "shown.yaml").name for text in shown] == [
        "acme",
        "acme",
        "acme-api",
        "acme-feed",
    ]
