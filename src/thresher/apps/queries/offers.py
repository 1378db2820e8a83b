"""Offers of a page as records: which are new or changed, to which company each belongs, and what is written.

An offer is known by its client and the client's own number for it, so that two queries of one client share
it, and it belongs to both. One that reads as before is not written again: most offers of a search that is
repeated are such, so nothing is made of an offer, nor its company asked for, before that is known.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from thresher.apps.queries.clients.client import Client
from thresher.apps.queries.clients.search import Offer
from thresher.apps.queries.known_clients import namespace_of
from thresher.apps.queries.model import QueryState
from thresher.apps.queries.signals.offers import KeyedOffer, offer_rows
from thresher.apps.queries.signals.rules import Rules, parsed_rules
from thresher.core.context import Context
from thresher.core.record import Link, Record
from thresher.hiring.lifecycle import OPEN
from thresher.hiring.records import (
    PostingFields,
    company_entry,
    company_name_key,
    posting_entry,
)
from thresher.hiring.row import evidence_of, fields, key_of, listed

QUERY = "query"  # the name of the link from a posting to what found it


@dataclass(frozen=True, slots=True)
class Batch:
    """The offers of a page. `rows` is what their signals are computed from; `fresh` are the keys of those
    that no query has found before; `new_companies` the names of companies that nobody knew.
    """

    offers: tuple[tuple[str, Offer], ...]
    records: tuple[Record, ...]
    rows: Sequence[dict[str, Any]]
    fresh: frozenset[str]
    changed: frozenset[str]
    new_companies: frozenset[str]

    @property
    def is_known(self) -> bool:
        """Whether there are offers, and nothing is new about any of them."""
        return bool(self.offers) and not self.changed


async def batch_of(
    ctx: Context, client: Client, query: QueryState, offers: Iterable[Offer], completes: str | None = None
) -> Batch:
    """What is written of these offers. A single one may complete the posting of a key, from its own page:
    it goes on being compared by how the list has it.
    """
    namespace = namespace_of(client, query.query.parameters)
    keyed = {completes or key_of(namespace, each.posting): each for each in offers}
    known = await ctx.read("queries.known", {"query": query.key, "keys": list(keyed)})
    prints = {name: print_of(each) for name, each in keyed.items()}
    if completes and completes in known:
        prints[completes] = known.pop(completes)[0] or prints[completes]
    changed = frozenset(name for name in keyed if name not in known or known[name][0] != prints[name])
    unlinked = frozenset(name for name in keyed if name in known and not known[name][1])
    reopened = frozenset(name for name in changed if name in known and not known[name][0])
    news = {name: each for name, each in keyed.items() if name in changed}
    companies = await _companies(ctx, news.values())
    wanted = [KeyedOffer(name, companies.key(each) or "", each, prints[name]) for name, each in news.items()]
    rows = await ctx.compute(offer_rows, wanted, await rules_in_force(ctx), client.name) if wanted else []
    records = records_of(keyed, changed, unlinked - changed, reopened, companies, query.key, ctx.now())
    fresh = frozenset(name for name in keyed if name not in known)
    return Batch(tuple(keyed.items()), records, rows, fresh, changed, companies.new)


def records_of(
    offers: Mapping[str, Offer],
    changed: Collection[str],
    unlinked: Collection[str],
    reopened: Collection[str],
    companies: "Companies",
    query: str,
    now: int,
) -> tuple[Record, ...]:
    """Postings that are new or changed, links of those that are only new to the query, and new companies."""
    link = Link(QUERY, query)
    return (
        *(
            _posting(name, offers[name], companies.key(offers[name]), link, now, reopened=name in reopened)
            for name in sorted(changed)
        ),
        *(posting_entry(name, {}, link) for name in sorted(unlinked)),
        *companies.records(offers[name] for name in changed),
    )


async def rules_in_force(ctx: Context) -> Rules:
    """The rules of the project, or those that come with us."""
    return parsed_rules(await ctx.read("queries.option", {"name": "rules"}))


def print_of(offer: Offer) -> str:
    """What an offer is compared by: how it reads and its dates, for one that is dated anew is an update."""
    dates = f"{offer.posting.posted_date}|{offer.updated}"
    return hashlib.blake2b(f"{listed(offer.posting)}|{dates}".encode(), digest_size=12).hexdigest()


def _posting(key: str, offer: Offer, company: str | None, link: Link, now: int, *, reopened: bool) -> Record:
    said: PostingFields = fields(offer.posting)
    whole: PostingFields = {**said, "state": OPEN, "seen_at": now}
    if reopened:
        whole["closed_at"] = None
    if offer.posting.company:
        whole["company_name"] = offer.posting.company[:500]
        whole["company"] = company
    evidence = evidence_of(offer.posting, said, None)
    return posting_entry(key, whole, link, evidence=evidence, initial={"first_seen": now})


@dataclass(frozen=True, slots=True)
class Companies:
    """The companies of a page: the keys of those that are known, by their names as names are compared; and
    how each name reads as it is compared.
    """

    known: Mapping[str, str]
    named: Mapping[str, str]
    compared: Mapping[str, str]

    @classmethod
    def of(cls, offers: Iterable[Offer], known: Mapping[str, str]) -> "Companies":
        """The companies of these offers, of which some are known."""
        said = [each.posting.company or "" for each in offers]
        compared = {name: company_name_key(name) for name in set(said)}
        return cls(known, {key: name for name in said if (key := compared[name])}, compared)

    def key(self, offer: Offer) -> str | None:
        name = self._compared(offer.posting.company or "")
        return self.known.get(name, name) or None

    def _compared(self, name: str) -> str:
        found = self.compared.get(name)
        return company_name_key(name) if found is None else found

    @property
    def new(self) -> frozenset[str]:
        return frozenset(name for key, name in self.named.items() if key not in self.known)

    def records(self, offers: Iterable[Offer]) -> list[Record]:
        known, found = frozenset(self.known.values()), dict[str, str]()
        for each in offers:
            if (key := self.key(each)) and key not in known:
                found[key] = (each.posting.company or "").strip()[:500]
        return [
            company_entry(key, {"name": name, "name_key": self._compared(name)})
            for key, name in found.items()
        ]


async def _companies(ctx: Context, offers: Collection[Offer]) -> Companies:
    """Who hires. A company that is known by its site is found by its name."""
    companies = Companies.of(offers, {})
    if not companies.named:
        return companies
    known = await ctx.read("queries.companies", {"names": list(companies.named)})
    return replace(companies, known=known)
