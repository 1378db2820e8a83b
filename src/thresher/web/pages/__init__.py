"""The dashboard: pages for people, made on the server. The apps bring theirs (`App(pages=...)`); the
navigation is read off the list, and what the apps bring stands first.

To add one: a module with a function of a page request and its row, a template, and a line here.
"""

from thresher.web.pages import (
    audit,
    costs,
    events,
    failures,
    health,
    home,
    keys,
    live,
    login,
    people,
    runs,
    schedules,
    settings,
    sources,
    static,
    tasks,
    webhooks,
)
from thresher.web.pages.page import DashboardPage

PAGES: tuple[DashboardPage, ...] = (
    *home.PAGES,
    *tasks.PAGES,
    *failures.PAGES,
    *runs.PAGES,
    *sources.PAGES,
    *schedules.PAGES,
    *events.PAGES,
    *static.PAGES,
    *live.PAGES,
    *login.PAGES,
    *costs.PAGES,
    *health.PAGES,
    *settings.PAGES,
    *keys.PAGES,
    *people.PAGES,
    *webhooks.PAGES,
    *audit.PAGES,
)
