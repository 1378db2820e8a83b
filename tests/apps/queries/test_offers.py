"""A page of offers becomes records: each as if it was made alone, and a company only where it is new."""

from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.queries.clients.search import Offer
from thresher.apps.queries.offers import Companies, records_of
from thresher.core.evidence import Evidence, Place
from thresher.core.record import Link, Record, clean
from thresher.hiring.records import MARKS, company_name_key
from thresher.hiring.row import fields
from thresher.reading.postings.posting import Posting, Salary

NOW = 1_800_000_000_000_000
QUERY = Link("query", "client:1")
NAMES = st.sampled_from(
    ["Acme", "ACME, Inc.", " acme ", "Borealis GmbH", "Größe & Söhne", "", "The", "x" * 600]
)
TEXT = st.text(st.characters(exclude_categories=()), max_size=40)
OFFERS = st.builds(
    lambda title, company, text, salary, where: Offer(
        Posting(title, company, description=text, salary=salary, key=title, where=where)
    ),
    TEXT,
    st.none() | NAMES,
    st.none() | TEXT,
    st.none() | st.builds(Salary, TEXT),
    TEXT,
)
PAGES = st.lists(OFFERS, max_size=6).map(lambda some: {f"client/{at}": each for at, each in enumerate(some)})


def made_alone(key, offer, known, *, reopened):
    """The record of one posting, made of nothing but its offer."""
    said = fields(offer.posting)
    data = {**said, "state": "open", "seen_at": NOW}
    if reopened:
        data["closed_at"] = None
    if offer.posting.company:
        name = company_name_key(offer.posting.company)
        data |= {"company_name": offer.posting.company[:500], "company": known.get(name, name) or None}
    path = clean(offer.posting.where)[:500] or "row"
    places = {
        name: None
        if name in ("posted", "remote")
        else Place(str(value["text"] if name == "salary" else value)[:200], path=path)
        for name, value in said.items()
    }
    return Record(
        "posting", key, data, (QUERY,), Evidence(places), True, {"first_seen": NOW}, MARKS["posting"]
    )


@given(PAGES, st.sets(st.sampled_from(["acme", "borealis", "großesohne"])), st.data())
def test_a_page_becomes_the_records_that_its_offers_make_alone(page, some, data):
    known = {name: f"{name}.example" for name in some}
    changed = data.draw(st.sets(st.sampled_from(sorted(page)))) if page else set()
    reopened = data.draw(st.sets(st.sampled_from(sorted(changed)))) if changed else set()
    unlinked = page.keys() - changed
    companies = Companies.of(page.values(), known)
    found = records_of(page, changed, unlinked, reopened, companies, QUERY.target, NOW)
    postings = [
        *(made_alone(key, page[key], known, reopened=key in reopened) for key in sorted(changed)),
        *(Record("posting", key, {}, (QUERY,), None, True, {}, MARKS["posting"]) for key in sorted(unlinked)),
    ]
    assert list(found[: len(postings)]) == postings
    named = {company_name_key(page[key].posting.company or "") for key in changed}
    assert {each.key for each in found[len(postings) :]} == named - known.keys() - {""}
    assert len(found) == len(postings) + len(named - known.keys() - {""})
    for each in found[len(postings) :]:
        assert each.data["name_key"] == company_name_key(each.data["name"])
