import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.core.errors import InvalidPayload
from thresher.core.limits import all_without_controls
from thresher.core.record import Link, Record, clean, pack

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
    packed = pack(Record("posting", "a", data, initial=data), LIMIT * 10)
    assert orjson.loads(packed.data) == all_without_controls(data)
    assert orjson.loads(packed.initial or "{}") == all_without_controls(data)
