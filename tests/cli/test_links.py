"""Links in a terminal: an address that is a stranger's text can be clicked and steers nothing."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.jobs.cli.project import APP, board, company, match, now, posting, write
from tests.cli.conftest import Thresher, added
from tests.harness.terminal import STYLE, in_terminal
from thresher.cli.links import MAX_LINK, link_of
from thresher.runtime import opened_store

pytestmark = pytest.mark.promise(17)

# What ends a link early and begins a command, by each of the ways that a terminal knows.
EVIL = "https://evil.example/\x1b\\\x1b]0;owned\x07\x9c\x1b[2J/\u202egpj"
LINK = re.compile(r"\x1b\]8;id=[\d-]+;([!-~]*)\x1b\\(?:\x1b\[[\d;]*m)?([^\x1b]*)")


def links(said: str) -> dict[str, str]:
    return {shown.strip(): target for target, shown in LINK.findall(said) if target}


@given(st.text() | st.text().map("https://a.example/{}".format) | st.text().map("http://{}/".format))
def test_a_link_has_nothing_but_visible_ascii_and_leads_to_the_web(text: str):
    link = link_of(text)
    if link is not None:
        assert link.startswith(("http://", "https://"))
        assert link.isascii()
        assert link.isprintable()
        assert " " not in link
        assert len(link) <= MAX_LINK
        assert text.isprintable()


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("https://a.example/b?c=d#e", "https://a.example/b?c=d#e"),
        ("HTTPS://A.example:443/ü", "https://a.example/%C3%BC"),
        ("https://exämple.de/", "https://xn--exmple-cua.de/"),
        ("https://a.example/a;b\\c", "https://a.example/a;b/c"),
        ("https://bank.example@evil.example/", None),
        ("https://a.example/" + "x" * MAX_LINK, None),
        ("https://", None),
        ("https://[::1/", None),
        ("javascript:alert(1)", None),
        ("file:///etc/passwd", None),
        ("ssh://a.example/", None),
        ("see https://a.example/", None),
        (EVIL, None),
        ("", None),
    ],
)
def test_only_a_safe_web_address_is_a_link(text: str, link: str | None):
    assert link_of(text) == link


def test_titles_lead_to_their_pages_and_hostile_ones_nowhere(queue: Thresher, project: Path):
    (project / "app.py").write_text(APP)
    at = now(project)
    write(
        project,
        company("acme.com", "Acme", at, website="https://acme.com/über"),
        board("greenhouse:acme", "acme.com", at),
        posting("greenhouse:acme/1", "Nurse EVIL", at, url="https://acme.com/jobs/1;id=2"),
        posting("greenhouse:acme/2", "Doctor", at, url="EVIL"),
        match("greenhouse:acme/1", "Nurse", 91, at, url="javascript:alert(1)"),
    )
    with opened_store(f"sqlite:///{project / 'thresher.db'}") as store, store.write() as session:
        session.run(
            "update records set data = replace(data, 'EVIL', :evil)",
            {"evil": json.dumps(EVIL, ensure_ascii=False)[1:-1]},
        )
    commands = ["postings list", "companies list", "boards list", "companies show acme.com", "jobs matches"]
    said = in_terminal(project, 100, [line.split() for line in commands])
    for name, text in said.items():
        steering = [char for char in STYLE.sub("", text) if not char.isprintable() and char != "\n"]
        assert steering == [], name
        assert "owned" not in "".join(links(text).values())
    targets = set(links(said["postings list"]).values())
    assert targets == {"https://acme.com/jobs/1;id=2"}
    assert links(said["companies list"]) == {"Acme": "https://acme.com/%C3%BCber"}
    assert links(said["boards list"]) == {"Acme": "https://boards.greenhouse.io/acme"}
    assert "https://acme.com/%C3%BCber" in links(said["companies show acme.com"]).values()
    assert links(said["jobs matches"]) == {}
    for line in commands:
        assert "\x1b" not in queue(*line.split()).out


def test_an_address_without_room_is_its_host_and_leads_to_all_of_it(queue: Thresher, project: Path):
    url = "https://a.example/" + "long/" * 30
    added(queue, "work", "--url", url)
    narrow = in_terminal(project, 80, [["tasks", "list"]])["tasks list"]
    assert links(narrow) == {"a.example": url}
    assert url not in STYLE.sub("", narrow)
    wide = in_terminal(project, 80, [["tasks", "list", "--wide"]])["tasks list --wide"]
    assert links(wide) == {url: url}
    piped = queue("tasks", "list").out
    assert "last words" in piped
    assert piped.count("long/") == 30
