"""Career sites as Workday serves them: POST for lists, twenty rows at most, a total that stops at 2,000 and
offsets that start over there. Who wants the rest has to ask facet by facet.
"""

from functools import lru_cache
from typing import Any
from unicodedata import normalize

from thresher.practice.web.answer import Json, WebRequest, WebResponse, data, page, plain
from thresher.practice.web.company import Company, owner
from thresher.practice.web.posting import REMOTE, PracticePosting, postings
from thresher.practice.web.prose import document, html, ld, schema
from thresher.practice.web.sites.shell import shell
from thresher.practice.web.window import marked, window

MAX_ROWS, MAX_TOTAL = 20, 2_000
FACETS = ("jobFamilyGroup", "locations", "timeType", "workerSubType")
LABELS = {
    "jobFamilyGroup": "Job Category",
    "locations": "Locations",
    "timeType": "Time Type",
    "workerSubType": "Worker Sub-Type",
}


def site(ask: WebRequest) -> WebResponse:
    """`TENANT.wdN.myworkdayjobs.com` and `wdN.myworkdaysite.com/recruiting/TENANT`. Site names are
    case-sensitive.
    """
    tenant = ask.host.partition(".")[0] if ask.host.endswith("myworkdayjobs.com") else _named(ask)
    who = owner(ask.seed, "workday", tenant)
    if who is None:
        return page(document("Workday", "<p>The page you are looking for doesn't exist.</p>"), 404)
    match ask.parts:
        case ("robots.txt",):
            return plain(
                f"User-agent: *\nDisallow: /wday/authgwy/\nSitemap: https://{ask.host}/{who.workday_site}/siteMap.xml\n"
            )
        case ("wday", "cxs", _, name, *rest) if name == who.workday_site:
            return _cxs(ask, who, rest)
        case ("wday", "cxs", *_):
            return data({"errorCode": "S22", "message": "no such site"}, 404)
        case parts if who.workday_site in parts:
            return _seen(ask, who, "/" + "/".join(parts[parts.index(who.workday_site) + 1 :]))
        case _:
            return page(document("Workday", "<p>The page you are looking for doesn't exist.</p>"), 404)


def _named(ask: WebRequest) -> str:
    parts = ask.parts
    if "recruiting" in parts[:-1]:
        return parts[parts.index("recruiting") + 1]
    return parts[2] if parts[:2] == ("wday", "cxs") and len(parts) > 2 else ""


def _seen(ask: WebRequest, who: Company, path: str) -> WebResponse:
    """What people see: a list that a script builds, or a posting with its JSON-LD. A closed one is an empty
    page, with 200.
    """
    if path != "/":
        one = marked(postings(ask.seed, who, ask.now), path)
        head = ld(schema(one, f"https://{ask.host}/{who.workday_site}{path}")) if one else ""
        return page(document(one.title if one else "Careers", '<div id="root"></div>', head=head))
    source = f"/wday/cxs/{who.token}/{who.workday_site}/jobs"
    asked = {"appliedFacets": {}, "limit": MAX_ROWS, "offset": 0, "searchText": ""}
    prefix = f"/{who.workday_site}"
    return page(
        shell(
            "Careers",
            source,
            rows="jobPostings",
            title="title",
            key="externalPath",
            prefix=prefix,
            post=asked,
        )
    )


def _cxs(ask: WebRequest, who: Company, rest: list[str]) -> WebResponse:
    rows = postings(ask.seed, who, ask.now)
    if rest == ["jobs"]:
        return _list(ask, rows) if ask.method == "POST" else data({"errorCode": "HTTP_405"}, 405)
    path = "/" + "/".join(rest)
    one = marked(rows, path)
    return data(_detail(ask, one)) if one else data({"errorCode": "S21", "message": "not found"}, 404)


def _list(ask: WebRequest, rows: tuple[PracticePosting, ...]) -> WebResponse:
    asked = ask.posted()
    if not isinstance(asked, dict):
        return data({"errorCode": "HTTP_400", "message": "no JSON"}, 400)
    limit, offset, facets, search = (
        asked.get(name, other)
        for name, other in (("limit", 20), ("offset", 0), ("appliedFacets", {}), ("searchText", ""))
    )
    fits = (
        isinstance(limit, int)
        and 0 < limit <= MAX_ROWS
        and isinstance(offset, int)
        and offset >= 0
        and isinstance(facets, dict)
    )
    if not fits or any(not isinstance(ids, list) or len(ids) > 100 for ids in facets.values()):
        return data({"errorCode": "HTTP_400", "message": "limit is 20 at most"}, 400)
    rows = tuple(each for each in rows if _fits(each, facets) and str(search).lower() in each.title.lower())
    shown = window(ask, rows, offset % MAX_TOTAL, min(limit, MAX_TOTAL - offset % MAX_TOTAL))
    # Every third tenant says its total only on the first page.
    silent = offset > 0 and len(ask.host) % 3 == 0
    found = [{**_row(each), "postedOn": _posted((ask.now - each.opened).days)} for each in shown.rows]
    return data(
        {
            "total": 0 if silent else min(shown.total, MAX_TOTAL),
            "jobPostings": found,
            "facets": _facets(rows),
            "userAuthenticated": False,
        }
    )


def _fits(posting: PracticePosting, facets: dict[str, Json]) -> bool:
    return all(_value(posting, name)[0] in ids for name, ids in facets.items() if name in FACETS and ids)


def _value(posting: PracticePosting, facet: str) -> tuple[str, str]:
    """The id and the label of a posting's value of a facet."""
    return _value_of(facet, posting.department, posting.city[0], posting.employment)


@lru_cache(1_024)
def _value_of(facet: str, department: str, city: str, employment: str) -> tuple[str, str]:
    label = {
        "jobFamilyGroup": department,
        "locations": city,
        "timeType": "Part time" if employment == "Part-time" else "Full time",
        "workerSubType": "Intern" if employment == "Internship" else "Regular",
    }[facet]
    return f"{facet[:2]}{sum(ord(each) * place for place, each in enumerate(label, 3)):08x}", label


def _facets(rows: tuple[PracticePosting, ...]) -> Json:
    found = []
    for facet in FACETS:
        counts: dict[tuple[str, str], int] = {}
        for each in rows:
            value = _value(each, facet)
            counts[value] = counts.get(value, 0) + 1
        values = [
            {"id": key, "descriptor": label, "count": count} for (key, label), count in sorted(counts.items())
        ]
        found.append({"facetParameter": facet, "descriptor": LABELS[facet], "values": values})
    return found


def _path(posting: PracticePosting) -> str:
    city = normalize("NFKD", posting.city[0]).encode("ascii", "ignore").decode().replace(" ", "-")
    return f"/job/{city}/{posting.slug}_{posting.mark}"


def _posted(days: int) -> str:
    if days < 2:
        return ("Posted Today", "Posted Yesterday")[max(0, days)]
    return f"Posted {days} Days Ago" if days <= 30 else "Posted 30+ Days Ago"


def _row(posting: PracticePosting) -> dict[str, Any]:
    where = f"{1 + len(posting.also)} Locations" if posting.also else posting.city[0]
    found = {
        "title": posting.title,
        "externalPath": _path(posting),
        "locationsText": where,
        "timeType": _value(posting, "timeType")[1],
        "bulletFields": [posting.requisition],
    }
    if posting.mode == REMOTE:
        found["remoteType"] = "Fully Remote"
    return found


def _detail(ask: WebRequest, posting: PracticePosting) -> Json:
    who = posting.company
    return {
        "jobPostingInfo": {
            "id": posting.uuid.replace("-", ""),
            "title": posting.title,
            "jobDescription": html(posting),
            "location": posting.city[0],
            "additionalLocations": [each[0] for each in posting.also],
            "postedOn": _posted((ask.now - posting.opened).days),
            "startDate": posting.opened.date().isoformat(),
            "endDate": posting.closes.date().isoformat(),
            "timeType": _value(posting, "timeType")[1],
            "jobReqId": posting.requisition,
            "jobPostingId": _path(posting).rpartition("/")[2],
            "country": {"descriptor": posting.city[2]},
            "externalUrl": f"https://{ask.host}/{who.workday_site}{_path(posting)}",
            "canApply": True,
            "posted": True,
        },
        "hiringOrganization": {"name": who.name, "url": f"https://{who.site}/"},
    }
