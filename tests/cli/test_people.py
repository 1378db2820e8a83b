"""People and the audit log on the command line."""

import pytest

from tests.cli.conftest import Thresher

pytestmark = pytest.mark.promise(17)


@pytest.fixture
def ready(folder, thresher: Thresher) -> Thresher:
    assert thresher("migrate").code == 0
    return thresher


def log(thresher: Thresher, *more: str) -> list[str]:
    return [each["action"] for each in thresher("audit", "--json", *more).json]


def test_what_somebody_changes_on_the_command_line_is_in_the_log_and_what_they_look_at_is_not(ready):
    assert ready("config", "set", "retry.base", "61").code == 0
    for looking in (("tasks", "list"), ("config", "list"), ("status",), ("sources", "list"), ("audit",)):
        assert ready(*looking).code == 0
    assert ready("config", "set", "retry.base", "no number").code != 0
    assert ready("config", "unset", "retry.base").code == 0
    assert log(ready) == [
        "thresher config unset name='retry.base'",
        "thresher config set name='retry.base' value='61'",
    ]
    (found,) = ready("audit", "--json", "--limit", "1").json
    assert (found["kind"], found["role"], found["via"]) == ("user", None, "command line")
    assert log(ready, "--who", "nobody") == []
    assert log(ready, "--before", str(found["id"])) == ["thresher config set name='retry.base' value='61'"]
    assert "thresher config unset" in ready("audit").out


def test_no_secret_of_a_command_is_in_the_log(folder, thresher):
    key = thresher("keys", "create", "dice", "--scope", "read", "--json").json["key"]
    made = thresher("admin", "create", "anna", "--role", "viewer", "--generate", "--json").json
    assert made["role"] == "viewer"
    told = str(log(thresher))
    assert key not in told
    assert made["password"] not in told
    assert "name='dice' scope='read'" in told


def test_a_worker_is_the_machine_and_leaves_no_row(ready, folder):
    (folder / "thresher.yaml").write_text("apps: []\n")
    told = ready("run")
    assert told.code == 0, told.err
    assert log(ready) == []


def test_what_is_no_role_is_refused_before_a_password_is_asked_for(ready):
    told = ready("admin", "create", "anna", "--role", "root", "--generate")
    assert "a role must be one of viewer, operator, admin; got 'root'" in told.err
    assert ready("admin", "list", "--json").json == []


def test_a_header_that_says_who_somebody_is_needs_the_addresses_of_the_proxies(folder, thresher):
    told = thresher("serve", "--trusted-user-header", "X-Remote-User")
    assert "--trusted-user-header needs --forwarded-allow-ips" in told.err
    told = thresher("serve", "--trusted-user-header", "Cookie", "--forwarded-allow-ips", "10.0.0.5")
    assert "must be the name of a header that only the proxy sets" in told.err
