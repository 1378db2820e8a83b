"""What a page is for, on pages written by hand in languages that no rule knows."""

from tests.apps.extractions.detection.walks import COURSE, HOST, course, listing, rows
from thresher.apps.extractions.detection.look import PageLook, look_at
from thresher.apps.extractions.detection.page_type import Reading, Siblings, judge, judge_level
from thresher.core.page import Page


def look(html: str, url: str = f"{HOST}/x") -> PageLook:
    return look_at(Page(url, url, 200, {"content-type": "text/html; charset=utf-8"}, html.encode()), COURSE)


def foreign(number: int) -> str:
    """A page about one thing, with labels that are the name of no field."""
    return (
        f"<h1>Kurssi {number}</h1><p><b>Laajuus:</b> {number} op</p><p><b>Opettaja:</b> Opettaja {number}</p>"
        f"<p><b>Paikka:</b> Sali {number}</p><p>{'Kuvaus jatkuu. ' * 40}{number}</p>"
    )


def test_a_page_about_one_thing_is_told_by_its_labels():
    found = judge(look(course(3)), Siblings())
    assert (found.reading, found.is_certain) == (Reading.DETAIL, True)


def test_a_page_of_rows_that_goes_on_is_a_list():
    found = judge(look(listing(1, 47), f"{HOST}/courses"), Siblings())
    assert (found.reading, found.is_certain) == (Reading.LIST, True)


def test_pages_in_an_unknown_language_are_told_by_labels_that_they_share():
    pattern = rf"^{HOST}/kurssi/\d+$".replace(".", r"\.")
    found = judge_level([look(foreign(at), f"{HOST}/kurssi/{at}") for at in range(4)], pattern)
    assert (found.reading, found.certain) == (Reading.DETAIL, True)


def test_links_that_every_page_has_belong_to_the_site_and_not_to_the_page():
    menu = rows(range(500, 530), "/topic/")
    pages = [look(course(at, menu), f"{HOST}/course/{at}") for at in range(4)]
    found = judge_level(pages, None)
    assert (found.reading, found.certain) == (Reading.DETAIL, True)


def test_pages_that_differ_are_named():
    pages = [look(course(at), f"{HOST}/course/{at}") for at in range(3)]
    pages.append(look(listing(1, 900), f"{HOST}/course/4"))
    found = judge_level(pages, None)
    assert found.reading is Reading.DETAIL
    assert not found.certain
    assert len(found.mixed) == 1


def test_a_page_of_nothing_is_nothing_for_certain():
    for html in ("", "<html></html>", "<p>x</p>", "\x00\xff", "<a href='javascript:alert(1)'>x</a>" * 50):
        assert not judge(look(html), Siblings()).is_certain
