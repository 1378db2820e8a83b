"""The clients that come with the app, each on an answer in the shape that its provider documents. Over a real
connection, to the provider's own host name."""

import json
from datetime import date

import pytest
from aiohttp import web

from tests.fetch.desk import at
from tests.harness.databases import only_sqlite
from thresher.apps.queries.clients.catalogue import catalogue
from thresher.apps.queries.clients.client import read_detail, read_page
from thresher.apps.queries.clients.search import Search

__all__ = ["at"]

pytestmark = only_sqlite

TODAY = date(2026, 3, 9)
SINCE = date(2026, 3, 7)
ENV = {
    "ADZUNA_APP_ID": "id-123456",
    "ADZUNA_APP_KEY": "key-123456",
    "INFOJOBS_CLIENT_ID": "me",
    "INFOJOBS_CLIENT_SECRET": "secret-123456",
    "USAJOBS_EMAIL": "me@acme.example",
    "USAJOBS_KEY": "key-123456",
}


def said(data):
    if isinstance(data, str):
        return web.Response(text=data, content_type="application/xml")
    return web.Response(body=json.dumps(data).encode(), content_type="application/json")


@pytest.fixture
def search(at):
    """`search(client, place, answer)` gives the page, the request as the provider saw it, and a detail's."""

    def run(name, place, answer, text="", detail=None, **parameters):
        made, wanted = catalogue(None)[name], Search(text, parameters, SINCE, TODAY, TODAY)

        async def fetched(desk, call):
            return await desk.fetch(call.url, headers=call.headers, credentials=call.credentials)

        async def story(desk):
            page = read_page(made, wanted, None, await fetched(desk, made.call(wanted, None, ENV)))
            found = None
            if detail:
                call = made.detail_call(page.offers[0], ENV)
                found = read_detail(made, page.offers[0], await fetched(desk, call))
            return page, [each for each in desk.site.log if each.path != "/robots.txt"], found

        says = {place: said(answer), **({detail[0]: said(detail[1])} if detail else {})}
        return at(says, story)

    return run


def shown(offer):
    posting = offer.posting
    salary = posting.salary
    pay = (
        (int(salary.low), int(salary.high), salary.currency, salary.period) if salary and salary.low else None
    )
    return (
        posting.key,
        posting.title,
        posting.company,
        posting.location,
        posting.url,
        posting.posted_date,
        posting.employment_type,
        pay,
        posting.remote,
    )


@pytest.mark.parametrize("rows", ["items", "offers"])
def test_infojobs_lists_offers_and_gives_their_texts_one_by_one(search, rows):
    row = {
        "id": "70b97bda",
        "title": "Soldador",
        "link": "https://www.infojobs.net/sevilla/soldador/of-i70b97bda",
        "city": "Dos Hermanas",
        "province": {"id": 43, "value": "Sevilla"},
        "author": {"id": "c-9", "name": "Aceros", "uri": "https://www.infojobs.net/aceros/em-i9"},
        "published": "2026-03-06T09:00:00.000Z",
        "updated": "2026-03-08T10:00:00.000Z",
        "contractType": {"id": 1, "value": "Indefinido"},
        "workDay": {"id": 1, "value": "Completa"},
        "salaryMin": {"id": 9, "value": "24.000 €"},
        "salaryMax": {"id": 10, "value": "27.000 €"},
        "salaryPeriod": {"id": 3, "value": "Bruto/año"},
        "salaryDescription": "24.000 € - 27.000 € Bruto/año",
        "requirementMin": "Dos años de experiencia",
    }
    answer = {
        "totalResults": 1,
        "currentResults": 1,
        "totalPages": 1,
        "currentPage": 1,
        "pageSize": 50,
        rows: [row],
    }
    detail = {
        "id": "70b97bda",
        "title": "Soldador",
        "description": "Soldar depósitos de acero.",
        "minRequirements": "Experiencia con TIG.",
        "desiredRequirements": "",
        "profile": {"id": "c-9", "name": "Aceros", "web": "https://aceros.example"},
        "journey": {"value": "Completa"},
    }
    page, (listed, one), found = search(
        "infojobs",
        "api.infojobs.net/api/9/offer",
        answer,
        "soldador",
        detail=("api.infojobs.net/api/7/offer/70b97bda", detail),
        province="sevilla,cadiz",
    )
    assert listed.path == (
        "/api/9/offer?q=soldador&province=sevilla&province=cadiz&sinceDate=_7_DAYS&order=updated-desc&maxResults=50&page=1"
    )
    assert listed.headers["authorization"] == one.headers["authorization"] == "Basic bWU6c2VjcmV0LTEyMzQ1Ng=="
    (offer,) = page.offers
    assert shown(offer)[:7] == (
        "70b97bda",
        "Soldador",
        "Aceros",
        "Dos Hermanas, Sevilla",
        "https://www.infojobs.net/sevilla/soldador/of-i70b97bda",
        date(2026, 3, 6),
        "Indefinido, Completa",
    )
    assert (offer.updated, offer.company_id) == (date(2026, 3, 8), "c-9")
    assert offer.posting.salary.text == "24.000 € - 27.000 € Bruto/año"
    assert (page.total, page.next, page.trouble) == (1, None, None)
    assert found.posting.description == "Soldar depósitos de acero.\n\nExperiencia con TIG."
    assert found.company_url == "https://aceros.example/"
    assert catalogue(None)["infojobs"].reach.buckets == (1, 7, 15)


def test_adzuna_is_searched_by_country_and_days_with_both_of_its_keys(search):
    row = {
        "id": "5600000001",
        "title": "<strong>Welder</strong>",
        "redirect_url": "https://www.adzuna.co.uk/land/ad/5600000001?se=x",
        "company": {"display_name": "Acme Tanks", "__CLASS__": "Adzuna::API::Response::Company"},
        "location": {"display_name": "Leeds, West Yorkshire", "area": ["UK", "Yorkshire", "Leeds"]},
        "created": "2026-03-08T19:37:39Z",
        "contract_type": "permanent",
        "contract_time": "full_time",
        "salary_min": 31000.5,
        "salary_max": 33000,
        "salary_is_predicted": "1",
        "description": "Weld tanks …",
    }
    page, (asked,), _ = search(
        "adzuna",
        "api.adzuna.com/v1/api/jobs/es/search/1",
        {"count": 1, "results": [row]},
        "welder",
        country="es",
    )
    assert asked.path == (
        "/v1/api/jobs/es/search/1?what=welder&max_days_old=3&sort_by=date&results_per_page=50&app_id=id-123456&app_key=key-123456"
    )
    (offer,) = page.offers
    assert shown(offer) == (
        "5600000001",
        "Welder",
        "Acme Tanks",
        "Leeds, West Yorkshire",
        "https://www.adzuna.co.uk/land/ad/5600000001?se=x",
        date(2026, 3, 8),
        "permanent, full_time",
        (31000, 33000, None, None),
        None,
    )


USAJOBS = {
    "id": "441132200",
    "title": "Ranger",
    "url": "https://www.usajobs.gov/job/441132200",
    "text": "Look after the park.",
}
USAJOBS_SHOWN = (
    "441132200",
    "Ranger",
    "National Park Service",
    "Reno, Nevada; Elko, Nevada",
    "https://www.usajobs.gov/job/441132200",
    date(2026, 3, 7),
    "Full-Time",
    (51000, 66000, "USD", "year"),
)


def test_usajobs_gets_its_address_and_key_as_headers_and_is_read_as_json(search):
    row = {
        "MatchedObjectId": USAJOBS["id"],
        "MatchedObjectDescriptor": {
            "PositionID": "NPS-26-1",
            "PositionTitle": USAJOBS["title"],
            "PositionURI": USAJOBS["url"],
            "PositionLocationDisplay": "Multiple Locations",
            "PositionLocation": [{"LocationName": "Reno, Nevada"}, {"LocationName": "Elko, Nevada"}],
            "OrganizationName": "National Park Service",
            "PositionSchedule": [{"Name": "Full-Time", "Code": "1"}],
            "PositionRemuneration": [
                {
                    "MinimumRange": "51000.0",
                    "MaximumRange": "66000.0",
                    "RateIntervalCode": "PA",
                    "Description": "Per Year",
                }
            ],
            "PublicationStartDate": "2026-03-07T00:00:00.0000",
            "QualificationSummary": "One year outdoors.",
            "UserArea": {
                "Details": {
                    "JobSummary": USAJOBS["text"],
                    "MajorDuties": ["Patrol."],
                    "RemoteIndicator": False,
                }
            },
        },
    }
    answer = {
        "SearchResult": {
            "SearchResultCount": 1,
            "SearchResultCountAll": 1,
            "SearchResultItems": [row],
            "UserArea": {"NumberOfPages": "1"},
        }
    }
    page, (asked,), _ = search("usajobs", "data.usajobs.gov/api/search", answer, "ranger")
    assert (asked.headers["user-agent"], asked.headers["authorization-key"]) == (
        "me@acme.example",
        "key-123456",
    )
    assert "Keyword=ranger" in asked.path
    assert "DatePosted=3" in asked.path
    assert "key-123456" not in asked.path
    assert shown(page.offers[0])[:8] == USAJOBS_SHOWN
    assert page.offers[0].posting.description == "Look after the park.\n\nPatrol.\n\nOne year outdoors."
    assert (page.total, page.next, page.trouble, page.capped) == (1, None, None, None)


def test_usajobs_is_read_as_xml_too(search):
    text = f"""<?xml version="1.0"?>
    <SearchResponse xmlns:i="http://www.w3.org/2001/XMLSchema-instance">
      <SearchResult><SearchResultCount>1</SearchResultCount><SearchResultCountAll>1</SearchResultCountAll>
        <SearchResultItems><SearchResultItem>
          <MatchedObjectId>{USAJOBS["id"]}</MatchedObjectId>
          <MatchedObjectDescriptor>
            <PositionTitle>{USAJOBS["title"]}</PositionTitle><PositionURI>{USAJOBS["url"]}</PositionURI>
            <PositionLocation>
              <PositionLocation><LocationName>Reno, Nevada</LocationName></PositionLocation>
              <PositionLocation><LocationName>Elko, Nevada</LocationName></PositionLocation>
            </PositionLocation>
            <OrganizationName>National Park Service</OrganizationName>
            <PositionSchedule><PositionSchedule><Name>Full-Time</Name></PositionSchedule></PositionSchedule>
            <PositionRemuneration><PositionRemuneration><MinimumRange>51000</MinimumRange><MaximumRange>66000</MaximumRange><RateIntervalCode>Per Year</RateIntervalCode></PositionRemuneration></PositionRemuneration>
            <PublicationStartDate>2026-03-07T00:00:00Z</PublicationStartDate>
            <UserArea><Details><JobSummary>{USAJOBS["text"]}</JobSummary></Details></UserArea>
          </MatchedObjectDescriptor>
        </SearchResultItem></SearchResultItems>
      </SearchResult>
    </SearchResponse>"""
    page, _, _ = search("usajobs", "data.usajobs.gov/api/search", text, "ranger")
    assert (page.rows, page.total, page.trouble) == (1, 1, None)
    assert shown(page.offers[0])[:8] == USAJOBS_SHOWN


def test_remotive_gives_all_in_one_answer_and_says_where_it_shows_less(search):
    row = {
        "id": 2090001,
        "url": "https://remotive.com/remote-jobs/design/designer-2090001",
        "title": "Designer",
        "company_name": "Acme Pixels",
        "category": "Design",
        "job_type": "full_time",
        "publication_date": "2026-03-08T14:23:05",
        "candidate_required_location": "Europe",
        "salary": "$55k - $100k",
        "description": "<p>Draw.</p>",
    }
    answer = {"0-legal-notice": "…", "job-count": 1, "total-job-count": 30, "jobs": [row]}
    page, (asked,), _ = search("remotive", "remotive.com/api/remote-jobs", answer, "designer", limit="1")
    assert asked.path == "/api/remote-jobs?search=designer&limit=1"
    assert shown(page.offers[0]) == (
        "2090001",
        "Designer",
        "Acme Pixels",
        "Europe",
        "https://remotive.com/remote-jobs/design/designer-2090001",
        date(2026, 3, 8),
        "full_time",
        (55000, 100000, "USD", None),
        "remote",
    )
    assert page.capped == "it says that there are 30, and shows 1"


def test_remoteok_starts_with_a_notice_that_is_no_row_and_no_bad_one(search):
    notice = {"last_updated": 1772928000, "legal": "API Terms of Service: link back"}
    row = {
        "slug": "remote-welder-acme-101",
        "id": "101",
        "epoch": 1772928000,
        "date": "2026-03-08T00:00:00+00:00",
        "company": "Acme",
        "position": "Remote Welder",
        "tags": ["robots"],
        "description": "Weld from home.",
        "location": "",
        "salary_min": 60000,
        "salary_max": 90000,
        "apply_url": "https://remoteOK.com/remote-jobs/101",
        "url": "https://remoteOK.com/remote-jobs/101",
    }
    page, (asked,), _ = search("remoteok", "remoteok.com/api", [notice, row], tags="robots")
    assert asked.path == "/api?tags=robots"
    assert (page.rows, page.bad, page.trouble) == (1, (), None)
    assert shown(page.offers[0]) == (
        "101",
        "Remote Welder",
        "Acme",
        None,
        "https://remoteok.com/remote-jobs/101",
        date(2026, 3, 8),
        None,
        (60000, 90000, "USD", None),
        "remote",
    )


def test_jobicy_shows_no_more_than_fifty(search):
    row = {
        "id": 150001,
        "url": "https://jobicy.com/jobs/150001-welder",
        "jobTitle": "Welder &amp; Fitter",
        "companyName": "Acme",
        "jobIndustry": ["Metal"],
        "jobType": ["Full-Time"],
        "jobGeo": "USA",
        "jobDescription": "<p>Weld.</p>",
        "pubDate": "2026-03-08T18:45:05+00:00",
        "salaryMin": 50000,
        "salaryMax": 60000,
        "salaryCurrency": "USD",
        "salaryPeriod": "yearly",
    }
    jobs = [{**row, "id": row["id"] + number} for number in range(50)]
    page, (asked,), _ = search(
        "jobicy", "jobicy.com/api/v2/remote-jobs", {"jobCount": 50, "jobs": jobs}, "welder", geo="usa"
    )
    assert asked.path == "/api/v2/remote-jobs?count=50&geo=usa&tag=welder"
    assert shown(page.offers[0]) == (
        "150001",
        "Welder & Fitter",
        "Acme",
        "USA",
        "https://jobicy.com/jobs/150001-welder",
        date(2026, 3, 8),
        "Full-Time",
        (50000, 60000, "USD", "year"),
        "remote",
    )
    assert page.capped == "it shows 50 rows at most"


def test_himalayas_goes_on_by_rows_until_its_total(search):
    row = {
        "title": "Welder",
        "excerpt": "Weld",
        "companyName": "Acme",
        "companySlug": "acme",
        "employmentType": "Full Time",
        "minSalary": 70000,
        "maxSalary": 90000,
        "salaryPeriod": "annual",
        "currency": "USD",
        "locationRestrictions": ["Spain", "Portugal"],
        "description": "<h3>Work</h3><p>Weld.</p>",
        "pubDate": 1772928000,
        "applicationLink": "https://himalayas.app/companies/acme/jobs/welder",
        "guid": "https://himalayas.app/companies/acme/jobs/welder",
    }
    page, (asked,), _ = search(
        "himalayas", "himalayas.app/jobs/api", {"offset": 0, "limit": 20, "totalCount": 100371, "jobs": [row]}
    )
    assert asked.path == "/jobs/api?limit=20&offset=0"
    assert shown(page.offers[0]) == (
        "https://himalayas.app/companies/acme/jobs/welder",
        "Welder",
        "Acme",
        "Spain; Portugal",
        "https://himalayas.app/companies/acme/jobs/welder",
        date(2026, 3, 8),
        "Full Time",
        (70000, 90000, "USD", "year"),
        "remote",
    )
    assert page.offers[0].company_id == "acme"
    following = catalogue(None)["himalayas"].call(Search(today=TODAY), page.next, {})
    assert following.url == "https://himalayas.app/jobs/api?limit=20&offset=1"


def test_arbeitnow_goes_on_by_links_and_counts_its_days_in_berlin(search):
    row = {
        "slug": "schweisser-heidelberg-60723",
        "company_name": "Acme GmbH",
        "title": "Schweißer (m/w/d)",
        "description": "<p>Schweißen.</p>",
        "remote": True,
        "url": "https://www.arbeitnow.com/jobs/companies/acme/schweisser-60723",
        "tags": [],
        "job_types": ["berufserfahren", "Vollzeit"],
        "location": "Heidelberg",
        "created_at": 1773014000,  # 23:53 in UTC, the next day in Berlin
    }
    answer = {
        "data": [row],
        "links": {"first": "…", "next": "https://www.arbeitnow.com/api/job-board-api?page=2"},
        "meta": {"current_page": 1, "per_page": 100},
    }
    page, (asked,), _ = search("arbeitnow", "www.arbeitnow.com/api/job-board-api", answer)
    assert asked.path == "/api/job-board-api"
    assert shown(page.offers[0]) == (
        "schweisser-heidelberg-60723",
        "Schweißer (m/w/d)",
        "Acme GmbH",
        "Heidelberg",
        "https://www.arbeitnow.com/jobs/companies/acme/schweisser-60723",
        date(2026, 3, 9),
        "berufserfahren; Vollzeit",
        None,
        "remote",
    )
    following = catalogue(None)["arbeitnow"].call(Search(today=TODAY), page.next, {})
    assert following.url == "https://www.arbeitnow.com/api/job-board-api?page=2"
