"""A posting in words: as HTML, as plain text and as the schema.org description that pages carry for
machines.
"""

import json
from html import escape
from typing import Any

from thresher.practice.web.posting import HYBRID, REMOTE, PracticePosting

SCHEMA_EMPLOYMENT = {
    "Full-time": "FULL_TIME",
    "Part-time": "PART_TIME",
    "Contract": "CONTRACTOR",
    "Internship": "INTERN",
}
WORKPLACE = {REMOTE: "Remote", HYBRID: "Hybrid"}


def intro(posting: PracticePosting) -> str:
    who = posting.company
    return (
        f"{who.name} makes {who.trade}. We are about {who.staff} people, founded in {who.founded}, with our main office in {who.city[0]}. "
        f"For our {posting.department} team we are looking for a {posting.title}."
    )


def pay_text(posting: PracticePosting) -> str:
    """The salary as a sentence; empty where the company does not say."""
    pay = posting.pay
    return f"{pay.currency} {pay.least:,} – {pay.most:,} a year" if pay else ""


def sections(posting: PracticePosting) -> list[tuple[str, tuple[str, ...]]]:
    return [
        ("What you will do", posting.duties),
        ("What we look for", posting.wants),
        ("What we offer", posting.offers),
    ]


def html(posting: PracticePosting) -> str:
    parts = [f"<p>{escape(intro(posting))}</p>"]
    parts += [f"<h3>{title}</h3>\n{bullets(rows)}" for title, rows in sections(posting)]
    if posting.pay:
        parts.append(f"<p><strong>Pay:</strong> {escape(pay_text(posting))}</p>")
    return "\n".join(parts)


def text(posting: PracticePosting) -> str:
    parts = [intro(posting)]
    parts += ["\n".join((title, *(f"- {row}" for row in rows))) for title, rows in sections(posting)]
    return "\n\n".join([*parts, pay_text(posting)]).strip()


def bullets(rows: tuple[str, ...]) -> str:
    return "<ul>" + "".join(f"<li>{escape(row[0].upper() + row[1:])}</li>" for row in rows) + "</ul>"


def workplace(posting: PracticePosting) -> str:
    return WORKPLACE.get(posting.mode, "On-site")


def schema(posting: PracticePosting, url: str) -> dict[str, Any]:
    """A schema.org JobPosting."""
    city, region, _, code, *_ = posting.city
    found: dict[str, Any] = {
        "@context": "https://schema.org/",
        "@type": "JobPosting",
        "title": posting.title,
        "description": html(posting),
        "datePosted": posting.opened.date().isoformat(),
        "validThrough": posting.closes.date().isoformat(),
        "employmentType": SCHEMA_EMPLOYMENT[posting.employment],
        "url": url,
        "identifier": {"@type": "PropertyValue", "name": posting.company.name, "value": posting.requisition},
        "hiringOrganization": {
            "@type": "Organization",
            "name": posting.company.name,
            "sameAs": f"https://{posting.company.site}/",
        },
        "jobLocation": {
            "@type": "Place",
            "address": {
                "@type": "PostalAddress",
                "addressLocality": city,
                "addressRegion": region,
                "addressCountry": code,
            },
        },
    }
    if posting.mode == REMOTE:
        found["jobLocationType"] = "TELECOMMUTE"
        found["applicantLocationRequirements"] = {"@type": "Country", "name": posting.city[2]}
    if posting.pay:
        value = {
            "@type": "QuantitativeValue",
            "minValue": posting.pay.least,
            "maxValue": posting.pay.most,
            "unitText": "YEAR",
        }
        found["baseSalary"] = {"@type": "MonetaryAmount", "currency": posting.pay.currency, "value": value}
    return found


def ld(value: object) -> str:
    """A script element for machines. A `<` inside must not end it."""
    text = json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
    return f'<script type="application/ld+json">{text}</script>'


def document(title: str, body: str, *, head: str = "", language: str = "en") -> str:
    """A whole page around a body."""
    return (
        f'<!doctype html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n{head}\n</head>\n<body>\n{body}\n</body>\n</html>\n'
    )
