"""What makes two searches the same query."""

import pytest

from thresher.apps.queries.model import query_key

PYTHON = query_key("infojobs", "python developer", {"province": "madrid"})


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("Python Developer", {"province": "Madrid"}),
        ("  python   developer ", {"Province": " madrid "}),
        ("ｐython developer", {"province": "madrid", "city": ""}),
        ("python developer", {"order": "date", "province": "madrid"}),
    ],
    ids=["case", "spaces", "letters and empty values", "the client's default"],
)
def test_however_a_search_is_written_it_is_one_query(text, parameters):
    assert query_key("infojobs", text, parameters, {"order": "Date"}) == PYTHON


def test_neither_the_order_of_parameters_nor_that_of_a_list_matters():
    one = query_key("adzuna", "", {"a": "1", "b": "x, y"})
    assert one == query_key("adzuna", "", {"b": "y;x;x", "a": "1"})


@pytest.mark.parametrize(
    ("client", "text", "parameters"),
    [
        ("adzuna", "python developer", {"province": "madrid"}),
        ("infojobs", "python", {"province": "madrid"}),
        ("infojobs", "developer python", {"province": "madrid"}),
        ("infojobs", "python developer", {"province": "barcelona"}),
        ("infojobs", "python developer", {}),
    ],
)
def test_another_search_is_another_query(client, text, parameters):
    assert query_key(client, text, parameters) != PYTHON


def test_a_text_that_looks_like_a_parameter_is_none():
    assert query_key("c", "a", {"b": "c"}) != query_key("c", "a\x00b=c", {})
    assert query_key("c", "", {"text": "a"}) != query_key("c", "a", {})
