"""The way of a page through a real queue: records and effects in one settlement, figures computed, and scores
made again from the records when the rules have changed."""

import pickle

import pytest

from tests.apps.queries.signals.market import RULES, RULES_TEXT, STRONG, WEAK, words
from thresher import App, Context, Done, Effect, NewTask, Outcome, Pipeline, Stage
from thresher.apps.queries.app import app as queries
from thresher.apps.queries.clients.search import Offer
from thresher.apps.queries.signals.offers import KeyedOffer, offer_rows, scores_again
from thresher.apps.queries.signals.rules import read_rules
from thresher.apps.queries.store.aggregates import dirty_companies, find_signals
from thresher.apps.queries.store.offers import outdated_offers
from thresher.hiring.kinds import POSTING
from thresher.hiring.records import PostingRecord, posting_entry
from thresher.hiring.row import fields
from thresher.reading.postings.posting import Posting
from thresher.testing import World

OTHER = read_rules(RULES_TEXT.replace("[forex, divisas]", "[bread]"), "other.yaml")
STORE = "thresher.apps.queries.store"
EFFECTS = {
    "queries.offers": f"{STORE}.offers:upsert_offers",
    "queries.gone": f"{STORE}.offers:close_offers",
    "queries.scores": f"{STORE}.offers:store_scores",
    "queries.aggregate": f"{STORE}.aggregates:aggregate_companies",
}
OFFERS = {
    "board/1": Posting("Analyst", company="Acme", key="1", description=STRONG),
    "board/2": Posting("Analyst", company="Acme", key="2", description=STRONG),
    "board/3": Posting("Baker", company="Acme", key="3", description=WEAK),
    "board/4": Posting("Clerk", company="Acme", key="4", description=words("w", 3_000)),
}


def computed(function, *args):
    """As another process would compute it: what goes there and what comes back is pickled."""
    function, args = pickle.loads(pickle.dumps((function, args)))
    return pickle.loads(pickle.dumps(function(*args)))


async def page(_: Context) -> Outcome:
    offers = [KeyedOffer(key, "acme.example", Offer(posting)) for key, posting in OFFERS.items()]
    made = computed(offer_rows, offers, RULES, "board")
    records = tuple(posting_entry(key, fields(posting)) for key, posting in OFFERS.items())
    return Done(records=records, effects=(Effect("queries.offers", {"offers": made}),))


async def figures(ctx: Context) -> Outcome:
    return Done(effects=(Effect("queries.aggregate", {"companies": ctx.task.payload["companies"]}),))


async def again(ctx: Context) -> Outcome:
    keys = ctx.task.payload["keys"]
    found = {each.key: PostingRecord.of(each) for each in await ctx.records(POSTING, keys=keys)}
    texts = {key: (each.title or "", each.description) if (each := found.get(key)) else None for key in keys}
    made = computed(scores_again, texts, OTHER)
    return Done(effects=(Effect("queries.scores", {"scores": made, "rules": OTHER.print}),))


@pytest.fixture
def world():
    app = App(
        "queries",
        pipelines=(
            Pipeline("page", Stage(page)),
            Pipeline("figures", Stage(figures)),
            Pipeline("again", Stage(again)),
        ),
        effects=EFFECTS,
        migrations=queries.migrations,
    )
    with World(app) as made:
        yield made


def look(world, read):
    with world.store.read() as session:
        return read(session)


def test_a_page_becomes_figures_and_new_rules_become_new_figures(world):
    world.enqueue(NewTask("page"))
    world.run_until_idle()
    (done,) = world.tasks("page")
    assert done["state"] == "succeeded", dict(done)
    assert look(world, lambda session: dirty_companies(session, {"limit": 9}, 0)) == ["acme.example"]

    world.enqueue(NewTask("figures", {"companies": ["acme.example"]}))
    world.run_until_idle()
    found = look(world, lambda session: find_signals(session, "acme.example"))
    assert (found.figures.unique_offer_count, found.figures.posting_activity) == (3, 4)
    assert (found.figures.top_offer, found.figures.strong_offer_count) == ("board/1", 1)

    keys = look(world, lambda session: outdated_offers(session, {"rules": OTHER.print, "limit": 9}, 0))
    assert keys == ["board/1", "board/3", "board/4"]
    world.enqueue(NewTask("again", {"keys": keys}), NewTask("figures", {"companies": ["acme.example"]}))
    world.run_until_idle()
    world.enqueue(NewTask("figures", {"companies": ["acme.example"]}))
    world.run_until_idle()
    found = look(world, lambda session: find_signals(session, "acme.example"))
    assert found.figures.category_max_scores.keys() == {"export", "forex", "treasury"}
    assert look(world, lambda session: outdated_offers(session, {"rules": OTHER.print, "limit": 9}, 0)) == []
