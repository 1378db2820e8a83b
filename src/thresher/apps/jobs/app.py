"""The App value of the jobs app: names only, so that nothing else of the app is imported here."""

from thresher.core.app import App
from thresher.core.extension import Command

app = App(
    "jobs",
    needs=("hiring",),
    pipelines="thresher.apps.jobs.pipelines:PIPELINES",
    sources="thresher.apps.jobs.pipelines:SOURCES",
    schedules="thresher.apps.jobs.pipelines:SCHEDULES",
    schemas="thresher.apps.jobs.pipelines:SCHEMAS",
    settings="thresher.apps.jobs.settings:SETTINGS",
    prompts="thresher.apps.jobs:prompts",
    events={
        "board_disabled": "A board is no longer read: it failed too often, denied access, or was disabled manually.",
        "board_enabled": "A board was enabled and is read from now on.",
        "excluded": "A company, a board or an address was not requested: the profile excludes it.",
        "readmitted": "The profile no longer excludes a company or a board; it is read again.",
    },
    follows={"posting": "job"},
    demo="thresher.apps.jobs.demo:DEMO",
    template="thresher.apps.jobs.template:TEMPLATE",
    commands=(
        Command("add company", "Add companies by name or site.", "thresher.apps.jobs.cli.jobs:add_company"),
        Command("add companies", "Add companies from a file.", "thresher.apps.jobs.cli.jobs:add_companies"),
        Command("add board", "Add boards by URL.", "thresher.apps.jobs.cli.jobs:add_board"),
        Command("add posting", "Add postings by URL.", "thresher.apps.jobs.cli.jobs:add_posting"),
        Command("companies", "List and show companies.", "thresher.apps.jobs.cli.companies:app"),
        Command(
            "boards",
            "List, test, enable and disable boards.",
            "thresher.apps.jobs.cli.boards:app",
        ),
        Command(
            "jobs",
            "List matches, judge postings, and manage your profile.",
            "thresher.apps.jobs.cli.jobs:app",
        ),
    ),
    explain="thresher.apps.jobs.service.decisions:EXPLAIN",
    exports="thresher.apps.jobs.exports:EXPORTS",
    tools={
        "list_matches": "GET /api/matches",
        "why_no_matches": "GET /api/matches/why",
        "list_companies": "GET /api/companies",
        "show_company": "GET /api/companies/{key}",
        "list_boards": "GET /api/boards",
        "add_company": "POST /api/companies",
    },
    checks="thresher.apps.jobs.service.boards:CHECKS",
    highlights="thresher.apps.jobs.service.highlights:HIGHLIGHTS",
    pages=(
        "thresher.apps.jobs.pages.matches:PAGES",
        "thresher.apps.jobs.pages.boards:PAGES",
        "thresher.apps.jobs.pages.companies:PAGES",
        "thresher.apps.jobs.pages.why:PAGES",
    ),
    templates="thresher.apps.jobs:templates",
    routes=(
        "thresher.apps.jobs.http.companies:ROUTES",
        "thresher.apps.jobs.http.boards:ROUTES",
        "thresher.apps.jobs.http.matches:ROUTES",
        "thresher.apps.jobs.http.profile:ROUTES",
    ),
)
