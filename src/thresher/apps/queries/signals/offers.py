"""An offer as the store takes it: a flat row of plain values, made where a long text may be read, in a
process that can be killed. Title and description are those that the posting's record keeps, so that scoring
again from the record gives the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from thresher.apps.queries.clients.search import Offer
from thresher.apps.queries.signals.reposts import NotCompared, TextPrint, read_print
from thresher.apps.queries.signals.rules import Rules
from thresher.apps.queries.signals.score import Score, score_offer
from thresher.core.record import clean
from thresher.hiring.headline import headline
from thresher.hiring.row import MAX_LINE, fields, listed


@dataclass(frozen=True, slots=True)
class KeyedOffer:
    """An offer with the keys of its posting and its company. `listed` is the print of its row in the client's
    list, where the offer was completed from its own page since.
    """

    key: str
    company: str
    offer: Offer
    listed: str | None = None


def offer_rows(offers: Sequence[KeyedOffer], rules: Rules, client: str = "") -> list[dict[str, Any]]:
    """The rows of a page of offers, for one call of `ctx.compute`."""
    return [
        offer_row(each.key, each.company, each.offer, rules, client=client, listed_print=each.listed)
        for each in offers
    ]


def offer_row(
    key: str,
    company: str,
    offer: Offer,
    rules: Rules,
    *,
    client: str = "",
    listed_print: str | None = None,
) -> dict[str, Any]:
    """The row of an offer for the effect `queries.offers`."""
    said = fields(offer.posting)
    title, description = said.get("title") or "", said.get("description")
    name = clean(offer.posting.company or "").strip()[:MAX_LINE]
    found: dict[str, Any] = {
        "posting": key,
        "client": client,
        "company": company,
        "company_name": name,
        "title": title,
        "headline": headline(title, name),
        "url": said.get("url"),
        "location": said.get("location") or "",
        "posted_on": said.get("posted"),
        "listed": listed_print or listed_row(offer),
        "described": int(bool(description)),
    }
    return (
        found
        | _compared_by(company, title, description)
        | scored(score_offer(title, description, rules), rules)
    )


def listed_row(offer: Offer) -> str:
    """The print of an offer as a client lists it, by which the next look knows whether it has changed."""
    return listed(offer.posting)


def _compared_by(company: str, title: str, description: str | None) -> dict[str, Any]:
    found = read_print(title, description) if company else NotCompared.NO_COMPANY
    if isinstance(found, TextPrint):
        return {
            "fingerprint": found.fingerprint,
            "size": found.size,
            "signature": found.signature,
            "sketch": found.sketch,
            "repost_why": None,
        }
    nothing = dict.fromkeys(("fingerprint", "signature", "sketch"))
    return {**nothing, "size": 0, "repost_why": str(found)}


def scored(score: Score, rules: Rules) -> dict[str, Any]:
    """A score as the store takes it."""
    return {
        "score": score.points,
        "strong": int(score.strong),
        "category": score.category,
        "categories": orjson.dumps(score.categories).decode(),
        "hits": orjson.dumps([part.as_json() for part in score.parts]).decode(),
        "rules": rules.print,
    }


def scores_again(texts: Mapping[str, tuple[str, str | None] | None], rules: Rules) -> list[dict[str, Any]]:
    """The rows of the effect `queries.scores`: what offers are worth under these rules, from the title and
    the description that their records keep. None: the record is gone, and so the score stays what it was.
    """
    return [
        {"posting": key}
        if text is None
        else {"posting": key, **scored(score_offer(text[0], text[1], rules), rules)}
        for key, text in texts.items()
    ]
