"""One page through all policies, against a web that is real but local."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from tests.fetch.site import Site, moved, open_site, page
from tests.harness.databases import only_sqlite
from thresher.config.settings import Settings
from thresher.core import errors
from thresher.core.clock import DAY, HOUR, MINUTE, SECOND
from thresher.core.page import Via
from thresher.engine.shelf import StoreShelf
from thresher.fetch.agent import agent_of
from thresher.fetch.errand import Errand
from thresher.fetch.fetcher import Fetcher
from thresher.fetch.guard import Guard
from thresher.fetch.http import HttpTransport
from thresher.fetch.order import order
from thresher.fetch.resolver import MappedResolver, SystemResolver
from thresher.fetch.rulebook import MOST_BYTES_REMEMBERED

pytestmark = only_sqlite

SHOP = "https://shop.example"
FRESH = {"cache_control": "max-age=60"}


@dataclass
class Book:
    """A governor that lets everybody through and writes it down."""

    passed: list[str] = field(default_factory=list)
    held: list[tuple[str, float]] = field(default_factory=list)
    slowed: list[tuple[str, float]] = field(default_factory=list)
    waived: bool = False

    @asynccontextmanager
    async def passage(self, gate, *, preparing=False):
        async def starting():
            self.passed.append(gate)

        yield starting

    async def hold_back(self, gate, seconds, reason):
        self.held.append((gate, seconds))
        return seconds

    async def slow_down(self, gate, seconds):
        self.slowed.append((gate, seconds))

    async def waiver(self, gate):
        return "since today: we may" if self.waived else None


class Desk:
    """A fetcher on a site, with a shelf and a clock that moves by hand."""

    def __init__(self, site: Site, store, clock, **settings):
        self.site, self.clock, self.book = site, clock, Book()
        self.shelf = StoreShelf(store)
        self._settings = Settings({name.replace("__", "."): value for name, value in settings.items()})
        self.fetcher = self.another_worker()

    def another_worker(self):
        """Another process: it shares the shelf, and nothing in memory."""
        guard = Guard()
        resolver = MappedResolver({"*": self.site.address}, SystemResolver())
        agent = agent_of(contact="me@example.com")
        return Fetcher(HttpTransport(resolver, guard), guard, agent, settings=lambda: self._settings, clock=self.clock)

    async def fetch(self, url=f"{SHOP}/a", *, source="", max_age=None, replay=False, by=None, **how):
        errand = Errand(self.book, self.shelf, source, max_age, replay=replay)
        return await (by or self.fetcher).fetch(order(url, **how), errand)

    def pages(self):
        return [path for path in self.site.paths() if path != "/robots.txt"]


@pytest.fixture
def at(store, clock):
    """Runs a test's story at a desk: `at(says, story, **settings)`."""

    def run(says, story, **settings):
        async def whole():
            async with open_site(says) as site:
                desk = Desk(site, store, clock, **settings)
                try:
                    return await story(desk)
                finally:
                    await desk.fetcher.close()

        return asyncio.run(whole())

    return run


def test_a_page_comes_with_its_headers_and_our_honest_name(at):
    async def story(desk):
        found = await desk.fetch()
        assert (found.url, found.final_url, found.status, found.via) == (f"{SHOP}/a", f"{SHOP}/a", 200, Via.HTTP)
        assert (found.content_type, found.body, found.hops) == ("text/html", b"<p>here", ())
        names = {asked.headers["user-agent"] for asked in desk.site.log}
        assert [name for name in names if name.startswith("Thresher/") and name.endswith("(+me@example.com)")] == [*names]
        assert desk.book.passed == ["host:shop.example"] * 2

    at({"shop.example/a": "<p>here"}, story)


@pytest.mark.parametrize(
    ("status", "headers", "error"),
    [
        (404, {}, errors.Gone), (410, {}, errors.Gone), (401, {}, errors.Unauthorized), (403, {}, errors.Forbidden),
        (400, {}, errors.Permanent), (500, {}, errors.ServerError), (503, {}, errors.ServerError), (429, {}, errors.RateLimited),
    ],
)  # fmt: skip
@pytest.mark.promise(10)
def test_an_error_is_raised_with_the_gate_it_is_about_and_never_kept(at, status, headers, error):
    async def story(desk):
        for _ in range(2):
            with pytest.raises(error) as caught:
                await desk.fetch(max_age=1_000)
            assert caught.value.gate == "host:shop.example"
        assert desk.pages() == ["/a", "/a"]
        with pytest.raises(errors.Refused, match="is not kept"):
            await desk.fetch(replay=True)

    at({"shop.example/a": page(status=status, cache_control="max-age=1000", **headers)}, story)


@pytest.mark.promise(10)
def test_a_wall_that_calls_itself_a_page_is_blocked_and_never_kept(at):
    wall = "<title>Just a moment...</title><h1>Verify you are human</h1><p>Checking your browser. Please complete the CAPTCHA."

    async def story(desk):
        for _ in range(2):
            with pytest.raises(errors.Blocked):
                await desk.fetch(max_age=1_000)
        assert desk.pages() == ["/a", "/a"]

    at({"shop.example/a": page(wall, 403, **FRESH)}, story)


@pytest.mark.promise(10)
@pytest.mark.parametrize("headers", [{}, {"retry_after": "30"}])
def test_a_429_that_says_so_in_words_is_no_wall_and_one_with_a_captcha_is(at, headers):
    async def story(desk):
        with pytest.raises(errors.RateLimited):
            await desk.fetch()
        with pytest.raises(errors.Blocked):
            await desk.fetch(f"{SHOP}/b")

    captcha = "<title>Are you a robot?</title><h1>Verify you are human</h1><div class=g-recaptcha></div>"
    plain = "<title>429 Too Many Requests</title><h1>Too Many Requests</h1><p>Rate limit exceeded."
    at({"shop.example/a": page(plain, 429, **headers), "shop.example/b": page(captcha, 429)}, story)


@pytest.mark.promise(16)
def test_a_host_that_asks_for_a_pause_closes_its_gate_before_the_error_is_told(at):
    async def story(desk):
        with pytest.raises(errors.RateLimited) as caught:
            await desk.fetch()
        assert (caught.value.retry_after, caught.value.away) == (120, 120)
        assert desk.book.held == [("host:shop.example", 120)]

    at({"shop.example/a": page(status=503, retry_after="120")}, story)


# --- redirects


def test_a_redirect_is_followed_and_every_hop_passes_its_own_gate(at):
    async def story(desk):
        found = await desk.fetch()
        assert (found.url, found.hops, found.final_url) == (f"{SHOP}/a", (f"{SHOP}/b",), "http://other.example/c")
        assert desk.book.passed == ["host:shop.example"] * 3 + ["host:other.example"] * 2
        assert desk.site.paths("other.example") == ["/robots.txt", "/c"]

    at({"shop.example/a": moved("/b", 301), "shop.example/b": moved("http://other.example/c"), "other.example/c": "<p>there"}, story)


@pytest.mark.parametrize(
    ("status", "method", "becomes"),
    [(301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (307, "POST", "POST"), (308, "POST", "POST"),
     (303, "PUT", "GET"), (302, "PUT", "PUT")],
)  # fmt: skip
def test_a_redirect_keeps_or_drops_the_body_as_browsers_do(at, status, method, becomes):
    async def story(desk):
        await desk.fetch(method=method, body=b"{}", headers={"Content-Type": "application/json"})
        last = desk.site.log[-1]
        assert (last.method, last.body, last.headers.get("content-type")) == (
            (becomes, b"{}", "application/json") if becomes == method else ("GET", b"", None)
        )

    at({"shop.example/a": moved("/b", status), "shop.example/b": "<p>"}, story)


@pytest.mark.promise(17)
def test_credentials_stay_with_the_origin_they_were_meant_for(at):
    secrets = {"Authorization": "Bearer x", "Cookie": "a=b", "X-Api-Key": "k", "X-Auth-Token": "t", "Accept-Language": "de"}

    async def story(desk):
        await desk.fetch(headers=secrets)
        sent = {asked.path: asked.headers for asked in desk.site.log}
        assert {"authorization", "cookie", "x-api-key", "x-auth-token"} <= sent["/b"].keys()
        assert not {"authorization", "cookie", "x-api-key", "x-auth-token"} & sent["/c"].keys()
        assert sent["/c"]["accept-language"] == "de"

    at({"shop.example/a": moved("/b"), "shop.example/b": moved("https://other.example/c"), "other.example/c": "<p>"}, story)


@pytest.mark.promise(17)
def test_credentials_do_not_go_from_https_to_http(at):
    async def story(desk):
        await desk.fetch(headers={"Authorization": "Bearer x"})
        assert "authorization" not in desk.site.log[-1].headers

    at({"shop.example/a": moved("http://shop.example/b"), "shop.example/b": "<p>"}, story)


@pytest.mark.promise(17)
@pytest.mark.parametrize(
    "to",
    ["http://127.0.0.1/", "http://localhost/", "http://0x7f.1/", "http://[::1]/", "http://169.254.169.254/latest/meta-data", "http://2130706433/",
     "file:///etc/passwd", "ftp://shop.example/", "http://shop.example:22/", "https://me:pass@shop.example/"],
)  # fmt: skip
def test_a_redirect_to_where_we_must_not_go_is_refused(at, to):
    async def story(desk):
        with pytest.raises((errors.Refused, errors.Malformed)):
            await desk.fetch()
        assert desk.pages() == ["/a"]

    at({"shop.example/a": moved(to)}, story)


def test_a_circle_of_redirects_is_named(at):
    async def story(desk):
        with pytest.raises(errors.Malformed, match=r"in a circle .*/b → https://shop.example/a"):
            await desk.fetch()
        assert desk.pages() == ["/a", "/b"]

    at({"shop.example/a": moved("/b"), "shop.example/b": moved("/a")}, story)


def test_an_endless_row_of_redirects_ends_at_the_limit(at):
    async def story(desk):
        with pytest.raises(errors.Refused, match="from redirect to redirect, 4 so far"):
            await desk.fetch(f"{SHOP}/0")
        assert desk.pages() == ["/0", "/1", "/2", "/3"]

    at({"shop.example": lambda asked: moved(f"/{int(asked.path[1:]) + 1}")}, story, fetch__redirects=3)


# --- the shelf


@pytest.mark.promise(16)
def test_a_fresh_copy_needs_no_request_and_no_gate(at):
    async def story(desk):
        first = await desk.fetch()
        passed = list(desk.book.passed)
        desk.clock.advance(59 * SECOND)
        again = await desk.fetch()
        assert (again.body, again.via, again.fetched_at) == (first.body, Via.CACHE, first.fetched_at)
        assert desk.book.passed == passed
        desk.clock.advance(2 * SECOND)
        assert (await desk.fetch()).via is Via.HTTP

    at({"shop.example/a": page(**FRESH)}, story)


def test_a_stale_copy_is_confirmed_by_its_etag(at):
    def say(asked):
        return page(status=304, etag='"1"', x_turn="2") if asked.headers.get("if-none-match") == '"1"' else page("<p>one", etag='"1"')

    async def story(desk):
        first = await desk.fetch()
        again = await desk.fetch()
        assert (again.status, again.body, again.via, again.headers["x-turn"]) == (200, first.body, Via.CACHE, "2")
        assert desk.pages() == ["/a", "/a"]

    at({"shop.example/a": say}, story)


def test_not_modified_about_something_else_is_asked_again_without_conditions(at):
    def say(asked):
        if "if-none-match" in asked.headers:
            return page(status=304, etag='"2"')
        return page("<p>two" if seen else "<p>one", etag='"1"')

    seen = []

    async def story(desk):
        seen.append(await desk.fetch())
        assert (await desk.fetch()).body == b"<p>two"
        assert desk.pages() == ["/a", "/a", "/a"]

    at({"shop.example/a": say}, story)


def test_not_modified_to_a_question_without_condition_is_malformed(at):
    async def story(desk):
        with pytest.raises(errors.Malformed, match="304"):
            await desk.fetch()

    at({"shop.example/a": page(status=304)}, story)


def test_who_sends_conditions_of_their_own_hears_the_answer_itself(at):
    async def story(desk):
        assert (await desk.fetch(headers={"If-None-Match": '"1"'})).status == 304

    at({"shop.example/a": page(status=304)}, story)


def test_a_redirect_with_a_lifetime_is_followed_from_the_shelf(at):
    async def story(desk):
        await desk.fetch()
        found = await desk.fetch()
        assert (found.final_url, found.via) == (f"{SHOP}/b", Via.HTTP)
        assert desk.pages() == ["/a", "/b", "/b"]

    at({"shop.example/a": lambda asked: _with(moved("/b", 301), "max-age=60"), "shop.example/b": "<p>"}, story)


def _with(answer, caching):
    answer.headers["cache-control"] = caching
    return answer


def test_a_page_that_is_gone_is_not_kept_any_longer(at):
    answers = iter([page("<p>", etag='"1"'), page(status=404)])

    async def story(desk):
        await desk.fetch()
        with pytest.raises(errors.Gone):
            await desk.fetch()
        with pytest.raises(errors.Refused):
            await desk.fetch(replay=True)

    at({"shop.example/a": lambda asked: next(answers)}, story)


@pytest.mark.promise(2)
def test_two_sources_that_ask_alike_are_not_given_each_others_pages(at):
    async def story(desk):
        await desk.fetch(source="source:coins", max_age=60)
        await desk.fetch(source="source:stamps", max_age=60)
        assert desk.pages() == ["/a", "/a"]

    at({"shop.example/a": "<p>"}, story)


@pytest.mark.promise(2)
def test_two_accounts_are_not_given_each_others_pages(at):
    async def story(desk):
        mine = await desk.fetch(headers={"Authorization": "me"})
        yours = await desk.fetch(headers={"Authorization": "you"})
        assert (mine.body, yours.body) == (b"me", b"you")

    at({"shop.example/a": lambda asked: page(asked.headers["authorization"], **FRESH)}, story)


@pytest.mark.promise(2)
def test_two_posts_with_different_bodies_are_two_questions(at):
    async def story(desk):
        bodies = [(await desk.fetch(method="POST", body=body, max_age=60)).body for body in (b"1", b"2", b"1")]
        assert bodies == [b"1", b"2", b"1"]
        assert len(desk.pages()) == 2

    at({"shop.example/a": lambda asked: page(asked.body.decode())}, story)


def test_replay_reads_what_is_kept_however_old_and_says_what_to_do_when_nothing_is(at):
    async def story(desk):
        await desk.fetch()
        desk.clock.advance(30 * DAY)
        before = len(desk.site.log)
        found = await desk.fetch(replay=True)
        assert (found.final_url, found.via) == (f"{SHOP}/b", Via.CACHE)
        with pytest.raises(errors.Refused, match="fetch it once without replay"):
            await desk.fetch(f"{SHOP}/other", replay=True)
        assert len(desk.site.log) == before

    at({"shop.example/a": moved("/b"), "shop.example/b": "<p>"}, story)


def test_a_setting_turns_everything_into_replay(at):
    async def story(desk):
        with pytest.raises(errors.Refused, match="replay"):
            await desk.fetch()
        assert desk.site.log == []

    at({"*": "<p>"}, story, fetch__replay=1)


@pytest.mark.parametrize(("settings", "requests"), [({"fetch__keep_pages": 0}, 2), ({}, 1)])
def test_nothing_is_kept_where_nothing_is_to_be_kept(at, settings, requests):
    async def story(desk):
        await desk.fetch()
        await desk.fetch()
        assert len(desk.pages()) == requests

    at({"shop.example/a": page(**FRESH)}, story, **settings)


# --- robots.txt


@pytest.mark.promise(16)
def test_a_forbidden_path_is_never_asked_for_not_even_after_a_redirect(at):
    async def story(desk):
        for path in ("/private/a", "/in"):
            with pytest.raises(errors.Refused, match=r"forbids Thresher .*Disallow: /private.*robots host:shop.example off"):
                await desk.fetch(SHOP + path)
        assert desk.site.paths() == ["/robots.txt", "/in"]

    at({"shop.example/robots.txt": "User-agent: *\nDisallow: /private", "shop.example/in": moved("/private/b"), "*": "<p>"}, story)


@pytest.mark.promise(16)
def test_a_person_may_switch_robots_off_by_name(at):
    async def story(desk):
        desk.book.waived = True
        assert (await desk.fetch()).status == 200
        assert desk.book.slowed == []

    at({"shop.example/robots.txt": "User-agent: *\nDisallow: /\nCrawl-delay: 9", "shop.example/a": "<p>"}, story)


@pytest.mark.promise(16)
def test_a_crawl_delay_slows_the_gate_down_as_far_as_the_cap(at):
    async def story(desk):
        await desk.fetch()
        assert desk.book.slowed == [("host:shop.example", 60.0)]

    at({"shop.example/robots.txt": "User-agent: *\nCrawl-delay: 7200", "shop.example/a": "<p>"}, story)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_a_robots_file_that_is_not_there_forbids_nothing(at, status):
    async def story(desk):
        assert (await desk.fetch()).status == 200

    at({"shop.example/robots.txt": page("User-agent: *\nDisallow: /", status), "shop.example/a": "<p>"}, story)


@pytest.mark.promise(16)
def test_while_its_server_fails_on_robots_nothing_is_asked_of_a_host_and_after_thirty_days_it_counts_as_absent(at):
    async def story(desk):
        for wait in (60, 120, 240):
            with pytest.raises(errors.NotYet, match="nothing is allowed there") as caught:
                await desk.fetch()
            assert caught.value.retry_after == pytest.approx(wait)
            with pytest.raises(errors.NotYet):
                await desk.fetch(by=desk.another_worker())  # told by the shelf, not by the host
            desk.clock.advance(wait * SECOND)
        assert desk.site.paths() == ["/robots.txt"] * 3
        desk.clock.advance(31 * DAY)
        assert (await desk.fetch()).status == 200

    at({"shop.example/robots.txt": page(status=500), "shop.example/a": "<p>"}, story)


@pytest.mark.promise(16)
def test_the_rules_we_have_go_on_counting_while_new_ones_cannot_be_had(at):
    answers = iter([page("User-agent: *\nDisallow: /private"), page(status=502), page(status=502)])

    async def story(desk):
        assert (await desk.fetch()).status == 200
        desk.clock.advance(2 * DAY)
        assert (await desk.fetch()).status == 200
        with pytest.raises(errors.Refused):
            await desk.fetch(f"{SHOP}/private/x")
        assert desk.site.paths().count("/robots.txt") == 2

    at({"shop.example/robots.txt": lambda asked: next(answers), "shop.example/a": "<p>"}, story)


@pytest.mark.promise(16)
def test_too_many_requests_on_robots_itself_closes_the_gate(at):
    async def story(desk):
        with pytest.raises(errors.RateLimited):
            await desk.fetch()
        assert desk.book.held == [("host:shop.example", 30)]
        assert desk.pages() == []

    at({"shop.example/robots.txt": page(status=429, retry_after="30"), "shop.example/a": "<p>"}, story)


def test_a_robots_file_may_move_five_times_and_counts_for_the_origin_that_was_asked(at):
    def say(asked):
        step = int(asked.path.removeprefix("/robots.txt").removeprefix("/r") or 0)
        return page("User-agent: *\nDisallow: /") if step == 5 else moved(f"/r{step + 1}")

    async def story(desk):
        with pytest.raises(errors.Refused):
            await desk.fetch()
        assert desk.site.paths() == ["/robots.txt", "/r1", "/r2", "/r3", "/r4", "/r5"]

    at({"shop.example/robots.txt": say, "shop.example": say}, story)


def test_a_robots_file_that_moves_for_ever_counts_as_absent(at):
    async def story(desk):
        assert (await desk.fetch()).status == 200

    at({"shop.example/robots.txt": moved("/r"), "shop.example/r": lambda asked: moved(f"{asked.path}r"), "shop.example/a": "<p>",
        "shop.example": lambda asked: moved(f"{asked.path}r")}, story)  # fmt: skip


@pytest.mark.promise(17)
def test_a_robots_file_that_moved_to_a_private_address_is_not_followed_there(at):
    async def story(desk):
        with pytest.raises(errors.Refused, match=r"10\.0\.0\.1"):
            await desk.fetch()

    at({"shop.example/robots.txt": moved("http://10.0.0.1/robots.txt"), "shop.example/a": "<p>"}, story)


@pytest.mark.promise(16)
def test_robots_is_asked_once_for_an_origin_by_many_tasks_and_workers_and_again_when_it_is_old(at):
    async def story(desk):
        other = desk.another_worker()
        await asyncio.gather(*(desk.fetch(f"{SHOP}/{number}") for number in range(10)))
        await desk.fetch(by=other)
        assert desk.site.paths().count("/robots.txt") == 1
        await desk.fetch("http://shop.example/a", by=other)
        assert desk.site.paths().count("/robots.txt") == 2  # another origin
        desk.clock.advance(DAY + SECOND)
        await desk.fetch(f"{SHOP}/x")
        assert desk.site.paths().count("/robots.txt") == 3
        await other.close()

    at({"*": "<p>"}, story)


@pytest.mark.parametrize(
    ("said", "before", "after"),
    [("max-age=3600", 59 * MINUTE, 2 * MINUTE), ("max-age=0", 4 * MINUTE, 2 * MINUTE), ("max-age=9999999", 23 * HOUR, 2 * HOUR)],
)
def test_a_server_may_shorten_the_life_of_its_robots_file_but_neither_to_nothing_nor_beyond_a_day(at, said, before, after):
    async def story(desk):
        await desk.fetch()
        desk.clock.advance(before)
        await desk.fetch()
        assert desk.site.paths().count("/robots.txt") == 1
        desk.clock.advance(after)
        await desk.fetch()
        assert desk.site.paths().count("/robots.txt") == 2

    at({"shop.example/robots.txt": page("User-agent: *\nAllow: /", cache_control=said), "shop.example/a": "<p>"}, story)


@pytest.mark.promise(18)
def test_what_is_remembered_of_robots_files_is_bounded(at):
    rules = "User-agent: *\nAllow: /\n" + "".join(f"Disallow: /{number:08}\n" for number in range(20_000))

    async def story(desk):
        for number in range(14):
            await desk.fetch(f"https://host-{number}.example/a")
        assert len(desk.fetcher.rulebook._known) < 14
        assert desk.fetcher.rulebook._bytes <= MOST_BYTES_REMEMBERED

    at({f"host-{number}.example/robots.txt": rules for number in range(14)} | {"*": "<p>"}, story)


def test_a_host_that_cannot_be_reached_is_the_error_not_its_robots_file(at):
    async def story(desk):
        await desk.fetcher.close()
        desk.site.port = 1
        worker = desk.another_worker()
        with pytest.raises(errors.ConnectionFailed) as caught:
            await desk.fetch(by=worker)
        assert caught.value.gate == "host:shop.example"
        await worker.close()

    at({}, story)


# --- what is asked


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"method": "BREW"}, "method 'BREW' is not known"),
        ({"headers": {"User-Agent": "Mozilla/5.0"}}, "one honest name for the whole project"),
        ({"headers": {"Host": "other.example"}}, "it follows from the URL"),
        ({"headers": {"X-A": "1\r\nX-B: 2"}}, "one line"),
        ({"headers": {"X A": "1"}}, "not the name of a header"),
        ({"body": "text"}, "a body wants bytes, got str"),
    ],
)
def test_a_request_that_cannot_be_is_refused_before_anything_happens(at, how, says):
    async def story(desk):
        with pytest.raises(errors.UsageError, match=says):
            await desk.fetch(**how)
        assert desk.site.log == []

    at({}, story)


def test_rendering_without_a_browser_says_what_to_install(at):
    async def story(desk):
        with pytest.raises(errors.UsageError, match=r"thresher\[browser\]"):
            await desk.fetcher.fetch(order(f"{SHOP}/a"), Errand(desk.book, desk.shelf, render=True))

    at({"*": "<p>"}, story)
