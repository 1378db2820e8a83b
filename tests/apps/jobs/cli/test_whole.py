"""A search from the first command to the message about its first match: the jobs app, as it comes, on the
practice web."""

from pathlib import Path

import pytest

from tests.cli.conftest import Thresher
from tests.notify.post import Hook
from thresher.practice.web import DAY_ZERO, PracticeWeb, company, postings

# Days on the practice web are its own: nothing here may depend on how long ago they were.
PROJECT = """
apps: [jobs]
fetch: {{contact: me@example.com, resolve: {{"*": "{web}"}}}}
notify: ["{hook}"]
settings:
  host.interval: 0
  run.patience: 0
  jobs.filter.age_limit: 36500
  jobs.filter.age_days: 36500
  jobs.score.fresh: 0
  jobs.score.stale: 0
  jobs.score.old: 0
  jobs.score.needed: 30
  jobs.score.needed_in_city: 30
  jobs.notify.delay: 0
"""
PROFILE = """
city: Portland
region: OR
country: US
titles: [analyst, engineer, designer, accountant]
skills: {python: ok, sql: ok}
workplace: {remote: yes, hybrid_in: [Portland], onsite: yes}
salary: {floor: 1k, target: 2k, currency: USD}
notify: low
"""


@pytest.fixture
def hook():
    found = Hook()
    yield found
    found.close()


@pytest.fixture
def web():
    with PracticeWeb(seed=7) as found:
        yield found


def test_from_a_name_to_a_match_that_was_told_of(
    folder: Path, thresher: Thresher, web: PracticeWeb, hook: Hook
):
    (folder / "thresher.yaml").write_text(PROJECT.format(web=web.url, hook=hook.url))
    (folder / "me.yaml").write_text(PROFILE)
    (folder / "list.csv").write_text("name,website\nAcme Anvils,www.acme.example\n")
    assert thresher("jobs", "profile", "set", "me.yaml").code == 0
    assert thresher("add", "companies", "list.csv").code == 0
    ran = thresher("run")
    assert ran.code == 0, ran.out + ran.err
    there = len(postings(7, company(7, "acme"), DAY_ZERO))
    (board,) = thresher("boards", "list", "--json").json
    assert (board["key"], board["verdict"], board["open"]) == ("greenhouse:acme", "found", there)
    assert len(thresher("postings", "list", "--limit", 1_000, "--json").json) == there
    matches = thresher("jobs", "matches", "--json").json
    assert 0 < len(matches) < there
    assert all(match["notified_at"] for match in matches)
    messages = len(hook.told)
    told = " ".join(message["message"] for message in hook.told)
    assert all(told.count(match["url"]) == 1 for match in matches[:20])
    for posting in thresher("postings", "list", "--limit", 5, "--json").json:
        explained = thresher("explain", posting["key"], "--json").json
        assert explained["outcome"] in ("filtered", "skipped", "saved")
        assert explained["sentences"]

    best = matches[0]["key"]
    assert thresher("jobs", "match", best, "--status", "applied").code == 0
    assert thresher("add", "companies", "list.csv", "--json").json["asked"][0]["answer"] == "known"
    thresher("jobs", "judge", "--all")
    assert thresher("run").code == 0
    again = {match["key"]: match["status"] for match in thresher("jobs", "matches", "--json").json}
    assert again == {match["key"]: "applied" if match["key"] == best else "new" for match in matches}
    assert len(hook.told) == messages, "nothing was new"
    assert thresher("export", "matches", "-o", "out.xlsx", "--json").json["rows"] == len(matches)
