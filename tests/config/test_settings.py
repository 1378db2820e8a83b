import pytest

from tests.harness.ours import OURS
from thresher.config.settings import MACHINE, SETTINGS, Settings
from thresher.core.clock import DAY, MINUTE
from thresher.core.errors import ConfigError, UnknownName
from thresher.core.setting import Setting


@pytest.mark.promise(12)
@pytest.mark.parametrize("one", OURS.values(), ids=lambda one: one.name)
def test_every_setting_has_a_unit_a_sentence_and_a_default_within_its_limits(one):
    assert one.low <= one.default <= one.high
    assert one.parse(str(one.default)) == one.default
    assert one.unit
    assert one.sentence.endswith(".")


@pytest.mark.promise(12)
def test_no_setting_has_two_owners():
    assert len({one.name for one in SETTINGS}) == len(SETTINGS) == len(MACHINE)


@pytest.mark.promise(17)
def test_a_setting_that_does_not_say_who_may_change_it_cannot_be_made():
    with pytest.raises(TypeError, match="admin"):
        Setting("web.new", 1, "things", 0, 2, "A setting.")  # type: ignore[call-arg]


@pytest.mark.promise(17)
def test_settings_of_security_money_politeness_and_retention_are_for_administrators():
    rooms = (
        "ai.",
        "breaker.",
        "browser.",
        "budget.",
        "fetch.",
        "history.",
        "host.",
        "lineage.",
        "prune.",
        "web.",
        "worker.",
    )
    assert [one.name for one in OURS.values() if one.name.startswith(rooms) and not one.admin] == []
    assert [
        one.name for one in OURS.values() if one.name.endswith(("_limit", ".judge", ".ask")) and not one.admin
    ] == ["jobs.filter.age_limit"]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("queue.quantum", "many", "queue.quantum must be a whole number (tasks), got 'many'"),
        ("queue.quantum", "4.5", "queue.quantum must be a whole number (tasks), got '4.5'"),
        ("queue.quantum", 0, "queue.quantum must be a whole number from 1 to 1000 (tasks), got 0"),
        ("queue.quantum", True, "queue.quantum must be a whole number (tasks), got True"),
        ("queue.quantum", None, "queue.quantum must be a whole number (tasks), got None"),
        ("retry.jitter", "2", "retry.jitter must be a number from 0 to 1 (share), got '2'"),
        ("retry.jitter", "nan", "retry.jitter must be a number from 0 to 1 (share), got 'nan'"),
        ("retry.jitter", "", "retry.jitter must be a number (share), got ''"),
    ],
)
def test_a_bad_value_is_told_its_key_what_it_got_and_what_it_wants(name, text, says):
    with pytest.raises(ConfigError) as caught:
        MACHINE[name].parse(text)
    assert str(caught.value) == says


@pytest.mark.parametrize(
    ("name", "near"), [("queue.quantm", "queue.quantum"), ("retry", "retry"), ("nonsense.x", "queue, ")]
)
def test_an_unknown_name_is_answered_with_the_nearest_ones(name, near):
    with pytest.raises(UnknownName, match="did you mean") as caught:
        MACHINE[name]
    assert near.strip(", ") in str(caught.value)


def test_what_was_changed_lies_over_the_defaults():
    settings = Settings({"queue.quantum": "9"})
    assert (settings["queue.quantum"], settings["retry.max_retries"]) == (9, 3)
    assert len(settings) == len(SETTINGS) == len(list(settings))


def test_asking_whether_a_setting_exists_is_not_an_error():
    assert "queue.quantum" in Settings()
    assert "queue.nothing" not in Settings()


def test_the_retry_settings_are_one_value():
    backoff = Settings({"retry.base": 120}).backoff()
    assert (backoff.base_us, backoff.cap_us, backoff.jitter, backoff.max_retries) == (2 * MINUTE, DAY, 0.2, 3)
