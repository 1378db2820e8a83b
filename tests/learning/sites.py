"""Hand-written shops in several layouts, and what may happen to a layout between two visits.

A shop shows one tool a page. `Knobs` turn the same tool into another page: that is the only way in which two
pages of a shop differ besides the tool itself, so every difference in what is read comes from the knob.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from html import escape

from thresher.core.schema import Field, Kind, Schema
from thresher.learning.extractor import Example
from thresher.reading.html.document import Document

TOOLS = Schema(
    "tool",
    (
        Field("title", required=True),
        Field("price", Kind.MONEY),
        Field("brand"),
        Field("sku"),
        Field("weight"),
        Field("released", Kind.DATE),
    ),
)


@dataclass(frozen=True, slots=True)
class Tool:
    title: str
    price: str
    brand: str
    sku: str
    weight: str
    released: str

    def labels(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


SHELF = (
    Tool("Claw hammer with hickory shaft", "€24.90", "Oakforge", "OF-1042", "640 g", "14 March 2024"),
    Tool("Folding saw", "€31.50", "Brenn & Sohn", "BS-2210", "310 g", "2 May 2023"),
    Tool("Spirit level, 60 cm", "€18.00", "Trueline", "TL-3307", "520 g", "19 January 2025"),
    Tool("Ratchet set of 40", "€89.99", "Oakforge", "OF-4471", "2,400 g", "7 July 2022"),
    Tool("Bench vice", "€112.00", "Anvilworks", "AW-5518", "7,800 g", "30 September 2021"),
    Tool("Marking knife", "€9.75", "Trueline", "TL-6629", "85 g", "11 November 2024"),
    Tool("Cordless drill", "€149.00", "Brenn & Sohn", "BS-7733", "1,350 g", "23 February 2025"),
    Tool("Block plane", "€54.20", "Anvilworks", "AW-8840", "760 g", "5 August 2023"),
)


@dataclass(frozen=True, slots=True)
class Knobs:
    """What has changed since the shop was learned."""

    classes: str = ""  # put before every class and id
    ads: bool = False  # banners before the main block and between the rows, in the markup of the rows
    related: bool = False  # another tool in the same markup, before the one that the page is about
    last: bool = False  # the main block stands behind the footer
    swapped: bool = False  # the rows in reverse order
    labels: str = ""  # put before every label
    without: str = ""  # a field that is gone
    emptied: str = ""  # a field whose box is there, and empty
    instead: bool = False  # the tool is gone, and another one is recommended in its place
    wrapped: bool = False  # a box around every box
    shifted: bool = False  # every value stands one row further down than its label


Layout = Callable[[Tool, Knobs], str]
_NAMES = {
    "price": "Price",
    "brand": "Brand",
    "sku": "Article number",
    "weight": "Weight",
    "released": "On sale since",
}


def _rows(tool: Tool, knobs: Knobs) -> list[tuple[str, str, str]]:
    """Name, label and value of each row."""
    rows = [
        (name, knobs.labels + label, getattr(tool, name))
        for name, label in _NAMES.items()
        if name != knobs.without
    ]
    rows = [(name, label, "" if name == knobs.emptied else value) for name, label, value in rows]
    if knobs.shifted:
        rows = [(name, label, rows[at - 1][2]) for at, (name, label, _) in enumerate(rows)]
    if knobs.ads:
        rows = [each for row in rows for each in ((row[0], "", "Win a toolbox worth 500 points"), row)]
    return rows[::-1] if knobs.swapped else rows


def _title(tool: Tool, knobs: Knobs) -> str:
    return (
        ""
        if knobs.without == "title"
        else "<h1></h1>"
        if knobs.emptied == "title"
        else f"<h1>{escape(tool.title)}</h1>"
    )


def table(tool: Tool, knobs: Knobs) -> str:
    rows = "".join(
        f"<tr><th>{label}</th><td>{escape(value)}</td></tr>" for _, label, value in _rows(tool, knobs)
    )
    return f'<div class="{knobs.classes}product">{_title(tool, knobs)}<table class="{knobs.classes}facts">{rows}</table></div>'


def definitions(tool: Tool, knobs: Knobs) -> str:
    rows = "".join(f"<dt>{label}:</dt><dd>{escape(value)}</dd>" for _, label, value in _rows(tool, knobs))
    return f'<section id="{knobs.classes}item">{_title(tool, knobs)}<dl>{rows}</dl></section>'


def boxes(tool: Tool, knobs: Knobs) -> str:
    rows = "".join(
        f'<div class="{knobs.classes}row"><span class="{knobs.classes}{name}">{escape(value)}</span></div>'
        for name, _, value in _rows(tool, knobs)
    )
    return f'<article class="{knobs.classes}detail">{_title(tool, knobs)}{rows}</article>'


def lines(tool: Tool, knobs: Knobs) -> str:
    rows = "".join(f"<b>{label}:</b> {escape(value)}<br>" for _, label, value in _rows(tool, knobs))
    return f"<div>{_title(tool, knobs)}<p>{rows}</p></div>"


def sentences(tool: Tool, knobs: Knobs) -> str:
    rows = "".join(f"<li>{label} {escape(value)}</li>" for _, label, value in _rows(tool, knobs))
    return f"<div>{_title(tool, knobs)}<ul>{rows}</ul></div>"


LAYOUTS: tuple[Layout, ...] = (table, definitions, boxes, lines, sentences)
AS_LEARNED = Knobs()
CHANGES: dict[str, Knobs] = {
    "renamed classes": Knobs(classes="x9-"),
    "banners in the markup of the rows": Knobs(ads=True),
    "a related tool in the same markup": Knobs(related=True),
    "the main block behind the footer": Knobs(last=True),
    "rows in reverse order": Knobs(swapped=True),
    "other label words": Knobs(labels="Our "),
    "no title": Knobs(without="title"),
    "no price": Knobs(without="price"),
    "no brand": Knobs(without="brand"),
    "no date": Knobs(without="released"),
    "an empty title": Knobs(emptied="title"),
    "an empty price": Knobs(emptied="price"),
    "an empty brand": Knobs(emptied="brand"),
    "an empty weight": Knobs(emptied="weight"),
    "another tool in its place": Knobs(instead=True),
    "boxes around boxes": Knobs(wrapped=True),
    "no brand, and a related tool": Knobs(without="brand", related=True),
    "no price, and a related tool": Knobs(without="price", related=True),
    "other names, other labels": Knobs(classes="q-", labels="The "),
    "rows in reverse order without a brand": Knobs(swapped=True, without="brand"),
}


def page(layout: Layout, tool: Tool, knobs: Knobs = AS_LEARNED) -> Document:
    """The page of a tool."""
    other = SHELF[(SHELF.index(tool) + 3) % len(SHELF)]
    plain = replace(knobs, without="", emptied="")
    main = layout(other, plain) if knobs.instead else layout(tool, knobs)
    if knobs.instead:
        main = f"<h2>Sold out. You may also like</h2>{main}"
    if knobs.related:
        main = layout(other, plain) + main
    if knobs.wrapped:
        main = (
            main.replace("<h1>", "<div><h1>")
            .replace("</h1>", "</h1></div>")
            .replace("<span", "<div><span")
            .replace("</span>", "</span></div>")
        )
    footer = '<div class="foot"><p>Terms of sale</p><p>Questions? Call us</p></div>'
    above = '<p class="ad">Spring sale: everything must go</p>' if knobs.ads else ""
    body = f"{footer}{main}" if knobs.last else f"{above}{main}{footer}"
    html = (
        f"<html><head><title>{escape(tool.title)} | Shop of tools</title></head>"
        f"<body><div><a href='/'>Home</a> <a href='/all'>All tools</a></div>{body}</body></html>"
    )
    return Document.from_html(html, f"https://tools.example/item/{SHELF.index(tool)}")


def example(layout: Layout, tool: Tool, knobs: Knobs = AS_LEARNED) -> Example:
    return Example(page(layout, tool, knobs), tool.labels())


def declared(tool: Tool) -> Document:
    """A page that tells machines about its tool, and people too."""
    data = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": tool.title,
        "sku": tool.sku,
        "brand": {"@type": "Brand", "name": tool.brand},
        "offers": {"@type": "Offer", "price": tool.price[1:], "priceCurrency": "EUR"},
    }
    script = f'<script type="application/ld+json">{json.dumps(data)}</script>'
    body = f'<h1>{escape(tool.title)}</h1><p class="cost">{tool.price}</p><p>by <span class="maker">{escape(tool.brand)}</span></p>'
    return Document.from_html(
        f"<html><head>{script}</head><body>{body}<p>Weight: {tool.weight}</p></body></html>",
        "https://tools.example/1",
    )
