"""The page about backups, command by command: a backup, a restored database, and a move to PostgreSQL and
back, each with everything that was there."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Thresher, added
from tests.harness.databases import drop_schema
from tests.house.paper import ROOT, blocks_of
from tests.house.tutorial import commands_of

PAGE = ROOT / "docs" / "how-to" / "back-up.md"
THERE = "postgresql://thresher@db.example/queue?schema=acme"  # as the page calls it


@pytest.fixture
def there(postgres_url: str) -> Iterator[str]:
    url = f"{postgres_url}?schema=moved_{secrets.token_hex(6)}"
    yield url
    drop_schema(url)


def commands() -> list[tuple[str, ...]]:
    """What the page tells its reader to type, without the tools of PostgreSQL (`tests/admin/test_copying.py`
    runs those)."""
    found = [each.words for block in blocks_of(PAGE) for each in commands_of(block)]
    assert {words[0] for words in found} == {"thresher", "pg_dump", "pg_restore"}
    return [words[1:] for words in found if words[0] == "thresher"]


def test_the_page_about_backups_is_followed_to_the_word(queue: Thresher, project: Path, there: str):
    task = added(queue, "work", "--payload", '{"how": "result"}')
    waits = added(queue, "free", "--delay", "1h", "--key", "later")
    assert queue("run", "--only", "test").code == 0
    queue("config", "set", "retry.base", "7")
    for words in commands():
        done = queue(*(there if word == THERE else word for word in words))
        assert done.code == 0, (words, done.err)
    tables = {
        each["table"]: each["rows"] for each in _copied(queue, "sqlite:///once_more.db") if each["rows"]
    }
    assert tables["tasks"] == 2
    for url in ("sqlite:///backup.db", "sqlite:///restored.db", there):
        shown = queue("tasks", "show", task, "--json", "--database", url)
        assert shown.code == 0, shown.err
        assert shown.json["result"] == {"doors": 3, "said": "\x9b31m"}
        later = queue("tasks", "show", waits, "--json", "--database", url).json
        assert later["task"]["state"] == "pending"
        assert queue("config", "get", "retry.base", "--json", "--database", url).json["value"] == 7
    again = queue("copy", "--to", "sqlite:///backup.db")
    assert (again.code, "backup.db is not empty" in again.err) == (6, True)
    assert queue("copy", "--database", there, "--to", "sqlite:///back.db").code == 0
    assert queue("status", "--database", "sqlite:///back.db").code == 0


def _copied(queue: Thresher, to: str) -> list[dict[str, object]]:
    return queue("copy", "--to", to, "--json").json["tables"]
