"""Accounts as Workable serves them: a widget that tells all, a newer list with page tokens, and one row per
country.
"""

from dataclasses import replace
from typing import Any

from thresher.practice.web.answer import Json, WebRequest, WebResponse, data, page, plain
from thresher.practice.web.company import Company, owner
from thresher.practice.web.posting import REMOTE, PracticePosting, number_in, postings
from thresher.practice.web.prose import document, html, ld, schema
from thresher.practice.web.sites.shell import shell
from thresher.practice.web.window import found, window

SITE = "https://apply.workable.com"
PAGE = 10
MAX_MARKDOWN = 30


def site(ask: WebRequest) -> WebResponse:
    """The API of version 1, 2 and 3, the shell for people, and the short Markdown list."""
    token = ask.host.partition(".")[0] if ask.host != "apply.workable.com" else _account(ask)
    who = owner(ask.seed, "workable", token)
    if who is None:
        return data({"error": "Not found"}, 404)
    rows = postings(ask.seed, who, ask.now)
    match ask.parts:
        case ("api", "v1", "widget", "accounts", _):
            shown, details = window(ask, _by_country(rows)), ask.query.get("details") == "true"
            return data(
                {
                    "name": who.name,
                    "description": f"<p>{who.trade.capitalize()}</p>",
                    "jobs": [_row(each, details=details) for each in shown.rows],
                }
            )
        case ("api", "v3", "accounts", _, "jobs"):
            return _third(ask, rows)
        case ("api", "v2", "accounts", _, "jobs", code):
            row = found(rows, number_in(code))
            return data(_second(row)) if row else data({"error": "Not found"}, 404)
        case (_, "jobs.md"):
            return plain(
                "\n".join(
                    f"- [{each.title}]({SITE}/{who.token}/j/{each.shortcode}/)"
                    for each in rows[:MAX_MARKDOWN]
                )
            )
        case parts:
            return page(_shell(who, rows, parts))


def _account(ask: WebRequest) -> str:
    parts = ask.parts
    return parts[parts.index("accounts") + 1] if "accounts" in parts[:-1] else "".join(parts[:1])


def _by_country(rows: tuple[PracticePosting, ...]) -> tuple[PracticePosting, ...]:
    """One row for each place a posting is advertised in, all with the same code."""
    return tuple(replace(each, city=city) for each in rows for city in (each.city, *each.also))


def _row(posting: PracticePosting, *, details: bool) -> dict[str, Any]:
    city, region, country, *_ = posting.city
    url = f"{SITE}/{posting.company.token}/j/{posting.shortcode}"
    said: dict[str, Any] = {
        "title": posting.title,
        "shortcode": posting.shortcode,
        "code": posting.requisition,
        "employment_type": posting.employment,
        "telecommuting": posting.mode == REMOTE,
        "department": posting.department,
        "url": url,
        "shortlink": url,
        "application_url": f"{url}/apply",
        "published_on": posting.opened.date().isoformat(),
        "created_at": posting.opened.date().isoformat(),
        "country": country,
        "city": city,
        "state": region,
        "function": posting.department,
        "experience": "",
        "industry": "",
        "locations": [
            {"country": each[2], "countryCode": each[3], "city": each[0], "region": each[1], "hidden": False}
            for each in (posting.city, *posting.also)
        ],
    }
    if details:
        said["description"] = html(posting)
    return said


def _third(ask: WebRequest, rows: tuple[PracticePosting, ...]) -> WebResponse:
    asked = ask.posted()
    if ask.method != "POST" or not isinstance(asked, dict) or "limit" in asked:
        return data(
            {
                "error": "validation failed",
                "validationErrors": [{"field": "limit", "message": "not allowed"}],
            },
            400,
        )
    start = number_in(str(asked["token"])) if asked.get("token") else 0
    if start < 0 or start > len(rows):
        return data({"error": "invalid token"}, 400)
    shown = window(ask, rows, start, PAGE)
    said: dict[str, Json] = {"total": shown.total, "results": [_second(each) for each in shown.rows]}
    if start + PAGE < len(rows):
        said["nextPage"] = f"{(start + PAGE) ^ number_in('0'):x}"
    return data(said)


def _second(posting: PracticePosting) -> dict[str, Any]:
    city, region, country, code, *_ = posting.city
    return {
        "id": posting.id,
        "shortcode": posting.shortcode,
        "title": posting.title,
        "remote": posting.mode == REMOTE,
        "workplace": {"onsite": "on_site"}.get(posting.mode, posting.mode),
        "state": "published",
        "isInternal": False,
        "location": {"country": country, "countryCode": code, "city": city, "region": region},
        "department": [posting.department],
        "type": {"Full-time": "full", "Part-time": "part"}.get(posting.employment, "contract"),
        "description": html(posting),
        "published": posting.opened.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }


def _shell(who: Company, rows: tuple[PracticePosting, ...], parts: tuple[str, ...]) -> str:
    row = found(rows, number_in(parts[2])) if len(parts) > 2 and parts[1] == "j" else None
    if row:
        url = f"{SITE}/{who.token}/j/{row.shortcode}"
        return document(f"{row.title} - {who.name}", '<div id="app"></div>', head=ld(schema(row, url)))
    source = f"/api/v1/widget/accounts/{who.token}"
    return shell(
        f"{who.name} - Current Openings",
        source,
        rows="jobs",
        title="title",
        key="shortcode",
        prefix=f"/{who.token}/j/",
    )
