"""What is sent to a board: its list, the next part of it, one posting, its owner's name."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.core.credentials import Credentials
from thresher.core.errors import ConfigError
from thresher.reading.html.document import Document
from thresher.reading.platforms.boards import Board, board_named, fingerprint, recognise
from thresher.reading.platforms.calls import (
    Call,
    detail_call,
    facets_of,
    list_call,
    owner_call,
    owner_name,
    with_auth,
)
from thresher.reading.platforms.platform import Platform, guessable, platform_named, platforms, read_platform
from thresher.reading.postings.posting import Posting

UUID = "0f9b1c2d-1111-4222-8333-444455556666"
LISTS = {
    "https://boards.greenhouse.io/acme": "https://boards-api.greenhouse.io/v1/boards/acme/jobs?content=true",
    "https://jobs.lever.co/acme": "https://api.lever.co/v0/postings/acme?mode=json&limit=100",
    "https://jobs.eu.lever.co/acme": "https://api.eu.lever.co/v0/postings/acme?mode=json&limit=100",
    "https://jobs.ashbyhq.com/Acme%20Labs": "https://api.ashbyhq.com/posting-api/job-board/Acme%20Labs?includeCompensation=true",
    "https://acme.wd5.myworkdayjobs.com/en-US/Work": "https://acme.wd5.myworkdayjobs.com/wday/cxs/acme/Work/jobs",
    "https://careers.smartrecruiters.com/Acme": "https://api.smartrecruiters.com/v1/companies/Acme/postings?limit=100&offset=0",
    "https://acme.recruitee.com": "https://acme.recruitee.com/api/offers/",
    "https://apply.workable.com/acme": "https://apply.workable.com/api/v1/widget/accounts/acme?details=true",
    "https://acme.jobs.personio.com": "https://acme.jobs.personio.com/xml?language=en",
    "https://acme.na.teamtailor.com": "https://acme.na.teamtailor.com/jobs.json",
    "https://acme.bamboohr.com/careers": "https://acme.bamboohr.com/careers/list",
    "https://careers-acme.icims.com/jobs": "https://careers-acme.icims.com/jobs/search?ss=1&in_iframe=1&pr=0",
    "https://jobs.jobvite.com/acme": "https://jobs.jobvite.com/acme/search?p=0",
    "https://acme.breezy.hr": "https://acme.breezy.hr/json?verbose=true",
    "https://ats.rippling.com/acme/jobs": "https://api.rippling.com/platform/api/ats/v1/board/acme/jobs",
    "https://acme.pinpointhq.com": "https://acme.pinpointhq.com/postings.json",
}
DETAILS = {
    "https://boards.greenhouse.io/acme/jobs/12": "https://boards-api.greenhouse.io/v1/boards/acme/jobs/12",
    f"https://jobs.eu.lever.co/acme/{UUID}": f"https://api.eu.lever.co/v0/postings/acme/{UUID}?mode=json",
    "https://acme.wd5.myworkdayjobs.com/en-US/Work/job/Leeds-UK/Ladder-maker_R-1": (
        "https://acme.wd5.myworkdayjobs.com/wday/cxs/acme/Work/job/Leeds-UK/Ladder-maker_R-1"
    ),
    "https://jobs.smartrecruiters.com/Acme/743999-ladder-maker": "https://api.smartrecruiters.com/v1/companies/Acme/postings/743999",
    "https://acme.recruitee.com/o/ladder-maker": "https://acme.recruitee.com/api/offers/ladder-maker",
    "https://apply.workable.com/acme/j/0123456789/": "https://apply.workable.com/api/v2/accounts/acme/jobs/0123456789",
    "https://acme.bamboohr.com/careers/12": "https://acme.bamboohr.com/careers/12/detail",
    "https://careers-acme.icims.com/jobs/12/ladder-maker/job": "https://careers-acme.icims.com/jobs/12/job?in_iframe=1",
    "https://jobs.jobvite.com/acme/job/oAbC12": "https://jobs.jobvite.com/acme/job/oAbC12",
    f"https://ats.rippling.com/acme/jobs/{UUID}": f"https://api.rippling.com/platform/api/ats/v1/board/acme/jobs/{UUID}",
}


def board(url: str) -> Board:
    found = recognise(url)
    assert found is not None
    return found


def sent(call: Call | None) -> Call:
    assert call is not None
    return call


@pytest.mark.parametrize(("url", "wanted"), LISTS.items())
def test_the_list_of_a_board_is_asked_for_at_its_platform(url: str, wanted: str):
    assert sent(list_call(board(url))).url == wanted


@pytest.mark.parametrize(("url", "wanted"), DETAILS.items())
def test_one_posting_is_asked_for_by_nothing_but_its_address(url: str, wanted: str):
    assert sent(detail_call(board(url), Posting("x", url=url))).url == wanted


def test_the_key_of_a_posting_counts_before_what_its_address_says():
    posting = Posting("x", url="https://acme.example/work?gh_jid=7", key="12")
    assert sent(detail_call(board("https://boards.greenhouse.io/acme"), posting)).url.endswith(
        "/boards/acme/jobs/12"
    )


def test_a_posting_without_key_and_address_cannot_be_asked_for():
    assert detail_call(board("https://boards.greenhouse.io/acme"), Posting("x")) is None


def test_offsets_stand_in_the_query_or_in_the_body():
    lever = sent(list_call(board("https://jobs.lever.co/acme"), at=200))
    assert lever.url.endswith("?mode=json&limit=100&skip=200")
    smart = sent(list_call(board("https://careers.smartrecruiters.com/Acme"), at=200))
    assert smart.url.endswith("?limit=100&offset=200")
    workday = sent(list_call(board("https://acme.wd5.myworkdayjobs.com/Work"), at=40))
    assert workday.method == "POST"
    assert json.loads(workday.body) == {"appliedFacets": {}, "limit": 20, "offset": 40, "searchText": ""}


def test_an_offset_is_found_inside_another_parameter_too():
    oracle = board("https://acme.fa.us2.oraclecloud.com/hcmUI/CandidateExperience/en/sites/CX_1")
    assert ",offset=50,sortBy" in sent(list_call(oracle, at=50)).url


def test_pages_are_counted_by_rows_unless_their_number_is_said():
    jobvite = board("https://jobs.jobvite.com/acme")
    assert sent(list_call(jobvite, at=100)).url.endswith("?p=2")
    icims = board("https://careers-acme.icims.com/jobs")
    assert "pr=4" in sent(list_call(icims, at=100, page=4)).url  # this portal shows 25 a page
    assert "pr=0" in sent(list_call(icims, page=0)).url


def test_a_list_that_comes_whole_has_no_second_part():
    for url in (
        "https://boards.greenhouse.io/acme",
        "https://acme.recruitee.com",
        "https://acme.na.teamtailor.com",
    ):
        assert list_call(board(url), at=100) is None


def test_the_link_to_the_next_page_is_followed_on_the_same_host_only():
    teamtailor = board("https://acme.na.teamtailor.com")
    assert sent(list_call(teamtailor, cursor="https://acme.na.teamtailor.com/jobs.json?page=2")).url.endswith(
        "?page=2"
    )
    assert (
        sent(list_call(teamtailor, cursor="/jobs.json?page=2")).url
        == "https://acme.na.teamtailor.com/jobs.json?page=2"
    )
    for elsewhere in (
        "https://evil.example/jobs.json",
        "//evil.example/",
        "http://acme.na.teamtailor.com/",
        "javascript:x",
        "x" * 9_000,
    ):
        assert list_call(teamtailor, cursor=elsewhere) is None


def test_a_list_on_a_companys_own_domain_is_asked_for_there():
    own = fingerprint(
        Document.from_html(
            '<script src="https://x.recruiteecdn.com/a.js"></script>', "https://work.acme.example/"
        )
    )
    assert own is not None
    assert own.token is None
    assert sent(list_call(own)).url == "https://work.acme.example/api/offers/"
    posting = Posting("x", url="https://work.acme.example/o/ladder-maker")
    assert sent(detail_call(own, posting)).url == "https://work.acme.example/api/offers/ladder-maker"


def test_a_list_is_split_by_facets_and_its_facets_are_counted():
    workday = board("https://acme.wd5.myworkdayjobs.com/Work")
    call = sent(list_call(workday, at=20, facets={"locations": ["a", "b"], "timeType": []}))
    assert json.loads(call.body)["appliedFacets"] == {"locations": ["a", "b"]}
    answer = {
        "facets": [
            {
                "facetParameter": "places",
                "values": [{"facetParameter": "locations", "values": [{"id": "a", "count": 3}]}],
            },
            {
                "facetParameter": "jobFamilyGroup",
                "values": [{"id": "j", "count": 2}, {"id": "k", "count": 0}, {"id": "l"}],
            },
            {"facetParameter": "unheardOf", "values": [{"id": "z", "count": 9}]},
            "nonsense",
        ]
    }
    assert facets_of(workday, answer) == {"jobFamilyGroup": {"j": 2}, "locations": {"a": 3}}
    assert list(facets_of(workday, answer)) == ["jobFamilyGroup", "locations"]
    assert list_call(board("https://jobs.lever.co/acme"), facets={"x": ["y"]}) is None


@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["facets", "facetParameter", "values", "id", "count"]), inner)
        ),
        max_leaves=20,
    )
)
def test_facets_of_anything_are_counts(data: object):
    counted = facets_of(board("https://acme.wd5.myworkdayjobs.com/Work"), data)
    assert all(count > 0 for values in counted.values() for count in values.values())


@pytest.mark.parametrize(
    ("url", "answer", "name"),
    [
        ("https://boards.greenhouse.io/acme", {"name": "Acme  Ladders"}, "Acme Ladders"),
        ("https://apply.workable.com/acme", {"name": "Acme Ladders", "jobs": []}, "Acme Ladders"),
        (
            "https://careers.smartrecruiters.com/Acme",
            {"content": [{"company": {"name": "Acme Ladders"}}]},
            "Acme Ladders",
        ),
        ("https://acme.recruitee.com", {"offers": [{"company_name": "Acme Ladders"}]}, "Acme Ladders"),
        ("https://acme.breezy.hr", [{"company": {"name": "Acme Ladders"}}], "Acme Ladders"),
        ("https://acme.bamboohr.com/careers", {"result": {"name": "Acme Ladders"}}, "Acme Ladders"),
        ("https://acme.na.teamtailor.com", {"title": "Acme Ladders", "items": []}, "Acme Ladders"),
        ("https://acme.jobs.personio.de", {"position": [{"subcompany": "Acme Ladders"}]}, "Acme Ladders"),
        (
            "https://jobs.lever.co/acme",
            "<html><head><title>Acme Ladders</title></head></html>",
            "Acme Ladders",
        ),
        ("https://jobs.ashbyhq.com/acme", "<title>Acme Ladders Jobs</title>", "Acme Ladders Jobs"),
        ("https://boards.greenhouse.io/acme", {"name": None}, None),
        ("https://boards.greenhouse.io/acme", {"name": {"x": 1}}, None),
        ("https://boards.greenhouse.io/acme", "<title>Blocked</title>", None),
        ("https://careers.smartrecruiters.com/Acme", {"content": []}, None),
    ],
)
def test_a_board_says_whose_it_is(url: str, answer: object, name: str | None):
    assert owner_call(board(url)) is not None
    assert owner_name(board(url), answer) == name


HOSTILE = [
    "evil.example/",
    "evil.example#",
    "evil.example?",
    "a@evil.example",
    "a:b@evil.example/",
    "..",
    ".",
    "../../admin",
    "..%2f..%2fadmin",
    "%2e%2e",
    "%252e%252e",
    "a/../b",
    "a\\..\\b",
    "a\r\nhost: evil",
    "a b\tc",
    "",
    " ",
    "a&mode=x",
    "a?x=1",
    "a#x",
    "[::1]",
    "127.0.0.1:80/x",
    "\u202eacme",
    "ac\u0000me",
    "x" * 5_000,
    "{region}",
    "{+path}",
    "ａｃｍｅ",
    "a%00b",
    "//evil.example",
    "evil。example",
]


@pytest.mark.promise(17)
@pytest.mark.parametrize("token", HOSTILE)
def test_a_hostile_token_never_leaves_its_host(token: str):
    for platform in (each for each in platforms() if each.endpoint):
        _stays(platform, token)


@pytest.mark.promise(17)
@given(
    st.text(max_size=60), st.sampled_from(["token", "region", "tld", "centre", "site", "id", "path", "slug"])
)
def test_no_part_of_a_board_leads_anywhere_else(text: str, name: str):
    for platform in (each for each in platforms() if each.endpoint):
        _stays(platform, "acme", {name: text})


def _stays(platform: Platform, token: str, more: dict[str, str] | None = None) -> None:
    """Every call a board gives, whatever its parts are, goes where an honest board's call goes."""
    known = {"token": token, "region": "", "tld": "de", "centre": "wd5", "site": "Work", **(more or {})}
    wrong = Board(platform.name, token, "https://work.acme.example/", known)
    posting = Posting("x", url=f"https://work.acme.example/{token}", key=known.get("id", token))
    for call in (list_call(wrong), list_call(wrong, at=100), detail_call(wrong, posting), owner_call(wrong)):
        if call is not None:
            assert _domain(call.url) in {_domain(each) for each in _written(platform)}, (platform.name, call)
            assert "/../" not in call.url
            assert "\n" not in call.url


def _written(platform: Platform) -> list[str]:
    endpoints = [each for each in (platform.endpoint, platform.detail, platform.owner) if each and each.url]
    return [str(each.url).replace("{tld}", tld) for each in endpoints for tld in ("de", "com")]


def _domain(url: str) -> str:
    """The part of the host that nobody may choose: its last two labels."""
    host = url.partition("//")[2].partition("/")[0].partition("?")[0]
    return (
        "oraclecloud.com"
        if host == "{token}" or host.endswith(".oraclecloud.com")
        else ".".join(host.lower().split(".")[-2:])
    )


def test_a_board_of_an_unheard_of_platform_has_no_calls():
    unknown = Board("nonesuch", "acme", "https://acme.example/", {"token": "acme"})
    assert list_call(unknown) is None
    assert detail_call(unknown, Posting("x", key="1")) is None
    assert owner_call(unknown) is None
    assert owner_name(unknown, {"name": "x"}) is None
    assert facets_of(unknown, {}) == {}


def test_a_board_can_be_named_by_platform_and_token():
    lever = board_named("lever", "acme")
    assert lever == recognise("https://jobs.lever.co/acme")
    assert lever is not None
    assert sent(list_call(lever)).url.startswith("https://api.lever.co/")
    assert board_named("lever", "acme", {"region": "eu."}) == recognise("https://jobs.eu.lever.co/acme")
    assert board_named("personio", "acme") is None  # nobody said which of its two domains
    assert board_named("greenhouse", "embed") is None
    assert board_named("nonesuch", "acme") is None


def test_a_board_without_its_parts_is_completed_where_nothing_is_missing():
    assert sent(list_call(Board("lever", "acme", ""))).url.startswith(
        "https://api.lever.co/v0/postings/acme?"
    )
    assert list_call(Board("workday", "acme", "")) is None
    assert list_call(Board("lever", "acme", "", {"token": "other"})) is None


def test_names_are_tried_in_the_order_of_cost_and_never_where_they_are_opaque():
    names = [platform.name for platform in guessable()]
    assert names == [
        "greenhouse",
        "ashby",
        "lever",
        "workable",
        "smartrecruiters",
        "recruitee",
        "bamboohr",
        "breezy",
        "pinpoint",
        "rippling",
    ]


def keyed(how: str, name: str = "") -> Platform:
    named = f", name: {name}" if name else ""
    return read_platform(
        f"name: acme\nlist: {{url: 'https://api.acme.example/work'}}\nauth: {{env: ACME_KEY, as: {how}{named}}}\n",
        "acme.yaml",
    )


def test_a_key_comes_from_the_environment_only():
    call = Call("https://api.acme.example/work?a=1")
    env = {"ACME_KEY": "s&cret"}
    sent = {
        how: with_auth(call, keyed(how, name), env)
        for how, name in (("bearer", ""), ("header", "X-Key"), ("query", "key"))
    }
    assert {(each.url, *each.headers) for each in sent.values()} == {(call.url,)}
    assert sent["bearer"].credentials == Credentials(
        "https://api.acme.example", {"authorization": "Bearer s&cret"}
    )
    assert sent["header"].credentials == Credentials("https://api.acme.example", {"x-key": "s&cret"})
    assert sent["query"].credentials == Credentials("https://api.acme.example", query={"key": "s&cret"})
    assert "cret" not in repr(sent)
    greenhouse = platform_named("greenhouse")
    assert greenhouse is not None
    assert with_auth(call, greenhouse, {}) == call


HOSTED = """
name: hosted
urls: ['^(?P<token>[^/]+)\\.(?P<region>eu\\.)?hosted\\.example']
home: https://{token}.hosted.example
list: {url: 'https://{region}api.hosted.example/v1/{token}', own: /jobs.json}
auth: {env: ACME_KEY, as: header, name: x-key}
"""


@pytest.mark.promise(17)
@pytest.mark.parametrize(
    ("url", "goes"),
    [
        ("https://api.hosted.example/v1/a", True),
        ("https://eu.api.hosted.example/v1/a", True),
        ("https://a.hosted.example/x", True),
        ("https://API.hosted.example:443/v1/a", True),
        ("https://careers.company.example/jobs.json", False),  # a company that shows the mark
        ("http://api.hosted.example/v1/a", False),
        ("https://api.hosted.example:8443/v1/a", False),
        ("https://evilapi.hosted.example.company.example/", False),
        ("https://api.hosted.example.evil.example/", False),
        ("https://evilhosted.example/", False),
        ("https://hosted.example@evil.example/", False),
        ("https://evil.example/api.hosted.example", False),
    ],
)
def test_a_platforms_secret_goes_only_to_the_hosts_of_its_own_file(url: str, goes: bool):
    call = Call(url)
    sent = with_auth(call, read_platform(HOSTED, "hosted.yaml"), {"ACME_KEY": "s3cret-key"})
    assert (sent.credentials is not None) is goes
    assert goes or sent == call


@pytest.mark.promise(17)
def test_no_missing_key_is_asked_for_where_none_may_go():
    call = Call("https://careers.company.example/jobs.json")
    assert with_auth(call, read_platform(HOSTED, "hosted.yaml"), {}) == call


@pytest.mark.promise(17)
@pytest.mark.parametrize(
    "url",
    [
        "https://{token}/api",
        "https://api.{token}/api",
        "https://{token}.co.uk/api",
        "https://{token}.example/",
    ],
)
def test_a_file_whose_host_anybody_can_fill_in_may_have_no_secret(url: str):
    text = f"name: x\nurls: ['^(?P<token>.+)']\nhome: 'https://{{token}}'\nlist: {{url: '{url}'}}\nauth: {{env: KEY}}\n"
    with pytest.raises(ConfigError, match="where the secret may be sent"):
        read_platform(text, "x.yaml")


@pytest.mark.parametrize("env", [{}, {"ACME_KEY": "  "}, {"ACME_KEY": "a\r\nhost: evil"}])
def test_a_missing_or_broken_key_is_named_by_its_variable(env: dict[str, str]):
    with pytest.raises(ConfigError, match="ACME_KEY") as raised:
        with_auth(Call("https://api.acme.example/work"), keyed("bearer"), env)
    assert "evil" not in str(raised.value)
