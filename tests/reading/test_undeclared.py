"""Pages about one opening that declare nothing for machines, as small companies and hiring tools write
them.
"""

from datetime import date
from decimal import Decimal
from time import process_time

import pytest

from tests.reading.pages import TODAY, look, page, rows
from tests.reading.undeclared_pages import PAGES, Expected
from thresher.core.page import Verdict
from thresher.reading.inspect.inspection import inspect
from thresher.reading.inspect.report import PageKind
from thresher.reading.postings.posting import Posting

DUTIES = """<h2>What you will do</h2><ul><li>Bend steel tubes into rungs, and measure each of them twice.</li>
<li>Repair ladders that customers bring back to the workshop.</li></ul><h2>What you bring</h2>
<ul><li>Three years at a workbench, or an apprenticeship with good marks.</li><li>A steady hand.</li></ul>"""


def only(body: str, url: str = "https://www.acme-ladders.example/careers/ladder-maker") -> Posting:
    seen = look(body, url)
    assert len(seen.postings) == 1, seen.look
    assert seen.kind is PageKind.DETAIL
    return seen.postings[0]


def said(posting: Posting) -> tuple[str | None, ...]:
    return posting.title, posting.company, posting.location, posting.employment_type


# The headline


def test_the_title_is_a_lower_heading_where_the_first_is_the_name_of_the_site():
    body = f"""<title>Ladder maker | Acme Ladders</title><header><h1>Acme Ladders</h1></header>
    <main><h2>Ladder maker</h2><p>Leeds, United Kingdom</p>{DUTIES}</main>"""
    assert only(body).title == "Ladder maker"


def test_the_title_is_not_a_heading_that_every_opening_has():
    body = f"""<title>Careers - Acme Ladders</title><h1>Job details</h1><h2>Ladder maker</h2>
    <p><b>Location:</b> Leeds</p><p><b>Job type:</b> Full-time</p>{DUTIES}"""
    assert only(body).title == "Ladder maker"


def test_of_competing_headings_the_address_tells_which_is_the_title():
    body = f"""<title>Acme Ladders careers</title><h1>Work where the rungs are made</h1><h2>Ladder maker (m/f/d)</h2>
    <ul><li>Location: Leeds</li><li>Contract: Permanent</li></ul>{DUTIES}"""
    assert only(body).title == "Ladder maker (m/f/d)"


def test_the_title_may_stand_in_an_element_that_is_only_named_so():
    body = f"""<title>Acme Ladders: Ladder maker vacancy</title><h1>Find your ladder</h1><div class="vacancy_title">Ladder maker</div>
    <div><b>Salary:</b> £25,000 - £28,000<br><b>Location:</b> Leeds<br><b>Job type:</b> Permanent</div>{DUTIES}"""
    assert only(body).title == "Ladder maker"


# Labels and values


def test_labels_in_bold_before_a_line_break_are_read():
    body = """<title>Ladder maker vacancy</title><h1>Ladder maker</h1><div><b>Recruiter:</b> Acme Ladders Ltd<br>
    <b>Salary:</b> £25,000 - £28,000 per year<br><b>Location:</b> Weybridge<br><b>Job type:</b> Fixed term contract<br>
    <b>Date posted:</b> 2026-03-01</div>"""
    found = only(body, "https://board.example/vacancies/7")
    assert said(found) == ("Ladder maker", "Acme Ladders Ltd", "Weybridge", "Fixed term contract")
    assert found.posted_date == date(2026, 3, 1)
    assert found.salary is not None
    assert (found.salary.low, found.salary.high, found.salary.currency) == (
        Decimal(25000),
        Decimal(28000),
        "GBP",
    )


def test_labels_without_a_colon_are_read_where_the_value_proves_itself():
    body = f"""<title>Ladder maker</title><h1>Ladder maker</h1><div class="x1"><span>Location</span><span>Berlin</span></div>
    <div class="x1"><span>Employment</span><span>Part-time</span></div><div><p>Published</p><p>4 March 2026</p></div>{DUTIES}"""
    found = only(body)
    assert said(found)[2:] == ("Berlin", "Part-time")
    assert found.posted_date == date(2026, 3, 4)


def test_a_label_of_the_search_form_has_no_value():
    body = f"""<title>Ladder maker job</title><form><label>Location:</label><input><label>Company</label><input><p>Advanced search</p></form>
    <h1>Ladder maker</h1><p>Company: Acme</p><p>Location: Leeds</p>{DUTIES}"""
    assert said(only(body, "https://board.example/job/7"))[:3] == ("Ladder maker", "Acme", "Leeds")


@pytest.mark.parametrize(
    ("language", "labels", "place", "kind"),
    [
        ("de", ("Arbeitsort", "Anstellungsart", "Arbeitgeber"), "Hamburg", "Vollzeit"),
        ("fr", ("Lieu de travail", "Type de contrat", "Employeur"), "Lyon", "CDI"),
        ("es", ("Lugar de trabajo", "Tipo de contrato", "Empresa"), "Sevilla", "Jornada completa"),
        ("nl", ("Standplaats", "Dienstverband", "Werkgever"), "Utrecht", "Fulltime"),
        ("pl", ("Miejsce pracy", "Rodzaj umowy", "Pracodawca"), "Kraków", "Umowa o pracę"),
        ("it", ("Sede di lavoro", "Tipo di contratto", "Azienda"), "Torino", "Tempo pieno"),
        ("pt", ("Local de trabalho", "Tipo de contrato", "Empresa"), "Porto", "Tempo integral"),
        ("sv", ("Placeringsort", "Anställningsform", "Arbetsgivare"), "Malmö", "Heltid"),
        ("da", ("Arbejdssted", "Ansættelsesform", "Virksomhed"), "Aarhus", "Fuldtid"),
        ("cs", ("Místo výkonu práce", "Typ úvazku", "Zaměstnavatel"), "Brno", "Plný úvazek"),
    ],
)
def test_labels_are_read_in_many_languages(language: str, labels: tuple[str, ...], place: str, kind: str):
    values = (place, kind, "Acme Ladders GmbH")
    pairs = "".join(f"<dt>{label}</dt><dd>{value}</dd>" for label, value in zip(labels, values, strict=True))
    body = f"<html lang={language}><title>Leiter 3000 - job</title><h1>Leiter 3000</h1><dl>{pairs}</dl>"
    assert said(only(body, "https://board.example/job/7")) == (
        "Leiter 3000",
        "Acme Ladders GmbH",
        place,
        kind,
    )


# The line beside the headline


def test_a_line_of_place_and_hours_under_the_headline_needs_no_label():
    body = f"""<title>Ladder maker - Acme Ladders</title><h1>Ladder maker</h1><p>Berlin, Germany · Full-time · Workshop</p>
    {DUTIES}<footer>© 2026 Acme Ladders GmbH</footer>"""
    assert said(only(body)) == ("Ladder maker", "Acme Ladders", "Berlin, Germany", "Full-time")


def test_texts_beside_icons_are_read_each_by_itself():
    body = f"""<title>Ladder maker - Acme Ladders</title><main><h1>Ladder maker</h1><div><span><svg></svg>Lyon</span><span><svg></svg>CDI</span>
    <span><svg></svg>38 000 € - 42 000 € par an</span></div>{DUTIES}</main>"""
    found = only(body)
    assert (found.location, found.employment_type) == ("Lyon", "CDI")
    assert found.salary is not None
    assert (found.salary.low, found.salary.high, found.salary.currency, found.salary.period) == (
        Decimal(38000),
        Decimal(42000),
        "EUR",
        "year",
    )


def test_the_line_may_stand_above_the_headline():
    body = f"""<title>Ladder maker - Acme Ladders</title><section><p>Workshop / Leeds, UK</p><h1>Ladder maker</h1></section>{DUTIES}"""
    assert only(body).location == "Leeds, UK"


@pytest.mark.parametrize(
    ("line", "day"),
    [
        ("Posted 3 days ago", date(2026, 3, 7)),
        ("Posted on March 1, 2026", date(2026, 3, 1)),
        ("Veröffentlicht am 02.03.2026", date(2026, 3, 2)),
        ("vor 2 Tagen", date(2026, 3, 8)),
        ("Publié le 3 mars 2026", date(2026, 3, 3)),
        ("Publicado hace 5 días", date(2026, 3, 5)),
        ("Geplaatst op 4 maart 2026", date(2026, 3, 4)),
        ("Closing date: 1 March 2026", None),
        ("Apply by 1 March 2026", None),
        ("Start: 1 April 2026", None),
        ("Posted on 1 April 2027", None),
        ("Posted 30+ days ago", None),
    ],
)
def test_the_day_it_was_posted_is_said_in_a_line(line: str, day: date | None):
    body = f"<title>Ladder maker - Acme Ladders</title><h1>Ladder maker</h1><p>Leeds, UK</p><p>{line}</p>{DUTIES}"
    assert only(body).posted_date == day


def test_another_date_of_the_page_tells_whether_the_day_comes_first():
    body = "<title>Ladder maker job</title><h1>Ladder maker</h1><p>Location: Leeds</p><p>Date posted: 02/03/2026</p>"
    assert only(body).posted_date is None
    assert only(f"{body}<p>Deadline: 18/03/2026</p>").posted_date == date(2026, 3, 2)
    assert only(f"{body}<p>Deadline: 03/18/2026</p>").posted_date == date(2026, 2, 3)
    assert only(f"{body}<p>Deadline: 03/18/2026</p><p>Start: 18/04/2026</p>").posted_date is None


def test_a_line_that_is_no_place_is_not_taken_for_one():
    body = f"""<title>Ladder maker - Acme Ladders</title><h1>Ladder maker</h1><p>Reading, writing and mobile ladders</p><p>Nice</p>
    <p>Full-time</p>{DUTIES}"""
    assert only(body).location is None


def test_the_town_of_a_similar_opening_is_not_the_place():
    body = f"""<title>Ladder maker - Acme Ladders</title><h1>Ladder maker</h1>{DUTIES}<h2>Similar jobs</h2>
    <a href="#apply">Apply now</a><a href="/careers/stool-maker">Stool maker</a><p>Hamburg, Germany · Full-time</p>"""
    found = only(body)
    assert (found.location, found.employment_type) == (None, None)


# The company


def test_the_company_of_its_own_site_is_the_sites():
    body = f"""<title>Ladder maker</title><header><a href="/"><img src="/logo.svg" alt="Acme Ladders logo"></a></header>
    <h1>Ladder maker</h1><p>Leeds, UK</p><p>Acme Ladders has made ladders since the flood.</p>{DUTIES}
    <footer>© 2026 Acme Ladders Ltd. All rights reserved.</footer>"""
    assert only(body).company in ("Acme Ladders", "Acme Ladders Ltd")


@pytest.mark.parametrize(
    "sign",
    [
        "<a href='/employers'>For employers</a>",
        "<a href='/post'>Post a job</a>",
        "<a href='/a'>Stellenanzeige schalten</a>",
        "<a href='/r'>Espace recruteurs</a>",
        "<a href='/p'>Dla pracodawców</a>",
    ],
)
def test_a_site_that_sells_postings_is_nobodys_employer(sign: str):
    body = f"""<title>Ladder maker | Rungwise</title><meta property="og:site_name" content="Rungwise"><nav>{sign}</nav>
    <h1>Ladder maker</h1><p>Leeds, UK · Full-time</p>{DUTIES}<footer>© 2026 Rungwise</footer>"""
    assert only(body, "https://www.rungwise.example/jobs/ladder-maker").company is None


def test_a_site_that_is_named_after_jobs_is_nobodys_employer():
    body = f"""<title>Ladder maker | Leeds Jobs</title><h1>Ladder maker</h1><p>Leeds, UK · Full-time</p>{DUTIES}
    <footer>© 2026 Leeds Jobs</footer>"""
    assert only(body, "https://www.leedsjobs.example/jobs/ladder-maker").company is None


@pytest.mark.parametrize(
    "title",
    [
        "Ladder maker at Acme Ladders - Rungwise",
        "Ladder maker bei Acme Ladders | Rungwise",
        "Ladder maker @ Acme Ladders | Rungwise",
        "Acme Ladders hiring Ladder maker in Leeds | Rungwise",
        "Job Application for Ladder maker at Acme Ladders",
    ],
)
def test_the_title_of_the_page_says_at_whom(title: str):
    body = f"""<title>{title}</title><nav><a href='/p'>Post a job</a></nav><h1>Ladder maker</h1><p>Leeds, UK</p>{DUTIES}"""
    assert only(body, "https://www.rungwise.example/jobs/7").company == "Acme Ladders"


def test_the_title_of_the_page_says_where():
    body = f"<title>Ladder maker job in Leeds, UK - Rungwise</title><h1>Ladder maker</h1>{DUTIES}"
    assert only(body).location == "Leeds, UK"


def test_what_stands_behind_the_headline_is_no_place_if_no_such_place_is_known():
    body = f"<title>Ladder maker in a small team - Rungwise</title><h1>Ladder maker</h1>{DUTIES}<button>Apply now</button>"
    assert only(body).location is None


# The text


def test_the_text_is_what_stands_under_the_headline():
    body = f"""<title>Ladder maker - Acme Ladders</title><nav>Home Ladders Careers</nav><h1>Ladder maker</h1><p>Leeds, UK</p>
    {DUTIES}<h2>Similar jobs</h2><p>Stool maker in Hull</p><footer>© 2026 Acme Ladders</footer>"""
    text = only(body).description or ""
    assert "measure each of them twice" in text
    assert "A steady hand." in text
    assert "Home Ladders" not in text
    assert "Stool maker" not in text
    assert "©" not in text


# Whole pages


@pytest.mark.parametrize("expected", PAGES, ids=lambda each: each.url.partition("://")[2].partition("/")[0])
def test_a_whole_page_is_read_as_a_person_would(expected: Expected):
    found = look(expected.html, expected.url).postings
    if expected.title is None:
        assert found == ()
        return
    (posting,) = found
    pay = posting.salary
    assert (
        Expected(
            expected.url,
            expected.html,
            posting.title,
            posting.company,
            posting.location,
            posting.employment_type,
            str(posting.posted_date) if posting.posted_date else None,
            f"{pay.low:f}" if pay and pay.low else None,
        )
        == expected
    )


# What is no opening


def test_a_page_that_lists_openings_is_not_one_of_them():
    for number in (2, 3, 8):
        seen = look(
            f"<title>Careers at Acme</title><h1>Careers</h1><p>Leeds, UK · Full-time</p><ul>{rows(number)}</ul>",
            "https://acme.example/careers",
        )
        assert len(seen.postings) == number


def test_a_page_about_working_here_is_no_opening():
    body = """<title>Working at Acme Ladders - careers</title><h1>Working at Acme Ladders</h1><p>Leeds, UK</p>
    <h2>What we offer</h2><p>Tea, and a bench of your own.</p><h2>Benefits</h2><p>More tea.</p>"""
    assert look(body, "https://acme.example/careers/life").postings == ()


@pytest.mark.parametrize("headline", ["What does a ladder maker do?", "Ladder maker: a job description"])
def test_an_article_about_a_profession_is_no_opening(headline: str):
    body = f"""<title>{headline} - Career guide</title><h1>{headline}</h1><h2>Responsibilities</h2><p>He bends tubes.</p>
    <h2>Requirements</h2><p>A steady hand.</p><h2>Salary</h2><p>Around £30,000 a year in a workshop</p>"""
    assert look(body, "https://acme.example/career-advice/ladder-maker").postings == ()


def test_an_opening_beats_the_links_of_its_own_footer():
    links = "".join(f'<li><a href="/career-pages/{n}000">Career service {n}</a></li>' for n in range(9))
    body = f"""<title>Ladder maker vacancy</title><h1>Ladder maker</h1><p>Company: Acme</p><p>Location: Leeds</p>
    <p>Salary: £30,000 a year</p>{DUTIES}<ul>{links}</ul>"""
    assert only(body, "https://board.example/job/7").title == "Ladder maker"


def test_rows_that_each_have_their_labels_are_a_list():
    rows = "".join(
        f"""<li class=job><a href="/job/{n}0000"><h3>Maker {n}</h3></a><p>Company: Acme {n}</p><p>Location: Leeds</p>
        <p>Salary: £{n}0,000 a year</p></li>"""
        for n in range(1, 8)
    )
    seen = look(
        f"<title>Ladder jobs</title><h1>Ladder jobs</h1><ul>{rows}</ul>", "https://board.example/jobs"
    )
    assert len(seen.postings) == 7


def test_a_posting_that_is_closed_is_not_read_from_the_rest_of_the_page():
    body = f"<title>Ladder maker job</title><h1>Page not found</h1><p>Leeds, UK · Full-time</p>{DUTIES}"
    assert all(posting.title != "Page not found" for posting in look(body).postings)


# Hostile pages


@pytest.mark.promise(18)
@pytest.mark.parametrize(
    "filling",
    [
        "<p>Location: Leeds</p>" * 30_000,
        "<span>Location</span>" * 40_000,
        "<h2>Ladder maker</h2>" * 30_000,
        "<a href='/company/acme'>Acme</a>" * 20_000,
        "<div>" * 400 + "<b>Company</b>" * 20_000,
        "<p>" + "Berlin, " * 100_000 + "</p>",
        "<p>" + "Berlin | " * 60_000 + "</p>",
        "<p>" + "01/02/2026 " * 50_000 + "</p>",
        "<p>Location:" + " " * 300_000 + "x</p>",
    ],
)
def test_a_page_made_of_labels_is_read_in_bounded_time(filling: str):
    body = f"<title>Ladder maker job at {'Acme ' * 5_000}</title><h1>Ladder maker</h1>{filling}"
    started = process_time()
    seen = inspect(page(body), TODAY)
    assert seen.look.verdict in (Verdict.FOUND, Verdict.UNKNOWN)
    assert process_time() - started < 8
