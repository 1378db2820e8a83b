import pytest

from tests.harness.tasks import change
from thresher.config.settings import Settings
from thresher.store.settings import change_setting, read_settings, setting_history


def read(store):
    with store.read() as session:
        return read_settings(session, store.settings.catalogue)


@pytest.mark.promise(12)
def test_a_setting_changed_on_one_machine_is_read_by_another(make_store):
    one, other = make_store(), make_store()
    assert read(other) == {}
    change_setting(one, "queue.quantum", 9, by="anna")
    change_setting(one, "retry.jitter", 0.5, by="anna")
    assert read(other) == {"queue.quantum": 9, "retry.jitter": 0.5}
    other.settings = Settings(read(other))
    assert other.rules.quantum == 9


@pytest.mark.promise(12)
def test_every_change_is_written_down_with_who_and_when(store, clock):
    change_setting(store, "queue.quantum", 9, by="anna")
    clock.advance(5)
    change_setting(store, "queue.quantum", 2, by="bert")
    change_setting(store, "queue.quantum", None, by="anna")
    assert read(store) == {}
    with store.read() as session:
        history = setting_history(session)
    changes = [(row["old"], row["new"], row["changed_by"]) for row in history]
    assert changes == [("2", None, "anna"), ("9", "2", "bert"), (None, "9", "anna")]
    assert history[0]["changed_at"] - history[2]["changed_at"] == 5


def test_a_setting_that_this_version_does_not_know_is_left_alone(store):
    change(
        store,
        "insert into settings (name, value, changed_at, changed_by) values ('queue.gone', '1', 0, 'anna')",
    )
    assert read(store) == {}
