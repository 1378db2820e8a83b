"""Values in places that are hard to point at, and texts that take the place of a value: the first are read,
the second are not."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import pytest

from thresher.core.schema import Field, Kind, Schema
from thresher.learning.drift import Sign
from thresher.learning.extractor import Example, Extractor
from thresher.learning.learn import learn
from thresher.learning.read import Reading, read
from thresher.learning.record import from_json, to_json
from thresher.reading.html.document import Document

_TOPICS = ("Terms", "Privacy", "Press", "Help", "Team", "History", "Partners", "Prizes", "Events", "Letters")
FOOT = "".join(f"<p>{topic} of the {part}</p>" for topic in _TOPICS for part in ("house", "shop", "club"))


def page(main: str) -> Document:
    return Document.from_html(f"<body><div><a href='/'>Home</a></div>{main}{FOOT}</body>")


def learned(field: Field, pages: Sequence[tuple[str, Any]]) -> Extractor:
    """What three pages teach about one field, after the way into the store and back."""
    found = learn(
        Schema("thing", (field,)), [Example(page(main), {field.name: value}) for main, value in pages]
    )
    assert isinstance(found, Extractor), found
    return from_json(orjson.loads(orjson.dumps(to_json(found))))


def drift(reading: Reading) -> Sign:
    return next(each.sign for each in reading.drifts if each.field is not None)


# Lines of a box: only their order tells them apart, unless the value itself does.

ADDRESSES = (
    ("14 Mill Lane", "Oakham, Upper Dale", "Open all year"),
    ("220 Station Road", "Brackwell, Lower Dale", "Closed on Mondays"),
    ("7 Quay Street", "Saltby, Coast", "Garden at the back"),
    ("91 High Street", "Tarn, Upper Dale", "Dogs welcome"),
)


def box(*lines: str) -> str:
    return f"<div class='where'>{'<br>'.join(lines)}</div>"


def test_a_line_of_a_box_is_read_where_it_alone_begins_with_a_figure() -> None:
    extractor = learned(Field("address"), [(box(*each), each[0]) for each in ADDRESSES[:3]])
    assert read(extractor, page(box(*ADDRESSES[3]))).values == {"address": "91 High Street"}


@pytest.mark.promise(14)
def test_lines_that_change_places_are_not_taken_for_each_other() -> None:
    extractor = learned(Field("address"), [(box(*each), each[0]) for each in ADDRESSES[:3]])
    street, town, note = ADDRESSES[3]
    for lines in ((town, street, note), (note, town), (street, "12 rooms", town, note)):
        reading = read(extractor, page(box(*lines)))
        assert reading.values == {}
        assert drift(reading) is Sign.UNSURE


def test_a_line_that_nothing_tells_from_its_neighbours_is_not_learned() -> None:
    lines = (("Anna Berg", "Brackwell"), ("Carl Dorn", "Saltby"), ("Eva Falk", "Tarn"))
    schema = Schema("thing", (Field("owner"), Field("town")))
    examples = [Example(page(box(*each)), {"owner": each[0]}) for each in lines]
    found = learn(schema, examples)
    assert not isinstance(found, Extractor)
    assert "order" in found.fields["owner"] or "position" in found.fields["owner"]


# Items of a list: the value is one of a few words.


def items(*said: str) -> str:
    return f"<h3>Kind of school</h3><ul>{''.join(f'<li>{each}</li>' for each in said)}</ul>"


SCHOOLS = (
    (items("Private", "College of arts", "Two years"), "Private"),
    (items("State", "Polytechnic", "Four years"), "State"),
    (items("State", "College of law", "Four years"), "State"),
)


def test_an_item_of_a_list_is_read_where_its_few_words_come_again() -> None:
    extractor = learned(Field("sort"), SCHOOLS)
    assert read(extractor, page(items("Private", "Seminary", "Three years"))).values == {"sort": "Private"}


@pytest.mark.promise(14)
@pytest.mark.parametrize(
    "said",
    [
        ("Seminary", "Private", "Three years"),  # they changed places
        ("Church", "Seminary", "Three years"),  # a word that no known page has
        ("State", "Private", "Seminary"),  # another thing's word before the own one
        ("Seminary", "Three years"),  # it is gone
    ],
)
def test_an_item_that_is_none_of_the_known_words_is_not_taken_for_one(said: tuple[str, ...]) -> None:
    reading = read(learned(Field("sort"), SCHOOLS), page(items(*said)))
    assert reading.values == {}
    assert drift(reading) is Sign.UNSURE


# Labels within a run of text.


def contact(phone: str, name: str, role: str) -> str:
    return f"<div>Admissions<br>{role}<br>Phone: {phone}<br>Head of office: {name}<br>By appointment</div>"


def test_a_label_and_its_value_in_one_line_between_breaks_are_read() -> None:
    people = (
        ("555 0101", "Anna Berg", "Ground floor"),
        ("555 0202", "Carl Dorn", "Tower"),
        ("555 0303", "Eva Falk", "Annex, room 4"),
    )
    extractor = learned(Field("head"), [(contact(*each), each[1]) for each in people])
    assert read(extractor, page(contact("555 0404", "Gus Holm", "Yard"))).values == {"head": "Gus Holm"}


def test_a_value_is_read_up_to_a_separator_or_to_the_end_of_its_text() -> None:
    pages = [
        ("<p>Height: 198 cm | Weight: 95 kg | Born: Oakham</p>", "95 kg"),
        ("<p>Height: 185 cm | Weight: 88 kg</p>", "88 kg"),
        ("<p>Height: 201 cm | Weight: 104 kg | Born: Tarn</p>", "104 kg"),
    ]
    extractor = learned(Field("weight"), pages)
    for main in (
        "<p>Height: 190 cm | Weight: 91 kg</p>",
        "<p>Height: 190 cm | Weight: 91 kg | Born: Tarn</p>",
    ):
        assert read(extractor, page(main)).values == {"weight": "91 kg"}


# Rows that come and go.


def rows(*pairs: tuple[str, str]) -> str:
    return (
        f"<table>{''.join(f'<tr><th>{label}:</th><td>{value}</td></tr>' for label, value in pairs)}</table>"
    )


def opening(day: str, *, function: str = "behind", experience: bool = True) -> str:
    posted, branch = ("Posted", day), ("Function", "Sales")
    first = (branch, posted) if function == "before" else (posted, branch)
    years = (("Experience", "Two years"),) if experience else ()
    return rows(*first, *years, ("Type", "Full time"), ("Salary", "By agreement"), ("Reference", "See above"))


def test_one_neighbour_that_changes_sides_does_not_move_the_value() -> None:
    days = ("3 May 2024", "14 June 2024", "9 July 2024")
    extractor = learned(Field("posted", Kind.DATE), [(opening(day), day) for day in days])
    reading = read(extractor, page(opening("21 August 2024", function="before")))
    assert reading.values == {"posted": "21 August 2024"}


@pytest.mark.promise(14)
def test_a_value_on_the_other_side_of_most_neighbours_is_displaced() -> None:
    days = ("3 May 2024", "14 June 2024", "9 July 2024")
    extractor = learned(Field("posted", Kind.DATE), [(opening(day), day) for day in days])
    turned = rows(
        ("Function", "Sales"),
        ("Experience", "Two years"),
        ("Type", "Full time"),
        ("Salary", "By agreement"),
        ("Reference", "See above"),
        ("Posted", "21 August 2024"),
    )
    reading = read(extractor, page(turned))
    assert reading.values == {}
    assert drift(reading) is Sign.DISPLACED


# Texts that are not the value.


@pytest.mark.promise(14)
@pytest.mark.parametrize(
    "said",
    [
        "N/A",
        "n/a",
        "Not available",
        "not specified",
        "—",
        "Loading…",
        "Sign in to see",
        "keine Angabe",
        "面议",
    ],
)
def test_a_word_that_states_nothing_is_no_value(said: str) -> None:
    companies = ("Acme Ltd", "Brenn & Sohn", "Trueline")
    extractor = learned(
        Field("company"), [(rows(("Company", each), ("City", "Tarn")), each) for each in companies]
    )
    reading = read(extractor, page(rows(("Company", said), ("City", "Tarn"))))
    assert reading.values == {}
    assert drift(reading) is Sign.MISSING


def test_such_a_word_is_a_value_where_a_known_page_has_it_for_one() -> None:
    known = ("None", "A quarter", "Half of the time")
    extractor = learned(Field("travel"), [(rows(("Travel", each), ("City", "Tarn")), each) for each in known])
    assert read(extractor, page(rows(("Travel", "None"), ("City", "Tarn")))).values == {"travel": "None"}


def test_what_is_not_available_is_an_availability() -> None:
    known = ("In stock", "Two left", "On order")
    field = Field("availability")
    extractor = learned(field, [(rows(("State", each), ("City", "Tarn")), each) for each in known])
    reading = read(extractor, page(rows(("State", "Not available"), ("City", "Tarn"))))
    assert reading.values == {"availability": "Not available"}


@pytest.mark.promise(14)
def test_a_label_in_the_place_of_a_value_is_no_value() -> None:
    def main(company: str) -> str:
        return f"<div><p class='who'>{company}</p><p>Apply today</p></div>"

    extractor = learned(Field("company"), [(main(each), each) for each in ("Acme", "Brenn", "Trueline")])
    reading = read(extractor, page(main("Name of the company:")))
    assert reading.values == {}
    assert drift(reading) is Sign.SHAPE


@pytest.mark.promise(14)
def test_the_first_price_of_a_range_is_not_the_price() -> None:
    def main(price: str, story: str) -> str:
        return f"<p>{story} came here.</p><p>{price}</p><p>{story} went away.</p>"

    known = (("$112,400", "Anna"), ("$118,900", "Carl"), ("$115,150", "Eva"))
    extractor = learned(Field("price", Kind.MONEY), [(main(*each), each[0]) for each in known])
    assert read(extractor, page(main("$113,700", "Gus"))).values == {"price": "$113,700"}
    assert read(extractor, page(main("$113,700 - $121,000", "Gus"))).values == {}


def test_a_code_of_figures_alone_is_read_among_codes_with_letters() -> None:
    extractor = learned(
        Field("sku"),
        [(rows(("Code", each), ("City", "Tarn")), each) for each in ("AB1042", "XY2210", "QQ3307")],
    )
    assert read(extractor, page(rows(("Code", "447110"), ("City", "Tarn")))).values == {"sku": "447110"}


# Things that came in beside the value.


def with_number(*numbers: str) -> str:
    cells = "".join(f"<dd>{each}</dd>" for each in numbers)
    return f"<dl><dt>Number:</dt>{cells}<dt>Travel:</dt><dd>None</dd></dl>"


@pytest.mark.promise(14)
def test_another_number_in_the_same_markup_before_the_own_one_is_not_read() -> None:
    extractor = learned(
        Field("number"), [(with_number(each), each) for each in ("10155066", "10184427", "10199301")]
    )
    assert read(extractor, page(with_number("10172254"))).values == {"number": "10172254"}
    assert read(extractor, page(with_number("10172254", "RTL66"))).values == {}


def priced(*prices: str) -> str:
    cells = "".join(f"<div><i>From</i> {each}</div>" for each in prices)
    return f"<p>Compare side by side</p>{cells}<p>Change the car</p>"


@pytest.mark.promise(14)
def test_a_label_that_stands_before_two_values_is_not_outvoted_by_one_beside_it() -> None:
    extractor = learned(
        Field("price", Kind.MONEY), [(priced(each), each) for each in ("$12,400", "$18,900", "$115,150")]
    )
    assert read(extractor, page(priced("$13,700"))).values == {"price": "$13,700"}
    assert read(extractor, page(priced("$99,000", "$13,700"))).values == {}


def book(*lines: Sequence[str]) -> str:
    shown = "".join(f"<p>by {', '.join(f'<a href=#>{name}</a>' for name in names)}</p>" for names in lines)
    return f"<h1>A book</h1><div class='col'>{shown}</div>"


@pytest.mark.promise(14)
def test_names_of_another_row_do_not_join_a_list() -> None:
    known = (("Anna Berg", "Carl Dorn"), ("Eva Falk",), ("Gus Holm",))
    extractor = learned(Field("author", many=True), [(book(each), list(each)) for each in known])
    assert read(extractor, page(book(("Ida Jung", "Karl Lund")))).values == {
        "author": ["Ida Jung", "Karl Lund"]
    }
    assert read(extractor, page(book(("Mia Nord",), ("Ida Jung", "Karl Lund")))).values == {}


def offer(facts: Mapping[str, str]) -> str:
    shown = "".join(
        f"<tr><th>{label}:</th><td class='{label.lower()}'>{value}</td></tr>"
        for label, value in facts.items()
    )
    return f"<div class='offer'><table>{shown}</table></div>"


@pytest.mark.promise(14)
def test_on_a_page_of_two_things_a_field_of_the_other_one_is_not_read() -> None:
    labels = ("Company", "City", "Phone", "Fax")
    known = [
        dict(zip(labels, each, strict=True))
        for each in (
            ("Acme", "Tarn", "1-11", "2-11"),
            ("Brenn", "Saltby", "1-22", "2-22"),
            ("Trueline", "Oakham", "1-33", "2-33"),
        )
    ]
    extractor = learned(Field("fax"), [(offer(each), each["Fax"]) for each in known])
    own = {"Company": "Oakforge", "City": "Brackwell", "Phone": "1-44"}
    assert read(extractor, page(offer(own | {"Fax": "2-44"}))).values == {"fax": "2-44"}
    assert read(extractor, page(offer(own) + offer(known[0]))).values == {}


# What an older release has stored.


def without_the_new(rule: dict[str, Any]) -> None:
    for name in ("around", "told", "whole", "apart"):
        rule.pop(name, None)
    if rule["part"]:
        rule["part"] = rule["part"][:5]


def test_an_extractor_of_an_older_release_reads_as_it_did() -> None:
    facts = ("Acme", "Brenn", "Trueline")
    stored = to_json(
        learned(Field("company"), [(rows(("Company", each), ("City", "Tarn")), each) for each in facts])
    )
    for rule in stored["fields"]["company"]["rules"]:
        without_the_new(rule)
    for name in ("stated", "unlabelled"):
        stored["fields"]["company"]["shape"].pop(name)
    again = from_json(stored)
    assert read(again, page(rows(("Company", "Oakforge"), ("City", "Tarn")))).values == {
        "company": "Oakforge"
    }
