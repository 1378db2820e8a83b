"""Offers and companies as the tests of signals speak of them."""

from datetime import date

from tests.harness.tasks import rows
from thresher.apps.queries.clients.search import Offer
from thresher.apps.queries.signals.offers import offer_row
from thresher.apps.queries.signals.rules import Rules, read_rules
from thresher.apps.queries.store.aggregates import aggregate_companies, dirty_companies, find_signals
from thresher.apps.queries.store.offers import close_offers, upsert_offers
from thresher.reading.postings.posting import Posting

RULES_TEXT = """
scale: {max: 10, strong: 6}
fields: {title: 1.5, description: 1.0}
buckets: {money: 7, abroad: 3}
core: {bucket: money, min: 2, cap_without: 5}
negation: {words: ["no", not], exceptions: [not only]}
categories:
  - {id: forex, bucket: money, points: 4, keywords: [forex, divisas]}
  - {id: treasury, bucket: money, points: 2.5, keywords: [treasury]}
  - {id: export, bucket: abroad, points: 2.5, keywords: [export*]}
"""
RULES = read_rules(RULES_TEXT, "rules.yaml")
STRONG = "We trade forex in our treasury and export to many countries around the whole world"
WEAK = "We bake bread in a small town and look for somebody who likes to rise early"


def words(seed: str, number: int = 60) -> str:
    """A text of so many words that no other seed has."""
    return " ".join(f"{seed}{at}" for at in range(number))


def row(
    key: str,
    company: str = "acme.example",
    *,
    title: str = "Analyst",
    text: str | None = WEAK,
    rules: Rules = RULES,
    posted: date | None = None,
    place: str | None = None,
    name: str = "Acme",
    listed: str | None = None,
) -> dict:
    posting = Posting(
        title,
        company=name,
        location=place,
        url=f"https://board.example/{key.replace('/', '-')}",
        posted_date=posted,
        description=text,
        key=key,
    )
    return offer_row(key, company, Offer(posting), rules, client="board", listed_print=listed)


def see(store, *offers, **data):
    with store.write() as session:
        return upsert_offers(session, {"offers": list(offers), **data}, store.backend.now(session))


def gone(store, *keys):
    with store.write() as session:
        return close_offers(session, {"offers": list(keys)}, store.backend.now(session))


def compute(store, *companies):
    """Compute the figures of these companies, or of all that wait."""
    with store.write() as session:
        now = store.backend.now(session)
        listed = list(companies) or dirty_companies(session, {"limit": 1_000}, now)
        return aggregate_companies(session, {"companies": listed}, now)


def signals(store, company="acme.example"):
    with store.read() as session:
        return find_signals(session, company)


def links(store):
    """Which posting reposts which."""
    return dict(
        rows(
            store, "select posting, canonical from query_offers where canonical is not null order by posting"
        )
    )


def column(store, name):
    return dict(rows(store, f"select posting, {name} from query_offers order by posting"))
