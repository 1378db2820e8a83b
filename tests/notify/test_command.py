"""Messages on the command line: try the targets before something happens."""

from pathlib import Path

import pytest

from tests.cli.conftest import PROJECT, Thresher
from tests.notify.post import Hook, Mailbox, dead_url, text_of


def targets(project: Path, *urls: str) -> None:
    (project / "thresher.yaml").write_text(PROJECT + "notify:\n" + "".join(f'  - "{url}"\n' for url in urls))


def test_a_test_message_says_who_got_it(queue: Thresher, project: Path, mailbox: Mailbox, hook: Hook):
    targets(project, mailbox.url, hook.url)
    sent = queue("notify")
    assert (sent.code, sent.out.count("got it")) == (0, 2)
    assert "test message" in text_of(mailbox.mails[0])
    assert queue("notify", "--title", "Hello", "--json").json["missed"] == []
    assert hook.told[1]["title"] == "Hello"


def test_a_target_that_did_not_get_it_ends_with_1_and_is_named_without_its_address(
    queue: Thresher, project: Path, hook: Hook
):
    targets(project, hook.url, dead_url() + "hunter2")
    sent = queue("notify")
    assert (sent.code, "notify[1] (json://…) did not" in sent.out, "hunter2" in sent.out) == (1, True, False)
    targets(project, dead_url() + "hunter2")
    nobody = queue("notify")
    assert (nobody.code, "no one could be notified" in nobody.err, "hunter2" in nobody.err) == (
        1,
        True,
        False,
    )


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", "no notify: list"),
        ('notify: ["${NO_SUCH_VARIABLE}"]\n', "NO_SUCH_VARIABLE"),
        ("notify: [nonsense://x]\n", "is not an address"),
        ("notify: 5\n", "must be a list"),
    ],
)
def test_without_anybody_to_tell_it_is_said_what_to_do(queue: Thresher, project: Path, line: str, says: str):
    (project / "thresher.yaml").write_text(PROJECT + line)
    wrong = queue("notify")
    assert (wrong.code, says in wrong.err, len(wrong.err.splitlines())) == (3, True, 1)


def test_the_doctor_looks_at_the_targets_without_sending(queue: Thresher, project: Path, hook: Hook):
    def verdict() -> str | None:
        checks = queue("doctor", "--json").json["checks"]
        return next((check["verdict"] for check in checks if check["name"] == "notify"), None)

    assert verdict() is None
    targets(project, hook.url)
    assert (verdict(), hook.told) == ("ok", [])
    targets(project, "${NO_SUCH_VARIABLE}")
    assert verdict() == "fail"
