"""Prices: from the table, from the project file, free on one's own machine, and never a guess."""

import subprocess
import sys
from decimal import Decimal

import pytest

from thresher.ai.prices import FRAMING, Prices
from thresher.config.models import Models, Rate, Thinker
from thresher.core.answer import DOLLAR, Usage
from thresher.core.clock import SECOND, FrozenClock
from thresher.core.errors import ConfigError

NOW = FrozenClock(1_790_000_000 * SECOND)


def prices(**given: Rate) -> Prices:
    thinkers = (
        Thinker("openai", "openai", "k"),
        Thinker("claude", "anthropic", "k"),
        Thinker("gemini", "google", "k"),
        Thinker("local", "openai", base_url="http://127.0.0.1:11434/v1"),
        Thinker("lan", "openai", base_url="http://192.168.1.7:8000/v1"),
        Thinker("named", "openai", base_url="http://localhost:8000/v1"),
        Thinker("groq", "openai", "k", base_url="https://api.groq.com/openai/v1"),
        Thinker("stranger", "openai", "k", base_url="https://models.example.com/v1"),
    )
    return Prices(
        Models(
            {each.name: each for each in thinkers},
            prices={name.replace("__", "/"): rate for name, rate in given.items()},
        ),
        NOW,
    )


@pytest.mark.parametrize(
    ("provider", "model"),
    [("openai", "gpt-4o-mini"), ("claude", "claude-sonnet-4-5"), ("gemini", "gemini-2.5-flash")],
)
def test_each_vendors_models_have_a_price_in_the_table(provider: str, model: str):
    cost = prices().cost(provider, model, Usage(1, 1_000_000, 100_000))
    assert 0 < cost < 20 * DOLLAR


def test_a_vendors_server_is_known_by_its_address():
    assert prices().cost("groq", "llama-3.1-8b-instant", Usage(1, 1_000_000, 1_000)) > 0


def test_what_was_spent_is_counted_exactly_and_rounded_up():
    set_here = prices(stranger__big=Rate(Decimal("0.1"), Decimal("0.3")))
    assert set_here.cost("stranger", "big", Usage(1, 10, 0)) == 1
    assert set_here.cost("stranger", "big", Usage(1, 11, 0)) == 2
    assert set_here.cost("stranger", "big", Usage(1, 10, 10)) == 4
    assert set_here.cost("stranger", "big", Usage(1, 0, 0)) == 0


def test_the_project_file_wins_over_the_table():
    dear = prices(**{"openai__gpt-4o-mini": Rate(Decimal(1_000), Decimal(0))})
    assert dear.cost("openai", "gpt-4o-mini", Usage(1, 7, 7)) == 7_000


@pytest.mark.promise(15)
@pytest.mark.parametrize("provider", ["local", "lan", "named"])
def test_a_server_of_ones_own_is_free_unless_a_price_is_set(provider: str):
    assert prices().most(provider, "llama", 1_000_000, 100_000) == 0
    assert prices().cost(provider, "llama", Usage(1, 1_000_000, 1)) == 0
    assert (
        prices(**{f"{provider}__llama": Rate(Decimal(1), Decimal(1))}).cost(provider, "llama", Usage(1, 5, 5))
        == 10
    )


@pytest.mark.promise(15)
@pytest.mark.parametrize("provider", ["openai", "claude", "gemini", "groq", "stranger"])
def test_a_model_without_a_price_is_not_asked_and_the_message_says_how_to_set_one(provider: str):
    with pytest.raises(
        ConfigError,
        match=rf"no price is known for {provider}/mystery-9.*thresher\.yaml.*{provider}/mystery-9.*input:",
    ):
        prices().most(provider, "mystery-9", 10, 10)
    with pytest.raises(ConfigError):
        prices().cost(provider, "mystery-9", Usage(1, 1, 1))


def test_a_provider_that_is_not_there_is_named():
    with pytest.raises(ConfigError, match="no provider 'nobody'"):
        prices().most("nobody", "m", 1, 1)


@pytest.mark.promise(15)
@pytest.mark.parametrize("tokens", [0, 1, 150_000, 200_000, 200_001, 272_001, 900_000])
@pytest.mark.parametrize(
    ("provider", "model"),
    [("gemini", "gemini-2.5-pro"), ("claude", "claude-sonnet-4-5"), ("openai", "gpt-4o-mini")],
)
def test_no_call_costs_more_than_was_put_aside_for_it(provider: str, model: str, tokens: int):
    """A byte is a token at worst, so as many tokens as bytes may come back, and the framing on top of
    them."""
    table = prices()
    assert table.cost(provider, model, Usage(1, tokens + FRAMING, 4_000)) <= table.most(
        provider, model, tokens, 4_000
    )


def test_a_long_question_is_charged_at_the_price_of_its_tier():
    table = prices()
    short, long = (
        table.cost("gemini", "gemini-2.5-pro", Usage(1, tokens, 0)) for tokens in (100_000, 300_000)
    )
    assert long > 3 * short


def test_prices_change_with_the_day_and_not_with_the_call():
    table = prices()
    assert table.cost("gemini", "gemini-2.5-flash", Usage(1, 10_000, 10)) == table.cost(
        "gemini", "gemini-2.5-flash", Usage(1, 10_000, 10)
    )


def test_the_table_is_loaded_when_it_is_needed_and_asks_nobody():
    code = "import sys, thresher.ai.prices, thresher.config.project; print([m for m in sys.modules if 'genai' in m or 'pydantic_ai' in m])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"
    code = (
        "import socket, threading\n"
        "def refuse(*_): raise AssertionError('the table asked the network')\n"
        "socket.socket.connect = refuse\n"
        "from thresher.ai.prices import Prices\nfrom thresher.config.models import Models, Thinker\n"
        "from thresher.core.answer import Usage\n"
        "table = Prices(Models({'o': Thinker('o', 'openai')}))\n"
        "print(table.cost('o', 'gpt-4o-mini', Usage(1, 1000, 0)) > 0, threading.active_count())\n"
    )
    assert subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split() == ["True", "1"]
