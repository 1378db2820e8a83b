"""The App value of the prices app: names only, so that nothing else of the app is imported here."""

from thresher.core.app import App
from thresher.core.backoff import Retry
from thresher.core.extension import Command

app = App(
    "prices",
    settings="thresher.apps.prices.settings:SETTINGS",
    migrations="thresher.apps.prices:migrations",
    # Five minutes, then twice as long each time, at most a day.
    retry=Retry(base=300.0),
    pipelines="thresher.apps.prices.pipelines:PIPELINES",
    schedules="thresher.apps.prices.pipelines:SCHEDULES",
    declare="thresher.apps.prices.declared:declare",
    events={
        "price_alert": "The value of an item crossed a threshold or changed by the share that somebody wants to be told of.",
        "price_collection_failed": "An item could not be looked for at a source, or the answer proved nothing; told once until it works again.",
        "price_item_archived": "An item is no longer declared, and is not looked for any more; what is known of it is kept.",
        "price_source_retired": "A price source is no longer declared, or was removed; what it has brought is kept.",
        "price_source_silent": "A price source that used to bring listings has given only answers that prove nothing.",
    },
    routes=(
        "thresher.apps.prices.http.items:ROUTES",
        "thresher.apps.prices.http.entries:ROUTES",
        "thresher.apps.prices.http.prices:ROUTES",
        "thresher.apps.prices.http.sources:ROUTES",
        "thresher.apps.prices.http.rates:ROUTES",
        "thresher.apps.prices.http.monitoring:ROUTES",
    ),
    pages="thresher.apps.prices.pages:PAGES",
    tools={
        "list_prices": "GET /api/prices/items",
        "show_price": "GET /api/prices/items/{item}",
        "explain_price": "GET /api/prices/items/{item}/explanation",
        "add_price_item": "POST /api/prices/items",
    },
    templates="thresher.apps.prices:templates",
    exports="thresher.apps.prices.exports:EXPORTS",
    checks="thresher.apps.prices.service.checks:CHECKS",
    highlights="thresher.apps.prices.service.highlights:HIGHLIGHTS",
    explain="thresher.apps.prices.service.explained:EXPLAIN",
    demo="thresher.apps.prices.demo:DEMO",
    template="thresher.apps.prices.template:TEMPLATE",
    commands=(
        Command(
            "prices",
            "See what items are worth and why, and where their prices come from.",
            "thresher.apps.prices.cli.prices:app",
        ),
        Command(
            "add price-item",
            "Add something that is to be valued, and look for its prices.",
            "thresher.apps.prices.cli.prices:add",
        ),
    ),
    reads={
        "prices.answer": "thresher.apps.prices.store.answers:find_answer",
        "prices.due": "thresher.apps.prices.store.collections:due_pairs",
        "prices.due_alert": "thresher.apps.prices.store.alerts:due_alert",
        "prices.items_to_value": "thresher.apps.prices.store.valuations:items_to_value",
        "prices.pair": "thresher.apps.prices.store.pairs:read_pair",
        "prices.prunable": "thresher.apps.prices.store.points:prunable_points",
        "prices.sources": "thresher.apps.prices.store.pairs:read_sources",
        "prices.valuation_inputs": "thresher.apps.prices.store.valuations:valuation_inputs",
    },
    effects={
        "prices.alert_told": "thresher.apps.prices.store.alerts:mark_told",
        "prices.asked": "thresher.apps.prices.store.collections:asked",
        "prices.collected": "thresher.apps.prices.store.collections:collected",
        "prices.collection_failed": "thresher.apps.prices.store.collections:failed",
        "prices.collection_skipped": "thresher.apps.prices.store.collections:skipped",
        "prices.end_asks": "thresher.apps.prices.store.points:end_asks",
        "prices.file_points": "thresher.apps.prices.store.points:file_points",
        "prices.forget_answers": "thresher.apps.prices.store.answers:forget_answers",
        "prices.give_up_valuation": "thresher.apps.prices.store.valuations:give_up_valuation",
        "prices.keep_answer": "thresher.apps.prices.store.answers:keep_answer",
        "prices.request_valuation": "thresher.apps.prices.store.valuations:request_valuation",
        "prices.store_valuation": "thresher.apps.prices.store.valuations:store_valuation",
        "prices.prune_points": "thresher.apps.prices.store.points:prune_points",
    },
)
