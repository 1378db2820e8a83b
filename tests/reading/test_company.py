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
    ],
)
def test_a_link_that_only_sounds_like_it_is_not_taken(link: str):
    assert careers_url(document(link)) is None


def test_a_link_to_a_board_is_better_than_any_page():
    body = '<a href="/careers">Careers</a><a href="https://jobs.lever.co/acme">Jobs</a>'
    assert careers_url(document(body)) == "https://jobs.lever.co/acme"


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
