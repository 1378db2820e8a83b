"""What a company's pages say, read from hand-written pages in several languages and styles, and attacked."""

import pytest

from tests.hiring.telling import ENGLISH, YEAR, facts, told
from thresher.hiring.company.facts import founded, own_name, read_facts, seated, since
from thresher.hiring.company.focus import ai_focus, remote_first
from thresher.hiring.company.headcount import headcount

GERMAN = """
<h1>Über uns</h1>
<p>Die Kessel &amp; Sohn GmbH wurde 1952 in Köln gegründet und baut Heizungen für Krankenhäuser und Schulen in ganz Europa.</p>
<p>Heute arbeiten rund 1.200 Mitarbeitende an fünf Standorten. Hauptsitz ist Köln, der Firmensitz in Köln wurde 2004 erweitert.</p>
<h2>Unsere Mission</h2><p>Wärme für alle, ohne dass jemand dafür friert.</p>
<h2>Unsere Werte</h2><p>Wir reden offen miteinander und halten, was wir versprechen.</p>
"""
FRENCH = """
<h1>Qui sommes-nous</h1>
<p>Fondée en 2004 à Lyon, Voile Claire conçoit des voiles légères pour les bateaux de course et les emmène autour du monde.</p>
<p>Nos 45 collaborateurs partagent le même atelier. Notre siège est à Lyon, France.</p>
<h2>Notre mission</h2><p>Aller plus loin avec moins de tissu et plus de vent.</p>
<h2>Nos valeurs</h2><p>La curiosité, la patience, et le respect de la mer et de ceux qui y travaillent.</p>
"""
TABLE = """
<h1>Company profile</h1>
<p>Quarry Lane is a maker of paving stones and of the machines that lay them, sold in nine countries.</p>
<dl><dt>Founded</dt><dd>1998</dd><dt>Headquarters</dt><dd>Leeds, UK</dd>
<dt>Employees</dt><dd>51-200</dd><dt>Industry</dt><dd>Construction</dd></dl>
"""
TILES = """
<h1>Who we are</h1><p>We sell parts for bicycles to shops that repair them.</p>
<div>240+</div><div>Employees</div><div>12</div><div>Offices</div>
"""
DATA = """
<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Organization", "name": "Fen Foods",
"foundingDate": "2011-05-02",
"numberOfEmployees": {"@type": "QuantitativeValue", "minValue": 200, "maxValue": 500}, "industry": "Food",
"address": {"@type": "PostalAddress", "addressLocality": "Utrecht", "addressCountry": "NL"},
"description": "Fen Foods grows mushrooms."}</script>"""


def test_an_english_page_is_read_whole():
    found = facts(ENGLISH)
    assert (found["founded"], found["size"], found["headquarters"]) == (1987, "85", "Bergen, Norway")
    assert found["mission"] == "To make sure that no keel is laid crooked."
    assert "Measure twice" in found["culture"]
    assert "Ask before" in found["culture"]
    assert "Write to us" not in found["culture"]
    assert found["about"].startswith("Tarn Tools makes")
    assert "Our values" not in found["about"]


def test_a_german_page_is_read_whole():
    found = facts(GERMAN)
    assert (found["founded"], found["size"], found["headquarters"]) == (1952, "1.200", "Köln")
    assert found["mission"].startswith("Wärme")
    assert found["culture"].startswith("Wir reden")
    assert found["about"].startswith("Die Kessel")


def test_a_french_page_is_read_whole():
    found = facts(FRENCH)
    assert (found["founded"], found["size"], found["headquarters"]) == (2004, "45", "Lyon, France")
    assert found["mission"].startswith("Aller")
    assert found["culture"].startswith("La curiosité")


def test_a_list_of_labelled_facts_is_read():
    found = facts(TABLE)
    assert (found["founded"], found["size"], found["headquarters"], found["industry"]) == (
        1998,
        "51-200",
        "Leeds, UK",
        "Construction",
    )


def test_a_number_above_its_label_belongs_to_that_label_and_not_to_the_next():
    assert facts(TILES)["size"] == "240+"


def test_what_is_declared_for_machines_is_read_first():
    text = told(
        f"{DATA}<h1>About us</h1><p>We were founded in 1990, so they say, and we grow mushrooms in the dark for people who like them.</p>"
    )
    found = {name: each.value for name, each in read_facts(text, year=YEAR).found.items()}
    assert (found["founded"], found["size"].low, found["size"].high, found["industry"]) == (
        2011,
        200,
        500,
        "Food",
    )
    assert found["headquarters"] == "Utrecht, NL"
    assert own_name(text).value == "Fen Foods"


@pytest.mark.promise(14)
@pytest.mark.parametrize("html", [ENGLISH, GERMAN, FRENCH, TABLE, TILES, DATA])
def test_every_value_stands_where_it_says(html):
    text = told(html)
    for name, found in read_facts(text, name="Tarn Tools", year=YEAR).found.items():
        value = getattr(found.value, "text", found.value)
        assert text.text[found.start : found.end] == str(value), name


def test_a_page_that_says_nothing_gives_nothing():
    assert read_facts(told("<p>Hello.</p>"), year=YEAR).found == {}


def test_a_cookie_notice_is_not_about_the_company():
    found = facts(
        "<p>We use cookies so that this site works, and to learn how people use it, every day and every night.</p><p>"
        + "Tarn Tools makes rulers. " * 5
        + "</p>"
    )
    assert found["about"].startswith("Tarn Tools makes")


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("Since 1998 our 240 people in Leeds have worked on one thing.", "240"),
        ("Today 35 people work here.", "35"),
        ("We are a team of 35.", "35"),
        ("We're a 12-person company.", "12"),
        ("We employ more than 1,200 people worldwide.", "1,200"),
        ("a company with 51-200 employees", "51-200"),
        ("over 5k employees", "5k"),
        ("240+ employees", "240+"),
        ("Wir sind 40 Menschen aus elf Ländern", "40"),
        ("1.200 Mitarbeiter", "1.200"),
        ("nos 300 salariés", "300"),
        ("nuestro equipo de 25 personas", "25"),
        ("We now have over 30 experienced team members.", "30"),
    ],
)
def test_a_count_of_its_own_people_is_read(sentence, text):
    found = headcount(sentence)
    assert found is not None
    assert found.value.text == text


@pytest.mark.parametrize(
    "sentence",
    [
        "We help companies with 50 to 500 employees.",
        "Trusted by teams of 10 people",
        "More than 22 million people use it.",
        "We serve 10,000 people every day.",
        "In 2023 our employees planted trees.",
        "500 customers in 30 countries",
        "for businesses with up to 250 employees",
        "We hired 40 people last year.",
        "$240 people pay",
        "Our rooms hold 30 people.",
        "3 people were hurt in 1998",
        "per 100 employees",
        "a team of 4 years",
    ],
)
def test_a_count_of_anybody_else_is_not(sentence):
    assert headcount(sentence) is None


@pytest.mark.parametrize(
    ("sentence", "year"),
    [
        ("Founded in 1998 by two friends", 1998),
        ("Acme was established in Leeds in 1872.", 1872),
        ("Est. 1975", 1975),
        ("1998 in Köln gegründet", 1998),
        ("gegründet 1998", 1998),
        ("Fondée en 2004", 2004),
        ("Fundada en 1990", 1990),
        ("Fondata nel 1964", 1964),
        ("Opgericht in 1985", 1985),
        ("1998年に設立", 1998),
        ("In 2012 Ann Lee founded Acme", 2012),
        ("założona w 1999 roku", 1999),
    ],
)
def test_the_year_of_founding_is_read(sentence, year):
    found = founded(sentence, YEAR)
    assert found is not None
    assert found.value == year
    assert sentence[found.start : found.end] == str(year)


@pytest.mark.parametrize(
    "sentence",
    [
        "Founded in 2031",
        "Founded 12 years ago",
        "founded on trust. 1998 people",
        "founded",
        "©1998-2024",
        "founded in 19981",
    ],
)
def test_what_is_no_year_of_founding_is_not_read(sentence):
    assert founded(sentence, YEAR) is None


def test_since_is_weaker_than_founded():
    found = facts(
        "<h1>About us</h1><p>Since 2019 we have used wind alone in all our yards and mills.</p>"
        "<p>We were founded in 1950 in the north, far away from here.</p>"
    )
    assert found["founded"] == 1950
    assert since("since 2019", YEAR).value == 2019


def test_what_another_company_says_of_itself_on_the_home_page_is_not_taken():
    found = facts("<p>Our friends at Moss, which was founded in 2005 in Rome, make lamps.</p>", role="home")
    assert found.get("founded") in (None, 2005)
    assert "founded" not in facts(
        "<p>Moss - founded in 2005 - is a group of volunteers who read books aloud.</p>", role="home"
    )


def test_a_line_of_copyright_founds_nothing():
    assert "founded" not in facts(
        "<p>Copyright © 2017 Tarn Tools Incorporated. All rights reserved.</p>", role="home"
    )


@pytest.mark.parametrize(
    ("sentence", "place"),
    [
        ("We are headquartered in Portland, Oregon and ship everywhere.", "Portland, Oregon"),
        ("Acme is based in Berlin.", "Berlin"),
        (
            "Our headquarters are in Denver, United States. We also have offices in Munich.",
            "Denver, United States",
        ),
        ("mit Sitz in München", "München"),
        ("con sede en Madrid, España", "Madrid, España"),
        ("headquartered in St. Louis, Missouri", "St. Louis, Missouri"),
        ("Our head office is in Washington, D.C.", "Washington, D.C."),
    ],
)
def test_the_seat_is_read(sentence, place):
    found = seated(sentence)
    assert found is not None
    assert found.value == place


@pytest.mark.parametrize(
    "sentence",
    [
        "customers based in Berlin",
        "You must be based in London",
        "based in trust",
        "based in Nowhereville",
        "located in the cloud",
        "candidates located in Spain",
        "headquarters",
    ],
)
def test_what_is_no_seat_is_not_read(sentence):
    assert seated(sentence) is None


@pytest.mark.parametrize(
    "sentence",
    [
        "We are a remote-first company.",
        "Remote-first since the first day.",
        "Everybody here works remotely, and always has.",
        "We're fully distributed.",
        "Our team is 100% remote.",
        "Wir arbeiten komplett remote.",
    ],
)
def test_a_remote_first_company_says_so(sentence):
    assert remote_first(told(f"<p>{sentence}</p>")) is not None


@pytest.mark.parametrize(
    "sentence",
    [
        "We are not a remote company: we like to meet.",
        "Our sensors are read from remote valleys.",
        "Remote work is the exception here.",
        "Senior Engineer, fully remote",
        "This is not a remote-first workplace.",
        "We never work remotely.",
        "a remote control",
    ],
)
def test_a_company_that_is_not_remote_first_does_not(sentence):
    assert remote_first(told(f"<p>{sentence}</p>")) is None


def ai(html: str, mentions: int = 3) -> object:
    text = told(html)
    found = read_facts(text, name="Tarn Tools", year=YEAR).found
    return ai_focus(text, about=found.get("about"), mission=found.get("mission"), mentions=mentions)


def test_machine_learning_at_the_heart_is_a_focus():
    assert ai("<p>Machine learning is at the heart of what we build.</p>")
    assert ai(
        "<h1>About us</h1><p>We are an AI company that reads meters for people who would rather not.</p>"
    )


@pytest.mark.parametrize(
    "html",
    [
        "<p>We work with PyTorch and Go.</p>",
        "<p>The main hall is open. Plain HTML.</p>",
        "<ul><li>Machine Learning Engineer</li></ul>",
        "<p>We do not use AI, and we never will, whatever our competitors may say.</p>",
        "<h2>How AI changes plumbing</h2>",
    ],
)
def test_a_tool_a_title_or_a_denial_is_no_focus(html):
    assert ai(html) is None
