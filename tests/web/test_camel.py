"""Answers in camelCase."""

from dataclasses import dataclass
from datetime import date

from thresher.web.camel import camel


@dataclass(frozen=True)
class Query:
    query_key: str
    last_processed_date: date
    search_parameters: dict[str, object]
    seen_pages: tuple[dict[str, object], ...] = ()


QUERY = Query("a_b", date(2031, 5, 20), {"min_pay": 3}, ({"final_url": "/a_b"},))


def test_members_are_renamed_at_every_depth_and_values_are_not():
    assert camel(QUERY) == {
        "queryKey": "a_b",
        "lastProcessedDate": "2031-05-20",
        "searchParameters": {"minPay": 3},
        "seenPages": [{"finalUrl": "/a_b"}],
    }


def test_what_somebody_else_named_keeps_its_names():
    assert camel(QUERY, frozenset(("search_parameters",)))["searchParameters"] == {"min_pay": 3}
