import math
import pickle
from dataclasses import asdict

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from thresher.core.errors import InvalidPayload
from thresher.core.evidence import Evidence, Place, PlacesAt, as_json
from thresher.core.limits import all_without_controls, brief
from thresher.core.record import Filing, Link, Record, clean, indexed, pack
from thresher.core.task import dump

LIMIT = 65_536


def test_a_record_is_packed_with_its_links():
    packed = pack(Record("posting", "a", {"n": 1}, (Link("role", "python"),)), LIMIT)
    assert (packed.kind, packed.key, packed.data, packed.links) == (
        "posting",
        "a",
        '{"n":1}',
        (Link("role", "python"),),
    )


@pytest.mark.promise(18)
def test_a_record_that_is_too_large_is_named():
    with pytest.raises(
        InvalidPayload, match="the data of record posting/a has 2,009 bytes; the limit is 1,000"
    ):
        pack(Record("posting", "a", {"b": "x" * 2_001}), 1_000)


def test_data_that_is_not_json_is_named():
    with pytest.raises(InvalidPayload, match="the data of record posting/a is not JSON"):
        pack(Record("posting", "a", {"o": object()}), LIMIT)


@given(st.text(st.characters(exclude_categories=())))
def test_clean_text_can_be_written_everywhere_and_cleaning_it_again_changes_nothing(text):
    cleaned = clean(text)
    assert "\x00" not in cleaned
    assert cleaned.encode().decode() == cleaned == clean(cleaned)


@given(st.text(st.characters(exclude_categories=("Cs", "Cc", "Cf"))))
def test_text_that_is_clean_is_not_touched(text):
    assert clean(text) == text


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), JSON, max_size=5))
def test_what_is_packed_is_read_back_the_same_but_for_control_characters(data):
    packed = pack(Record("posting", "a", data), LIMIT * 10)
    assert orjson.loads(packed.data) == packed.said == all_without_controls(data)


@given(st.dictionaries(st.text(), JSON, max_size=4), st.dictionaries(st.text(), JSON, max_size=4))
def test_what_is_only_for_a_new_record_is_packed_with_it_and_named(data, initial):
    packed = pack(Record("posting", "a", data, merge=True, initial=initial), LIMIT * 10)
    first, said = all_without_controls(initial), all_without_controls(data)
    assert orjson.loads(packed.data) == packed.said == first | said
    assert set(packed.initial) == first.keys() - said.keys()


TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
WHOLE = st.integers(-(2**70), 2**70)
SAID = st.dictionaries(
    TEXT, st.none() | st.booleans() | WHOLE | st.floats() | TEXT | st.lists(TEXT, max_size=2), max_size=5
)
PLACES = st.builds(
    Place, TEXT, st.none() | WHOLE | st.just(math.nan), st.none() | WHOLE, st.none() | TEXT, st.none() | TEXT
)
EVIDENCE = st.builds(Evidence, st.dictionaries(TEXT, st.none() | PLACES, max_size=3), st.none() | TEXT)
LINKS = st.lists(st.builds(Link, TEXT | st.just("n" * 201), TEXT | st.just("t" * 2_001)), max_size=2).map(
    tuple
)
RECORDS = st.builds(
    Record, TEXT, TEXT | st.just("k" * 2_001), SAID, LINKS, st.none() | EVIDENCE, st.booleans(), SAID
)


def packed_plainly(record, limit):
    """What `pack` makes of a record, step by step and with everything looked at."""
    kind = indexed(record.kind, "the kind of a record", 200)
    key = indexed(record.key, f"the key of a {kind} record", 2_000)
    what = f"{kind}/{brief(key)}"
    data = plain_json(record.data, f"data of record {what}", limit)
    first = plain_json(record.initial, f"first data of record {what}", limit) if record.initial else {}
    whole = {**first, **data} if record.merge else data
    initial = tuple(each for each in whole if each not in data)
    links = []
    for link in record.links:
        name = indexed(link.name, f"the name of a link of record {what}", 200)
        target = indexed(link.target, f"the target of a {brief(name)!r} link of record {what}", 2_000)
        links.append(Link(name, target))
    evidence = record.evidence and dump(
        plain_evidence(record.evidence), f"evidence of record {what}", 4 * limit
    )
    written = orjson.dumps(whole).decode()
    return Filing(kind, key, written, tuple(links), evidence, record.merge, initial, record.marks)


def outcome_of(way, record, limit):
    """What a way of packing returns, or the words in which it refuses."""
    try:
        return way(record, limit)
    except InvalidPayload as problem:
        return str(problem)


def plain_json(data, what, limit):
    dump(data, what, limit)
    return orjson.loads(dump(all_without_controls(data), what, limit))


def plain_evidence(evidence):
    places = {
        name: place
        and {
            member: clean(value) if member == "quote" else value
            for member, value in asdict(place).items()
            if value is not None
        }
        for name, place in evidence.places.items()
    }
    return {"source": evidence.source, "places": places}


@pytest.mark.promise(17)
@pytest.mark.promise(18)
@given(RECORDS, st.sampled_from([20, 200, LIMIT]))
@example(Record("a", "b", {"n": math.nan}), LIMIT)
@example(Record("a", "b", evidence=Evidence({"n": Place("q", math.nan)})), LIMIT)
@example(Record("a", "b", evidence=Evidence({"start": None, "end": None})), LIMIT)
@example(Record("a", "b", {"x": "\x1b", "y": None}), LIMIT)
@example(Record("a", "b", {"x": "\\u0007"}), LIMIT)
def test_a_record_is_packed_as_if_nothing_was_taken_for_granted(record, limit):
    assert outcome_of(pack, record, limit) == outcome_of(packed_plainly, record, limit)


QUOTES = st.dictionaries(st.text(), st.none() | TEXT, max_size=4)


@given(QUOTES, st.text())
def test_places_at_one_path_are_the_places_that_they_stand_for(quotes, path):
    found = PlacesAt(quotes, path)
    each = {name: quote if quote is None else Place(quote, path=path) for name, quote in quotes.items()}
    assert found == each
    assert pickle.loads(pickle.dumps(found)) == each
    assert as_json(Evidence(found)) == as_json(Evidence(each))
    assert list(Evidence(found).unverified()) == list(Evidence(each).unverified())
    assert pack(Record("a", "b", evidence=Evidence(found)), LIMIT) == pack(
        Record("a", "b", evidence=Evidence(each)), LIMIT
    )
