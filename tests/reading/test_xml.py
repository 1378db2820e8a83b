"""XML as job APIs write it: rows without a list around them, values in attributes, prefixes, XHTML, and
documents that mean harm."""

import time

import pytest

from tests.reading.pages import look, page
from thresher.core.errors import Malformed
from thresher.reading.inspect.body import Format, read_body
from thresher.reading.platforms.paths import field, first, values
from thresher.reading.structured.xml import read_xml

HEAD = '<?xml version="1.0"?>'


def said(spec, text):
    return field(spec)(read_xml(text)[1], None)


def openings(text, kind="application/xml"):
    found = look(text, url="https://api.example/search", kind=kind)
    return [(each.title, each.company, each.location, each.url) for each in found.postings]


WELDER = ("Welder", "Acme", "Leeds", "https://api.example/v/1")
FITTER = ("Fitter", "Brill", "York", "https://api.example/v/2")


def row(opening, shape, **more):
    title, company, place, url = opening
    return shape.format(title=title, company=company, place=place, url=url, id=url[-1], **more)


ELEMENTS = "<job><id>{id}</id><title>{title}</title><company>{company}</company><city>{place}</city><url>{url}</url></job>"
ATTRIBUTES = '<vacancy id="{id}" title="{title}" company="{company}" location="{place}" url="{url}"/>'
BESIDE = '<result><title lang="en">{title}</title><link href="{url}"/><employer ref="3">{company}</employer><location code="UK">{place}</location></result>'
PREFIXED = "<n:job><n:id>{id}</n:id><n:title>{title}</n:title><n:company><n:name>{company}</n:name></n:company><n:city>{place}</n:city><n:url>{url}</n:url></n:job>"
CDATA = "<job><id>{id}</id><title><![CDATA[{title}]]></title><company><![CDATA[{company}]]></company><city><![CDATA[{place}]]></city><url><![CDATA[{url}]]></url></job>"
NAMED = '<doc><str name="id">{id}</str><str name="title">{title}</str><str name="company">{company}</str><str name="location">{place}</str><str name="url">{url}</str></doc>'


@pytest.mark.parametrize(
    ("around", "shape"),
    [
        ("<response><total>2</total>{rows}</response>", ELEMENTS),
        ("<jobs>{rows}</jobs>", ELEMENTS),
        ("<vacancies>{rows}</vacancies>", ATTRIBUTES),
        ("<a><b><results>{rows}</results></b></a>", BESIDE),
        ('<n:answer xmlns:n="urn:x"><n:jobs>{rows}</n:jobs></n:answer>', PREFIXED),
        ("<source><publisher>x</publisher>{rows}</source>", CDATA),
        ('<response><result numFound="2">{rows}</result></response>', NAMED),
    ],
)
def test_an_unknown_answer_gives_its_rows_whatever_way_it_holds_them(around, shape):
    rows = row(WELDER, shape) + row(FITTER, shape)
    assert openings(HEAD + around.format(rows=rows)) == [WELDER, FITTER]


@pytest.mark.parametrize("shape", [ELEMENTS, ATTRIBUTES, CDATA])
def test_one_row_alone_is_a_list_of_one(shape):
    assert openings(f"{HEAD}<jobs>{row(WELDER, shape)}</jobs>") == [WELDER]


def test_rows_that_are_split_over_departments_are_all_read_in_their_order():
    parts = "".join(f"<team><list>{row(each, ELEMENTS)}</list></team>" for each in (WELDER, FITTER))
    assert openings(f"{HEAD}<teams>{parts}</teams>") == [WELDER, FITTER]


def test_a_document_without_a_declaration_and_without_a_type_is_xml_all_the_same():
    text = f"<jobs>{row(WELDER, ELEMENTS)}{row(FITTER, ELEMENTS)}</jobs>"
    assert openings(text, kind="") == openings(text, kind="text/plain") == [WELDER, FITTER]


@pytest.mark.parametrize(
    "text", ["<div>a</div>", "<my-app>b</my-app>", "<jobs>cut of", "<p>a</p><jobs></jobs>"]
)
def test_a_piece_of_html_is_not_taken_for_xml(text):
    assert read_body(page(text, kind="")).format is Format.HTML


def test_rows_of_articles_are_no_openings_for_being_xml():
    rows = "".join(
        f"<item id='{n}'><title>News {n}</title><link>https://a.example/n/{n}</link></item>" for n in "12"
    )
    assert openings(f"{HEAD}<news>{rows}</news>") == []


def test_a_path_reads_attributes_and_what_stands_beside_them():
    text = '<job id="7"><title lang="en">Welder</title><link rel="self" href="https://a.example/7"/></job>'
    assert said("@id", text) == "7"
    assert said("title", text) == said("title.#text", text) == "Welder"
    assert said("link.@href", text) == "https://a.example/7"


def test_a_path_reads_one_element_and_several_alike():
    one, two = "<j><o><n>Leeds</n></o></j>", "<j><o><n>Leeds</n></o><o><n>York</n></o></j>"
    for path in ("o.n", "o[].n"):
        assert said(path, one) == "Leeds"
        assert said(path, two) == "Leeds; York"
    assert said("o[0].n", one) == said("o[0].n", two) == "Leeds"
    assert values("o", read_xml(one)[1]) == [{"n": "Leeds"}]


def test_a_list_in_json_is_still_read_only_where_the_path_says_so():
    assert first("o.n", {"o": [{"n": 1}]}) is None
    assert first("o[].n", {"o": [{"n": 1}]}) == 1


def test_of_names_that_differ_by_a_prefix_the_parents_own_goes_without():
    text = '<j xmlns:m="urn:m"><m:title>A picture</m:title><title>Welder</title><m:size>3</m:size></j>'
    assert said("title", text) == "Welder"
    assert said("m:title", text) == "A picture"
    assert said("size", text) == "3"


def test_xhtml_in_an_element_is_its_text_and_data_is_not():
    text = "<j><d>Weld <b>steel</b> &amp; more<ul><li>one</li></ul></d><place><city>Leeds</city></place></j>"
    assert said("d", text) == "Weld <b>steel</b> &amp; more<ul><li>one</li></ul>"
    assert said("place", text) is None


def test_what_is_unescaped_once_is_not_markup_again():
    assert said("d", "<j><d>&lt;b&gt;<i>x</i></d></j>") == "&lt;b&gt;<i>x</i>"


@pytest.mark.parametrize(
    "text",
    [
        "<a>" * 3_000_000,
        "<r>" + "<job><t>x</t></job>" * 600_000 + "</r>",
        '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><r>&b;</r>',
        "<r><job>" + "<p>" * 150 + "x" * 10_000_000,
    ],
)
def test_ten_megabytes_of_nested_or_endless_xml_are_refused_in_seconds(text):
    started = time.process_time()
    with pytest.raises(Malformed):
        read_xml(text)
    assert time.process_time() - started < 20


def test_a_single_element_in_its_own_plural_is_a_row():
    row = "<result><jobtitle>Welder</jobtitle><company>Acme</company><city>Leeds</city><url>https://api.example/v/1</url></result>"
    assert openings(f"{HEAD}<response><results>{row}</results></response>") == [WELDER]
    assert openings(f"{HEAD}<response><outcome>{row}</outcome></response>") == []


def test_an_attribute_with_a_prefix_is_no_id_of_the_row():
    rows = "".join(
        row(each, ELEMENTS).replace("<job>", f'<job d:id="T{each[0]}">') for each in (WELDER, FITTER)
    )
    found = look(f'{HEAD}<set xmlns:d="urn:d">{rows}</set>', kind="text/xml")
    assert [each.key for each in found.postings] == ["1", "2"]


def test_names_in_other_languages_are_known():
    rows = "".join(
        f"<oferta><id>{n}</id><titulo>Soldador {n}</titulo><empresa>Aceros</empresa><ciudad>Cádiz</ciudad><fecha>2026-03-01</fecha></oferta>"
        for n in (1, 2)
    )
    assert [each[:3] for each in openings(f"{HEAD}<ofertas>{rows}</ofertas>")] == [
        ("Soldador 1", "Aceros", "Cádiz"),
        ("Soldador 2", "Aceros", "Cádiz"),
    ]
