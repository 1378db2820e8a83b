"""Messages, delivered to a real mail server and a real web hook on this machine."""

import asyncio
import re
import subprocess
import sys

import pytest

from tests.notify.post import Hook, Mailbox, dead_url, text_of
from thresher.core.errors import ConfigError, Transient
from thresher.notify.notifier import MAX_TITLE, Notifier, Sent


def send(notifier: Notifier, title: str = "Two matches", body: str = "the best first") -> Sent:
    return asyncio.run(notifier.send(title, body))


def test_a_message_arrives_by_mail_and_at_a_hook(mailbox: Mailbox, hook: Hook):
    sent = send(Notifier([mailbox.url, hook.url]))
    assert (len(sent.delivered), sent.missed) == (2, ())
    (mail,) = mailbox.mails
    assert (mail["Subject"], mail["To"]) == ("Two matches", "ann@example.com")
    assert "the best first" in text_of(mail)
    (told,) = hook.told
    assert (told["title"], told["message"]) == ("Two matches", "the best first")


def test_without_targets_nothing_is_sent_and_nothing_is_loaded():
    code = (
        "import asyncio, sys\nfrom thresher.notify.notifier import Notifier\nsent = asyncio.run(Notifier([]).send('a', 'b'))\n"
        "print(bool(sent), bool(Notifier([])), 'apprise' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["False", "False", "False"]


def test_nobody_reached_is_worth_another_try_and_says_why():
    with pytest.raises(Transient, match=r"notify\[0\] \(json://…\)"):
        send(Notifier([dead_url()]))


def test_a_mail_server_that_refuses_a_mail_has_not_got_it(mailbox: Mailbox):
    mailbox.refuses = True
    with pytest.raises(Transient, match=r"notify\[0\] \(mailto://…\)"):
        send(Notifier([mailbox.url]))
    assert mailbox.mails == []


def test_one_that_is_reached_has_been_told_and_the_others_are_named(hook: Hook):
    sent = send(Notifier([dead_url(), hook.url]))
    assert sent.delivered == ("notify[1] (json://…)",)
    assert [each.target for each in sent.missed] == ["notify[0] (json://…)"]
    assert len(hook.told) == 1


def test_a_hook_that_answers_500_was_not_told(hook: Hook):
    hook.status = 500
    with pytest.raises(Transient):
        send(Notifier([hook.url]))
    hook.status = 200
    assert send(Notifier([hook.url]))


@pytest.mark.parametrize("url", ["nonsense://acme", "mailto://", "json://", "tgram://short"])
def test_an_address_that_is_none_is_an_error_of_the_project(url: str):
    with pytest.raises(ConfigError, match=r"notify\[0\]") as problem:
        send(Notifier([url]))
    assert "acme" not in str(problem.value)


def test_a_variable_that_is_not_set_is_named():
    with pytest.raises(ConfigError, match="NTFY_URL"):
        send(Notifier([], ["NTFY_URL"]))
    assert Notifier([], ["NTFY_URL"])


@pytest.mark.promise(17)
def test_no_error_shows_an_address_or_its_secrets(caplog: pytest.LogCaptureFixture, hook: Hook):
    secret = dead_url().replace("127.0.0.1", "ann:hunter2@127.0.0.1") + "topic-of-mine"
    with pytest.raises(Transient) as problem:
        send(Notifier([secret]))
    send(Notifier([secret, hook.url]))
    said = str(problem.value) + caplog.text
    assert not any(word in said for word in ("hunter2", "topic-of-mine", "secret-path"))


@pytest.mark.parametrize(
    "title",
    [
        "a\r\nBcc: eve@example.com",
        "a\nb",
        "a\x00b\x1b[31m",
        "x" * 5_000,
        "\N{SNOWMAN} ünïcode",
        "=?utf-8?q?a?=",
    ],
)
def test_a_hostile_title_is_one_line_of_a_mail_and_no_header_of_its_own(mailbox: Mailbox, title: str):
    send(Notifier([mailbox.url]), title)
    (mail,) = mailbox.mails
    assert mail["Bcc"] is None
    assert len(mail["Subject"]) <= MAX_TITLE
    assert "\n" not in mail["Subject"]


def test_the_text_of_a_page_is_text_in_a_mail(mailbox: Mailbox):
    send(
        Notifier([mailbox.url]),
        "t",
        "<script>alert(1)</script> & <b>bold</b> \\n :smile: {{token}}\nsecond line",
    )
    (mail,) = mailbox.mails
    body = mail.get_body(("html",))
    if body is not None:
        assert "<script>" not in str(body.get_content())
    assert "second line" in text_of(mail)


CALLS = (
    "@everyone",
    "@here",
    "x@everyone",
    "(@Channel)",
    "<@123456>",
    "<@&99>",
    "<!channel>",
    "<!here|here>",
    "<#C024BE7LR>",
    "@ann",
    "@all",
    "</cmd:1>",
    "<https://evil.example|https://bank.example>",
    "[bank](https://evil.example)",
    "[bank][1]",
    "[1]: https://evil.example",
    "<a href='https://evil.example'>bank</a>",
    "```",
)
READ = re.compile(r"@(?:everyone|here|channel|all)|(?<![\w.+-])@\w|<[@!#/:ah]|\][(\[:]|``", re.IGNORECASE)


@pytest.mark.promise(17)
@pytest.mark.parametrize("text", CALLS)
def test_no_text_of_a_page_calls_anybody_or_hides_a_link(hook: Hook, text: str):
    chats = hook.url.replace("json://", "mmost://")
    send(Notifier([hook.url, f"{chats}/{'a' * 24}"]), f"New match: {text}", f"91  {text}, Acme")
    told, chat = sorted(hook.told, key=lambda each: "title" not in each)
    for said in (told["title"], told["message"], chat["text"]):
        assert READ.search(said) is None, said
        assert text[:1] in said


@pytest.mark.promise(17)
def test_an_address_in_a_message_still_leads_where_it_led_and_an_email_stays_one(hook: Hook):
    send(
        Notifier([hook.url]),
        "t",
        "https://acme.example/@everyone/a_b?c=[1]&d=<x>\nhttps://acme.example/jobs/1 by jobs@acme.example",
    )
    (told,) = hook.told
    assert told["message"] == (
        "https://acme.example/%40everyone/a_b?c=%5B1%5D&d=%3Cx%3E\nhttps://acme.example/jobs/1 by jobs@acme.example"
    )


def test_a_long_message_is_cut_and_still_arrives(hook: Hook):
    send(Notifier([hook.url]), "t", "word " * 100_000)
    (told,) = hook.told
    assert len(told["message"]) <= 20_000


def test_targets_are_checked_without_sending(hook: Hook):
    assert Notifier([hook.url]).check() == ("notify[0] (json://…)",)
    assert Notifier([]).check() == ()
    with pytest.raises(ConfigError):
        Notifier(["nonsense://a"]).check()
    assert hook.told == []
