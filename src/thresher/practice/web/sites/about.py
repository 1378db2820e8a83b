"""What a company tells of itself on its own pages, in three layouts: a list of facts, prose, or data for
machines beside the prose.
"""

from html import escape
from typing import Any

from thresher.practice.web.company import Company
from thresher.practice.web.demands import listed
from thresher.practice.web.prose import ld
from thresher.practice.web.traits import Traits, office_text


def about(who: Company, known: Traits) -> str:
    """The body of the page about the company."""
    parts = [
        f"<p>{escape(who.name)} was founded in {who.founded} in {who.city[0]}, {who.city[2]}. We make {who.trade} and nothing else.</p>",
        f"<p>Today {who.staff} people work here. We are owned by those who work in the company.</p>",
        f"<h2>Our mission</h2>\n<p>{known.mission}</p>",
        f"<h2>How we work</h2>\n<p>{known.culture}</p>\n<p>{known.remote_words}.</p>",
        _glance(who, known) if who.layout == 0 else "",
        f"<h2>Where we are</h2>\n<p>{offices(known)}</p>",
        f"<p>{' '.join(known.traps)}</p>",
    ]
    return "\n".join(part for part in parts if part)


def _glance(who: Company, known: Traits) -> str:
    rows = {
        "Headquarters": known.headquarters,
        "Industry": known.industry,
        "Founded": str(who.founded),
        "Employees": f"{known.size:,}",
    }
    return (
        "<h2>At a glance</h2>\n<dl>"
        + "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows.items())
        + "</dl>"
    )


def offices(known: Traits) -> str:
    """Where it is, in a sentence."""
    places = tuple(office_text(each) for each in known.offices)
    also = f" We also have offices in {listed(places)}." if places else " We have no other offices."
    return f"Our headquarters are in {known.headquarters}.{also}"


def working_here(known: Traits) -> str:
    """What a careers page says besides its openings."""
    values = "".join(f"<li>{each}</li>" for each in known.values)
    stack = f"<h2>What we build with</h2>\n<p>We work with {listed(known.tech)}.</p>\n" if known.tech else ""
    focus = f"<p>{known.ai_words}.</p>\n" if known.ai_words else ""
    return f'<h2>Our values</h2>\n<ul class="values">{values}</ul>\n{stack}{focus}'


def organization(who: Company, known: Traits) -> str:
    """What machines are told on the home page."""
    found: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "Organization",
        "name": who.name,
        "url": f"https://{who.site}/",
        "foundingDate": str(who.founded),
        "address": {"@type": "PostalAddress", "addressLocality": who.city[0]},
    }
    if who.layout == 2:
        found["address"] |= {"addressCountry": who.city[3]}
        found |= {
            "numberOfEmployees": {"@type": "QuantitativeValue", "value": known.size},
            "industry": known.industry,
        }
    return ld(found)
