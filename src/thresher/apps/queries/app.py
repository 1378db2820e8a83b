"""The App value of the queries app: names only, so that nothing else of the app is imported here."""

from thresher.core.app import App
from thresher.core.extension import Command

app = App(
    "queries",
    needs=("hiring",),
    pipelines="thresher.apps.queries.cycle:PIPELINES",
    schedules="thresher.apps.queries.cycle:SCHEDULES",
    sources="thresher.apps.queries.cycle:SOURCES",
    settings="thresher.apps.queries.settings:SETTINGS",
    migrations="thresher.apps.queries:migrations",
    declare="thresher.apps.queries.declared:declare",
    events={
        "query_ended": "A run of a query ended: found, rate-limited, cut short or failed.",
        "query_retired": "A query is no longer declared; what it has found is kept.",
        "query_rows_skipped": "Rows of a client's answer could not be read as offers and were skipped.",
    },
    routes=("thresher.apps.queries.http.queries:ROUTES",),
    pages="thresher.apps.queries.pages:PAGES",
    templates="thresher.apps.queries:templates",
    reads={
        "queries.alarms_due": "thresher.apps.queries.store.alarms:alarms_due",
        "queries.dirty": "thresher.apps.queries.store.aggregates:dirty_companies",
        "queries.known": "thresher.apps.queries.store.cycle:known_offers",
        "queries.next_due": "thresher.apps.queries.store.cycle:next_due",
        "queries.option": "thresher.apps.queries.store.cycle:read_option",
        "queries.outdated": "thresher.apps.queries.store.offers:outdated_offers",
        "queries.output_rows": "thresher.apps.queries.store.outputs:output_rows",
        "queries.output_states": "thresher.apps.queries.store.outputs:output_states",
        "queries.values_at": "thresher.apps.queries.store.outputs:values_at",
        "queries.other_cycle": "thresher.apps.queries.store.cycle:other_cycle",
        "queries.query": "thresher.apps.queries.store.cycle:read_query",
        "queries.stopped_clients": "thresher.apps.queries.store.cycle:stopped_clients",
    },
    effects={
        "queries.aggregate": "thresher.apps.queries.store.aggregates:aggregate_companies",
        "queries.aggregate_run": "thresher.apps.queries.store.cycle:aggregate_run",
        "queries.alarm": "thresher.apps.queries.store.alarms:raise_alarm",
        "queries.begin": "thresher.apps.queries.store.runs:begin_run",
        "queries.clear_alarm": "thresher.apps.queries.store.alarms:clear_alarm",
        "queries.close_abandoned": "thresher.apps.queries.store.runs:close_abandoned",
        "queries.finish": "thresher.apps.queries.store.runs:finish_run",
        "queries.miss": "thresher.apps.queries.store.runs:miss_finds",
        "queries.note_output": "thresher.apps.queries.store.outputs:note_output",
        "queries.page": "thresher.apps.queries.store.cycle:save_page",
        "queries.pause_client": "thresher.apps.queries.store.cycle:pause_client",
        "queries.progress": "thresher.apps.queries.store.runs:save_progress",
        "queries.replace_alarms": "thresher.apps.queries.store.alarms:replace_alarms",
        "queries.resume_client": "thresher.apps.queries.store.cycle:resume_client",
        "queries.scores": "thresher.apps.queries.store.offers:store_scores",
        "queries.stop_client": "thresher.apps.queries.store.cycle:stop_client",
        "queries.take_values": "thresher.apps.queries.store.outputs:take_values",
        "queries.told": "thresher.apps.queries.store.alarms:mark_told",
    },
    commands=(
        Command(
            "queries",
            "List, add, run and follow recurring searches.",
            "thresher.apps.queries.cli.queries:app",
        ),
    ),
)
