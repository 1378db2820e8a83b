"""Price sources over HTTP: list them with their health; add, change and retire them, and their rules, with
the scope admin.
"""

from typing import Annotated, Any

from fastapi import Path, Query

from thresher.admin.keys import ADMIN, READ
from thresher.apps.prices.http.answer import Camel, camel_answer
from thresher.apps.prices.http.examples import AT
from thresher.apps.prices.service import sources
from thresher.apps.prices.service.cache import set_cache
from thresher.web.route import MAX_ROWS, AfterName, CurrentRuntime, Limit, Route
from thresher.web.schemas import RequestBody, Text, like

SourceName = Annotated[str, Path(description="Name of the price source.")]


class RuleAsked(RequestBody):
    """A rule of a source. Its kind is exclude_keywords, require_keywords, allowed_path or
    rate_limit_override.
    """

    model_config = like(kind="exclude_keywords", values=["replica"], priority=5)

    kind: Text
    values: list[Text]
    priority: int = 0
    active: bool = True


class SourceSaid(RequestBody):
    """What is said of a source. What is not named stays as it is; an option that is null is taken away.
    `cacheSeconds` 0 never uses an answer again, null leaves it to prices.cache_ttl; `ratePerMinute` null is
    no limit.
    """

    model_config = like(tier=2, reputation=0.8, ratePerMinute=30)

    adapter: Text | None = None
    definition: Text | None = None
    options: dict[str, Any] = {}
    tier: int | None = None
    reputation: float | None = None
    ratePerMinute: int | None = None  # noqa: N815  as the API has it
    cacheSeconds: int | None = None  # noqa: N815
    rules: list[RuleAsked] | None = None


class SourceAsked(SourceSaid):
    """A source: its name, its adapter (marketplace, page, search, csv or manual), what the adapter needs, and
    what its prices are worth: a tier from 1, the best, to 10, and a reputation from 0 to 1.
    """

    model_config = like(
        name="club-list", adapter="csv", options={"url": "https://club.example/prices.csv"}, tier=3
    )

    name: Text


async def listed(
    runtime: CurrentRuntime,
    retired: Annotated[bool, Query(description="Show retired sources too.")] = False,
    limit: Limit = 1_000,
    after: AfterName = None,
) -> Camel[list[sources.SourceView]]:
    """List price sources by name: whether each is open, its failures in a row, and when it last worked."""
    return await camel_answer(
        runtime, lambda: sources.list_views(runtime.store, retired=retired, after=after, limit=limit)
    )


async def shown(runtime: CurrentRuntime, source: SourceName) -> Camel[sources.SourceView]:
    """Show one price source with its options, rules and health."""
    return await camel_answer(runtime, lambda: sources.show_source(runtime.store, source))


async def add(runtime: CurrentRuntime, body: SourceAsked) -> Camel[sources.SourceChanged]:
    """Add a price source, or have one that is known be as it is said now."""
    said = {**_said(body), "options": {**body.options}}
    return await camel_answer(
        runtime, lambda: sources.add_source(runtime.store, runtime.registry, body.name, said)
    )


async def change(
    runtime: CurrentRuntime, source: SourceName, body: SourceSaid
) -> Camel[sources.SourceChanged]:
    """Change a price source; what is not named stays."""
    said = _said(body)
    return await camel_answer(
        runtime,
        lambda: sources.change_source(runtime.store, runtime.registry, source, said, options=body.options),
    )


def _said(body: SourceSaid) -> dict[str, Any]:
    """What was named, as files spell it."""
    named = body.model_dump(exclude_unset=True, exclude={"name", "options"})
    words = {"ratePerMinute": "rate_per_minute", "cacheSeconds": "cache_seconds"}
    may_be_null = ("definition", *words)
    return {
        words.get(name, name): value
        for name, value in named.items()
        if value is not None or name in may_be_null
    }


class CacheAsked(RequestBody):
    """For how many seconds answers are used again. 0 forgets what was kept; null leaves it to the source."""

    model_config = like(seconds=0)

    seconds: int | None


async def cache(runtime: CurrentRuntime, source: SourceName, body: CacheAsked) -> Camel[sources.SourceView]:
    """Set for how long the answers of a source are used again, whatever the project file says."""

    def work() -> sources.SourceView:
        set_cache(runtime.store, source, body.seconds)
        return sources.show_source(runtime.store, source)

    return await camel_answer(runtime, work)


async def retire(runtime: CurrentRuntime, source: SourceName) -> Camel[sources.SourceView]:
    """Ask a source no more. The prices that it has brought are kept and go on counting."""
    return await camel_answer(runtime, lambda: sources.retire_source(runtime.store, source))


async def add_rule(
    runtime: CurrentRuntime, source: SourceName, body: RuleAsked
) -> Camel[sources.SourceChanged]:
    """Add a rule to a source: words that a listing must or must not have, paths that count, another rate."""
    return await camel_answer(
        runtime, lambda: sources.add_rule(runtime.store, runtime.registry, source, body.model_dump())
    )


async def remove_rule(
    runtime: CurrentRuntime,
    source: SourceName,
    number: Annotated[int, Path(ge=1, le=MAX_ROWS, description="Its place in the list of rules.")],
) -> Camel[sources.SourceChanged]:
    """Remove a rule of a source, by its number in the list from 1."""
    return await camel_answer(
        runtime, lambda: sources.remove_rule(runtime.store, runtime.registry, source, number)
    )


_SOURCE: dict[str, Any] = {
    "id": 2,
    "name": "ebay-us",
    "adapter": "marketplace",
    "definition": "ebay",
    "options": {"market": "EBAY_US"},
    "tier": 2,
    "reputation": 0.8,
    "ratePerMinute": 30.0,
    "cacheSeconds": 3_600,
    "rules": [{"kind": "exclude_keywords", "values": ["replica"], "priority": 5, "active": True}],
    "gate": "prices.ebay-us",
    "enabled": True,
    "state": "paused",
    "why": "429 Too Many Requests",
    "pausedUntil": AT,
    "failureStreak": 0,
    "lastSuccessAt": AT,
    "lastFailureAt": AT,
    "lastError": "RateLimited: 429 Too Many Requests",
    "needs": ["EBAY_CLIENT_ID"],
    "missing": ["EBAY_CLIENT_ID"],
    "items": 120,
    "found": 96,
    "failing": 2,
    "declaredIn": "file",
    "createdAt": AT,
    "retiredAt": AT,
}
_CHANGED = {"source": _SOURCE, "new": True, "changed": True, "items": 12}

ROUTES = (
    Route(
        "GET",
        "/api/prices/sources",
        listed,
        READ,
        example=[_SOURCE],
        probe=True,
        page_by="name",
        name="list_price_sources",
    ),
    Route("POST", "/api/prices/sources", add, ADMIN, example=_CHANGED, name="add_price_source"),
    Route("GET", "/api/prices/sources/{source}", shown, READ, example=_SOURCE, name="get_price_source"),
    Route(
        "PATCH", "/api/prices/sources/{source}", change, ADMIN, example=_CHANGED, name="change_price_source"
    ),
    Route(
        "DELETE", "/api/prices/sources/{source}", retire, ADMIN, example=_SOURCE, name="retire_price_source"
    ),
    Route(
        "POST",
        "/api/prices/sources/{source}/cache",
        cache,
        ADMIN,
        example=_SOURCE,
        name="set_price_source_cache",
    ),
    Route(
        "POST",
        "/api/prices/sources/{source}/rules",
        add_rule,
        ADMIN,
        example=_CHANGED,
        name="add_price_source_rule",
    ),
    Route(
        "DELETE",
        "/api/prices/sources/{source}/rules/{number}",
        remove_rule,
        ADMIN,
        example=_CHANGED,
        name="remove_price_source_rule",
    ),
)
