"""What is planted stands on the pages, traps included, and the chronicle tells what the days brought."""

import html
import re

import pytest

from tests.practice.browse import get
from thresher.practice.web import DAY_ZERO, PracticeWeb, chronicle, company, directory, postings, traits
from thresher.practice.web.chronicle import day
from thresher.practice.web.company import MAINE, OREGON


def shown(web: PracticeWeb, url: str) -> str:
    page = re.sub(r"<script.*?</script>", " ", get(web, url).text, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_what_a_company_is_like_stands_on_its_pages(web: PracticeWeb):
    for who in directory(7)[:40]:
        if who.platform == "scripted":
            continue
        known = traits(7, who)
        about, careers = shown(web, f"https://{who.site}/about"), shown(web, f"https://{who.site}/careers")
        for told in (known.mission, known.culture, known.remote_words, known.headquarters, *known.traps):
            assert told in about
        for told in (*known.values, *known.tech, known.ai_words):
            assert told in careers
        assert str(known.size) in about.replace(",", "")


def test_there_are_companies_of_every_sort_and_every_trap():
    known = [traits(7, who) for who in directory(7)]
    for sort in ("remote_first", "ai_focus", "in_portland"):
        assert {getattr(each, sort) for each in known} == {True, False}
    assert any(MAINE in each.offices for each in known)
    told = " ".join(sentence for each in known for sentence in (*each.traps, each.remote_words))
    for trap in ("react to", "do not rust", "Portland cement", "HTML", "maintenance", "not a remote company"):
        assert trap in told


def test_portland_is_named_with_its_state_and_postings_are_there():
    rows = [each for who in directory(7) if who.places < 100 for each in postings(7, who, DAY_ZERO)]
    assert {"Portland, OR, United States", "Portland, ME, United States"} <= {each.where for each in rows}
    assert all(each.pay.currency == "USD" for each in rows if each.city == OREGON and each.pay)


def test_what_a_posting_asks_for_stands_in_its_text(web: PracticeWeb):
    rows = get(web, "https://boards-api.greenhouse.io/v1/boards/acme/jobs?content=true").json["jobs"]
    texts = {row["id"]: html.unescape(html.unescape(row["content"])) for row in rows}
    for each in postings(7, company(7, "acme"), DAY_ZERO):
        assert all(skill in texts[each.id] for skill in each.skills)
        assert each.demands.years is None or str(each.demands.years) in texts[each.id]


def test_the_texts_hold_the_traps_that_filters_fall_into():
    rows = [each for who in directory(7) if who.places < 100 for each in postings(7, who, DAY_ZERO)]
    told = "\n".join("\n".join((*each.wants, *each.offers)) for each in rows)
    for trap in (
        "in business for",
        "401k",
        "not a remote role",
        "No security clearance",
        "ninja",
        "commission only",
    ):
        assert trap in told
    assert {each.demands.says_workplace for each in rows} == {True, False}
    assert any(each.demands.clearance for each in rows)


@pytest.mark.parametrize("token", ["acme", "borealis", "kestrel", "mallow"])
def test_the_chronicle_agrees_with_looking_every_day(token: str):
    who = company(7, token)
    looks = [{each.id: each for each in postings(7, who, day(number))} for number in range(22)]
    told = chronicle(7, token, 0, 21)
    ever = {number for look in looks for number in look}
    assert {each.id for each in told.open} == set(looks[-1])
    assert {each.id for each in told.opened} == ever - set(looks[0])
    assert {each.id for each in told.closed} == ever - set(looks[-1])
    assert {each.id for each in told.relisted} <= {each.id for each in told.opened}
    changed = {each.id for each in told.changed}
    assert changed == {
        number
        for number in set(looks[0]) & set(looks[-1])
        if (looks[0][number].title, looks[0][number].pay) != (looks[-1][number].title, looks[-1][number].pay)
    }


def test_three_weeks_bring_everything_a_crawler_must_see():
    told = [chronicle(7, token, 0, 21) for token in ("acme", "kestrel", "garnet", "mallow", "nutmeg")]
    for what in ("opened", "changed", "closed", "relisted"):
        assert sum(len(getattr(each, what)) for each in told) > 2, what


def test_a_relisted_posting_has_the_words_of_the_one_before():
    (again, *_) = chronicle(7, "garnet", 0, 60).relisted
    before = [
        each
        for each in chronicle(7, "garnet", -200, 60).closed
        if (each.place, each.round) == (again.place, again.round - 1)
    ]
    assert [each.duties for each in before] == [again.duties]
    assert before[0].id != again.id
