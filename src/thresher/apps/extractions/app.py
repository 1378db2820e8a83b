"""The App value of the extractions app: names only, so that nothing else of the app is imported here."""

from thresher.core.app import App
from thresher.core.backoff import Retry
from thresher.core.extension import Command

app = App(
    "extractions",
    pipelines="thresher.apps.extractions.pipelines:PIPELINES",
    sources="thresher.apps.extractions.pipelines:SOURCES",
    schedules="thresher.apps.extractions.pipelines:SCHEDULES",
    settings="thresher.apps.extractions.settings:SETTINGS",
    migrations="thresher.apps.extractions:migrations",
    declare="thresher.apps.extractions.declared:declare",
    prompts="thresher.apps.extractions:prompts",
    retry=Retry(base=1.0, limit=2),
    events={
        "dataset_drifted": "Most items of a data set, or a field that most of them had, are missing from the next one.",
        "extraction_cancelled": "An extraction was cancelled: by a person, by its budget, or because its API failed.",
        "extraction_ended": "An extraction ended: complete, cancelled, stale, or because its first page failed.",
        "extraction_stale": "Nothing of an extraction has moved for hours.",
        "recipe_retired": "A recipe is no longer declared, or was removed; what it has brought is kept.",
    },
    routes=(
        "thresher.apps.extractions.http.recipes:ROUTES",
        "thresher.apps.extractions.http.extractions:ROUTES",
        "thresher.apps.extractions.http.datasets:ROUTES",
    ),
    pages="thresher.apps.extractions.pages:PAGES",
    templates="thresher.apps.extractions:templates",
    checks="thresher.apps.extractions.service.checks:CHECKS",
    highlights="thresher.apps.extractions.service.highlights:HIGHLIGHTS",
    demo="thresher.apps.extractions.demo:DEMO",
    template="thresher.apps.extractions.template:TEMPLATE",
    reads={
        "extractions.count_pages": "thresher.apps.extractions.store.pages:count_pages",
        "extractions.extraction": "thresher.apps.extractions.store.extractions:read_extraction",
        "extractions.items_unchanged": "thresher.apps.extractions.store.pages:items_unchanged",
        "extractions.known_pages": "thresher.apps.extractions.store.pages:known_pages",
        "extractions.open_pages": "thresher.apps.extractions.store.pages:open_pages",
        "extractions.page": "thresher.apps.extractions.store.pages:page_to_fetch",
        "extractions.recipe": "thresher.apps.extractions.store.recipes:read_recipe",
        "extractions.stuck": "thresher.apps.extractions.store.totals:stuck",
        "extractions.totals": "thresher.apps.extractions.store.totals:read_totals",
        "extractions.spent_before": "thresher.apps.extractions.store.extractions:spent_before",
    },
    effects={
        "extractions.add_pages": "thresher.apps.extractions.store.pages:add_pages",
        "extractions.api_ended": "thresher.apps.extractions.store.datasets:api_ended",
        "extractions.cancel": "thresher.apps.extractions.store.extractions:cancel",
        "extractions.dataset_ended": "thresher.apps.extractions.store.datasets:dataset_ended",
        "extractions.detected": "thresher.apps.extractions.store.recipes:detected",
        "extractions.detection_began": "thresher.apps.extractions.store.recipes:detection_began",
        "extractions.finish": "thresher.apps.extractions.store.extractions:finish",
        "extractions.items_carried": "thresher.apps.extractions.store.datasets:items_carried",
        "extractions.items_stored": "thresher.apps.extractions.store.datasets:items_stored",
        "extractions.mark_stale": "thresher.apps.extractions.store.extractions:mark_stale",
        "extractions.note_run": "thresher.apps.extractions.store.extractions:note_run",
        "extractions.page_failed": "thresher.apps.extractions.store.pages:page_failed",
        "extractions.page_fetched": "thresher.apps.extractions.store.pages:page_fetched",
        "extractions.page_skipped": "thresher.apps.extractions.store.pages:page_skipped",
        "extractions.page_unread": "thresher.apps.extractions.store.pages:page_unread",
        "extractions.retry_pages": "thresher.apps.extractions.store.pages:retry_pages",
        "extractions.reread_pages": "thresher.apps.extractions.store.pages:reread_pages",
        "extractions.undetected": "thresher.apps.extractions.store.recipes:undetected",
    },
    commands=(
        Command(
            "recipes",
            "List, add, detect, try and edit recipes: which sites are read into what.",
            "thresher.apps.extractions.cli.recipes:app",
        ),
        Command(
            "extract",
            "Start, follow, cancel and resume extractions.",
            "thresher.apps.extractions.cli.extract:app",
        ),
        Command(
            "datasets",
            "Look at what extractions brought, compare it, and write it into files.",
            "thresher.apps.extractions.cli.datasets:app",
        ),
    ),
)
