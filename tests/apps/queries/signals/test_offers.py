"""Offers in the store, on both databases: new, updated or known, once each, however often a page comes."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from random import Random
from threading import Barrier

import orjson
import pytest

from tests.apps.queries.signals.market import (
    RULES,
    RULES_TEXT,
    STRONG,
    WEAK,
    column,
    compute,
    gone,
    links,
    row,
    see,
    signals,
    words,
)
from tests.harness.tasks import rows
from thresher.apps.queries.clients.search import Offer
from thresher.apps.queries.signals.offers import KeyedOffer, listed_row, offer_row, offer_rows, scores_again
from thresher.apps.queries.signals.rules import read_rules
from thresher.apps.queries.signals.score import score_offer
from thresher.apps.queries.store import offers as offers_store
from thresher.apps.queries.store.cycle import known_companies
from thresher.apps.queries.store.offers import outdated_offers, store_scores, upsert_offers
from thresher.core.clock import DAY
from thresher.core.record import pack
from thresher.hiring.records import company_entry, company_name_key, posting_entry
from thresher.hiring.row import fields
from thresher.reading.postings.posting import Posting
from thresher.store.bulk import GROUPS
from thresher.store.records import file_record

OTHER_RULES = read_rules(RULES_TEXT.replace("keywords: [forex, divisas]", "keywords: [bread]"), "other.yaml")


def everything(store):
    return rows(store, "select * from query_offers order by posting")


def read(store, function, **data):
    with store.read() as session:
        return function(session, data, store.backend.now(session))


def rescore(store, rules, texts):
    with store.write() as session:
        data = {"scores": scores_again(texts, rules), "rules": rules.print}
        return store_scores(session, data, store.backend.now(session))


# New, updated, known


def test_a_company_is_found_by_its_name_and_of_several_the_first_that_was_known(store):
    with store.write() as session:
        for key, name in (("acme.example", "Acme"), ("b.example", "Brick"), ("acme.test", "ACME, Inc.")):
            company = company_entry(key, {"name": name, "name_key": company_name_key(name)})
            file_record(session, pack(company, 65_536), 0, store.backend.now(session))
        posting = posting_entry("x/1", {"title": "acme", "company": "acme", "state": "open"})
        file_record(session, pack(posting, 65_536), 0, store.backend.now(session))
    assert read(store, known_companies, names=["acme", "brick", "nobody"]) == {
        "acme": "acme.example",
        "brick": "b.example",
    }
    assert read(store, known_companies, names=["acme"]) == {"acme": "acme.example"}
    assert read(store, known_companies, names=["nobody"]) == {}


@pytest.mark.promise(1)
def test_the_same_page_twice_changes_nothing(store):
    page = [row(f"board/{at}", text=words(f"t{at}")) for at in range(5)] + [row("board/9", text=words("t1"))]
    first = see(store, *page)
    assert first == {"offers_new": 6, "offers_updated": 0, "offers_known": 0, "reposts": 1, "offers_held": 0}
    before = everything(store)
    again = see(store, *page)
    assert again == {"offers_new": 0, "offers_updated": 0, "offers_known": 6, "reposts": 0, "offers_held": 0}
    assert everything(store) == before


def test_an_offer_twice_on_one_page_is_one_offer(store):
    counts = see(store, row("board/1"), row("board/1"))
    assert (counts["offers_new"], len(everything(store))) == (1, 1)


def test_an_empty_page_is_no_work(store):
    assert see(store) == {}


def test_an_offer_that_reads_differently_is_updated_and_keeps_when_it_was_first_seen(store, clock):
    see(store, row("board/1", text=WEAK))
    first = column(store, "first_seen")["board/1"]
    clock.advance(DAY)
    counts = see(store, row("board/1", text=STRONG))
    assert (counts["offers_updated"], counts["offers_new"]) == (1, 0)
    assert column(store, "first_seen")["board/1"] == first
    assert column(store, "last_seen")["board/1"] == first + DAY
    assert column(store, "strong")["board/1"] == 1


def test_a_known_offer_is_only_seen(store, clock):
    see(store, row("board/1"))
    compute(store)
    clock.advance(DAY)
    assert see(store, row("board/1"))["offers_known"] == 1
    assert not signals(store).dirty
    ((first, last),) = rows(store, "select first_seen, last_seen from query_offers")
    assert last - first == DAY


def test_a_list_without_descriptions_takes_no_description_away(store):
    see(store, row("board/1", text=STRONG))
    before = {name: column(store, name) for name in ("score", "hits", "fingerprint", "sketch", "rules")}
    counts = see(store, row("board/1", text=None))
    assert counts["offers_updated"] == 1
    assert {name: column(store, name) for name in before} == before
    assert read(store, outdated_offers, rules=RULES.print, limit=10) == []


def test_a_new_title_without_its_description_is_to_be_scored_again(store):
    see(store, row("board/1", text=STRONG))
    see(store, row("board/1", text=None, title="Head of forex"))
    assert read(store, outdated_offers, rules=RULES.print, limit=10) == ["board/1"]
    assert column(store, "score")["board/1"] == score_offer("Analyst", STRONG, RULES).points


def test_a_description_that_comes_later_is_scored(store):
    see(store, row("board/1", text=None))
    assert column(store, "repost_why")["board/1"] == "not compared: no description"
    assert see(store, row("board/1", text=STRONG))["offers_updated"] == 1
    assert column(store, "strong")["board/1"] == 1
    assert column(store, "repost_why")["board/1"] is None


def test_what_is_known_is_told_by_the_print_of_the_list_row_even_after_details(store):
    listed = Offer(Posting("Analyst", company="Acme", key="1"))
    whole = Offer(Posting("Analyst", company="Acme", key="1", description=STRONG))
    (made,) = offer_rows([KeyedOffer("board/1", "acme.example", whole, listed_row(listed))], RULES, "board")
    see(store, made)
    assert column(store, "listed") == {"board/1": listed_row(listed)}
    assert listed_row(whole) != listed_row(listed)


@pytest.mark.promise(13)
def test_the_hits_are_stored_with_their_quotes_and_add_up(store):
    see(store, row("board/1", title="Forex analyst", text=STRONG + ". No export"))
    hits = orjson.loads(column(store, "hits")["board/1"])
    assert round(sum(hit["points"] for hit in hits), 2) == column(store, "score")["board/1"]
    forex = next(hit for hit in hits if hit.get("category") == "forex")
    assert (forex["quote"], forex["where"], forex["at"], forex["points"]) == ("Forex", "title", [0, 5], 6.0)
    assert [hit["negated"] for hit in hits if "negated" in hit] == ["No"]


@pytest.mark.promise(14)
def test_a_hit_stands_where_it_says_in_what_the_record_keeps_and_scoring_that_gives_the_same():
    long = "\x00\x07 intro\r\n\x85 " + "wörd " * 20_000 + " forex"
    for text in (f"\x1b[1m treasury {words('w')} \u202eforex", long, f"a\x0bb forex {words('w')}"):
        posting = Posting("Head\x00 of  treasury", company="Acme", key="1", description=text)
        made = offer_row("board/1", "acme.example", Offer(posting), RULES)
        kept = fields(posting)
        for hit in orjson.loads(made["hits"]):
            if "where" in hit:
                assert kept[hit["where"]][slice(*hit["at"])] == hit["quote"]
        (again,) = scores_again({"board/1": (kept["title"], kept["description"])}, RULES)
        assert again.items() <= made.items()


def test_hostile_characters_are_stored_alike_on_both_databases(store):
    nasty = "forex \x00 \ud800 \x1b[31m \u202e " + words("w")
    posting = Posting(
        "Evil\x00 \ud800forex", company="A\x00cme\x1b", location="\x00", key="1", description=nasty
    )
    made = offer_row("board/1", "acme.example", Offer(posting), RULES)
    see(store, orjson.loads(orjson.dumps(made)))
    text = "".join(str(value) for value in everything(store)[0])
    assert "\x00" not in text
    assert "\x1b" not in text
    assert column(store, "category") == {"board/1": "forex"}


def test_an_offer_of_no_known_company_is_kept_and_counts_for_nobody(store):
    see(store, row("board/1", "", text=STRONG), row("board/2", "", text=STRONG))
    assert links(store) == {}
    assert set(column(store, "repost_why").values()) == {"not compared: the company is not known"}
    assert rows(store, "select count(*) from company_signals") == [(0,)]


# Reposts


@pytest.mark.promise(13)
def test_a_repost_is_linked_counted_and_not_scored(store, clock):
    see(store, row("board/1", text=STRONG))
    clock.advance(DAY)
    counts = see(store, row("board/2", text=STRONG))
    assert (counts["offers_new"], counts["reposts"]) == (1, 1)
    assert links(store) == {"board/2": "board/1"}
    assert column(store, "reposts") == {"board/1": 1, "board/2": 0}
    assert column(store, "score")["board/2"] is None
    assert column(store, "hits")["board/2"] == "[]"
    assert column(store, "repost_why")["board/2"] == "the same text"
    assert column(store, "last_seen")["board/1"] == column(store, "last_seen")["board/2"]


def test_a_nearly_identical_text_is_a_repost_and_says_how_near(store):
    see(store, row("board/1", text=words("w", 99)))
    see(store, row("board/2", text=words("w", 98) + " other"))
    assert links(store) == {"board/2": "board/1"}
    assert column(store, "repost_why")["board/2"] == "99 % of the words"


def test_the_least_overlap_is_a_setting(store):
    see(store, row("board/1", text=words("w", 99)), overlap=0.995)
    see(store, row("board/2", text=words("w", 98) + " other"), overlap=0.995)
    assert links(store) == {}


def test_two_real_openings_with_one_title_stay_two(store):
    see(store, row("board/1", text=words("a")), row("board/2", text=words("b")), row("board/3", text=None))
    assert links(store) == {}


def test_offers_without_a_description_are_never_reposts(store):
    see(store, row("board/1", text=None), row("board/2", text=None))
    see(store, row("board/3", text=None))
    assert links(store) == {}


def test_the_same_text_at_another_company_is_no_repost(store):
    see(store, row("board/1", "one.example"), row("board/2", "two.example"))
    assert links(store) == {}


def test_a_canonical_offer_whose_text_changes_lets_its_reposts_go(store):
    see(store, row("board/1", text=STRONG))
    see(store, row("board/2", text=STRONG), row("board/3", text=STRONG))
    assert links(store) == {"board/2": "board/1", "board/3": "board/1"}
    see(store, row("board/1", text=words("new")))
    assert links(store) == {"board/3": "board/2"}
    assert column(store, "reposts") == {"board/1": 0, "board/2": 1, "board/3": 0}
    # Its score is not known until it is scored again; nobody invents one.
    assert column(store, "score")["board/2"] is None
    assert read(store, outdated_offers, rules=RULES.print, limit=10) == ["board/2"]
    rescore(store, RULES, {"board/2": ("Analyst", STRONG)})
    assert column(store, "strong")["board/2"] == 1


def test_a_repost_whose_text_changes_stands_for_itself(store):
    see(store, row("board/1", text=STRONG), row("board/2", text=STRONG))
    see(store, row("board/2", text=words("new")))
    assert links(store) == {}
    assert column(store, "reposts") == {"board/1": 0, "board/2": 0}
    assert column(store, "score")["board/2"] is not None


def test_an_offer_that_turns_out_to_be_of_another_company_takes_no_repost_along(store):
    see(store, row("board/1", text=STRONG), row("board/2", text=STRONG), row("board/3", text=STRONG))
    compute(store)
    see(store, row("board/1", "other.example", text=STRONG))
    assert links(store) == {"board/3": "board/2"}
    assert signals(store).dirty
    assert signals(store, "other.example").dirty
    compute(store)
    assert signals(store).figures.offer_count == 2
    assert signals(store, "other.example").figures.offer_count == 1


def test_a_closed_offer_can_be_reposted(store):
    see(store, row("board/1", text=STRONG))
    gone(store, "board/1")
    see(store, row("board/2", text=STRONG))
    assert links(store) == {"board/2": "board/1"}


def test_an_offer_that_is_gone_and_comes_back_is_open_again(store):
    see(store, row("board/1"))
    assert gone(store, "board/1", "board/404") == {"offers_gone": 1}
    assert gone(store, "board/1") == {"offers_gone": 0}
    assert column(store, "state")["board/1"] == "closed"
    compute(store)
    assert signals(store).figures.open_offers == 0
    see(store, row("board/1"))
    assert column(store, "state")["board/1"] == "open"
    assert signals(store).dirty


def test_the_order_of_a_page_makes_no_difference(store):
    page = [
        row(f"board/{at}", text=words("w", 99) + f" {at % 2}", posted=date(2026, 1, 1 + at))
        for at in range(6)
    ]
    see(store, *page)
    before = everything(store)
    with store.write() as session:
        session.run("delete from query_offers")
    Random(7).shuffle(page)
    see(store, *page)
    assert everything(store) == before


@pytest.mark.promise(1)
def test_two_pages_at_the_same_moment_agree_on_what_is_canonical(store, database):
    others = [f"c{at}.example" for at in range(30)]
    pages = [
        [row(f"{side}/{company}", company, text=STRONG) for company in order]
        for side, order in (("left", others), ("right", others[::-1]))
    ]
    both = Barrier(2)

    def bring(page):
        mine = database.open()
        both.wait()
        for at in range(0, len(page), 6):
            see(mine, *page[at : at + 6])

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(bring, pages))
    assert len(links(store)) == len(others)
    assert sorted(column(store, "reposts").values()) == [0] * len(others) + [1] * len(others)


def test_a_text_of_another_company_is_not_found_by_its_fingerprint(store):
    see(store, row("board/1", "one.example", text=STRONG))
    see(store, row("board/2", "two.example", text=STRONG), row("board/3", "two.example", text=STRONG))
    assert links(store) == {"board/3": "board/2"}


def test_a_company_with_thousands_of_offers_is_searched_by_fingerprint_and_by_those_seen_last(
    store, clock, monkeypatch
):
    monkeypatch.setattr(offers_store, "MAX_COMPARED", 3)
    for at in range(5):
        see(store, row(f"board/{at}", text=words(f"t{at}x", 99)))
        clock.advance(DAY)
    see(
        store,
        row("near/0", text=words("t0x", 98) + " other"),
        row("near/4", text=words("t4x", 98) + " other"),
    )
    see(store, row("same/0", text=words("t0x", 99)))
    assert links(store) == {"near/4": "board/4", "same/0": "board/0"}


# Scoring again


def test_other_rules_make_all_canonical_offers_outdated_and_scoring_again_settles_it(store):
    see(store, row("board/1", text=STRONG), row("board/2", text=STRONG), row("board/3", text=WEAK))
    compute(store)
    assert read(store, outdated_offers, rules=RULES.print, limit=10) == []
    outdated = read(store, outdated_offers, rules=OTHER_RULES.print, limit=10)
    assert outdated == ["board/1", "board/3"]
    assert len(read(store, outdated_offers, rules=OTHER_RULES.print, limit=1)) == 1
    counts = rescore(store, OTHER_RULES, {"board/1": ("Analyst", STRONG), "board/3": ("Analyst", WEAK)})
    assert counts == {"offers_rescored": 2, "offers_without_record": 0}
    assert read(store, outdated_offers, rules=OTHER_RULES.print, limit=10) == []
    assert column(store, "category")["board/3"] == "forex"
    assert signals(store).dirty


def test_an_offer_whose_record_is_gone_keeps_its_score_and_is_not_asked_for_again(store):
    see(store, row("board/1", text=STRONG))
    before = column(store, "score")
    counts = rescore(store, OTHER_RULES, {"board/1": None})
    assert counts == {"offers_rescored": 0, "offers_without_record": 1}
    assert column(store, "score") == before
    assert read(store, outdated_offers, rules=OTHER_RULES.print, limit=10) == []


def test_scoring_again_never_scores_a_repost(store):
    see(store, row("board/1", text=STRONG), row("board/2", text=STRONG))
    assert rescore(store, RULES, {"board/2": ("Analyst", STRONG)})["offers_rescored"] == 0
    assert column(store, "score")["board/2"] is None


def test_a_page_that_was_scored_by_newer_rules_brings_the_new_score(store):
    see(store, row("board/1", text=WEAK))
    counts = see(store, row("board/1", text=WEAK, rules=OTHER_RULES))
    assert counts["offers_known"] == 1
    assert column(store, "category")["board/1"] == "forex"
    assert column(store, "rules")["board/1"] == OTHER_RULES.print


# Cost


KEPT_BY_THE_DRIVER = 16_384  # characters: SQLite's driver parses a longer statement anew each time


class Counting:
    """A session that counts the statements that go through it, and keeps the longest."""

    def __init__(self, session):
        self.session, self.statements, self.longest = session, 0, 0

    def __getattr__(self, name):
        found = getattr(self.session, name)
        if name not in ("rows", "run", "many"):
            return found

        def counted(sql, *values):
            self.statements += 1
            self.longest = max(self.longest, len(sql))
            return found(sql, *values)

        return counted


def test_the_statements_of_a_page_are_short_enough_to_be_kept(store):
    page = [row(f"long/{at}", f"c{at}.example", text=words(f"w{at}")) for at in range(500)]
    with store.write() as session:
        counting = Counting(session)
        upsert_offers(counting, {"offers": page}, store.backend.now(session))
    assert counting.longest < KEPT_BY_THE_DRIVER


def test_a_page_costs_a_bounded_number_of_statements_whatever_its_size(store):
    def cost(number, seed):
        page = [row(f"{seed}/{at}", f"c{at}.example", text=words(f"{seed}{at}")) for at in range(number)]
        with store.write() as session:
            counting = Counting(session)
            upsert_offers(counting, {"offers": page}, store.backend.now(session))
            upsert_offers(counting, {"offers": page}, store.backend.now(session))
        return counting.statements

    # SQLite inserts as many rows with a statement as are best; they cost no way there and back.
    portions = 2 * 300 // GROUPS[0] if store.backend.dialect.name == "sqlite" else 6
    assert cost(300, "many") <= cost(3, "few") + portions
    assert cost(3, "more") < 40
