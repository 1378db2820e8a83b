"""Inspect one page with everything that reading offers, for a person who asks why a site does not work."""

from datetime import date
from decimal import Decimal
from typing import Any

from thresher.core.page import Page
from thresher.reading.inspect.body import Format, read_body
from thresher.reading.inspect.datasheet import inspect_data
from thresher.reading.inspect.report import Inspection, unreachable
from thresher.reading.inspect.webpage import inspect_html
from thresher.reading.lists.find_lists import ListGroup
from thresher.reading.postings.posting import Posting, Salary
from thresher.reading.structured.schema_org import Product

MAX_LISTS = 3  # of a page that are shown
MAX_ROWS = 1_000

__all__ = ["Inspection", "as_json", "inspect", "unreachable"]


def inspect(page: Page, today: date) -> Inspection:
    """Read a page as far as it can be read. Never raises for what the page holds: what is unclear ends as
    unknown.
    """
    body = read_body(page)
    return inspect_html(body, today) if body.format is Format.HTML else inspect_data(body, today)


def as_json(inspection: Inspection) -> dict[str, Any]:
    """The inspection with the keys that programs rely on."""
    board, company = inspection.board, inspection.company
    return {
        "source": inspection.source,
        "status": inspection.status,
        "verdict": inspection.look.verdict.value,
        "reason": inspection.look.reason,
        "kind": inspection.kind.value,
        "title": inspection.title,
        "language": inspection.language,
        "board": {"platform": board.platform, "token": board.token, "url": board.url or None}
        if board
        else None,
        "company": {
            "name": company.name,
            "website": company.website,
            "about": company.about,
            "careers_url": company.careers_url,
        },
        "postings": [_posting(posting) for posting in inspection.postings],
        "products": [_product(product) for product in inspection.products],
        "lists": [_list(group) for group in inspection.lists[:MAX_LISTS]],
        "links": [{"url": link.url, "text": link.text, "why": link.why} for link in inspection.links],
        "pagination": {"next": inspection.next, "pages": list(inspection.pages)},
        "markdown": inspection.markdown,
        "text": inspection.text,
        "timings": {name: round(seconds, 6) for name, seconds in inspection.timings.items()},
    }


def _posting(posting: Posting) -> dict[str, Any]:
    return {
        "title": posting.title,
        "company": posting.company,
        "location": posting.location,
        "url": posting.url,
        "posted_date": posting.posted_date.isoformat() if posting.posted_date else None,
        "employment_type": posting.employment_type,
        "salary": _salary(posting.salary) if posting.salary else None,
        "description": posting.description,
    }


def _salary(salary: Salary) -> dict[str, Any]:
    return {
        "min": _number(salary.low),
        "max": _number(salary.high),
        "currency": salary.currency,
        "period": salary.period,
        "text": salary.text,
    }


def _number(value: Decimal | None) -> int | float | None:
    if value is None:
        return None
    return int(value) if value == value.to_integral_value() else float(value)


def _product(product: Product) -> dict[str, Any]:
    price = product.price
    return {
        "name": product.name,
        "price": {"amount_minor": price.amount_minor, "currency": price.currency, "text": price.text}
        if price
        else None,
        "availability": product.availability,
        "url": product.url,
    }


def _list(group: ListGroup) -> dict[str, Any]:
    return {
        "score": round(group.score, 2),
        "share": round(group.share, 3),
        "rows": [{"title": row.title, "url": row.url, **row.fields} for row in group.rows[:MAX_ROWS]],
    }
