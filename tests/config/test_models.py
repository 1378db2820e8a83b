"""The `models:` block: which vendors a project may ask, with whose key, and at what price."""

from decimal import Decimal

import pytest

from thresher.config.models import Models, Rate, Thinker, Tier
from thresher.config.project import read_project
from thresher.core.errors import ConfigError

A = "models:\n  providers: {a: {kind: google}}\n"
KEY = "sk-live-0123456789abcdef"
WHOLE = """
models:
  providers:
    openai: {kind: openai, key: "${A_KEY}"}
    local: {kind: openai, base_url: "http://127.0.0.1:11434/v1/"}
    claude: {kind: anthropic, key: "${B_KEY}", rate: 2, in_flight: 4}
  cheap: openai/gpt-5.4-mini
  strong: claude/claude-sonnet-5
  prices: {"local/meta/llama-4:8b": {input: 0.1, output: 0}}
"""


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.delenv("A_KEY", raising=False)
    monkeypatch.delenv("B_KEY", raising=False)

    def read(text):
        (tmp_path / "thresher.yaml").write_text(text)
        return read_project(tmp_path).models

    return read


def test_a_project_names_its_vendors_its_two_models_and_prices_of_its_own(read, monkeypatch):
    monkeypatch.setenv("A_KEY", KEY)
    found = read(WHOLE)
    assert found.providers["openai"] == Thinker("openai", "openai", KEY, key_name="A_KEY")
    assert found.providers["local"] == Thinker("local", "openai", base_url="http://127.0.0.1:11434/v1")
    assert (found.providers["claude"].rate, found.providers["claude"].in_flight) == (2.0, 4)
    assert found.tiers == {
        "cheap": Tier("openai", "gpt-5.4-mini"),
        "strong": Tier("claude", "claude-sonnet-5"),
    }
    assert found.prices == {"local/meta/llama-4:8b": Rate(Decimal("0.1"), Decimal(0))}
    assert found.providers["openai"].gate == "source:openai"


@pytest.mark.parametrize(
    "text", ["", "models:\n", "models: {}\n", "models: {providers: , cheap: , prices: }\n"]
)
def test_nothing_said_is_no_model_and_no_error(read, text):
    assert read(text) == Models()
    assert not read(text)


@pytest.mark.parametrize("tier", ["cheap", "strong"])
def test_one_tier_serves_both(read, tier):
    found = read(f"models: {{providers: {{a: {{kind: google}}}}, {tier}: a/m}}")
    assert found.tiers == {"cheap": Tier("a", "m"), "strong": Tier("a", "m")}


def test_a_missing_key_leaves_the_project_readable_and_its_name_known(read, monkeypatch):
    for value in (None, "", "  "):
        if value is not None:
            monkeypatch.setenv("B_KEY", value)
        thinker = read(WHOLE).providers["claude"]
        assert (thinker.key, thinker.key_name, thinker.keyless) == (None, "B_KEY", True)


def test_who_needs_no_key_is_not_called_keyless(read):
    found = read(WHOLE).providers
    assert (found["local"].keyless, found["openai"].keyless) == (False, True)


def test_a_key_may_have_a_default_and_loses_the_line_end_that_files_give_it(read, monkeypatch):
    assert (
        read('models: {providers: {a: {kind: google, key: "${A_KEY:-none}"}}}').providers["a"].key == "none"
    )
    monkeypatch.setenv("A_KEY", f"{KEY}\n")
    assert read(WHOLE).providers["openai"].key == KEY


@pytest.mark.parametrize(
    ("address", "private"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://localhost:1", True),
        ("http://10.1.2.3", True),
        ("http://[::1]:8080", True),
        ("http://[fd00::7]", True),
        ("https://api.example.com/v1", False),
        ("https://8.8.8.8", False),
        ("https://localhost.example.com", False),
    ],
)
def test_a_server_of_ones_own_is_known_by_its_address(address, private):
    assert Thinker("a", "openai", base_url=address).private is private


@pytest.mark.promise(17)
def test_a_key_is_never_shown(read, monkeypatch):
    monkeypatch.setenv("A_KEY", KEY)
    assert KEY not in repr(read(WHOLE))
    for value in (f"{KEY} {KEY}", f"{KEY}\r\nx: y", f"{KEY}é"):
        monkeypatch.setenv("A_KEY", value)
        with pytest.raises(ConfigError) as caught:
            read(WHOLE)
        assert KEY not in str(caught.value)
        assert "A_KEY" in str(caught.value)


@pytest.mark.promise(17)
@pytest.mark.parametrize(
    "said",
    [
        f'key: "{KEY} oops"',
        f"key: [{KEY}]",
        f'key: "${{A{KEY}"',
        f'base_url: "https://me:{KEY}@example.com"',
        f'base_url: "https://example.com/v1?key={KEY}"',
    ],
)
def test_a_mistake_beside_a_key_does_not_tell_it(read, said):
    with pytest.raises(ConfigError) as caught:
        read(f"models: {{providers: {{a: {{kind: openai, {said}}}}}}}")
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("models: 5", ":1: models must be a mapping with the keys cheap, strong, prices, providers, got int"),
        ("models:\n  cheep: a/b", ":2: models.cheep is not a known key"),
        ("models:\n  providers: [a]", ":2: models.providers must map names"),
        ("models:\n  providers:\n    A B: {kind: openai}", ":3: models.providers.A B must be a name"),
        ("models:\n  providers:\n    a: openai", ":3: models.providers.a must be a mapping with the keys"),
        (
            "models:\n  providers:\n    a: {}",
            "models.providers.a.kind must be one of anthropic, google, openai",
        ),
        (
            "models:\n  providers:\n    a: {kind: grok}",
            ":3: models.providers.a.kind must be one of anthropic, google, openai",
        ),
        (
            "models:\n  providers:\n    a: {kind: openai, kee: x}",
            ":3: models.providers.a.kee is not a known key",
        ),
        (
            "models:\n  providers:\n    a: {kind: openai, base_url: 127.0.0.1}",
            ":3: models.providers.a.base_url must be a URL",
        ),
        (
            "models:\n  providers:\n    a: {kind: openai, base_url: 'ftp://a.example'}",
            ":3: models.providers.a.base_url must be a URL",
        ),
        (
            "models:\n  providers:\n    a: {kind: openai, base_url: 'http://a:99999'}",
            ":3: models.providers.a.base_url must be a URL",
        ),
        (
            "models:\n  providers:\n    a: {kind: openai, rate: 0}",
            ":3: models.providers.a.rate must be a number above 0",
        ),
        (
            "models:\n  providers:\n    a: {kind: openai, rate: .nan}",
            ":3: models.providers.a.rate must be a number above 0",
        ),
        (
            "models:\n  providers:\n    a: {kind: openai, in_flight: 1.5}",
            ":3: models.providers.a.in_flight must be a whole number",
        ),
        (
            "models:\n  providers:\n    a: {kind: openai, in_flight: true}",
            ":3: models.providers.a.in_flight must be a whole number",
        ),
        (
            "models:\n  cheap: gpt",
            ":2: models.cheap must be PROVIDER/MODEL, such as openai/gpt-5.4-mini, got 'gpt'",
        ),
        ("models:\n  cheap: [a/b]", ":2: models.cheap must be a model such as"),
        (
            "models:\n  cheap: a/b",
            ":2: models.cheap names the unknown provider 'a'; there are no providers",
        ),
        (
            A + "  strong: b/a",
            ":3: models.strong names the unknown provider 'b'; the providers are a",
        ),
        (A + "  strong: 'a/b c'", ":3: models.strong must be PROVIDER/MODEL"),
        ("models:\n  prices: 3", ":2: models.prices must map models to prices"),
        (
            "models:\n  prices: {3: {input: 1, output: 1}}",
            ":2: models.prices.3 must be named PROVIDER/MODEL",
        ),
        (
            "models:\n  prices: {a/b: {input: 1, output: 1}}",
            ":2: models.prices.a/b names the unknown provider 'a'",
        ),
        (A + "  prices: {a/b: 3}", ":3: models.prices.a/b must be a mapping with the keys input, output"),
        (A + "  prices: {a/b: {input: 1}}", "models.prices.a/b.output must be dollars per million tokens"),
        (A + "  prices: {a/b: {input: -1, output: 1}}", ":3: models.prices.a/b.input must be dollars"),
        (A + "  prices: {a/b: {input: .inf, output: 1}}", ":3: models.prices.a/b.input must be dollars"),
    ],
)
def test_a_mistake_names_file_line_and_key(read, text, says):
    with pytest.raises(ConfigError) as caught:
        read(text)
    assert says in str(caught.value)
