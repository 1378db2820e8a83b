"""The `fetch:` block: under which name a project goes out, and which doors of its own it may use."""

import pytest

from thresher.config.outward import Outward
from thresher.config.project import read_project
from thresher.core.errors import ConfigError
from thresher.fetch.egress import read_proxy
from thresher.fetch.guard import Guard
from thresher.fetch.resolver import MappedResolver, SystemResolver

WHOLE = """
fetch:
  user_agent: Gleaner/2.0 (autumn)
  contact: https://gleaner.example/bot
  allow: [10.20.0.0/16, wiki.intra, "wiki.intra:8000", "[fd00::1]:8080", "fd00::/8"]
  resolve:
    jobs.acme.example: http://127.0.0.1:8123
    "*.lab.example": https://[::1]:8443
    "*": http://127.0.0.1:8123
"""


@pytest.fixture
def read(tmp_path):
    def read(text):
        (tmp_path / "thresher.yaml").write_text(text)
        return read_project(tmp_path).fetch

    return read


def test_http2_is_spoken_where_a_project_asks_for_it(read):
    assert (read("fetch: {http2: true}").http2, read("fetch: {}").http2) == (True, False)
    with pytest.raises(ConfigError, match=r"fetch\.http2 must be true or false, got 'perhaps'"):
        read("fetch: {http2: perhaps}")


def test_a_project_says_who_it_is_and_where_it_may_go(read):
    found = read(WHOLE)
    assert (found.user_agent, found.contact) == ("Gleaner/2.0 (autumn)", "https://gleaner.example/bot")
    assert found.allow[:2] == ("10.20.0.0/16", "wiki.intra")
    assert found.resolve["jobs.acme.example"] == "http://127.0.0.1:8123"
    Guard(found.allow)  # whatever passes here is understood there
    MappedResolver(found.resolve, SystemResolver())


@pytest.mark.parametrize("text", ["", "fetch:\n", "fetch: {}\n", "fetch: {allow: , resolve: , contact: }\n"])
def test_nothing_said_is_the_usual(read, text):
    assert read(text) == Outward()


@pytest.mark.promise(17)
@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "fetch: 5",
            ":1: fetch must be a mapping with the keys allow, contact, http2, proxy, resolve, user_agent, got 5",
        ),
        ("fetch:\n  alow: []", ":2: fetch.alow is not a known key"),
        ("fetch:\n  contact: me", ":2: fetch.contact must be a contact address"),
        ("fetch:\n  contact: 5", ":2: fetch.contact must be"),
        ('fetch:\n  user_agent: "a\\r\\nx: y"', ":2: fetch.user_agent must be a name"),
        ("fetch:\n  user_agent: (nobody)", ":2: fetch.user_agent must be a name"),
        ("fetch:\n  allow: 10.0.0.0/8", ":2: fetch.allow must be a list"),
        ("fetch:\n  allow: [10.0.0.1/8]", ":2: fetch.allow must contain networks"),
        ("fetch:\n  allow: ['*']", ":2: fetch.allow must contain networks"),
        ("fetch:\n  allow: ['http://wiki.intra']", ":2: fetch.allow must contain networks"),
        ("fetch:\n  allow: ['wiki.intra:0']", ":2: fetch.allow must contain networks"),
        ("fetch:\n  allow: ['wiki.intra:99999']", ":2: fetch.allow must contain networks"),
        ("fetch:\n  allow: ['']", ":2: fetch.allow must contain networks"),
        ("fetch:\n  resolve: {}\n  allow: {}\n", ":3: fetch.allow must be a list"),
        ("fetch:\n  resolve: [a]", ":2: fetch.resolve must map hosts to addresses"),
        (
            "fetch:\n  resolve:\n    a.example: 127.0.0.1",
            ":3: fetch.resolve.a.example must be an address such as",
        ),
        (
            "fetch:\n  resolve:\n    a.example: http://b.example",
            ":3: fetch.resolve.a.example must be an address such as",
        ),
        (
            "fetch:\n  resolve:\n    a.example: http://127.0.0.1/path",
            ":3: fetch.resolve.a.example must be an address such as",
        ),
        (
            "fetch:\n  resolve:\n    a*.example: http://127.0.0.1",
            ":3: fetch.resolve.a*.example must be a host name",
        ),
    ],
)
def test_a_mistake_names_file_line_and_key(read, text, says):
    with pytest.raises(ConfigError) as caught:
        read(text)
    assert says in str(caught.value)


def test_a_proxy_may_have_its_password_from_the_environment(read, monkeypatch):
    monkeypatch.setenv("PROXY_PASSWORD", "a@b:c/d")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.corp.example:8080")
    written = read("fetch: {proxy: 'http://anna:${PROXY_PASSWORD}@proxy.corp.example'}").proxy
    found = read_proxy(written)
    assert (found.host, found.port, found.password) == ("proxy.corp.example", 3128, "a@b:c/d")
    assert read("fetch: {proxy: '${HTTPS_PROXY}'}").proxy == "http://proxy.corp.example:8080"


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("socks5://anna:hidden@proxy.example:1080", "only http:// is spoken to a proxy"),
        ("http://anna:hidden@proxy.example/path", "only http:// is spoken to a proxy"),
        ("http://anna:hidden@proxy example:3128", "only http:// is spoken to a proxy"),
        ("http://anna:hidden@proxy.example:0", "only http:// is spoken to a proxy"),
        ("http://hidden:${THRESHER_NO_SUCH_VARIABLE}@proxy.example", "THRESHER_NO_SUCH_VARIABLE"),
        ("proxy.example:3128", "such as http://proxy.example:3128"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_refused_without_telling_its_password(read, written, says):
    with pytest.raises(ConfigError) as caught:
        read(f"fetch:\n  proxy: '{written}'\n")
    assert ":2: fetch.proxy" in str(caught.value)
    assert says in str(caught.value)
    assert "hidden" not in str(caught.value)
