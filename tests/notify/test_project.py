"""Whom a project tells, as its file says it."""

from pathlib import Path

import pytest

from thresher.config.project import read_project
from thresher.core.errors import ConfigError


def notify(folder: Path, text: str):
    (folder / "thresher.yaml").write_text(text)
    return read_project(folder).notify


def test_targets_are_addresses_and_variables_that_hold_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NTFY_URL", "ntfy://ntfy.example/topic")
    found = notify(
        tmp_path, 'notify: ["mailto://ann:pw@example.com", "${NTFY_URL}", "json://${HOOK:-127.0.0.1:80}/x"]\n'
    )
    assert found.urls == ("mailto://ann:pw@example.com", "ntfy://ntfy.example/topic", "json://127.0.0.1:80/x")
    assert (found.unset, bool(found)) == ((), True)
    assert "pw" not in repr(found)


def test_a_variable_that_is_not_set_is_no_error_until_there_is_something_to_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("NTFY_URL", raising=False)
    found = notify(tmp_path, 'notify: ["${NTFY_URL}", "json://127.0.0.1/"]\n')
    assert (found.urls, found.unset, bool(found)) == (("json://127.0.0.1/",), ("NTFY_URL",), True)


def test_nobody_to_tell_is_the_default(tmp_path: Path):
    assert not notify(tmp_path, "apps: []\n")
    assert not notify(tmp_path, "notify:\n")
    assert not notify(tmp_path, "notify: []\n")


@pytest.mark.parametrize(
    "text",
    [
        "notify: mailto://a",
        "notify: {a: b}",
        "notify: [1]",
        "notify: [hunter2]",
        'notify: ["http s://hunter2"]',
        "notify: [[a]]",
        f'notify: ["json://{"hunter2" * 400}"]',
        f"notify: [{', '.join(['json://a'] * 21)}]",
    ],
)
def test_what_is_no_list_of_addresses_is_refused_without_repeating_it(tmp_path: Path, text: str):
    with pytest.raises(ConfigError, match=r"thresher\.yaml:2: notify ") as problem:
        notify(tmp_path, f"apps: []\n{text}\n")
    assert "hunter2" not in str(problem.value)
