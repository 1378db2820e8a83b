"""Boards as Ashby serves them: one JSON answer, unlisted postings among the others, pay only when asked
for.
"""

from typing import Any

from thresher.practice.web.answer import WebRequest, WebResponse, data, page
from thresher.practice.web.company import owner
from thresher.practice.web.posting import REMOTE, PracticePosting, number_in, postings
from thresher.practice.web.prose import document, html, ld, pay_text, schema, text, workplace
from thresher.practice.web.sites.shell import shell
from thresher.practice.web.window import found, window

SITE = "https://jobs.ashbyhq.com"
KINDS = {"Full-time": "FullTime", "Part-time": "PartTime", "Contract": "Contract", "Internship": "Intern"}


def api(ask: WebRequest) -> WebResponse:
    """`/posting-api/job-board/NAME`."""
    match ask.parts:
        case ("posting-api", "job-board", name) if who := owner(ask.seed, "ashby", name):
            shown = window(ask, postings(ask.seed, who, ask.now))
            pay = ask.query.get("includeCompensation") == "true"
            return data({"jobs": [_row(each, pay=pay) for each in shown.rows], "apiVersion": "1"})
        case _:
            return data({"success": False, "errors": ["not_found"]}, 404)


def _row(posting: PracticePosting, *, pay: bool) -> dict[str, Any]:
    url = f"{SITE}/{posting.company.token}/{posting.uuid}"
    said: dict[str, Any] = {
        "id": posting.uuid,
        "title": posting.title,
        "department": posting.department,
        "team": posting.department,
        "employmentType": KINDS[posting.employment],
        "location": posting.city[0],
        "secondaryLocations": [
            {"location": each[0], "address": _address(each[0], each[1], each[2])} for each in posting.also
        ],
        "publishedAt": posting.opened.isoformat(timespec="milliseconds"),
        "isListed": posting.place % 9 != 8,
        "isRemote": posting.mode == REMOTE,
        "workplaceType": workplace(posting).replace("-s", "S"),
        "address": _address(*posting.city[:3]),
        "jobUrl": url,
        "applyUrl": f"{url}/application",
        "descriptionHtml": html(posting),
        "descriptionPlain": text(posting),
    }
    if pay:
        said["compensation"] = _compensation(posting)
    return said


def _address(city: str, region: str, country: str) -> dict[str, Any]:
    return {"postalAddress": {"addressLocality": city, "addressRegion": region, "addressCountry": country}}


def _compensation(posting: PracticePosting) -> dict[str, Any]:
    if not posting.pay:
        return {
            "compensationTierSummary": None,
            "scrapeableCompensationSalarySummary": None,
            "compensationTiers": [],
            "summaryComponents": [],
        }
    part = {
        "compensationType": "Salary",
        "interval": "1 YEAR",
        "currencyCode": posting.pay.currency,
        "minValue": posting.pay.least,
        "maxValue": posting.pay.most,
    }
    return {
        "compensationTierSummary": pay_text(posting),
        "scrapeableCompensationSalarySummary": pay_text(posting),
        "compensationTiers": [{"title": "Band", "components": [part]}],
        "summaryComponents": [part],
    }


def hosted(ask: WebRequest) -> WebResponse:
    """The board is built by a script; a posting's page carries its JSON-LD."""
    match ask.parts:
        case ("api", "board", name) if who := owner(ask.seed, "ashby", name):
            return data(
                {
                    "jobs": [
                        _row(each, pay=False) for each in window(ask, postings(ask.seed, who, ask.now)).rows
                    ]
                }
            )
        case (name, key) if who := owner(ask.seed, "ashby", name):
            one = found(postings(ask.seed, who, ask.now), number_in(key))
            head = ld(schema(one, f"{SITE}/{who.token}/{one.uuid}")) if one else ""
            return page(
                document(f"{one.title} @ {who.name}" if one else who.name, '<div id="root"></div>', head=head)
            )
        case (name,) if who := owner(ask.seed, "ashby", name):
            source = f"/api/board/{who.token}"
            return page(
                shell(
                    f"{who.name} Jobs", source, rows="jobs", title="title", key="id", prefix=f"/{who.token}/"
                )
            )
        case _:
            return page(document("Jobs", '<div id="root"></div><p>Page not found</p>'), 404)
