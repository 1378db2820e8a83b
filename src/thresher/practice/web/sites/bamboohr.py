"""Openings as BambooHR serves them: a list without dates, and the rest one request at a time."""

from html import escape
from typing import Any

from thresher.practice.web.answer import WebRequest, WebResponse, data, page, plain, redirect
from thresher.practice.web.company import owner
from thresher.practice.web.posting import HYBRID, REMOTE, PracticePosting, postings
from thresher.practice.web.prose import document, html
from thresher.practice.web.sites.shell import shell
from thresher.practice.web.window import named, window

LOCATION_TYPES = {REMOTE: "1", HYBRID: "2"}


def site(ask: WebRequest) -> WebResponse:
    """`/careers/list`, `/careers/ID/detail`, `/careers/company-info`; everything else is a login."""
    who = owner(ask.seed, "bamboohr", ask.host.partition(".")[0])
    if who is None:
        return redirect("https://www.bamboohr.com/signup/")
    rows = postings(ask.seed, who, ask.now)
    match ask.parts:
        case ("careers", "list"):
            shown = window(ask, rows)
            return data({"meta": {"totalCount": shown.total}, "result": [_row(each) for each in shown.rows]})
        case ("careers", "company-info"):
            return data({"result": {"name": who.name, "careersUrl": f"https://{ask.host}/careers"}})
        case ("careers", number, "detail") if row := named(rows, number):
            opening = {
                **_row(row),
                "description": html(row),
                "datePosted": row.opened.date().isoformat(),
                "minimumExperience": "Mid-level",
                "jobOpeningShareUrl": f"https://{ask.host}/careers/{row.id}",
                "jobOpeningStatus": "Open",
            }
            return data({"result": {"jobOpening": opening, "formFields": {}}})
        case ("careers", _, "detail"):
            return data({"error": "not found"}, 404)
        case ("careers", *_):
            return page(
                shell(
                    f"{who.name} Careers",
                    "/careers/list",
                    rows="result",
                    title="jobOpeningName",
                    key="id",
                    prefix="/careers/",
                )
            )
        case ("jobs", "embed2.php"):
            items = "".join(
                f'<li id="bhrPositionID_{each.id}"><a href="https://{ask.host}/careers/{each.id}">{escape(each.title)}</a></li>'
                for each in rows
            )
            return page(
                f'<div class="BambooHR-ATS-board"><h2>Current Openings</h2><ul class="BambooHR-ATS-Jobs-List">{items}</ul></div>'
            )
        case ("robots.txt",):
            return plain("User-agent: *\nDisallow: /login.php\n")
        case ("login.php",):
            return page(document("Log In", "<form><input type=password></form>"))
        case _:
            return redirect("/login.php")


def _row(posting: PracticePosting) -> dict[str, Any]:
    city, region, country, *_ = posting.city
    return {
        "id": str(posting.id),
        "jobOpeningName": posting.title,
        "departmentId": str(len(posting.department)),
        "departmentLabel": posting.department,
        "employmentStatusLabel": posting.employment,
        "location": {"city": city, "state": region},
        "atsLocation": {"country": country, "state": region, "province": None, "city": city},
        "isRemote": True if posting.mode == REMOTE else None,
        "locationType": LOCATION_TYPES.get(posting.mode, "0"),
    }
