"""Many pages of about twenty kilobytes, for benchmarks: `/page/N`, each with a title, a price, availability
and links.
"""

from functools import lru_cache
from html import escape

from thresher.practice.web.answer import WebRequest, WebResponse, page, plain, whole
from thresher.practice.web.clock import DAY_ZERO
from thresher.practice.web.draw import Draw
from thresher.practice.web.prose import document
from thresher.practice.web.words import FIRST, SECOND, TRADES, WANTS

PAGES = 100_000
LISTED = 40
PARAGRAPHS = 80


def site(ask: WebRequest) -> WebResponse:
    """`/page/1` to `/page/100000`; `/` lists the first ones."""
    match ask.parts:
        case ("page", number) if 1 <= whole(number) <= PAGES:
            return rendered(ask.seed, whole(number))
        case ("robots.txt",):
            return plain("User-agent: *\nAllow: /\n")
        case ():
            links = "".join(
                f'<li><a href="/page/{number}">Page {number}</a></li>' for number in range(1, LISTED + 1)
            )
            return page(document("Bulk", f"<h1>Bulk</h1><ul>{links}</ul>"))
        case _:
            return page(document("Not found", "<h1>No such page</h1>"), 404)


@lru_cache(6_000)
def rendered(seed: int, number: int) -> WebResponse:
    """One page, made once: a benchmark should wait for the client, not for us."""
    draw, (names, sentences) = Draw(seed, "bulk", number), _stock(seed)
    title = f"{draw.pick(names)} No. {number}"
    stock = f"In stock ({draw.between(1, 30)} available)" if draw.chance(85) else "Out of stock"
    near = "".join(
        f'<li class="near"><article class="card"><h3><a href="/page/{each}">{draw.pick(names)} No. {each}</a></h3>'
        f'<p class="price_color">£{draw.between(500, 9_000) / 100:.2f}</p></article></li>'
        for each in ((number * 7 + step * 131) % PAGES + 1 for step in range(LISTED))
    )
    text = "\n".join(draw.pick(sentences) for _ in range(PARAGRAPHS))
    body = (
        f'<ul class="breadcrumb"><li><a href="/">Home</a></li><li class="active">{escape(title)}</li></ul>\n'
        f'<article class="product_page"><h1>{escape(title)}</h1><p class="price_color">£{draw.between(500, 9_000) / 100:.2f}</p>'
        f'<p class="instock availability">{stock}</p>\n{text}</article>\n<ul>{near}</ul>'
    )
    return page(document(title, body), modified=DAY_ZERO)


@lru_cache(4)
def _stock(seed: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names and paragraphs that all pages share, so that a page costs a few draws only."""
    draw = Draw(seed, "bulk")
    names = tuple(f"{draw.pick(FIRST)} {draw.pick(SECOND)}" for _ in range(300))
    sentences = tuple(
        f"<p>{draw.pick(FIRST)} is known for {draw.pick(TRADES)}, and asks for {draw.pick(WANTS)}. {draw.pick(SECOND)} followed in "
        f"{draw.between(1900, 2025)} with {draw.pick(TRADES)} and {draw.pick(WANTS)}.</p>"
        for _ in range(300)
    )
    return names, sentences
