"""The App value of the roles app: names only, so that nothing else of the app is imported here."""

from thresher.core.app import App
from thresher.core.extension import Command

app = App(
    "roles",
    needs=("hiring",),
    pipelines="thresher.apps.roles.pipelines:PIPELINES",
    schedules="thresher.apps.roles.pipelines:SCHEDULES",
    schemas="thresher.apps.roles.pipelines:SCHEMAS",
    settings="thresher.apps.roles.settings:SETTINGS",
    migrations="thresher.apps.roles:migrations",
    prompts="thresher.apps.roles:prompts",
    events={
        "candidates_matched": "Postings that came in were matched with the candidates of their roles.",
        "jobs_imported": "Postings came in for a role, and are matched next.",
        "platform_paused": "Scrapers start no session on a platform: it failed too often, or a person paused it.",
        "platform_resumed": "Scrapers start sessions on a platform again: a look succeeded, or a person resumed it.",
        "postings_late": "A scraper sent postings after its session was over; a person decides about them.",
        "roles_reset": "Completed roles went back to the queue, because candidates still want them.",
        "session_expired": "A scraper gave no sign of life until its session ended; its role is in the queue again.",
        "sessions_ended": "Sessions whose time was over were ended; their roles are in the queue again.",
    },
    near={"role": "thresher.apps.roles.role_names:near_roles"},
    reads={"roles.old_sessions": "thresher.apps.roles.store.retention:old_sessions"},
    effects={
        "matches.replace": "thresher.apps.roles.store.matches:replace_matches",
        "matches.trim": "thresher.apps.roles.store.matches:trim_matches",
        "postings.expire": "thresher.apps.roles.store.upkeep:expire_postings",
        "roles.reset": "thresher.apps.roles.store.upkeep:reset_rested",
        "roles.prune_sessions": "thresher.apps.roles.store.retention:prune_sessions",
        "scrapes.expire": "thresher.apps.roles.store.upkeep:expire_sessions",
        "titles.join": "thresher.apps.roles.store.resolution:join_titles",
        "titles.link": "thresher.apps.roles.store.resolution:link_asking",
        "titles.settle": "thresher.apps.roles.store.resolution:settle_title",
    },
    exports="thresher.apps.roles.exports:EXPORTS",
    checks="thresher.apps.roles.service.monitor:CHECKS",
    highlights="thresher.apps.roles.service.highlights:HIGHLIGHTS",
    routes=(
        "thresher.apps.roles.http.candidates:ROUTES",
        "thresher.apps.roles.http.roles:ROUTES",
        "thresher.apps.roles.http.scraper:ROUTES",
        "thresher.apps.roles.http.monitoring:ROUTES",
        "thresher.apps.roles.http.scrapers:ROUTES",
    ),
    pages=(
        "thresher.apps.roles.pages.candidates:PAGES",
        "thresher.apps.roles.pages.roles:PAGES",
        "thresher.apps.roles.pages.scrapers:PAGES",
    ),
    tools={
        "list_roles": "GET /api/roles",
        "list_candidates": "GET /api/candidates",
        "list_candidate_matches": "GET /api/candidates/{key}/matches",
        "add_candidate": "POST /api/candidates",
    },
    templates="thresher.apps.roles:templates",
    scopes={"scrape": "take roles from the queue and send postings"},
    key_headers=("X-Scraper-API-Key",),
    demo="thresher.apps.roles.demo:DEMO",
    template="thresher.apps.roles.template:TEMPLATE",
    commands=(
        Command("add candidates", "Add candidates from a file.", "thresher.apps.roles.cli.candidates:add"),
        Command(
            "candidates",
            "List, show and remove candidates, and see their matches.",
            "thresher.apps.roles.cli.candidates:app",
        ),
        Command(
            "roles",
            "List, add, merge, split and rename the roles that candidates want.",
            "thresher.apps.roles.cli.roles:app",
        ),
        Command(
            "sessions",
            "List and end the sessions of external scrapers.",
            "thresher.apps.roles.cli.sessions:app",
        ),
        Command(
            "late",
            "List, import and drop postings that arrived too late.",
            "thresher.apps.roles.cli.late:app",
        ),
        Command(
            "platforms",
            "Add, limit, pause and remove the platforms that scrapers search.",
            "thresher.apps.roles.cli.platforms:app",
        ),
    ),
)
