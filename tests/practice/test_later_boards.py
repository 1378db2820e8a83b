"""The job boards that came later: iCIMS, Jobvite, Breezy, Rippling, Pinpoint; and every trouble works on them
as on the others."""

import json
import re
from collections.abc import Callable
from xml.etree import ElementTree as ET

import pytest

from tests.practice.browse import get
from thresher.practice.web import (
    DAY_ZERO,
    KNOWN,
    Knob,
    PracticeWeb,
    Trouble,
    board_url,
    company,
    directory,
    owner,
    postings,
)

ICIMS = "https://careers-mallow.icims.com/jobs/search?ss=1&in_iframe=1&pr={}"
JOBVITE = "https://jobs.jobvite.com/nutmeg/search?p={}"
BREEZY = "https://orchard.breezy.hr/json"
RIPPLING = "https://api.rippling.com/platform/api/ats/v1/board/pumice/jobs"
PINPOINT = "https://quartz.pinpointhq.com/postings.json"


def rows_of_icims(web: PracticeWeb) -> list[str]:
    return re.findall(r'class="iCIMS_Anchor" href="[^"]*/jobs/(\d+)/', get(web, ICIMS.format(0)).text)


def rows_of_jobvite(web: PracticeWeb) -> list[str]:
    return re.findall(
        r'class="jv-job-list-name"><a href="/nutmeg/job/(\w+)"', get(web, JOBVITE.format(0)).text
    )


ROWS: dict[str, tuple[str, Callable[[PracticeWeb], list[str]]]] = {
    "mallow": ("careers-mallow.icims.com", rows_of_icims),
    "nutmeg": ("jobs.jobvite.com", rows_of_jobvite),
    "orchard": ("orchard.breezy.hr", lambda web: [row["id"] for row in get(web, BREEZY).json]),
    "pumice": ("api.rippling.com", lambda web: [row["uuid"] for row in get(web, RIPPLING).json]),
    "quartz": ("quartz.pinpointhq.com", lambda web: [row["id"] for row in get(web, PINPOINT).json["data"]]),
}
PAGES = {
    "mallow": lambda number: f"https://careers-mallow.icims.com/jobs/{number}/x/job?in_iframe=1",
    "nutmeg": lambda number: f"https://jobs.jobvite.com/nutmeg/job/{number}",
    "orchard": lambda number: f"https://orchard.breezy.hr/p/{number}-x",
    "pumice": lambda number: f"https://ats.rippling.com/pumice/jobs/{number}",
}


def there(token: str) -> int:
    return len(postings(7, company(7, token), DAY_ZERO))


@pytest.mark.parametrize("token", ROWS)
def test_a_board_lists_what_is_open(web: PracticeWeb, token: str):
    _, rows = ROWS[token]
    size = {"mallow": 20, "nutmeg": 50}.get(token, there(token))
    assert len(set(rows(web))) == min(there(token), size)


@pytest.mark.parametrize("token", PAGES)
def test_a_row_leads_to_a_page_with_its_owner_in_the_data(web: PracticeWeb, token: str):
    number = ROWS[token][1](web)[0]
    text = get(web, PAGES[token](number)).text
    found = json.loads(re.search(r'ld\+json">(.*?)</script>', text)[1])
    assert (found["@type"], found["hiringOrganization"]["name"]) == ("JobPosting", KNOWN[token][0])


@pytest.mark.parametrize("token", ROWS)
def test_every_third_row_can_come_twice(web: PracticeWeb, token: str):
    host, rows = ROWS[token]
    before = rows(web)
    web.turn(Knob(Trouble.DUPLICATES, host, number=3))
    assert rows(web)[:5] == [before[0], before[1], before[2], before[2], before[3]]


@pytest.mark.parametrize("token", ROWS)
def test_a_cap_hides_rows(web: PracticeWeb, token: str):
    host, rows = ROWS[token]
    web.turn(Knob(Trouble.CAP, host, number=4))
    assert len(rows(web)) == 4


@pytest.mark.parametrize("token", ROWS)
def test_ids_can_rotate_and_still_lead_somewhere(web: PracticeWeb, token: str):
    _, rows = ROWS[token]
    web.turn(Knob(Trouble.ROTATING_IDS))
    one, two = rows(web), rows(web)
    assert not set(one) & set(two)
    if token in PAGES:
        assert get(web, PAGES[token](one[0])).status == 200


@pytest.mark.parametrize("token", ROWS)
def test_nothing_found_is_no_rows(web: PracticeWeb, token: str):
    host, rows = ROWS[token]
    web.turn(Knob(Trouble.NO_RESULTS, host))
    assert rows(web) == []


@pytest.mark.parametrize("token", ROWS)
def test_a_list_that_did_not_change_is_not_sent_again(web: PracticeWeb, token: str):
    url = {
        "mallow": ICIMS.format(0),
        "nutmeg": JOBVITE.format(0),
        "orchard": BREEZY,
        "pumice": RIPPLING,
        "quartz": PINPOINT,
    }[token]
    tag = get(web, url).headers["etag"]
    assert get(web, url, If_None_Match=tag).status == 304


@pytest.mark.parametrize("token", ROWS)
def test_a_changed_layout_hides_the_rows_from_who_knew_the_old_one(web: PracticeWeb, token: str):
    host, rows = ROWS[token]
    web.turn(Knob(Trouble.LAYOUT, host))
    try:
        found = rows(web)
    except (KeyError, TypeError):
        found = []
    assert found == []


def test_icims_walks_to_the_end_and_then_the_last_page_comes_again(web: PracticeWeb):
    pages = -(-there("mallow") // 20)
    assert pages > 1
    texts = [get(web, ICIMS.format(number)).text for number in range(pages + 2)]
    seen = [re.findall(r"/jobs/(\d+)/", text) for text in texts]
    assert len({each for page in seen for each in page}) == there("mallow")
    assert seen[pages - 1] == seen[pages] == seen[pages + 1]
    assert f"Page 2 of {pages}" in texts[1]


def test_icims_is_empty_outside_its_frame(web: PracticeWeb):
    text = get(web, "https://careers-mallow.icims.com/jobs/search?ss=1").text
    assert "iCIMS_JobCardItem" not in text
    assert 'src="/jobs/search?ss=1&in_iframe=1"' in text
    assert get(web, "https://jobs-mallow.icims.com/jobs/search").status == 404


def test_jobvite_counts_its_rows_and_hides_the_name_of_its_feed_in_a_script(web: PracticeWeb):
    text = get(web, "https://jobs.jobvite.com/nutmeg").text
    assert f"1-50 of {there('nutmeg')}" in text
    number = re.search(r"companyEId: '(\w+)'", text)[1]
    jobs = ET.fromstring(get(web, f"https://app.jobvite.com/CompanyJobs/Xml.aspx?c={number}").body).findall(
        "job"
    )
    assert len(jobs) == there("nutmeg")
    assert re.fullmatch(r"\d{1,2}/\d{1,2}/\d{4}", jobs[0].findtext("date"))
    assert get(web, jobs[0].findtext("detail-url")).status == 200
    assert get(web, "https://jobs.jobvite.com/acme").status == 302


def test_breezy_tells_descriptions_only_when_asked(web: PracticeWeb):
    assert "description" not in get(web, BREEZY).json[0]
    assert get(web, f"{BREEZY}?verbose=true").json[0]["description"].startswith("<p>")
    assert get(web, "https://acme.breezy.hr/json").status == 302


def test_rippling_has_a_row_for_each_place_and_the_rest_in_the_detail(web: PracticeWeb):
    rows = get(web, RIPPLING).json
    places = {row["uuid"]: sum(each["uuid"] == row["uuid"] for each in rows) for row in rows}
    assert max(places.values()) > 1
    found = get(web, f"{RIPPLING}/{rows[0]['uuid']}").json
    assert (found["name"], found["companyName"]) == (rows[0]["name"], "Pumice Devices")
    assert len(found["workLocations"]) == places[rows[0]["uuid"]]
    assert get(web, RIPPLING.replace("pumice", "acme")).status == 404


def test_pinpoint_says_no_dates_and_splits_its_text(web: PracticeWeb):
    row = get(web, PINPOINT).json["data"][0]
    assert not {"published_at", "created_at"} & set(row)
    assert row["title"] in get(web, row["url"]).text


def test_companies_of_the_seed_are_on_the_later_platforms_too():
    platforms = {who.platform for who in directory(7)[len(KNOWN) :]}
    assert {"icims", "jobvite", "breezy", "rippling", "pinpoint"} <= platforms


NAMED = {
    "greenhouse": ("https://boards-api.greenhouse.io/v1/boards/{}", lambda found: found["name"]),
    "workable": ("https://apply.workable.com/api/v1/widget/accounts/{}", lambda found: found["name"]),
    "bamboohr": ("https://{}.bamboohr.com/careers/company-info", lambda found: found["result"]["name"]),
    "recruitee": ("https://{}.recruitee.com/api/offers/", lambda found: found["offers"][0]["company_name"]),
    "smartrecruiters": (
        "https://api.smartrecruiters.com/v1/companies/{}/postings",
        lambda found: found["content"][0]["company"]["name"],
    ),
    "breezy": ("https://{}.breezy.hr/json", lambda found: found[0]["company"]["name"]),
}


@pytest.mark.parametrize("platform", NAMED)
def test_a_namesake_says_its_own_name_wherever_a_board_has_one(web: PracticeWeb, platform: str):
    """The trap for whoever guesses tokens, and the way out of it."""
    url, name = NAMED[platform]
    tokens = (f"firm{number}" for number in range(2_000))
    token = next(
        each
        for each in tokens
        if company(7, each).platform != platform
        and (who := owner(7, platform, each))
        and postings(7, who, DAY_ZERO)
    )
    assert name(get(web, url.format(token)).json) == owner(7, platform, token).name != company(7, token).name


def test_a_crowd_has_about_a_hundred_postings_on_every_platform(web: PracticeWeb):
    crowd = [company(7, f"crowd-{number}") for number in range(15)]
    assert len({who.platform for who in crowd}) == 15
    assert all(80 <= len(postings(7, who, DAY_ZERO)) <= 120 for who in crowd)
    assert all(get(web, board_url(who)).status in (200, 302) for who in crowd)
    assert company(7, "crowd-" + "9" * 50).places <= 30
