"""What a model is asked about a page, and what its answers come to.

The same question is never paid for twice, so votes differ in what they show: the text, the links, the links
in another order. A model only ever points at what stands on the page. Each answer is checked against the page
before it counts, and most must agree; patterns are made by us.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from thresher.apps.extractions.detection.link_pattern import distinct, link_pattern, main_shape
from thresher.apps.extractions.detection.look import PageLook, ShownLink
from thresher.apps.extractions.detection.steps import Asked
from thresher.apps.extractions.model import Entity, PageType
from thresher.core.evidence import Material
from thresher.core.schema import Field, Kind, Schema

MIN_EXAMPLES = 2
MAX_EXAMPLES = 20
PROMPTS = {"page_type": "page_type", "links": "example_links", "pagination": "next_page"}
SCHEMAS: Mapping[str, Schema] = {
    "page_type": Schema(
        "page_type",
        (
            Field(
                "page_type",
                says="What the page is for.",
                required=True,
                choices=(PageType.DETAIL, PageType.DETAIL_LINKS, PageType.CATEGORY_LINKS),
                judged=True,
            ),
        ),
    ),
    "links": Schema(
        "example_links",
        (Field("link_examples", Kind.URL, "Addresses of links of the list, as shown.", many=True),),
    ),
    "pagination": Schema(
        "next_page", (Field("next_url", Kind.URL, "Address of the next page of the list, as shown."),)
    ),
}


def question(look: PageLook, entity: Entity, vote: int) -> dict[str, Any]:
    """The inputs of one vote."""
    fields = ", ".join(field.name for field in entity.schema.fields)
    return {"entity": f"{entity.name} ({fields})", "page": Material(_shown(look, vote), None, None, look.url)}


def _shown(look: PageLook, vote: int) -> str:
    """A page as this vote sees it: text and links, links before text, or links in reverse order."""
    ways = [
        (look.title, look.excerpt, _lines(look.shown)),
        (look.title, _lines(look.shown), look.excerpt),
        (look.title, _lines(look.shown[::-1]), look.excerpt[: len(look.excerpt) // 2]),
    ]
    again = f"Look {vote // len(ways) + 1}" if vote >= len(ways) else ""
    return "\n\n".join(filter(None, (*ways[vote % len(ways)], again)))


def _lines(links: Sequence[ShownLink]) -> str:
    return "\n".join(f"- {link.text or 'no text'}: {link.url}" for link in links)


def counted(about: str, look: PageLook, answers: Sequence[Mapping[str, Any]]) -> Asked:
    """What most of the valid answers say."""
    match about:
        case "page_type":
            return _page_type(answers)
        case "links":
            return _links(look, answers)
        case _:
            return _next_page(look, answers)


def _page_type(answers: Sequence[Mapping[str, Any]]) -> Asked:
    said = [str(answer["page_type"]) for answer in answers if answer.get("page_type") in set(PageType)]
    value, votes = _most(said)
    return Asked("page_type", value, (), len(answers), agreed=2 * votes > len(answers))


def _links(look: PageLook, answers: Sequence[Mapping[str, Any]]) -> Asked:
    """An answer counts if its links stand on the page, and a pattern of our making matches them."""
    found: dict[str, list[str]] = {}
    said: list[str] = []
    for answer in answers:
        urls = _on_page(look, answer.get("link_examples"))
        pattern = link_pattern(main_shape(urls)) if len(urls) >= MIN_EXAMPLES else None
        if pattern is not None:
            found.setdefault(pattern, []).extend(urls)
            said.append(pattern)
    value, votes = _most(said)
    examples = tuple(dict.fromkeys(found.get(value or "", ())))[:MAX_EXAMPLES]
    return Asked("links", None, examples, len(answers), agreed=2 * votes > len(answers))


def _next_page(look: PageLook, answers: Sequence[Mapping[str, Any]]) -> Asked:
    said = [url for answer in answers for url in _on_page(look, [answer.get("next_url")])[:1]]
    value, votes = _most(said)
    urls = (value,) if value is not None else ()
    return Asked("pagination", None, urls, len(answers), agreed=2 * votes > len(answers))


def _on_page(look: PageLook, said: Any) -> list[str]:
    """Of these addresses those that stand on the page; none if one was made up."""
    given = [each for each in said if isinstance(each, str)] if isinstance(said, list) else []
    urls = distinct(given[:MAX_EXAMPLES], MAX_EXAMPLES)
    known = set(look.links)
    return urls if urls and all(url in known for url in urls) else []


def _most(said: Sequence[str]) -> tuple[str | None, int]:
    counts = Counter(said).most_common(1)
    return counts[0] if counts else (None, 0)
