"""The `models:` block of `thresher.yaml`: which model vendors a project may ask, which models it uses, and
what they cost.

Read strictly, because a typing error here costs money. A key that is missing from the environment is no
error: everything that needs no model goes on, and whoever needs the key can say which variable was meant.
"""

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from thresher.config.variable import VARIABLE, looked_up
from thresher.core.errors import ConfigError, UsageError
from thresher.core.gate import per_second

KINDS = ("anthropic", "google", "openai")
TIERS = ("cheap", "strong")
KEYS = (*TIERS, "prices", "providers")
PROVIDER_KEYS = ("base_url", "in_flight", "key", "kind", "rate")
MAX_PRICE = 1_000_000
MAX_RATE = 1_000
MAX_URL = 500

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}")
_KEY = re.compile(r"[\x21-\x7e]{1,4000}")
_WEB = re.compile(r"https?://[\x21-\x7e]+")

Problem = Callable[[str, str], ConfigError]


@dataclass(frozen=True, slots=True)
class Thinker:
    """One model vendor, or one server that speaks like one. `key_name` is the variable that holds the key, if
    one was named.

    `rate` (starts a second) and `in_flight` are the limits of its gate; None leaves them as they are for any
    source.
    """

    name: str
    kind: str
    key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    rate: float | None = None
    in_flight: int | None = None
    key_name: str | None = None

    @property
    def gate(self) -> str:
        return f"source:{self.name}"

    @property
    def keyless(self) -> bool:
        """A key is needed and is not there. Servers of one's own often want none, so they need one only if
        the file names it.
        """
        return self.key is None and (self.base_url is None or self.key_name is not None)

    @property
    def private(self) -> bool:
        """Whether it stands on this machine or in a private network."""
        host = urlsplit(self.base_url or "").hostname or ""
        try:
            return ipaddress.ip_address(host).is_private
        except ValueError:
            return host == "localhost" or host.endswith(".localhost")


@dataclass(frozen=True, slots=True)
class Tier:
    """Which model serves a kind of question."""

    provider: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}"


@dataclass(frozen=True, slots=True)
class Rate:
    """What a model costs, in dollars per million tokens."""

    input: Decimal
    output: Decimal


@dataclass(frozen=True, slots=True)
class Models:
    """`tiers` has `cheap` and `strong`, or nothing. `prices` are by `provider/model`, and win over the
    table.
    """

    providers: Mapping[str, Thinker] = field(default_factory=dict)
    tiers: Mapping[str, Tier] = field(default_factory=dict)
    prices: Mapping[str, Rate] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.tiers)


def read_models(given: Any, problem: Problem) -> Models:
    """The block, checked. `problem` makes an error that names the file and the line of a key."""
    if given is None:
        return Models()
    _known(given, KEYS, "models", problem)
    providers = dict(_providers(given.get("providers"), problem))
    tiers = {
        name: _tier(given[name], f"models.{name}", providers, problem)
        for name in TIERS
        if given.get(name) is not None
    }
    if len(tiers) == 1:  # one model is enough for everything
        tiers = dict.fromkeys(TIERS, *tiers.values())
    return Models(providers, tiers, dict(_prices(given.get("prices"), providers, problem)))


def _known(given: Any, keys: tuple[str, ...], where: str, problem: Problem) -> None:
    if not isinstance(given, dict):
        raise problem(where, f"must be a mapping with the keys {', '.join(keys)}, got {type(given).__name__}")
    for key in given:
        if key not in keys:
            raise problem(f"{where}.{key}", f"is not a known key; the keys are {', '.join(keys)}")


def _providers(given: Any, problem: Problem) -> Iterator[tuple[str, Thinker]]:
    if given is None:
        return
    if not isinstance(given, dict):
        raise problem(
            "models.providers",
            f"must map names to providers, such as openai: {{kind: openai}}, got {type(given).__name__}",
        )
    for name, said in given.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise problem(f"models.providers.{name}", "must be a name of a-z, 0-9, _ and -")
        yield name, _thinker(name, said, problem)


def _thinker(name: str, said: Any, problem: Problem) -> Thinker:
    where = f"models.providers.{name}"
    _known(said, PROVIDER_KEYS, where, problem)
    if said.get("kind") not in KINDS:
        raise problem(
            f"{where}.kind",
            f"must be one of {', '.join(KINDS)} (openai also for compatible servers), got "
            f"{said.get('kind')!r}",
        )
    key, key_name = _key(said.get("key"), f"{where}.key", problem)
    return Thinker(
        name,
        said["kind"],
        key,
        _base_url(said.get("base_url"), f"{where}.base_url", problem),
        _rate(said.get("rate"), f"{where}.rate", problem),
        _count(said.get("in_flight"), f"{where}.in_flight", problem),
        key_name,
    )


def _key(given: Any, where: str, problem: Problem) -> tuple[str | None, str | None]:
    """The key, and the variable it was looked for in. A message never shows what was given: it may be the
    key.
    """
    if given is None:
        return None, None
    wants = 'must be a key or, better, the variable that holds it: "${OPENAI_API_KEY}"'
    if not isinstance(given, str):
        raise problem(where, f"{wants}; got {type(given).__name__}")
    named = VARIABLE.fullmatch(given)
    key = (looked_up(named) or "").strip() if named else given
    if named and not key:
        return None, named[1]
    if "${" in key or not _KEY.fullmatch(key):
        holder = f"; the variable {named[1]} does not hold one" if named else ""
        raise problem(where, f"{wants}; a key has no spaces and is plain ASCII{holder}")
    return key, named[1] if named else None


def _base_url(given: Any, where: str, problem: Problem) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str) or len(given) > MAX_URL or not _is_address(given):
        # Not repeated: people put keys into addresses, too.
        raise problem(
            where, "must be a URL such as http://127.0.0.1:11434/v1, without a user name, password, ? or #"
        )
    return given.rstrip("/")


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    bare = not parts.query and not parts.fragment and "@" not in parts.netloc
    return bool(_WEB.fullmatch(text) and parts.hostname) and port != 0 and bare


def _tier(given: Any, where: str, providers: Mapping[str, Thinker], problem: Problem) -> Tier:
    if not isinstance(given, str):
        raise problem(where, f"must be a model such as openai/gpt-5.4-mini, got {type(given).__name__}")
    return Tier(*_named(given, where, providers, problem))


def _named(given: str, where: str, providers: Mapping[str, Thinker], problem: Problem) -> tuple[str, str]:
    """A model's own name may have slashes; the provider's has none."""
    provider, _, model = given.partition("/")
    if not _MODEL.fullmatch(model):
        raise problem(where, f"must be PROVIDER/MODEL, such as openai/gpt-5.4-mini, got {given[:MAX_URL]!r}")
    if provider not in providers:
        known = (
            f"the providers are {', '.join(sorted(providers))}"
            if providers
            else "there are no providers; add one under models.providers"
        )
        raise problem(where, f"names the unknown provider {provider[:MAX_URL]!r}; {known}")
    return provider, model


def _prices(given: Any, providers: Mapping[str, Thinker], problem: Problem) -> Iterator[tuple[str, Rate]]:
    if given is None:
        return
    if not isinstance(given, dict):
        raise problem(
            "models.prices",
            'must map models to prices, such as "local/llama": {input: 0, output: 0}, got '
            f"{type(given).__name__}",
        )
    for name, said in given.items():
        where = f"models.prices.{name}"
        if not isinstance(name, str):
            raise problem(where, f"must be named PROVIDER/MODEL, got {name!r}")
        _named(name, where, providers, problem)
        _known(said, ("input", "output"), where, problem)
        yield name, Rate(*(_price(said, f"{where}.{side}", side, problem) for side in ("input", "output")))


def _price(said: Mapping[str, Any], where: str, side: str, problem: Problem) -> Decimal:
    given = said.get(side)
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= MAX_PRICE:
        raise problem(where, f"must be dollars per million tokens, from 0 to {MAX_PRICE:,}, got {given!r}")
    return Decimal(str(given))  # by its text: 0.1 is meant as one tenth


def _rate(given: Any, where: str, problem: Problem) -> float | None:
    """Starts a second; also written as 30/m."""
    if not isinstance(given, str):
        return _amount(given, where, "starts a second, or 30/m", MAX_RATE, problem)
    try:
        return _amount(per_second(given), where, "starts a second, or 30/m", MAX_RATE, problem)
    except UsageError as wrong:
        raise problem(where, f"is wrong: {wrong}") from None


def _amount(given: Any, where: str, unit: str, most: int, problem: Problem) -> float | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given <= most:
        raise problem(where, f"must be a number above 0 and at most {most:,} ({unit}), got {given!r}")
    return float(given)


def _count(given: Any, where: str, problem: Problem) -> int | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int) or not 0 < given <= MAX_RATE:
        raise problem(where, f"must be a whole number from 1 to {MAX_RATE:,}, got {given!r}")
    return given
