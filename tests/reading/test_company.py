"""The company behind a page, and the way to its openings."""

import json

import pytest

from tests.reading.pages import document, look
from thresher.reading.inspect.company import careers_url


@pytest.mark.parametrize(
    ("link", "url"),
    [
        ('<a href="/careers">Careers</a>', "https://acme.example/careers"),
        ('<a href="/about/jobs.php">Jobs</a>', "https://acme.example/about/jobs.php"),
        ('<a href="/de/karriere/">Karriere</a>', "https://acme.example/de/karriere/"),
        ('<a href="/x">Trabaja con nosotros</a>', "https://acme.example/x"),
        ('<a href="/x">採用情報</a>', "https://acme.example/x"),
        ('<a href="/vi/x">Tuyển dụng</a>', "https://acme.example/vi/x"),
        ('<a href="https://careers.acme.example/">Work here</a>', "https://careers.acme.example/"),
        ('<a href="https://jobs.lever.co/acme">We are hiring</a>', "https://jobs.lever.co/acme"),
        ('<a href="/careers"><img alt="work"></a>', "https://acme.example/careers"),
        ('<a href="/x"><img alt="Careers"></a>', "https://acme.example/x"),
        ('<a href="/x" aria-label="Open positions"><svg></svg></a>', "https://acme.example/x"),
        ('<map><area href="/x" alt="Employment"></map>', "https://acme.example/x"),
        ('<a href="/x">Careers (12)</a>', "https://acme.example/x"),
        ('<a href="/x">Jobs <b>7</b></a>', "https://acme.example/x"),
        ('<a href="/x">Careers →</a>', "https://acme.example/x"),
        ('<a href="/x">Careers at Acme Ladders</a>', "https://acme.example/x"),
        ('<a href="/x">Press &amp; Careers</a>', "https://acme.example/x"),
        ('<a href="/x">Jobs / Ausbildung</a>', "https://acme.example/x"),
        ('<a href="/x">Karriere bei Acme</a>', "https://acme.example/x"),
        ('<a href="/x">Travailler chez Acme</a>', "https://acme.example/x"),
        ('<a href="/x">Nous recrutons !</a>', "https://acme.example/x"),
        ('<a href="/x">Vacantes</a>', "https://acme.example/x"),
        ('<a href="/x">Lavora con noi</a>', "https://acme.example/x"),
        ('<a href="/x">Werken bij Acme</a>', "https://acme.example/x"),
        ('<a href="/x">Venha trabalhar conosco</a>', "https://acme.example/x"),
        ('<a href="/x">Pracuj z nami</a>', "https://acme.example/x"),
        ('<a href="/x">Lediga tjänster</a>', "https://acme.example/x"),
        ('<a href="/x">Вакансии</a>', "https://acme.example/x"),
        ('<a href="/x">İş ilanları</a>', "https://acme.example/x"),
        ('<a href="/x">招贤纳士</a>', "https://acme.example/x"),
        ('<a href="/x">채용공고</a>', "https://acme.example/x"),
        ('<a href="/x">الوظائف الشاغرة</a>', "https://acme.example/x"),
        ('<a href="/join-us">Join us</a>', "https://acme.example/join-us"),
        ('<a href="/express/careers">Careers</a>', "https://acme.example/express/careers"),
        ('<a href="https://www.acme.jobs/">Acme Careers</a>', "https://www.acme.jobs/"),
        ('<a href="https://acme-careers.example/">Acme Careers</a>', "https://acme-careers.example/"),
    ],
)
def test_the_link_to_the_openings_is_found_by_words_and_address(link: str, url: str):
    assert careers_url(document(f'<a href="/">Home</a><a href="/products">Products</a>{link}')) == url


@pytest.mark.parametrize(
    "link",
    [
        '<a href="/lending/employment-types">Employment types</a>',
        '<a href="/blog/how-we-hire">How to find a job you love in ten easy steps this year</a>',
        '<a href="/register?next=/cats">Join us</a>',
        '<a href="/about">About us</a>',
        '<a href="mailto:jobs@acme.example">Jobs</a>',
        '<a href="/join">Sign up</a>',
        '<a href="/join">Join us</a>',
        '<a href="/hr/">Hrvatska</a>',
        '<a href="/about/people">People</a>',
        '<a href="/jobs/post">Post a job</a>',
        '<a href="/jobs/login">Log in</a>',
        '<a href="/2017/05/steel-jobs">Jobs in steel</a>',
        '<a href="/services/recruitment">Recruitment services</a>',
        '<a href="/news/jobs">Jobs report</a>',
        '<a href="/films/jobs-2013">Steve Jobs</a>',
    ],
)
def test_a_link_that_only_sounds_like_it_is_not_taken(link: str):
    assert careers_url(document(link)) is None


@pytest.mark.parametrize("words", ["Jobs", "Jobs bei uns", "Open positions", "See open roles"])
def test_a_link_to_a_board_is_better_than_any_page(words: str):
    body = f'<nav><a href="/careers">Careers</a></nav><a href="https://jobs.lever.co/acme">{words}</a>'
    assert careers_url(document(body)) == "https://jobs.lever.co/acme"


def test_the_way_to_the_company_is_better_than_the_way_to_jobs_of_others():
    """A newspaper has a market of jobs in its menu, and its own openings in its footer."""
    body = '<nav><a href="https://jobs.acme.example/">Jobs</a></nav><footer><a href="/work-for-us">Work for us</a></footer>'
    assert careers_url(document(body)) == "https://acme.example/work-for-us"


def test_name_site_and_description_come_from_what_the_page_declares():
    declared = {
        "@type": "Organization",
        "name": "Acme Ladders",
        "url": "https://acme.example",
        "description": "We make ladders.",
    }
    company = look(
        f"<script type='application/ld+json'>{json.dumps(declared)}</script><p>Hello</p>",
        "https://acme.example/about",
    ).company
    assert (company.name, company.website, company.about) == (
        "Acme Ladders",
        "https://acme.example/",
        "We make ladders.",
    )


def test_a_slogan_is_not_a_name():
    seen = look("<title>The best ladders in the world</title><p>Hello</p>", "https://acme.example/")
    assert seen.company.name is None


def test_the_part_of_the_title_that_the_address_repeats_is_the_name():
    assert (
        look("<title>About us | Acme</title><p>Hello</p>", "https://www.acme.example/").company.name == "Acme"
    )


NAMES = [
    (
        "a declaration",
        '<script type="application/ld+json">{"@type":"Organization","name":"Brass & Bolt"}</script>',
        "Brass & Bolt",
    ),
    (
        "what the page tells those who share it",
        '<meta property="og:site_name" content="Brass & Bolt">',
        "Brass & Bolt",
    ),
    ("a title before a colon", "<title>Brassbolt: hinges, handles and more</title>", "Brassbolt"),
    ("a title before a comma", "<title>BrassBolt, makers of hinges in Leeds</title>", "BrassBolt"),
    (
        "words of a title that spell the address",
        "<title>Hinges by Brass Bolt since 1901</title>",
        "Brass Bolt",
    ),
    ("the longer name in the title", "<title>Brassbolt Hinges | Home</title>", "Brassbolt Hinges"),
    ("a greeting in the title", "<title>Welcome to Brassbolt</title>", "Brassbolt"),
    ("accents in the title", "<title>Brässbolt – Scharniere</title>", "Brässbolt"),
    (
        "a legal form in the line of copyright",
        "<p>© 2019 Hinge Makers Ltd. All rights reserved.</p>",
        "Hinge Makers Ltd",
    ),
    (
        "a line of copyright and a logo",
        '<img class="logo" alt="Hinge Makers logo"><p>Copyright 2011-2019 Hinge Makers</p>',
        "Hinge Makers",
    ),
    (
        "a logo that leads home and the title",
        '<title>Hinges | Hinge Makers</title><a href="/"><img alt="Hinge Makers"></a><p>© Hinge Makers</p>',
        "Hinge Makers",
    ),
    ("the year before the sign", "<p>2020 © Brassbolt GmbH</p>", "Brassbolt GmbH"),
    (
        "the text that says it again and again",
        "<title>Hinges</title><p>At Brass Bolt we care.</p><p>Call Brass Bolt today.</p>",
        "Brass Bolt",
    ),
]


@pytest.mark.promise(14)
@pytest.mark.parametrize(("page", "name"), [each[1:] for each in NAMES], ids=[each[0] for each in NAMES])
def test_the_name_of_a_company_is_found_in(page: str, name: str):
    assert look(f"<html>{page}<p>Hello</p></html>", "https://www.brassbolt.example/").company.name == name


@pytest.mark.promise(14)
@pytest.mark.parametrize(
    "page",
    [
        "<title>The best hinges in the world</title>",
        "<title>Home</title><p>© 2019</p>",
        "<title>Contact us | Hinges</title><img alt='logo' class='logo'>",
        '<img src="/img/visa-logo.png" alt="Visa"><img src="/img/paypal-logo.png" alt="PayPal">',
        "<p>Website by Pixel Studio. © 2019 All rights reserved</p>",
    ],
)
def test_what_too_little_agrees_with_is_no_name(page: str):
    assert look(f"<html>{page}<p>Hello</p></html>", "https://www.brassbolt.example/").company.name is None


@pytest.mark.promise(14)
def test_an_article_of_a_news_agency_is_not_the_company_of_the_site():
    declared = [
        {"@type": "Organization", "name": "Wire Agency"},
        {"@type": "Organization", "name": "Daily Bolt"},
    ]
    page = f"<script type='application/ld+json'>{json.dumps(declared)}</script><title>Flood in Leeds - Daily Bolt</title>"
    assert look(page, "https://www.dailybolt.example/flood").company.name == "Daily Bolt"


@pytest.mark.promise(14)
def test_on_a_platform_that_many_share_the_name_is_not_the_platforms():
    page = '<title>Jobs at Brass Bolt</title><meta property="og:site_name" content="Lever"><p>Brass Bolt. Brass Bolt.</p>'
    assert look(page, "https://jobs.lever.co/brassbolt").company.name == "Brass Bolt"
