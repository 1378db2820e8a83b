"""A rule file is read whole, and every mistake in it is named with its line, its key and what to write."""

import pickle
import re
from pathlib import Path

import pytest

from tests.apps.queries.signals.market import RULES_TEXT
from thresher.apps.queries.signals.rules import (
    MAX_TEXT,
    RESOLUTIONS,
    SHIPPED,
    Core,
    project_rules,
    read_rules,
)
from thresher.core.errors import ConfigError

ROOT = Path(__file__).parents[4]


def problem(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        read_rules(text, "signals.yaml")
    return str(caught.value)


def test_the_shipped_rules_have_the_numbers_of_the_business():
    rules = project_rules(None)
    assert (rules.scale, rules.strong, rules.title, rules.description) == (10, 6, 150, 100)
    assert {bucket.id: bucket.cap for bucket in rules.buckets} == {
        "direct_fx": 700,
        "international": 300,
        "business_model": 250,
        "tech_proxy": 150,
    }
    assert rules.core == Core("direct_fx", 200, 500)
    assert sorted({each.points for each in rules.categories}) == [100, 250, 400]
    assert sorted({each.points for each in rules.phrases}) == [60, 120, 200]
    assert (rules.max_synergies, [each.points for each in rules.synergies]) == (180, [100, 80])
    assert (rules.negation.before, rules.negation.after) == (8, 2)
    assert rules.negation.words == (("no",), ("sin",), ("not",), ("without",))
    assert rules.resolutions == RESOLUTIONS


def test_the_word_no_is_a_word_and_not_false():
    rules = read_rules(RULES_TEXT.replace('["no", not]', "[no, off, yes]").replace("[not only]", "[]"), "f")
    assert rules.negation.words == (("no",), ("off",), ("yes",))


def test_rules_can_be_sent_to_another_process():
    rules = project_rules(None)
    assert pickle.loads(pickle.dumps(rules)) == rules


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("points: 4,", "points: 4.01,"),
        ("forex, divisas", "forex, divisa"),
        ("title: 1.5", "title: 1.4"),
        ("strong: 6", "strong: 7"),
        ("cap_without: 5", "cap_without: 4"),
        ("money: 7", "money: 6"),
        ("[not only]", "[]"),
    ],
)
def test_the_print_changes_with_everything_that_a_score_depends_on(old, new):
    assert old in RULES_TEXT
    assert read_rules(RULES_TEXT, "f").print != read_rules(RULES_TEXT.replace(old, new), "f").print


def test_a_comment_or_another_list_of_resolutions_rescores_nothing():
    other = RULES_TEXT + "# a comment\nresolutions: {resolved: [WON]}\npurpose: something else\n"
    rules = read_rules(other, "f")
    assert rules.print == read_rules(RULES_TEXT, "f").print
    assert rules.resolutions.resolved == ("WON",)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("points: 4,", "points: four,", "line 8: categories[1].points: 'four' is not a number"),
        ("points: 4,", "points: -4,", "line 8: categories[1].points: '-4' is not a number"),
        ("points: 4,", "points: 0,", "line 8: categories[1].points: 0 must be more than 0"),
        ("points: 4,", "points: 1.234,", "at most two decimals"),
        ("points: 4,", "points: .inf,", "is not a number"),
        ("points: 4,", "points: ４,", "is not a number"),
        ("points: 4,", "", "line 8: categories[1]: needs a tier (a name of tiers.category) or points"),
        (
            "points: 4,",
            "tier: high,",
            "line 8: categories[1].tier: 'high' is no tier of tiers.category; the file has none",
        ),
        (
            "bucket: abroad",
            "bucket: space",
            "line 10: categories[3].bucket: 'space' is no bucket; the file has money, abroad",
        ),
        ("id: treasury", "id: forex", "line 9: categories[2].id: 'forex' is the id of another category"),
        ("id: treasury", "id: Treasury", "is not a valid id"),
        ("[treasury]", "[]", "line 9: categories[2].keywords: is empty"),
        ("[treasury]", "[Forex, fórex]", "case and accents make no difference"),
        ("[treasury]", "treasury", "categories[2].keywords: must be a list, got 'treasury'"),
        ("[treasury]", "['***']", "has no word in it"),
        ("[treasury]", "[ab*]", "would match too much"),
        ("[treasury]", "[a b c d e f g h i]", "has 9 words; the limit is 8"),
        ("[export*]", "[{a: b}]", "line 10: categories[3].keywords[1]: must be a text"),
        (
            "keywords: [treasury]",
            "keyword: [treasury]",
            "line 9: categories[2].keyword: unknown key; the keys here are id",
        ),
        ("strong: 6", "strong: 11", "line 2: scale.strong: 11 must be from 1 to 10"),
        ("max: 10", "max: 1e3", "line 2: scale.max: '1e3' is not a whole number"),
        (
            "core: {bucket: money, min: 2, cap_without: 5}",
            "core: {bucket: money}",
            "line 5: core: min is missing",
        ),
        ("core:", "cores:", "line 5: cores: unknown key"),
        ("[not only]", "[only]", "line 6: negation.exceptions[1]: 'only' has no negation word in it"),
        ("fields: {title", "fields: {title: 1, title", "line 3: fields.title: appears twice"),
        ("scale: {max: 10, strong: 6}", "scale: &a {max: 10}\ncore: *a", "line 3: has the alias *a"),
        ("scale: {max: 10, strong: 6}", "scale: " + "[" * 500 + "]" * 500, "nested too deeply"),
        ("scale: {max: 10, strong: 6}", "scale: {max: 10", "line 3: not YAML"),
        ("scale: {max: 10, strong: 6}", "resolutions: {active: [OPEN]}", "lacks PENDING"),
        (
            "scale: {max: 10, strong: 6}",
            "resolutions: {active: [PENDING, A], resolved: [A]}",
            "both active and resolved",
        ),
        ("scale: {max: 10, strong: 6}", "resolutions: {resolved: [won]}", "write capital letters"),
        (
            "scale: {max: 10, strong: 6}",
            "synergies: {of: [{id: a, points: 1, buckets: [mony]}]}",
            "'mony' is no bucket",
        ),
        (
            "scale: {max: 10, strong: 6}",
            "phrases: [{bucket: money, points: 1, phrases: [a b, A B]}]",
            "stands in the file already",
        ),
    ],
)
def test_a_mistake_is_named_with_its_line_its_key_and_what_to_write(old, new, said):
    assert old in RULES_TEXT
    found = problem(RULES_TEXT.replace(old, new))
    assert found.startswith("signals.yaml")
    assert said in found


@pytest.mark.parametrize("text", ["", "just a text", "[1, 2]", "categories: []", "\x00", "buckets: {a: 1}"])
def test_what_is_no_rule_file_is_refused_by_name(text):
    assert problem(text).startswith("signals.yaml")


def test_a_file_without_end_is_refused():
    assert "the limit for a rule file" in problem("#" * (MAX_TEXT + 1))


def test_a_project_brings_its_own_rules(tmp_path):
    assert project_rules(tmp_path) == project_rules(None)
    (tmp_path / "signals.yaml").write_text(RULES_TEXT)
    assert [each.id for each in project_rules(tmp_path).categories] == ["forex", "treasury", "export"]
    (tmp_path / "signals.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"signals\.yaml cannot be read"):
        project_rules(tmp_path)


def test_every_rule_file_in_the_documentation_is_valid():
    text = (ROOT / "docs" / "reference" / "signals.md").read_text("utf-8")
    found = [block for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL) if "categories:" in block]
    assert found
    assert all(read_rules(block, "docs").categories for block in found)


def test_the_shipped_file_says_what_it_is_for():
    assert SHIPPED.read_text("utf-8").startswith("#")
    assert project_rules(None).purpose
