"""How lists go on, and rows of numbers that are no lists."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reading.pages import document
from thresher.core.page import Page
from thresher.reading.html.document import Document
from thresher.reading.lists.pagination import Pagination, pagination

HOST = "https://shop.example"


def read(html: str, path: str = "/list") -> Pagination:
    return pagination(Document.from_html(html, HOST + path))


def numbers(template: str, *pages: int, current: int = 1) -> str:
    boxes = {page: f'<a href="{template.format(page)}">{page}</a>' for page in pages} | {
        current: f"<span>{current}</span>"
    }
    return "".join(f"<li>{boxes[page]}</li>" for page in sorted(boxes))


@pytest.mark.parametrize(
    "template",
    [
        "/list?page={}",
        "/list?sort=a&p={}",
        "/list/page/{}",
        "/list/{}",
        "/list-p{}.html",
        "/list?currentPage={}",
        "/seite-{}",
    ],
)
def test_numbers_in_a_row_are_pages_and_the_one_after_the_current_is_next(template: str):
    found = read(f"<ul>{numbers(template, 1, 2, 3, 9, current=2)}</ul>", template.format(2))
    assert (found.next, found.prev) == (HOST + template.format(3), HOST + template.format(1))
    assert found.pages == tuple(HOST + template.format(page) for page in (1, 3, 9))
    assert (found.number, found.last_number) == (2, 9)


def test_a_current_page_that_is_a_link_too_is_known_by_its_mark_or_its_address():
    links = '<li class="{}"><a href="?page=1">1</a></li><li><a href="?page=2">2</a></li><li><a href="?page=3">3</a></li>'
    assert read(links.format("page-item active")).next == f"{HOST}/list?page=2"
    assert read(links.format("page-item"), "/list?page=2").next == f"{HOST}/list?page=3"
    assert read(links.format("page-item")).number is None


def test_the_number_that_is_missing_in_the_row_is_the_current_page():
    html = "".join(f'<a href="?page={page}">{page}</a>' for page in (1, 2, 4, 5))
    assert (read(html).number, read(html).next) == (3, f"{HOST}/list?page=4")


def test_offsets_count_entries_instead_of_pages():
    html = (
        '<div><b>1</b> <a href="?start=20">2</a> <a href="?start=40">3</a> <a href="?start=20">Next</a></div>'
    )
    found = read(html)
    assert (found.next, len(found.pages)) == (f"{HOST}/list?start=20", 2)


@pytest.mark.parametrize(
    "word",
    [
        "Next",
        "next »",
        "Next page",
        "Older posts",
        "Weiter",
        "Nächste Seite ›",
        "Suivant",
        "Siguiente",
        "Próxima",
        "Volgende",
        "Nästa",
        "Następna",
        "Další",
        "Следующая",
        "次へ",
        "下一页",
        "다음",
        "›",
        "»",
        "→",
        "▸",
        "Next 20",
        "More",
    ],
)
def test_next_is_known_in_many_languages(word: str):
    assert read(f'<p><a href="/list?page=2">{word}</a></p>').next == f"{HOST}/list?page=2"


@pytest.mark.parametrize(
    "word", ["Previous", "« Prev", "Zurück", "Précédent", "Anterior", "Vorige", "Назад", "前へ", "‹"]
)
def test_previous_is_known_too(word: str):
    assert read(f'<p><a href="/list">{word}</a></p>', "/list?page=2").prev == f"{HOST}/list"


def test_the_head_and_the_header_of_the_answer_are_heard():
    head = read('<head><link rel="next" href="/list?page=2"><link rel=prev href="/list?page=0"></head>')
    assert (head.next, head.prev) == (f"{HOST}/list?page=2", f"{HOST}/list?page=0")
    page = Page(
        HOST, HOST + "/list", 200, {"link": '</list?cursor=abc>; rel="next", </>; rel="first"'}, b"<p>x"
    )
    assert pagination(Document.of(page)).next == f"{HOST}/list?cursor=abc"


def test_labels_and_classes_speak_for_a_link_without_words():
    assert read('<a aria-label="Next page" href="/list?page=2"><svg></svg></a>').next == f"{HOST}/list?page=2"
    assert read('<li class="pager-next"><a href="/list?page=2"><img></a></li>').next == f"{HOST}/list?page=2"


def test_first_and_last_are_told_from_next():
    html = (
        '<ul class=pagination><a href="?page=1">First</a><a href="?page=4">›</a><a href="?page=9">»»</a></ul>'
    )
    found = read(html, "/list?page=3")
    assert (found.first, found.next, found.last) == (
        f"{HOST}/list?page=1",
        f"{HOST}/list?page=4",
        f"{HOST}/list?page=9",
    )


@pytest.mark.promise(7)
def test_two_next_links_that_disagree_are_reported():
    html = '<head><link rel=next href="/list?page=3"></head><a href="/list?page=2">Next</a>'
    found = read(html)
    assert (found.next, found.disagreements) == (f"{HOST}/list?page=2", (f"{HOST}/list?page=3",))


def test_the_same_next_link_in_two_spellings_does_not_disagree():
    html = '<a href="/list?page=2&utm_source=x">Next</a><head><link rel=next href="/list?page=2"></head><a href="/list?page=2#top">Next</a>'
    assert read(html).disagreements == ()


@pytest.mark.parametrize(
    ("text", "total"),
    [
        ("1-50 of 236", 236),
        ("Showing 1 to 20 of 1,234 results", 1234),
        ("1 – 10 von 1.234", 1234),
        ("10-1 of 5", None),
    ],
)
def test_the_total_is_taken_where_the_page_says_it(text: str, total: int | None):
    assert read(f'<body>{text} <a href="?page=2">Next</a>').total == total


def test_page_of_pages_gives_the_last_number():
    assert read('<body>Page 2 of 17 <a href="?page=3">Next</a>', "/list?page=2").last_number == 17


def test_a_button_that_loads_more_is_named():
    assert read("<button>Load more results</button>").more == "Load more results"
    assert read("<button>Mehr Ergebnisse laden</button>").more == "Mehr Ergebnisse laden"
    assert read("<button>Show more</button>").more is None
    assert read('<div class="infinite-scroll">').infinite


@pytest.mark.parametrize(
    "html",
    [
        "".join(f'<a href="/2025/05/{day}">{day}</a>' for day in range(1, 32)).join(
            ["<table><tr><td>", "</table>"]
        ),
        "".join(f'<a href="/archive/{year}">{year}</a>' for year in range(2015, 2025)),
        "".join(f'<a href="?limit={size}">{size}</a>' for size in (12, 24, 48)),
        '<a href="#">1</a><a href="#">2</a><a href="#">3</a>',
        '<a href="javascript:rate(1)">1</a><a href="javascript:rate(2)">2</a>',
        '<a href="/about">1</a><a href="/contact">2</a><a href="/press">3</a>',
        '<a rel="next" href="/blog/another-story">Next post</a>',
        '<head><link rel="next" href="/blog/another-story"></head>',
        '<a class="carousel-next" href="#slide2">Next</a>',
        '<div class="pager"><a href="/login?return=2">Next</a></div>',
        '<a href="/cart">Next</a>',
        '<nav class="post-navigation"><p class="nav-links"><a rel="next" href="/blog/a">Next</a><a rel="prev" href="/blog/b">Pot</a></nav>',
        '<a href="/p/4711">Next</a>',
        '<a href="/?p=4711">Next</a>',
        '<a href="/story">More</a>',
        "<p>no links at all</p>",
        "",
    ],
)
def test_what_is_no_pagination_is_not_made_one(html: str):
    assert not read(html)


def test_the_last_page_has_no_next():
    found = read(
        f"<ul>{numbers('/list?page={}', 1, 2, 3, current=3)}<li><a href='?page=2'>Prev</a></ul>",
        "/list?page=3",
    )
    assert (found.next, found.prev) == (None, f"{HOST}/list?page=2")


@pytest.mark.promise(18)
def test_hostile_pages_are_read_within_bounds():
    assert not read("<div>" * 20_000 + '<a href="/x?y=1">1</a>' * 3_000)
    assert read("<ul>" + numbers("/list?page={}", *range(1, 3_000)) + "</ul>") is not None


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_some_page(text: str):
    assert isinstance(read(text), Pagination)


PIECES = [
    '<a href="?page=2">',
    "<a href=/p/3>",
    "</a>",
    "<li>",
    "1",
    "2",
    "Next",
    "«",
    "1-10 of 20",
    "<b>",
    "<a rel=next href=?p=9>",
]


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES)))
def test_soup_of_pagers_is_some_page(pieces: list[str]):
    assert isinstance(read("".join(pieces)), Pagination)


@pytest.mark.parametrize("figure", ["²", "³³", "①", "٣", "9²", "９"])
def test_figures_of_other_kinds_are_no_trouble(figure: str):
    links = f'<a href="/x?page={figure}">{figure}</a><a href="/x?page=3">3</a><a rel="next" href="/x?page={figure}{figure}">next</a>'
    found = pagination(Document.from_html(links, f"https://x.example/x?page={figure}"))
    assert found.next is None or found.next.startswith("https://x.example/")


def test_a_pager_may_count_by_a_parameter_of_any_name():
    links = "".join(f'<a href="/search?q=rope&zz_seq={n}">{n}</a> ' for n in range(1, 8))
    found = pagination(document(f"<b>1</b> {links}", "https://acme.example/search?q=rope&zz_seq=1"))
    assert found.next == "https://acme.example/search?q=rope&zz_seq=2"
    assert len(found.pages) == 7


def test_an_arrow_to_the_next_block_is_not_the_next_page():
    links = "".join(f'<li><a href="/s?Page_No={n}">{n}</a></li>' for n in range(2, 11))
    body = f'<ul class="pagination"><li><b>1</b></li>{links}<li><a href="/s?Page_No=11">Next</a></li></ul>'
    found = pagination(document(body, "https://acme.example/s"))
    assert found.next == "https://acme.example/s?Page_No=2"
    assert "https://acme.example/s?Page_No=11" in found.disagreements


@pytest.mark.parametrize(
    "arrow",
    [
        '<a href="/s?page=3"><svg class="icon-chevron-right"></svg></a>',
        '<a href="/s?page=3" class="btnNext"><img src="a.png"></a>',
        '<a href="/s?page=3" data-testid="pagination-next"><i></i></a>',
        '<a href="/s?page=3" aria-label="Go to next page"><span></span></a>',
    ],
)
def test_an_arrow_without_words_leads_on(arrow: str):
    body = f'<div class="pager"><a href="/s?page=1">1</a> <b>2</b> {arrow}</div>'
    assert pagination(document(body, "https://acme.example/s?page=2")).next == "https://acme.example/s?page=3"


def test_numbers_may_say_that_they_are_pages():
    links = "".join(f'<a href="/s?page={n}">Go to page {n}</a>' for n in range(2, 6))
    found = pagination(document(f"<nav><span>1</span>{links}</nav>", "https://acme.example/s"))
    assert found.next == "https://acme.example/s?page=2"
