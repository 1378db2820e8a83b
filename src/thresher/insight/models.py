"""The models of a project as a person sees them: who can be asked, at what price, and what is missing."""

from thresher.ai.prices import Prices
from thresher.ai.providers import open_provider
from thresher.config.models import Models, Tier
from thresher.core.answer import DOLLAR
from thresher.core.errors import ConfigError
from thresher.insight.doctor import Check, Verdict

MILLION = 1_000_000


def check_models(models: Models) -> list[Check]:
    """For the doctor. Nothing is sent: whether a key is right, the first call will tell."""
    if not models:
        return [
            Check(
                "models",
                Verdict.OK,
                "none: pages are read by rules, their own data and what was learned of their sites",
            )
        ]
    return [_check(models, tier, names) for tier, names in _served(models).items()]


def _served(models: Models) -> dict[Tier, list[str]]:
    found: dict[Tier, list[str]] = {}
    for name, tier in models.tiers.items():
        found.setdefault(tier, []).append(name)
    return found


def _check(models: Models, tier: Tier, names: list[str]) -> Check:
    who = f"{' and '.join(names)}: {tier}"
    thinker = models.providers[tier.provider]
    try:
        open_provider(thinker)
        prices = Prices(models)
        price = (
            prices.most(tier.provider, tier.model, MILLION, 0),
            prices.most(tier.provider, tier.model, 0, MILLION),
        )
    except ConfigError as problem:
        return Check("models", Verdict.FAIL, f"{who}: {problem}")
    if thinker.keyless:
        advice = (
            f"set the variable {thinker.key_name}"
            if thinker.key_name
            else f"give models.providers.{tier.provider} a key"
        )
        return Check("models", Verdict.WARN, f"{who} has no key, so whoever needs it waits", advice)
    says = f"{who}, at most ${price[0] / DOLLAR:.2f} for a million bytes asked and ${price[1] / DOLLAR:.2f} for a million tokens answered"
    return Check("models", Verdict.OK, says)
