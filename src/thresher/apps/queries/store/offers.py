"""The offers of the queries app: rows of whole pages at once, and which of them repost others.

Everything is decided in the transaction that writes it, with the rows of the companies in question held, so
that two pages cannot decide about one company at the same time. Doing it twice changes nothing: counts of
reposts are counted, never added up.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, cast

from thresher.apps.queries.signals.company import CLOSED
from thresher.apps.queries.signals.reposts import (
    MAX_COMPARED,
    OVERLAP,
    Canonicals,
    ListedOffer,
    OfferText,
    Repost,
    agreeing,
)
from thresher.store.bulk import Columns, among, insert_rows, pour
from thresher.store.session import Session

_NUMBERS = frozenset(("first_seen", "last_seen", "held", "described", "size", "score", "strong"))
_WRITTEN = (
    "posting",
    "client",
    "company",
    "company_name",
    "title",
    "headline",
    "url",
    "location",
    "posted_on",
    "first_seen",
    "last_seen",
    "held",
    "listed",
    "described",
    "fingerprint",
    "size",
    "signature",
    "sketch",
    "canonical",
    "repost_why",
    "score",
    "strong",
    "category",
    "categories",
    "hits",
    "rules",
)
_KEPT = ("posting", "client", "first_seen")  # once they are written
_SCORE = ("score", "strong", "category", "categories", "hits", "rules")
_TEXT = ("described", "fingerprint", "size", "signature", "sketch", "repost_why")
_COLUMNS: Columns = tuple(
    (name, ":now" if name == "last_seen" else "bigint" if name in _NUMBERS else "text") for name in _WRITTEN
)
_UPSERT = f"""on conflict (posting) do update set state = 'open',
    {", ".join(f"{name} = excluded.{name}" for name in _WRITTEN if name not in _KEPT)}"""
_values_of = itemgetter(*(name for name in _WRITTEN if name != "last_seen"))
_NOT_SCORED: dict[str, Any] = {
    "score": None,
    "strong": 0,
    "category": None,
    "categories": "[]",
    "hits": "[]",
    "rules": "",
}


class _Old(NamedTuple):
    """An offer as it stands: what it is, then its score, then its text."""

    posting: str
    state: str
    title: str
    company: str
    first_seen: int
    listed: str
    canonical: str | None
    score: int | None
    strong: int
    category: str | None
    categories: str
    hits: str
    rules: str
    described: int
    fingerprint: str | None
    size: int
    signature: str | None
    sketch: str | None
    repost_why: str | None

    def those(self, names: Iterable[str]) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}


_COMPANIES: Columns = (
    ("company", "text"),
    ("name", "text"),
    ("first_seen", ":now"),
    ("updated_at", ":now"),
    ("dirty", "0"),
)
_MADE = "on conflict (company) do nothing"
_HOLD = "select company, resolved, name from company_signals where company {keys} order by company"
_NAME = "update company_signals set name = n.name from {rows} where company_signals.company = n.company"
_NAMED: Columns = (("company", "text"), ("name", "text"))
_DIRTY = "update company_signals set dirty = 1 where company {keys} and resolved = 0 and dirty = 0"

_OWNERS = "select distinct company from query_offers where posting {keys}"
_OLD = f"select {', '.join(_Old._fields)} from query_offers where posting {{keys}}"
_FACTS = (
    "posting, company, headline, location, first_seen, coalesce(posted_on, ''), fingerprint, size, signature"
)
# What an offer may repost by its words: of each company the canonical offers that were seen last. Few have
# more offers than are compared, and only theirs are put in order. Most are other openings by their titles: of
# those nothing more is read.
_LISTED = "posting, company, headline, size"
_CROWDED = "select company from query_offers where company {keys} group by company having count(*) > :most"
_ALL = f"select {_LISTED} from query_offers where company {{keys}} and canonical is null and signature is not null"
_RECENT = f"""select {_LISTED} from (
        select o.*, row_number() over (partition by o.company order by o.last_seen desc, o.posting) as place
        from query_offers o where o.company {{keys}} and o.canonical is null and o.signature is not null) as recent
    where place <= :most"""
_TEXTS = f"select {_FACTS} from query_offers where posting {{keys}}"
# By the fingerprint alone: a list of companies beside the list of prints would be looked up pair by pair.
_SAME = f"select {_FACTS} from query_offers where fingerprint {{keys}} and canonical is null"
_SKETCHES = "select posting, sketch from query_offers where posting {keys}"
_DEPENDENTS = f"select {_FACTS}, sketch, canonical from query_offers where canonical {{keys}}"
_RELINK = """update query_offers set canonical = n.canonical, repost_why = n.why, score = null, strong = 0, category = null,
    categories = '[]', hits = '[]', rules = '' from {rows} where query_offers.posting = n.posting"""
_RELINKED: Columns = (("posting", "text"), ("canonical", "text"), ("why", "text"))
_COUNT = """update query_offers set
    reposts = (select count(*) from query_offers r where r.canonical = query_offers.posting),
    last_seen = (select max(r.last_seen) from query_offers r where r.canonical = query_offers.posting or r.posting = query_offers.posting)
    where posting {keys}"""
_SEEN = "update query_offers set last_seen = :now, state = 'open' where posting {keys}"
_SEEN_AGAIN = """update query_offers set last_seen = :now
    where posting in (select r.canonical from query_offers r where r.posting {keys} and r.canonical is not null)"""
_CLOSE = "update query_offers set state = 'closed' where posting {keys} and state = 'open'"
_STILL_OPEN = "select posting, company from query_offers where posting {keys} and state = 'open'"
# Two ranges of the index; a comparison with <> would look at every offer.
_OUTDATED = """select posting from query_offers where canonical is null and held = 0 and rules < :rules
    union all select posting from query_offers where canonical is null and held = 0 and rules > :rules limit :limit"""
_RESCORE = """update query_offers set score = n.score, strong = n.strong, category = n.category, categories = n.categories,
    hits = n.hits, rules = n.rules from {rows} where query_offers.posting = n.posting and canonical is null and held = 0"""
_RESCORED: Columns = (
    ("posting", "text"),
    ("score", "bigint"),
    ("strong", "bigint"),
    ("category", "text"),
    ("categories", "text"),
    ("hits", "text"),
    ("rules", "text"),
)
_KEEP = (
    "update query_offers set rules = :rules where posting in (:postings*) and canonical is null and held = 0"
)
_SCORABLE = (
    "select posting, company from query_offers where posting {keys} and canonical is null and held = 0"
)


# Offers that were seen


def upsert_offers(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:
    """Effect: these offers were seen. `data` brings `offers`, the rows of `signals/offers.py`, and may bring
    `overlap`, the share of words that makes a repost.

    Counts what is new, what has changed, what was known, what reposts another, and what is held because a
    person has resolved the company.
    """
    rows = {row["posting"]: row for row in data["offers"]}
    if not rows:
        return {}
    resolved = _hold_companies(session, rows, now)
    old = _old(session, rows)
    changes = [_change(rows[key], old.get(key), resolved, now) for key in sorted(rows)]
    written = [each for each in changes if each.is_written]
    permille = round(1_000 * float(data.get("overlap", OVERLAP)))
    decided, relinked, had_reposts = _decide(session, written, permille)
    values = [_values(each, decided.get(each.posting)) for each in written]
    insert_rows(session.dialect, session, "query_offers", _COLUMNS, values, _UPSERT, now=now)
    pour(session.dialect, session, _RELINK, _RELINKED, relinked)
    known = [each.posting for each in changes if not each.is_written]
    if known:
        among(session.dialect, session, _SEEN, known, now=now)
        among(session.dialect, session, _SEEN_AGAIN, known, now=now)
    _count(session, had_reposts, written, decided, relinked)
    mark_dirty(session, (company for each in changes if each.counts for company in each.companies))
    return {
        "offers_new": sum(each.old is None for each in changes),
        "offers_updated": sum(each.is_updated for each in changes),
        "offers_known": sum(each.old is not None and not each.is_updated for each in changes),
        "reposts": sum(
            decided.get(each.posting) is not None and (each.old is None or each.old.canonical is None)
            for each in written
        ),
        "offers_held": sum(bool(each.row["held"]) for each in changes),
    }


class _Change(NamedTuple):
    """An offer as it will be. `is_updated`: it reads differently; `is_text_new`: so it may repost another."""

    posting: str
    row: dict[str, Any]
    old: _Old | None
    is_updated: bool
    is_text_new: bool
    is_rescored: bool

    @property
    def is_written(self) -> bool:
        return self.old is None or self.is_updated or self.is_rescored

    @property
    def counts(self) -> bool:
        """Whether its company's figures may change."""
        return self.is_written or (self.old is not None and self.old.state == CLOSED)

    @property
    def companies(self) -> tuple[str, ...]:
        return (self.row["company"], self.old.company) if self.old else (self.row["company"],)

    def text(self) -> OfferText | None:
        """What it is compared by; None where there is nothing."""
        row = self.row
        if not row["fingerprint"]:
            return None
        return OfferText(
            self.posting,
            row["company"],
            row["headline"],
            row["location"],
            row["first_seen"],
            row["posted_on"] or "",
            row["fingerprint"],
            row["size"],
            row["signature"],
            row["sketch"],
        )


def _change(row: Mapping[str, Any], old: _Old | None, resolved: Mapping[str, bool], now: int) -> _Change:
    """Pure: what becomes of an offer. What is not said again stays: a list without descriptions takes none
    away.
    """
    posting, held = row["posting"], int(resolved.get(row["company"], False))
    found = {**row, "first_seen": now, "canonical": None, "held": held}
    if old is None:
        return _Change(posting, _withheld(found, None), None, False, True, True)
    found |= {"first_seen": old.first_seen, "canonical": old.canonical}
    is_described = bool(row["described"])
    if not is_described and old.described:
        found |= old.those((*_TEXT, *_SCORE))
        if row["title"] != old.title:
            found["rules"] = ""  # to be scored again from the description that the record keeps
    is_text_new = found["fingerprint"] != old.fingerprint or row["company"] != old.company
    is_updated = row["listed"] != old.listed or is_text_new or found["described"] != old.described
    is_rescored = old.canonical is None and not found["held"] and found["rules"] != old.rules
    return _Change(posting, _withheld(found, old), old, is_updated, is_text_new, is_rescored)


def _withheld(row: dict[str, Any], old: _Old | None) -> dict[str, Any]:
    """The offers of a resolved company keep the scores that they have, and get no new ones."""
    if not row["held"]:
        return row
    return row | (old.those(_SCORE) if old else _NOT_SCORED)


def _hold_companies(session: Session, rows: Mapping[str, Mapping[str, Any]], now: int) -> dict[str, bool]:
    """Which of the companies are resolved. Their rows are held to the end: those that are there first, in the
    order of their keys, as everybody takes them; then those that are made here.
    """
    names = {row["company"]: row["company_name"] for row in rows.values() if row["company"]}
    dialect = session.dialect
    owners = {row[0] for row in among(dialect, session, _OWNERS, list(rows)) if row[0]}
    held = among(dialect, session, _HOLD + dialect.lock, sorted(owners | names.keys()))
    missing = sorted(names.keys() - {row[0] for row in held})
    if missing:
        made = [(company, names[company]) for company in missing]
        insert_rows(dialect, session, "company_signals", _COMPANIES, made, _MADE, now=now)
        held += among(dialect, session, _HOLD + dialect.lock, missing)
    unnamed = [(company, names[company]) for company, _, name in held if not name and names.get(company)]
    pour(dialect, session, _NAME, _NAMED, unnamed)
    return {company: bool(resolved) for company, resolved, _ in held}


def _old(session: Session, postings: Iterable[str]) -> dict[str, _Old]:
    rows = among(session.dialect, session, _OLD, sorted(postings))
    return {row[0]: _Old._make(row) for row in rows}


# What reposts what


Link = tuple[str, str | None, str | None]  # posting, the one that it reposts, why


def _decide(
    session: Session, written: Sequence[_Change], permille: int
) -> tuple[dict[str, Repost | None], list[Link], set[str]]:
    """What each offer with a new text reposts; the same for offers that reposted one of them before, as rows
    to write; and which ones these reposted. All belong to the same companies.
    """
    fresh = {each.posting: each for each in written if each.is_text_new}
    texts = {key: text for key, each in fresh.items() if (text := each.text())}
    known = [key for key, each in fresh.items() if each.old]
    rows = among(session.dialect, session, _DEPENDENTS, known)
    had_reposts = {row[-1] for row in rows}
    dependents = {row[0]: OfferText(*row[:-1]) for row in rows if row[0] not in fresh}
    before = {row[0]: row[-1] for row in rows}
    undecided = {**dependents, **texts}
    if not undecided:
        return {}, [], had_reposts
    canonicals = _canonicals(session, undecided, fresh.keys() | dependents.keys(), permille)
    wanted = canonicals.wanted(undecided.values())
    sketches: dict[str, str] = dict(among(session.dialect, session, _SKETCHES, sorted(wanted)))
    found = canonicals.decide(undecided.values(), sketches)
    relinked: list[Link] = []
    for key in sorted(dependents):
        repost = found.pop(key)
        if repost is None or repost.canonical != before[key]:
            relinked.append((key, repost.canonical if repost else None, repost.why if repost else None))
    return found, relinked, had_reposts


def _canonicals(
    session: Session, undecided: Mapping[str, OfferText], without: Collection[str], permille: int
) -> Canonicals:
    dialect, texts = session.dialect, undecided.values()
    companies = {text.company for text in texts}
    same = among(dialect, session, _SAME, sorted({text.fingerprint for text in texts}))
    close = agreeing(texts, _recent(session, companies), permille)
    found = Canonicals(permille)
    for row in (*same, *among(dialect, session, _TEXTS, sorted(close.difference(without)))):
        if row[0] not in without and row[1] in companies:
            found.add(OfferText(*row))
    return found


def _recent(session: Session, companies: set[str]) -> Iterable[ListedOffer]:
    dialect, most = session.dialect, MAX_COMPARED
    crowded = {row[0] for row in among(dialect, session, _CROWDED, sorted(companies), most=most)}
    all_of = among(dialect, session, _ALL, sorted(companies - crowded))
    most_recent = among(dialect, session, _RECENT, sorted(crowded), most=most)
    return cast("list[ListedOffer]", [*all_of, *most_recent])


def _values(change: _Change, repost: Repost | None) -> tuple[Any, ...]:
    """A row as it is written. A repost is not scored."""
    row = change.row
    if change.is_text_new:
        row["canonical"] = repost.canonical if repost else None
    if repost:
        row["repost_why"] = repost.why
    elif row["canonical"] and change.old:
        row["repost_why"] = change.old.repost_why
    elif row["fingerprint"]:
        row["repost_why"] = None
    if row["canonical"]:
        row |= _NOT_SCORED
    values: tuple[Any, ...] = _values_of(row)
    return values


def _count(
    session: Session,
    had_reposts: Collection[str],
    written: Sequence[_Change],
    decided: Mapping[str, Repost | None],
    relinked: Sequence[Link],
) -> None:
    """Count the reposts of every offer that may have another number of them now: of those that something
    reposted before, and of those that something reposts now.
    """
    touched = {repost.canonical for repost in decided.values() if repost}
    touched |= {each.old.canonical for each in written if each.old and each.old.canonical}
    touched |= {canonical for _, canonical, _ in relinked if canonical}
    touched.update(had_reposts)
    count_reposts(session, touched)


def count_reposts(session: Session, canonicals: Collection[str]) -> None:
    """Count the offers that repost each of these."""
    if canonicals:
        among(session.dialect, session, _COUNT, sorted(canonicals))


def mark_dirty(session: Session, companies: Iterable[str]) -> None:
    """The figures of these companies are to be computed again."""
    if listed := sorted(each for each in set(companies) if each):
        among(session.dialect, session, _DIRTY, listed)


# Offers that are gone


def close_offers(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:  # noqa: ARG001  every effect and read gets the time
    """Effect: these offers are no longer listed by a client whose lists are whole."""
    rows = among(session.dialect, session, _STILL_OPEN, sorted(data["offers"]))
    if not rows:
        return {"offers_gone": 0}
    hold_companies(session, {company for _, company in rows})
    among(session.dialect, session, _CLOSE, [posting for posting, _ in rows])
    mark_dirty(session, {company for _, company in rows})
    return {"offers_gone": len(rows)}


def hold_companies(session: Session, companies: Iterable[str]) -> None:
    """Hold the rows of these companies, in the order in which everybody takes them."""
    among(session.dialect, session, _HOLD + session.dialect.lock, sorted(companies))


# Scoring again


def store_scores(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:  # noqa: ARG001  every effect and read gets the time
    """Effect: these offers were scored again by other rules. `data` brings `scores`, the rows of
    `signals/offers.py`, and `rules`, the print of the rules. A row without a score says that the posting's
    record is gone: the score stays what it was.
    """
    scores = {row["posting"]: row for row in data["scores"]}
    owners = among(session.dialect, session, _SCORABLE, sorted(scores))
    hold_companies(session, {company for _, company in owners if company})
    rows = [scores[posting] for posting, _ in sorted(owners)]
    again = [row for row in rows if "score" in row]
    gone = [row["posting"] for row in rows if "score" not in row]
    pour(
        session.dialect, session, _RESCORE, _RESCORED, [[row[name] for name, _ in _RESCORED] for row in again]
    )
    if gone:
        session.run(_KEEP, {"rules": data["rules"], "postings": gone})
    mark_dirty(session, {company for posting, company in owners if "score" in scores[posting]})
    return {"offers_rescored": len(again), "offers_without_record": len(gone)}


# Reads


def outdated_offers(session: Session, data: Mapping[str, Any], now: int) -> list[str]:  # noqa: ARG001  every effect and read gets the time
    """Read: the keys of offers that were scored by other rules than `rules`, or not at all; at most
    `limit`.
    """
    given = {"rules": data["rules"], "limit": int(data["limit"])}
    return [row[0] for row in session.rows(_OUTDATED, given)]
