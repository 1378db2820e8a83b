"""A search over openings with an API of the usual kind: a key, pages, time filters, and an end that is not
the end.

Rows appear in the index up to three days after the date they carry, and some are dated anew: whoever moves a
watermark to the newest date seen will miss rows.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from thresher.practice.web.answer import WebRequest, WebResponse, data, whole
from thresher.practice.web.company import directory
from thresher.practice.web.draw import Draw
from thresher.practice.web.posting import PracticePosting, postings
from thresher.practice.web.prose import intro
from thresher.practice.web.window import window

MAX_ROWS, MAX_PAGES, MAX_DAYS = 50, 20, 10_000
COUNTRIES = frozenset(("de", "gb", "us", "nl", "fr", "ca", "au", "ch", "se", "ie", "pt", "sg"))
REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A posting as the index has it: with a date of its own."""

    id: int
    posting: PracticePosting
    created: datetime


def site(ask: WebRequest) -> WebResponse:
    """`/v1/search/COUNTRY/PAGE?app_key=…&what=&where=&max_days_old=&posted_since=&sort_by=date&results_per_page=`."""
    match ask.parts:
        case ("v1", "search", country, number) if country in COUNTRIES and whole(number) >= 0:
            return _refusal(ask, whole(number)) or _found(ask, country, whole(number))
        case _:
            return data({"exception": "NOT_FOUND", "display": "There is no such endpoint"}, 404)


def _refusal(ask: WebRequest, number: int) -> WebResponse | None:
    if ask.query.get("app_key", REVOKED) == REVOKED:
        return data({"exception": "AUTH_FAIL", "display": "Authorisation failed"}, 401)
    if number < 1 or number > MAX_PAGES:
        return data({"exception": "INVALID_PAGE", "display": f"Pages go from 1 to {MAX_PAGES}"}, 400)
    if ask.query.get("posted_since") and _since(ask) is None:
        return data(
            {
                "exception": "INVALID_PARAMETER",
                "display": "posted_since must be an ISO 8601 time with a zone",
            },
            400,
        )
    return None


def _found(ask: WebRequest, country: str, number: int) -> WebResponse:
    size = min(max(1, ask.number("results_per_page", 10)), MAX_ROWS)
    what, where = ask.query.get("what", "").lower().split(), ask.query.get("where", "").lower()
    oldest = ask.now - timedelta(days=min(abs(ask.number("max_days_old", MAX_DAYS)), MAX_DAYS))
    since = max(_since(ask) or oldest, oldest)
    hits = [
        each
        for each in indexed(ask.seed, ask.now)
        if each.posting.city[3].lower() == country
        and each.created >= since
        and where in each.posting.where.lower()
        and all(word in f"{each.posting.title} {each.posting.department}".lower() for word in what)
    ]
    if ask.query.get("sort_by") != "date":
        hits.sort(key=lambda each: Draw(ask.seed, "relevance", each.id, *what).below(1_000))
    shown = window(ask, hits, (number - 1) * size, size)
    return data(
        {
            "count": shown.total,
            "results": [_row(each) for each in shown.rows],
            "recommended": [_row(each) for each in shown.recommended],
        }
    )


def _since(ask: WebRequest) -> datetime | None:
    try:
        at = datetime.fromisoformat(ask.query.get("posted_since", ""))
    except ValueError:
        return None
    return at if at.tzinfo else None


@lru_cache(8)
def indexed(seed: int, now: datetime) -> tuple[SearchHit, ...]:
    """Everything the index has at this moment, newest date first."""
    hits = []
    for who in directory(seed):
        if who.places > 500:
            continue
        for each in postings(seed, who, now):
            draw = Draw(seed, "index", each.id)
            late = (
                timedelta(minutes=draw.below(4_320)) if draw.chance(40) else timedelta(minutes=draw.below(30))
            )
            if each.opened + late <= now:
                redated = each.updated if each.revision and draw.chance(40) else each.opened
                hits.append(SearchHit(each.id, each, redated))
    return tuple(sorted(hits, key=lambda each: (each.created, each.id), reverse=True))


def _row(hit: SearchHit) -> dict[str, Any]:
    each = hit.posting
    city, region, country, *_ = each.city
    said: dict[str, Any] = {
        "id": str(hit.id),
        "title": each.title,
        "description": f"{intro(each)[:180]}…",
        "created": hit.created.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "redirect_url": f"https://search.practice.example/land/{hit.id}",
        "company": {"display_name": each.company.name},
        "location": {"display_name": f"{city}, {region}", "area": [country, region, city]},
        "category": {"tag": f"{each.department.lower()}-jobs", "label": f"{each.department} Jobs"},
        "contract_time": "part_time" if each.employment == "Part-time" else "full_time",
    }
    if each.pay:
        said |= {"salary_min": each.pay.least, "salary_max": each.pay.most, "salary_is_predicted": "0"}
    return said
