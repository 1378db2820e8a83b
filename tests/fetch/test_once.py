"""One page by hand, without a database: no gates, but the guard and robots.txt hold. And the same page
through a real browser."""

import asyncio
from pathlib import Path

import pytest

from tests.fetch.site import Site, moved, open_site, page
from thresher.config.outward import Outward
from thresher.config.project import Project
from thresher.core.errors import ConfigError, DatabaseProblem, Gone, Refused
from thresher.core.page import Via
from thresher.fetch.governor import Passage, Ungoverned
from thresher.runtime import fetch_once

SHOP = "http://shop.example"
SCRIPTED = "<title>shop</title><div id=root></div><script>document.getElementById('root').textContent = 'built ' + 'by a script'</script>"


def once(says, url=f"{SHOP}/a", **how):
    async def whole() -> tuple[object, Site]:
        async with open_site(says) as site:
            try:
                found = await fetch_once(
                    Project(Path(), fetch=Outward(contact="me@example.com", resolve={"*": site.address})),
                    url,
                    **how,
                )
            except Exception as problem:  # handed to the test beside the log
                return problem, site
            return found, site

    return asyncio.run(whole())


def test_a_page_comes_without_a_database():
    found, site = once({"shop.example/a": moved("/b"), "shop.example/b": "<p>here"})
    assert (found.body, found.final_url, found.via) == (b"<p>here", f"{SHOP}/b", Via.HTTP)
    assert site.paths() == ["/robots.txt", "/a", "/b"]
    assert site.log[0].headers["user-agent"].endswith("(+me@example.com)")


@pytest.mark.promise(16)
def test_robots_holds_without_a_database():
    problem, site = once({"shop.example/robots.txt": "User-agent: *\nDisallow: /"})
    assert isinstance(problem, Refused)
    assert site.paths() == ["/robots.txt"]


@pytest.mark.promise(17)
@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://localhost/",
        "http://[::ffff:10.0.0.1]/",
        "ftp://shop.example/",
        "file:///etc/hosts",
    ],
)
def test_the_guard_holds_without_a_database(url):
    problem, site = once({"*": "<p>"}, url)
    assert isinstance(problem, Refused)
    assert site.log == []


def test_a_browser_brings_what_scripts_build_and_is_as_polite():
    found, site = once({"shop.example/a": page(SCRIPTED)}, render=True)
    assert not isinstance(found, Exception), found
    assert (found.via, found.status) == (Via.BROWSER, 200)
    assert b"built by a script" in found.body
    assert site.paths()[:2] == ["/robots.txt", "/a"]
    assert all("me@example.com" in asked.headers["user-agent"] for asked in site.log)


@pytest.mark.promise(16)
def test_a_browser_does_not_get_past_robots():
    problem, site = once({"shop.example/robots.txt": "User-agent: *\nDisallow: /a", "*": "<p>"}, render=True)
    assert isinstance(problem, Refused)
    assert site.paths() == ["/robots.txt"]


@pytest.mark.promise(16)
def test_a_browser_that_was_led_to_a_forbidden_place_brings_nothing_home():
    forbidden = "User-agent: *\nDisallow: /private"
    says = {
        "shop.example/a": moved("http://other.example/private"),
        "other.example/robots.txt": forbidden,
        "*": "<p>",
    }
    problem, _ = once(says, render=True)
    assert isinstance(problem, Refused)


@pytest.mark.promise(10)
def test_an_error_is_an_error_through_a_browser_too():
    problem, _ = once({"shop.example/a": page("<p>nothing here", 404)}, render=True)
    assert isinstance(problem, Gone)


def test_a_shell_is_rendered_where_that_was_left_to_us_and_only_then():
    found, site = once({"shop.example/a": page(SCRIPTED)}, render=None)
    assert not isinstance(found, Exception), found
    assert (found.via, b"built by a script" in found.body) == (Via.BROWSER, True)
    assert site.paths()[:3] == ["/robots.txt", "/a", "/a"]
    found, site = once({"shop.example/a": page(SCRIPTED)})
    assert (found.via, site.paths()) == (Via.HTTP, ["/robots.txt", "/a"])


def test_a_page_that_can_be_read_as_it_is_never_sees_a_browser():
    found, site = once({"shop.example/a": "<p>here"}, render=None)
    assert (found.via, site.paths()) == (Via.HTTP, ["/robots.txt", "/a"])


@pytest.mark.promise(17)
def test_root_gets_no_browser_without_a_sandbox_unless_it_asks_for_one(monkeypatch):
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.delenv("THRESHER_CHROMIUM_SANDBOX", raising=False)
    problem, _ = once({"shop.example/a": page(SCRIPTED)}, render=True)
    assert isinstance(problem, ConfigError)
    assert "THRESHER_CHROMIUM_SANDBOX=off" in str(problem)


def test_a_shell_without_a_browser_to_fill_it_is_handed_over_as_it_is(monkeypatch, caplog):
    monkeypatch.setenv("THRESHER_CHROMIUM", "/no/such/browser")
    found, _ = once({"shop.example/a": page(SCRIPTED)}, render=None)
    assert not isinstance(found, Exception), found
    assert (found.via, b"id=root" in found.body) == (Via.HTTP, True)
    assert "not rendered: THRESHER_CHROMIUM is" in caplog.text


@pytest.mark.promise(1)
def test_a_database_that_is_away_is_no_missing_browser(monkeypatch):
    """Asked again for the browser's request, the gates do not answer. The empty frame is not the page."""
    asked = []

    async def away_later(self, gate, *, preparing=False):
        asked.append(gate)
        if len(asked) > 2:  # robots.txt and the page itself went through
            raise DatabaseProblem("PostgreSQL does not answer")
        return Passage(gate, preparing)

    monkeypatch.setattr(Ungoverned, "reserve", away_later)
    problem, _ = once({"shop.example/a": page(SCRIPTED)}, render=None)
    assert isinstance(problem, DatabaseProblem)
