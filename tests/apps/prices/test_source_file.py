"""Price sources from YAML and JSON: what is read, what every mistake says, and what nobody may say."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.prices.model import Adapter, RuleKind, SourceRule
from thresher.apps.prices.source_file import checked_source_of
from thresher.core.errors import UsageError

CSV = {"adapter": "csv", "options": {"url": "https://club.example/list.csv"}}


def test_a_source_is_what_was_said():
    rules = [{"kind": "exclude_keywords", "values": ["replica", 5], "priority": 3}]
    said = {**CSV, "tier": 2, "reputation": 1, "rate_per_minute": None, "cache_seconds": 0, "rules": rules}
    found = checked_source_of("club", said, None)
    assert (found.name, found.adapter, found.tier, found.reputation) == ("club", Adapter.CSV, 2, 1.0)
    assert (found.rate_per_minute, found.cache_seconds) == (None, 0)
    assert found.rules == (SourceRule(RuleKind.EXCLUDE_KEYWORDS, ("replica", "5"), 3),)


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({}, "adapter: is missing; write one of marketplace"),
        ({"adapter": "ftp"}, "adapter: adapter is 'ftp'; write one of"),
        ({**CSV, "tier": 0}, "tier: 0 is wrong; write a whole number from 1, the best, to 10"),
        ({**CSV, "tier": True}, "tier: True is wrong"),
        ({**CSV, "reputation": 1.5}, "reputation: 1.5 is wrong; write a number from 0 to 1"),
        ({**CSV, "reputation": float("nan")}, "reputation: nan is wrong"),
        ({**CSV, "rate_per_minute": 0}, "rate_per_minute: 0 is wrong; .* or null for no limit"),
        ({**CSV, "cache_seconds": -1}, "cache_seconds: -1 is wrong"),
        ({**CSV, "speed": 5}, "speed: speed is not a known key"),
        ({**CSV, "options": ["url"]}, "options: .* is no mapping"),
        ({**CSV, "options": {"url": "x" * 30_000}}, "options: has 30,.* bytes; the limit is 20,000"),
        ({**CSV, "options": {"url": 2**70}}, "options: has a value that JSON does not know"),
        ({"adapter": "csv"}, "one of url and file"),
        ({"adapter": "csv", "options": {"path": "x"}}, "there is no option 'path'"),
        ({"adapter": "csv", "definition": "ebay", **CSV}, "only a marketplace has one"),
        (
            {"adapter": "marketplace", "definition": "nobay"},
            "there is no definition 'nobay'; the definitions are ebay",
        ),
        ({**CSV, "rules": [{"values": ["a"]}]}, r"rules\[0\].kind: is missing"),
        ({**CSV, "rules": [{"kind": "drop", "values": ["a"]}]}, r"rules\[0\].kind: kind is 'drop'"),
        ({**CSV, "rules": [{"kind": "exclude_keywords"}]}, r"rules\[0\].values: must have 1 to 200 entries"),
        (
            {**CSV, "rules": [{"kind": "allowed_path", "values": ["itm"]}]},
            r"rules\[0\].values\[0\]: .* begins with a slash",
        ),
        (
            {**CSV, "rules": [{"kind": "rate_limit_override", "values": ["many"]}]},
            "is no rate; write a number",
        ),
        (
            {**CSV, "rules": [{"kind": "require_keywords", "values": ["a\x00"]}]},
            r"values\[0\]: .* is wrong; write text",
        ),
        (
            {**CSV, "rules": [{"kind": "require_keywords", "values": ["a"], "priority": 10**9}]},
            "priority: .* is wrong",
        ),
        (
            {**CSV, "rules": [{"kind": "require_keywords", "values": ["a"], "active": "no"}]},
            "write true or false",
        ),
        ({**CSV, "rules": {}}, "rules: must be a list"),
    ],
)
def test_a_mistake_names_its_key_and_says_what_to_write(said, says):
    with pytest.raises(UsageError, match=says) as told:
        checked_source_of("club", said, None)
    assert len(str(told.value)) < 600


@pytest.mark.parametrize("name", ["", "Club", "a b", "../etc", "source:x", "a" * 61, "é", None, 5])
def test_a_name_can_be_part_of_a_gate(name):
    with pytest.raises(UsageError, match="no name of a source; write up to 60 small letters"):
        checked_source_of(name, CSV, None)


@pytest.mark.promise(17)
@pytest.mark.parametrize("option", ["folder", "definition_text"])
def test_nobody_says_where_files_lie_or_carries_a_definition(option, tmp_path):
    """Whoever could would read any file of the machine, or send its secrets to a host of theirs."""
    said = {**CSV, "options": {**CSV["options"], option: "/etc"}}
    for folder in (None, tmp_path):
        with pytest.raises(UsageError, match=f"options.{option}: is written by Thresher itself"):
            checked_source_of("club", said, folder)


def test_a_file_of_the_project_needs_the_project(tmp_path: Path):
    said = {"adapter": "csv", "options": {"file": "list.csv"}}
    with pytest.raises(UsageError, match="write the address of a file: url"):
        checked_source_of("club", said, None)
    known = checked_source_of("club", said, tmp_path)
    assert known.options == {"file": "list.csv", "folder": str(tmp_path.resolve())}
    again = checked_source_of("club", {**said, "tier": 1}, None, known)
    assert (again.options, again.tier) == (known.options, 1), "whoever changes its tier moves no file"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=50),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["definition", "options", "tier", "reputation", "rate_per_minute", "cache_seconds", "rules"]
)


@pytest.mark.promise(17)
@given(st.sampled_from(tuple(Adapter)), st.dictionaries(KEYS, VALUES, max_size=4))
def test_whatever_is_said_is_a_source_or_a_mistake(adapter, said):
    with suppress(UsageError):
        found = checked_source_of("club", {**said, "adapter": adapter.value}, None)
        assert found.adapter is adapter
