"""A profile as people write it, and what a mistake in it says."""

from contextlib import suppress
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.jobs.person.profile import KEYS, Profile, Rank, Skill, as_json, profile_of, read_profile
from thresher.apps.jobs.person.wants import Salary, Size
from thresher.core.errors import ConfigError


def example() -> str:
    return files("thresher.apps.jobs").joinpath("example_profile.yaml").read_text("utf-8")


def test_the_example_can_be_read_and_names_every_key():
    profile = read_profile(example(), "me.yaml")
    assert (profile.city, profile.region, profile.skills["python"], profile.size) == (
        "Portland",
        "OR",
        Skill(Rank.REQUIRED, 8),
        Size.LARGE,
    )
    assert [key for key in KEYS if f"\n{key}:" not in example()] == []


def test_nothing_said_is_the_usual():
    assert (
        read_profile("", "me.yaml") == read_profile("# nothing yet", "me.yaml") == Profile() == profile_of({})
    )
    assert read_profile("city:\nsalary:\n", "me.yaml") == Profile()


def test_the_usual_is_what_the_filter_of_old_had():
    usual = Profile()
    assert usual.salary == Salary(100_000, 150_000, "USD")
    assert usual.experience == 6
    assert usual.excluded.types == ("sales", "hr", "recruiter", "support", "customer success")
    assert usual.excluded.keywords == (
        "clearance required",
        "security clearance",
        "relocation required",
        "must relocate",
    )
    assert usual.levels.excluded == ("associate", "junior", "intern", "entry-level", "co-op")
    assert usual.levels.unwanted == {
        "mid-level": 2,
        "principal": 1,
        "director": 1,
        "manager": 1,
        "engineering manager": 1,
    }
    assert {skill.rank for skill in usual.skills.values()} == {Rank.STRIKE}


def test_what_is_kept_reads_back_as_it_was():
    for profile in (Profile(), read_profile(example(), "me.yaml")):
        assert profile_of(as_json(profile)) == profile


def test_profiles_that_differ_have_different_names():
    assert Profile(city="Bend") != Profile(city="Salem")
    assert Profile(city="Bend").digest != Profile(city="Salem").digest
    assert hash(Profile()) == hash(Profile())


def test_norway_is_a_country_and_ontario_a_region():
    profile = read_profile("country: NO\nregion: ON\n", "me.yaml")
    assert (profile.country, profile.region) == ("NO", "ON")


def test_technologies_are_known_by_all_their_names():
    assert set(read_profile("skills: {golang: required, K8s: ok, Welding: ok}", "me.yaml").skills) == {
        "go",
        "kubernetes",
        "welding",
    }


def test_a_list_that_is_written_replaces_ours_as_a_whole():
    profile = read_profile("excluded: {types: [nursing]}\nskills: {}\n", "me.yaml")
    assert profile.excluded.types == ("nursing",)
    assert profile.excluded.keywords == Profile().excluded.keywords
    assert profile.skills == {}


@pytest.mark.parametrize(
    ("written", "meant"), [("150k", 150_000), ("150,000", 150_000), ("150_000", 150_000), ("150000", 150_000)]
)
def test_amounts_are_read_as_people_write_them(written: str, meant: int):
    assert read_profile(f'salary: {{target: "{written}"}}', "me.yaml").salary.target == meant


def test_whoever_names_only_the_floor_or_only_the_target_means_the_other_no_stricter():
    assert read_profile("salary: {floor: 200k}", "me.yaml").salary == Salary(200_000, 200_000)
    assert read_profile("salary: {target: 60k}", "me.yaml").salary == Salary(60_000, 60_000)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("cities: [a]", r"me\.yaml:1: cities is not a known key; the keys are city, country"),
        ("\ncity: [a, b]", r"me\.yaml:2: city must be text, got \['a', 'b'\]"),
        ("city: a\ncity: b", r"me\.yaml:2: city appears twice"),
        (
            "skills:\n  python: love",
            r"me\.yaml:2: skills\.python must be one of required, ok, strike, fail, got 'love'",
        ),
        (
            "skills:\n  python:\n    years: 5",
            r"me\.yaml:2: skills\.python\.rank must be one of required, ok, strike, fail, got nothing",
        ),
        (
            "skills:\n  python: {rank: ok, years: many}",
            r"me\.yaml:2: skills\.python\.years must be a whole number from 0 to 60 \(years\)",
        ),
        (
            "skills:\n  golang: ok\n  go: ok",
            r"me\.yaml:3: skills\.go appears twice, under another name for go",
        ),
        ("skills: [python]", r"me\.yaml:1: skills must map skills to a rank, such as python: required"),
        (
            "salary:\n  floor: 200k\n  target: 100k",
            r"me\.yaml:3: salary\.target must be at least the floor \(200,000\), got 100,000",
        ),
        ("salary: {floor: -1}", r"salary\.floor must be a whole number"),
        ("salary: {floor: ١٠٠}", r"salary\.floor must be a whole number"),
        (
            "salary: {currency: dollars}",
            r"salary\.currency must be a currency of three letters such as USD, got 'dollars'",
        ),
        ("country: Germany", r"country must be a country of two letters such as US, got 'Germany'"),
        ("timezone: Mars/Base", r"timezone must be a time zone such as America/Los_Angeles, got 'Mars/Base'"),
        ("timezone: ../../passwd", r"timezone must be a time zone"),
        ("timezone: America", r"timezone must be a time zone"),
        ("workplace: {remote: maybe}", r"workplace\.remote must be yes or no, got 'maybe'"),
        (
            "excluded:\n  types: sales",
            r"me\.yaml:2: excluded\.types must be a list of at most 500 texts, such as \[one, two\], got 'sales'",
        ),
        ("excluded: {types: ['--']}", r"excluded\.types must be text with a letter or a digit"),
        (
            "excluded:\n  keywords: ['intern.*']",
            r"me\.yaml:2: excluded\.keywords has 'intern\.\*', which looks like a regular expression; only \* is",
        ),
        ("excluded: {keywords: ['(a+)+$']}", r"excluded\.keywords has .* looks like a regular expression"),
        ("excluded: {keywords: ['a*']}", r"which must have at least 3 letters or digits besides its stars"),
        ("excluded: {keywords: ['in**tern']}", r"which may have at most 4 stars, no two of them together"),
        ("excluded: {keywords: ['senior * chef']}", r"which has a star that stands alone"),
        ("excluded: {keywords: [*coin]}", r"has \*coin; .* in quotes if the star is meant: '\*coin'"),
        (
            "levels: {unwanted: {principal: heavy}}",
            r"levels\.unwanted\.principal must be a whole number from 0 to 100 \(points\)",
        ),
        ("size: huge", r"size must be one of small, medium, large, got 'huge'"),
        ("notify: always", r"notify must be one of high, medium, low, never, got 'always'"),
        ("- python", r"me\.yaml:1: profile must be a mapping with the keys"),
        ("? [a]\n: b", r"me\.yaml:1: profile has a key that is a list or a mapping"),
        ("city: 'open", r"me\.yaml:1 is not YAML"),
        ("a: &x [1]\nb: *x", r"me\.yaml:2 has \*x; a profile may not use aliases; write the value out"),
        ("[" * 20_000, "nested too deeply"),
        (
            "city: " + "a" * 300,
            r"city must be text with a letter or a digit and at most 200 characters",
        ),
        ("x" * 100_001, r"me\.yaml has 100,001 characters; the limit for a profile is 100,000"),
    ],
)
def test_a_mistake_names_line_key_what_it_got_and_what_it_wants(text: str, says: str):
    with pytest.raises(ConfigError, match=says):
        read_profile(text, "me.yaml")


PIECES = [*KEYS, ": ", "\n", "  ", "[", "]", "{", "}", "- ", "yes", "1", "*a", "&a"]


@given(st.text(max_size=300) | st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_text_is_a_profile_or_a_configuration_error(text: str):
    try:
        profile = read_profile(text, "me.yaml")
    except ConfigError:
        return
    assert profile_of(as_json(profile)) == profile


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*KEYS, "rank", "years", "types", "floor"]), inner)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(KEYS), JSON))
def test_any_kept_data_is_a_profile_or_a_configuration_error(data: dict[str, object]):
    with suppress(ConfigError):
        profile_of(data)
