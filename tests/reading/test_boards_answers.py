"""Every platform's answer, in the smallest form that has its shape, gives the same posting."""

import json
from datetime import date

import pytest

from tests.reading.pages import look
from thresher.core.page import Verdict
from thresher.reading.platforms.answers import read_answer

TITLE = "Ladder maker"
ANSWERS = {
    "greenhouse": (
        {
            "jobs": [
                {
                    "id": 1,
                    "title": TITLE,
                    "absolute_url": "https://boards.greenhouse.io/acme/jobs/1",
                    "location": {"name": "Leeds"},
                }
            ]
        },
        "Leeds",
    ),
    "greenhouse departments": (
        {
            "departments": [
                {"name": "A", "jobs": []},
                {
                    "name": "B",
                    "jobs": [
                        {
                            "id": 1,
                            "title": TITLE,
                            "absolute_url": "https://boards.greenhouse.io/acme/jobs/1",
                            "location": {"name": "Leeds"},
                        }
                    ],
                },
            ]
        },
        "Leeds",
    ),
    "lever": (
        [
            {
                "id": "1",
                "text": TITLE,
                "hostedUrl": "https://jobs.lever.co/acme/1",
                "categories": {"location": "Leeds"},
            }
        ],
        "Leeds",
    ),
    "ashby": (
        {
            "jobs": [
                {
                    "id": "1",
                    "title": TITLE,
                    "jobUrl": "https://jobs.ashbyhq.com/acme/1",
                    "location": "Leeds",
                    "isListed": True,
                }
            ],
            "apiVersion": "1",
        },
        "Leeds",
    ),
    "workday": (
        {"total": 1, "jobPostings": [{"title": TITLE, "externalPath": "/job/1", "locationsText": "Leeds"}]},
        "Leeds",
    ),
    "workday detail": (
        {
            "jobPostingInfo": {
                "id": "1",
                "title": TITLE,
                "jobDescription": "<p>x</p>",
                "location": "Leeds",
                "startDate": "2026-03-01",
            }
        },
        "Leeds",
    ),
    "smartrecruiters": (
        {
            "totalFound": 1,
            "content": [
                {
                    "id": "1",
                    "name": TITLE,
                    "company": {"identifier": "acme", "name": "Acme"},
                    "location": {"city": "Leeds", "country": "gb"},
                }
            ],
        },
        "Leeds, gb",
    ),
    "smartrecruiters detail": (
        {
            "id": "1",
            "name": TITLE,
            "company": {"name": "Acme"},
            "location": {"city": "Leeds"},
            "jobAd": {"sections": {"jobDescription": {"text": "<p>x</p>"}}},
        },
        "Leeds",
    ),
    "recruitee": (
        {
            "offers": [
                {
                    "id": 1,
                    "title": TITLE,
                    "careers_url": "https://acme.recruitee.com/o/x",
                    "city": "Leeds",
                    "country": "UK",
                }
            ]
        },
        "Leeds, UK",
    ),
    "workable": (
        {
            "name": "Acme",
            "jobs": [
                {"title": TITLE, "shortcode": "A", "url": "https://apply.workable.com/j/A", "city": "Leeds"}
            ],
        },
        "Leeds",
    ),
    "workable v3": (
        {"total": 1, "results": [{"title": TITLE, "shortcode": "A", "location": {"city": "Leeds"}}]},
        "Leeds",
    ),
    "bamboohr": (
        {
            "meta": {"totalCount": 1},
            "result": [{"id": "1", "jobOpeningName": TITLE, "location": {"city": "Leeds"}}],
        },
        "Leeds",
    ),
    "bamboohr detail": (
        {
            "result": {
                "jobOpening": {
                    "jobOpeningName": TITLE,
                    "description": "<p>x</p>",
                    "location": {"city": "Leeds"},
                }
            }
        },
        "Leeds",
    ),
    "teamtailor": (
        {
            "version": "https://jsonfeed.org/version/1.1",
            "home_page_url": "https://acme.teamtailor.com/jobs",
            "items": [
                {
                    "id": "1",
                    "title": TITLE,
                    "url": "https://acme.teamtailor.com/jobs/1",
                    "_jobposting": {"jobLocation": [{"address": {"addressLocality": "Leeds"}}]},
                }
            ],
        },
        "Leeds",
    ),
    "breezy": (
        [
            {
                "id": "1",
                "friendly_id": "x",
                "name": TITLE,
                "url": "https://acme.breezy.hr/p/1",
                "location": {"name": "Leeds"},
            }
        ],
        "Leeds",
    ),
    "rippling": (
        [
            {
                "uuid": "1",
                "name": TITLE,
                "url": "https://ats.rippling.com/acme/jobs/1",
                "workLocation": {"label": "Leeds"},
            }
        ],
        "Leeds",
    ),
    "pinpoint": (
        {
            "data": [
                {
                    "id": "1",
                    "title": TITLE,
                    "url": "https://acme.pinpointhq.com/postings/1",
                    "employment_type": "full_time",
                    "location": {"name": "Leeds"},
                }
            ]
        },
        "Leeds",
    ),
    "eightfold": (
        {
            "positions": [
                {
                    "id": 1,
                    "name": TITLE,
                    "canonicalPositionUrl": "https://acme.eightfold.ai/careers/job/1",
                    "location": "Leeds",
                }
            ]
        },
        "Leeds",
    ),
    "oracle": (
        {
            "items": [{"requisitionList": [{"Id": "1", "Title": TITLE, "PrimaryLocation": "Leeds"}]}],
            "hasMore": False,
        },
        "Leeds",
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_gives_its_posting(name: str):
    data, place = ANSWERS[name]
    seen = look(json.dumps(data), "saved.json", kind="application/json")
    assert seen.look.verdict is Verdict.FOUND, seen.look
    assert [(posting.title, posting.location) for posting in seen.postings] == [(TITLE, place)]
    assert seen.board is not None
    assert seen.board.platform == name.partition(" ")[0]


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.promise(7)
def test_an_answer_without_its_rows_is_never_found(name: str):
    data, _ = ANSWERS[name]

    def emptied(value: object) -> object:
        if isinstance(value, list):
            return []
        return {key: emptied(each) for key, each in value.items()} if isinstance(value, dict) else value

    seen = look(json.dumps(emptied(data)), "saved.json", kind="application/json")
    assert seen.postings == () or "detail" in name


JOBVITE = """<result><job><id>1</id><title>Ladder maker</title><location>Leeds</location><date>3/1/2026</date>
<detail-url>https://jobs.jobvite.com/acme/job/1</detail-url></job></result>"""
TEAMTAILOR = """<rss version="2.0" xmlns:tt="https://teamtailor.com/locations"><channel><title>Acme</title><item><title>Ladder maker</title>
<link>https://acme.teamtailor.com/jobs/1</link><pubDate>Sun, 01 Mar 2026 10:00:00 +0000</pubDate><remoteStatus>none</remoteStatus>
<tt:locations><tt:location><tt:city>Leeds</tt:city></tt:location></tt:locations></item></channel></rss>"""
PERSONIO = """<workzag-jobs><position><id>1</id><name>Ladder maker</name>
<office>Leeds</office><createdAt>2026-03-01T10:00:00+00:00</createdAt>
</position></workzag-jobs>"""


@pytest.mark.parametrize("text", [JOBVITE, TEAMTAILOR, PERSONIO], ids=["jobvite", "teamtailor", "personio"])
def test_a_feed_of_a_platform_gives_its_posting(text: str, request: pytest.FixtureRequest):
    seen = look(text, "saved.xml", kind="application/xml")
    (posting,) = seen.postings
    assert (posting.title, posting.location) == (TITLE, "Leeds")
    assert seen.board is not None
    assert seen.board.platform == request.node.callspec.id
    assert posting.posted_date == date(2026, 3, 1)


ICIMS = """<ul><li class="iCIMS_JobCardItem">
<div class="header left"><span class="sr-only field-label">Job Locations</span><span>Leeds</span></div>
<a class="iCIMS_Anchor" href="https://careers-acme.icims.com/jobs/1/x/job"><span class="sr-only">Job Title</span>
<h3>Ladder maker</h3></a></li></ul>"""
JOBVITE_PAGE = """<table class="jv-job-list"><tr><td><a href="/acme/job/1">Ladder maker</a></td>
<td class="jv-job-list-location">Leeds</td></tr></table>"""


@pytest.mark.parametrize(("body", "platform"), [(ICIMS, "icims"), (JOBVITE_PAGE, "jobvite")])
def test_the_rows_of_a_platforms_page_are_read_by_its_selectors(body: str, platform: str):
    seen = look(body, "saved.html")
    assert [(posting.title, posting.location) for posting in seen.postings] == [(TITLE, "Leeds")]
    assert seen.board is not None
    assert seen.board.platform == platform


def test_a_date_of_figures_is_read_as_the_platform_of_the_page_writes_it():
    dated = ICIMS.replace("</li>", '<span title="3/4/2026 9:15 AM">a while ago</span></li>')
    (posting,) = look(dated, "saved.html").postings
    assert posting.posted_date == date(2026, 3, 4)


ASHBY, RECRUITEE, PINPOINT = (
    "https://jobs.ashbyhq.com/acme/1",
    "https://acme.recruitee.com/o/x",
    "https://acme.pinpointhq.com/1",
)
REMOTE = [
    (
        [{"id": "1", "text": TITLE, "hostedUrl": "https://jobs.lever.co/acme/1", "workplaceType": "on-site"}],
        "onsite",
    ),
    (
        {
            "jobs": [{"title": TITLE, "jobUrl": ASHBY, "isRemote": True, "workplaceType": "Hybrid"}],
            "apiVersion": "1",
        },
        "hybrid",
    ),
    (
        {
            "jobs": [{"title": TITLE, "jobUrl": ASHBY, "isRemote": True, "workplaceType": None}],
            "apiVersion": "1",
        },
        "remote",
    ),
    ({"jobs": [{"title": TITLE, "jobUrl": ASHBY, "isRemote": False}], "apiVersion": "1"}, None),
    (
        {
            "meta": {"totalCount": 1},
            "result": [{"id": "1", "jobOpeningName": TITLE, "locationType": "2", "isRemote": None}],
        },
        "hybrid",
    ),
    ({"name": "Acme", "jobs": [{"title": TITLE, "shortcode": "A1", "telecommuting": True}]}, "remote"),
    (
        {
            "offers": [
                {"title": TITLE, "careers_url": RECRUITEE, "remote": False, "hybrid": False, "on_site": True}
            ]
        },
        "onsite",
    ),
    (
        {
            "total": 1,
            "jobPostings": [{"title": TITLE, "externalPath": "/job/1", "remoteType": "Fully Remote"}],
        },
        "remote",
    ),
    ({"total": 1, "jobPostings": [{"title": TITLE, "externalPath": "/job/1", "remoteType": "Ask us"}]}, None),
    (
        {
            "data": [
                {"title": TITLE, "url": PINPOINT, "employment_type": "full_time", "workplace_type": "hybrid"}
            ]
        },
        "hybrid",
    ),
    (
        {
            "@type": "JobPosting",
            "title": TITLE,
            "jobLocationType": "TELECOMMUTE",
            "hiringOrganization": "Acme",
        },
        "remote",
    ),
]


@pytest.mark.parametrize(("answer", "remote"), REMOTE)
def test_where_the_work_is_done_is_what_the_platform_says(answer: object, remote: str | None):
    assert look(json.dumps(answer), kind="application/json").postings[0].remote == remote


def test_a_number_of_places_is_no_place():
    row = {"title": TITLE, "externalPath": "/job/1", "locationsText": "3 Locations"}
    assert (
        look(json.dumps({"total": 1, "jobPostings": [row]}), kind="application/json").postings[0].location
        is None
    )


@pytest.mark.parametrize("total", ["²", "9" * 5_000, -1, True, 1e300, "many", [1], {}, None])
def test_a_total_that_is_no_count_is_nothing(total: object):
    listing = read_answer(
        {"total": total, "jobPostings": [{"title": TITLE, "externalPath": "/job/1"}]}, today=date(2026, 3, 10)
    )
    assert listing is not None
    assert listing.total is None


DETAILS = {
    "recruitee": {
        "offer": {
            "id": 1,
            "title": TITLE,
            "careers_url": "https://acme.recruitee.com/o/x",
            "description": "<p>x</p>",
        }
    },
    "rippling": {
        "uuid": "1",
        "name": TITLE,
        "description": {"role": "<p>x</p>"},
        "workLocations": ["Leeds"],
        "companyName": "Acme",
    },
    "workable": {
        "shortcode": "A1",
        "title": TITLE,
        "description": "<p>x</p>",
        "published": "2026-03-01",
        "location": {"city": "Leeds"},
    },
}


@pytest.mark.parametrize("platform", DETAILS)
def test_the_answer_for_one_posting_is_a_posting_with_its_text(platform: str):
    listing = read_answer(DETAILS[platform], today=date(2026, 3, 10))
    assert listing is not None
    assert (listing.platform, listing.single) == (platform, True)
    assert (listing.postings[0].title, listing.postings[0].description) == (TITLE, "x")


def test_no_part_of_a_text_is_lost_for_want_of_a_heading():
    row = {
        "id": "1",
        "text": TITLE,
        "hostedUrl": "https://jobs.lever.co/acme/1",
        "description": "<p>one</p>",
        "additional": "<p>four</p>",
        "lists": [{"text": "", "content": "<li>two</li>"}, {"text": "Wants", "content": "<li>three</li>"}],
    }
    (posting,) = look(json.dumps([row]), kind="application/json").postings
    assert [
        word for word in ("one", "two", "Wants", "three", "four") if word not in (posting.description or "")
    ] == []
