"""Every job board answers in the shape that the real one has, traps included."""

import html
import json
import re
from email.utils import parsedate_to_datetime
from xml.etree import ElementTree as ET

import pytest

from tests.practice.browse import get
from thresher.practice.web import Knob, PracticeWeb, Trouble, company

MIN_KEYS = {
    "greenhouse": {
        "id",
        "internal_job_id",
        "title",
        "absolute_url",
        "location",
        "content",
        "departments",
        "offices",
        "first_published",
        "updated_at",
        "requisition_id",
        "metadata",
    },
    "lever": {
        "id",
        "text",
        "hostedUrl",
        "applyUrl",
        "createdAt",
        "categories",
        "workplaceType",
        "country",
        "description",
        "descriptionPlain",
        "lists",
        "additional",
        "additionalPlain",
    },
    "ashby": {
        "id",
        "title",
        "department",
        "team",
        "employmentType",
        "location",
        "secondaryLocations",
        "publishedAt",
        "isListed",
        "isRemote",
        "workplaceType",
        "address",
        "jobUrl",
        "applyUrl",
        "descriptionHtml",
        "descriptionPlain",
        "compensation",
    },
    "smartrecruiters": {
        "id",
        "name",
        "refNumber",
        "releasedDate",
        "location",
        "department",
        "function",
        "typeOfEmployment",
        "experienceLevel",
        "company",
        "ref",
    },
    "recruitee": {
        "id",
        "slug",
        "title",
        "careers_url",
        "careers_apply_url",
        "company_name",
        "city",
        "country_code",
        "location",
        "remote",
        "department",
        "employment_type_code",
        "description",
        "requirements",
        "salary",
        "created_at",
        "published_at",
    },
    "workable": {
        "shortcode",
        "title",
        "url",
        "application_url",
        "department",
        "employment_type",
        "telecommuting",
        "city",
        "state",
        "country",
        "locations",
        "published_on",
        "created_at",
        "description",
    },
    "bamboohr": {
        "id",
        "jobOpeningName",
        "departmentLabel",
        "employmentStatusLabel",
        "location",
        "atsLocation",
        "isRemote",
        "locationType",
    },
    "breezy": {
        "id",
        "friendly_id",
        "name",
        "url",
        "published_date",
        "type",
        "location",
        "department",
        "salary",
        "company",
    },
    "rippling": {"uuid", "name", "department", "url", "workLocation"},
    "pinpoint": {
        "id",
        "title",
        "url",
        "path",
        "description",
        "key_responsibilities",
        "skills_knowledge_expertise",
        "benefits",
        "employment_type",
        "employment_type_text",
        "workplace_type",
        "location",
        "compensation",
        "job",
        "deadline_at",
    },
}
LISTS = {
    "greenhouse": (
        "https://boards-api.greenhouse.io/v1/boards/acme/jobs?content=true",
        lambda found: found["jobs"],
    ),
    "lever": ("https://api.lever.co/v0/postings/borealis?mode=json", lambda found: found),
    "ashby": (
        "https://api.ashbyhq.com/posting-api/job-board/cobalt?includeCompensation=true",
        lambda found: found["jobs"],
    ),
    "smartrecruiters": (
        "https://api.smartrecruiters.com/v1/companies/ember/postings?limit=100",
        lambda found: found["content"],
    ),
    "recruitee": ("https://fathom.recruitee.com/api/offers/", lambda found: found["offers"]),
    "workable": (
        "https://apply.workable.com/api/v1/widget/accounts/garnet?details=true",
        lambda found: found["jobs"],
    ),
    "bamboohr": ("https://juniper.bamboohr.com/careers/list", lambda found: found["result"]),
    "breezy": ("https://orchard.breezy.hr/json", lambda found: found),
    "rippling": ("https://api.rippling.com/platform/api/ats/v1/board/pumice/jobs", lambda found: found),
    "pinpoint": ("https://quartz.pinpointhq.com/postings.json", lambda found: found["data"]),
}
WORKDAY = f"https://dunlin.wd{company(7, 'dunlin').workday_number}.myworkdayjobs.com/wday/cxs/dunlin/{company(7, 'dunlin').workday_site}"


def json_ld(text: str) -> dict:
    (found,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', text, re.DOTALL)
    return json.loads(found)


@pytest.mark.parametrize("platform", LISTS)
def test_a_list_has_rows_with_the_fields_of_its_platform(web: PracticeWeb, platform: str):
    url, rows = LISTS[platform]
    got = get(web, url)
    assert got.status == 200
    assert got.headers["content-type"].startswith("application/json")
    assert rows(got.json)
    for row in rows(got.json):
        assert set(row) >= MIN_KEYS[platform]


# Workable has one row per country, Rippling one per place: traps, and tested apart.
@pytest.mark.parametrize("platform", sorted(LISTS.keys() - {"workable", "rippling"}))
def test_ids_are_unique_within_a_list(web: PracticeWeb, platform: str):
    url, rows = LISTS[platform]
    ids = [row["id"] for row in rows(get(web, url).json)]
    assert len(ids) == len(set(ids))


def test_greenhouse_escapes_its_content_once_and_counts_its_rows(web: PracticeWeb):
    found = get(web, "https://boards-api.greenhouse.io/v1/boards/acme/jobs?content=true").json
    assert found["meta"]["total"] == len(found["jobs"])
    assert found["jobs"][0]["content"].startswith("&lt;p&gt;")
    assert html.unescape(found["jobs"][0]["content"]).startswith("<p>")


def test_greenhouse_leaves_content_out_unless_asked(web: PracticeWeb):
    assert "content" not in get(web, "https://boards-api.greenhouse.io/v1/boards/acme/jobs").json["jobs"][0]


def test_greenhouse_names_the_board_and_knows_no_other(web: PracticeWeb):
    assert get(web, "https://boards-api.greenhouse.io/v1/boards/acme").json["name"] == "Acme Anvils"
    assert get(web, "https://boards-api.greenhouse.io/v1/boards/borealis").status == 404
    assert get(web, "https://boards-api.greenhouse.io/v1/boards/no-such-board/jobs").status == 404


def test_a_board_that_says_only_hybrid_has_its_cities_in_the_offices(web: PracticeWeb):
    rows = get(web, "https://boards-api.greenhouse.io/v1/boards/acme/jobs").json["jobs"]
    assert "Hybrid" in {row["location"]["name"] for row in rows}
    offices = get(web, "https://boards-api.greenhouse.io/v1/boards/acme/offices").json["offices"]
    assert all("," in office["location"] for office in offices)


def test_greenhouse_pages_list_postings_and_each_carries_json_ld(web: PracticeWeb):
    rows = get(web, "https://boards-api.greenhouse.io/v1/boards/acme/jobs").json["jobs"]
    board = get(web, "https://job-boards.greenhouse.io/acme").text
    assert all(row["absolute_url"] in board for row in rows)
    found = json_ld(get(web, rows[0]["absolute_url"]).text)
    assert found["@type"] == "JobPosting"
    assert (found["title"], found["hiringOrganization"]["name"]) == (rows[0]["title"], "Acme Anvils")


def test_a_closed_posting_sends_people_back_to_the_board(web: PracticeWeb):
    got = get(web, "https://job-boards.greenhouse.io/acme/jobs/4000000001")
    assert (got.status, got.headers["location"]) == (302, "/acme?error=true")


def test_lever_gives_a_page_to_who_does_not_ask_for_json(web: PracticeWeb):
    url = "https://api.lever.co/v0/postings/borealis"
    assert get(web, url).headers["content-type"].startswith("text/html")
    assert isinstance(get(web, url, Accept="application/json").json, list)


def test_lever_pages_by_skip_and_limit_and_tells_large_from_small(web: PracticeWeb):
    url = "https://api.lever.co/v0/postings/borealis?mode=json"
    rows = [row["id"] for row in get(web, url).json]
    assert [row["id"] for row in get(web, f"{url}&skip=3&limit=4").json] == rows[3:7]
    assert get(web, url.replace("borealis", "Borealis")).status == 404


def test_lever_spreads_a_description_over_three_fields(web: PracticeWeb):
    row = get(web, "https://api.lever.co/v0/postings/borealis?mode=json").json[0]
    assert len(row["descriptionPlain"]) < len(row["description"] + str(row["lists"]) + row["additional"]) / 2
    assert row["createdAt"] > 1_700_000_000_000


def test_ashby_has_unlisted_rows_and_pay_only_when_asked(web: PracticeWeb):
    url = "https://api.ashbyhq.com/posting-api/job-board/cobalt"
    rows = get(web, url).json["jobs"]
    assert {row["isListed"] for row in rows} == {True, False}
    assert "compensation" not in rows[0]
    paid = [row["compensation"] for row in get(web, f"{url}?includeCompensation=true").json["jobs"]]
    assert any(each["compensationTiers"] for each in paid)


def workday(web: PracticeWeb, **said: object):
    return get(
        web,
        f"{WORKDAY}/jobs",
        "POST",
        {"appliedFacets": {}, "limit": 20, "offset": 0, "searchText": "", **said},
    )


def test_workday_gives_twenty_rows_at_most_and_only_to_a_post(web: PracticeWeb):
    assert len(workday(web).json["jobPostings"]) == 20
    assert workday(web, limit=21).status == 400
    assert get(web, f"{WORKDAY}/jobs").status == 405


def test_workday_counts_to_2000_and_starts_over_there(web: PracticeWeb):
    first, later = workday(web).json, workday(web, offset=2_000).json
    assert first["total"] == 2_000
    assert later["jobPostings"] == first["jobPostings"]


def test_workday_facets_open_what_the_cap_hides(web: PracticeWeb):
    facets = {each["facetParameter"]: each["values"] for each in workday(web).json["facets"]}
    counts = [value["count"] for value in facets["jobFamilyGroup"]]
    assert sum(counts) > 2_000
    assert max(counts) < 2_000
    value = facets["jobFamilyGroup"][0]
    assert workday(web, appliedFacets={"jobFamilyGroup": [value["id"]]}).json["total"] == value["count"]


def test_a_workday_row_leads_to_its_detail(web: PracticeWeb):
    row = workday(web).json["jobPostings"][3]
    found = get(web, f"{WORKDAY}{row['externalPath']}").json
    assert found["jobPostingInfo"]["title"] == row["title"]
    assert found["hiringOrganization"]["name"] == "Dunlin Systems"
    assert row["postedOn"].startswith("Posted ")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", found["jobPostingInfo"]["startDate"])


def test_rotating_ids_reach_workday_s_paths_too(web: PracticeWeb):
    web.turn(Knob(Trouble.ROTATING_IDS))
    one, two = (workday(web).json["jobPostings"][0] for _ in range(2))
    assert one["title"] == two["title"]
    assert one["externalPath"] != two["externalPath"]
    assert get(web, f"{WORKDAY}{one['externalPath']}").json["jobPostingInfo"]["title"] == one["title"]


def test_a_workday_site_of_the_wrong_name_is_not_found(web: PracticeWeb):
    got = get(
        web,
        f"{WORKDAY.rpartition('/')[0]}/wrong/jobs",
        "POST",
        {"limit": 20, "offset": 0, "appliedFacets": {}},
    )
    assert got.status == 404


def test_workday_says_its_site_in_robots_txt(web: PracticeWeb):
    assert company(7, "dunlin").workday_site in get(web, f"{WORKDAY.partition('/wday')[0]}/robots.txt").text


def test_smartrecruiters_pages_by_hundred_and_answers_for_anybody(web: PracticeWeb):
    url = "https://api.smartrecruiters.com/v1/companies"
    first = get(web, f"{url}/ember/postings?limit=500").json
    assert (first["limit"], len(first["content"])) == (100, 100)
    rest = get(web, f"{url}/ember/postings?limit=100&offset=200").json
    assert len(rest["content"]) == first["totalFound"] - 200
    nobody = get(web, f"{url}/no-such-company/postings")
    assert (nobody.status, nobody.json["totalFound"]) == (200, 0)


def test_a_smartrecruiters_detail_has_its_four_sections(web: PracticeWeb):
    row = get(web, "https://api.smartrecruiters.com/v1/companies/ember/postings").json["content"][0]
    found = get(web, row["ref"]).json
    assert set(found["jobAd"]["sections"]) == {
        "companyDescription",
        "jobDescription",
        "qualifications",
        "additionalInformation",
    }
    assert found["postingUrl"].startswith("https://jobs.smartrecruiters.com/ember/")


def test_recruitee_dates_are_not_iso(web: PracticeWeb):
    row = get(web, "https://fathom.recruitee.com/api/offers/").json["offers"][0]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", row["published_at"])
    assert json_ld(get(web, row["careers_url"]).text)["title"] == row["title"]


def test_workable_has_a_row_for_each_country_with_one_code(web: PracticeWeb):
    codes = [
        row["shortcode"]
        for row in get(web, "https://apply.workable.com/api/v1/widget/accounts/garnet").json["jobs"]
    ]
    assert len(set(codes)) < len(codes)


def test_workable_v3_pages_by_token_and_refuses_a_limit(web: PracticeWeb):
    url = "https://apply.workable.com/api/v3/accounts/garnet/jobs"
    found, codes, said = (
        {"nextPage": None},
        [],
        {"query": "", "location": [], "department": [], "worktype": []},
    )
    while "nextPage" in found:
        found = get(web, url, "POST", said | ({"token": found["nextPage"]} if found["nextPage"] else {})).json
        codes += [row["shortcode"] for row in found["results"]]
    assert len(codes) == len(set(codes)) == found["total"]
    assert get(web, url, "POST", {**said, "limit": 50}).status == 400
    assert (
        get(web, f"https://apply.workable.com/api/v2/accounts/garnet/jobs/{codes[5]}").json["shortcode"]
        == codes[5]
    )


def test_the_markdown_list_of_workable_stops_at_thirty(web: PracticeWeb):
    assert len(get(web, "https://apply.workable.com/garnet/jobs.md").text.splitlines()) == 30


def test_personio_is_xml_without_addresses_and_with_two_names(web: PracticeWeb):
    root = ET.fromstring(get(web, "https://heron.jobs.personio.de/xml?language=en").body)
    assert root.tag == "workzag-jobs"
    for position in root:
        assert position.find("name").text
        assert len(position.findall("jobDescriptions/jobDescription/name")) == 4
        assert "http" not in ET.tostring(position, "unicode")
    number = root[0].findtext("id")
    assert json_ld(get(web, f"https://heron.jobs.personio.de/job/{number}").text)["title"] == root[
        0
    ].findtext("name")


def test_teamtailor_speaks_rss_with_places_of_its_own(web: PracticeWeb):
    root = ET.fromstring(get(web, "https://isthmus.teamtailor.com/jobs.rss").body)
    items = root.findall("channel/item")
    assert items
    for item in items:
        assert parsedate_to_datetime(item.findtext("pubDate")).tzinfo
        assert item.findtext(
            "{https://teamtailor.com/locations}locations/{https://teamtailor.com/locations}location/{https://teamtailor.com/locations}city"
        )
    offset = ET.fromstring(
        get(web, "https://isthmus.teamtailor.com/jobs.rss?offset=2&per_page=3").body
    ).findall("channel/item/guid")
    assert [each.text for each in offset] == [item.findtext("guid") for item in items[2:5]]


def test_the_json_feed_of_teamtailor_leads_to_its_next_page(web: PracticeWeb):
    seen, url = [], "https://isthmus.teamtailor.com/jobs.json"
    while url:
        found = get(web, url).json
        seen += [item["id"] for item in found["items"]]
        url = found.get("next_url")
    assert len(seen) == len(set(seen)) > 20
    assert found["items"][0]["_jobposting"]["@type"] == "JobPosting"


def test_bamboohr_tells_dates_only_in_the_detail_and_is_a_login_elsewhere(web: PracticeWeb):
    row = get(web, "https://juniper.bamboohr.com/careers/list").json["result"][0]
    assert "datePosted" not in row
    assert get(web, f"https://juniper.bamboohr.com/careers/{row['id']}/detail").json["result"]["jobOpening"][
        "datePosted"
    ]
    assert get(web, "https://juniper.bamboohr.com/").headers["location"] == "/login.php"


def test_a_token_belongs_to_one_platform_or_to_a_namesake(web: PracticeWeb):
    """Guessing tokens meets boards of others: their name differs."""
    names = []
    for number in range(150):
        got = get(web, f"https://boards-api.greenhouse.io/v1/boards/firm{number}")
        if got.status == 200:
            names.append((f"firm{number}", got.json["name"]))
    wrong = [
        token
        for token, name in names
        if company(7, token).platform != "greenhouse" and company(7, token).name != name
    ]
    right = [
        token
        for token, name in names
        if company(7, token).platform == "greenhouse" and company(7, token).name == name
    ]
    assert wrong
    assert right
    assert len(wrong) + len(right) == len(names)


@pytest.mark.parametrize(
    "url",
    [
        "https://jobs.ashbyhq.com/cobalt",
        f"{WORKDAY.partition('/wday')[0]}/en-US/{company(7, 'dunlin').workday_site}",
        "https://apply.workable.com/garnet/",
        "https://juniper.bamboohr.com/careers",
        "https://ats.rippling.com/pumice/jobs",
    ],
)
def test_a_board_built_by_a_script_is_empty_and_knows_where_its_rows_are(web: PracticeWeb, url: str):
    text = get(web, url).text
    board = json.loads(re.search(r"const board = (\{.*?\});", text)[1])
    assert "<li" not in text.partition("<script>")[0]
    found = get(
        web,
        f"https://{url.split('/')[2]}{board['from']}",
        board["method"],
        (board["body"] or "").encode() or None,
    ).json
    row = found[board["rows"]][0]
    assert row[board["title"]]
    assert get(web, f"https://{url.split('/')[2]}{board['prefix']}{row[board['key']]}").status == 200
