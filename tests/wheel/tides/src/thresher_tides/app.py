"""What the tides app brings. Names only, so that `thresher --help` stays quick."""

from thresher import App, Command

app = App(
    "tides",
    pipelines="thresher_tides.work:PIPELINES",
    schedules="thresher_tides.work:SCHEDULES",
    settings="thresher_tides.work:SETTINGS",
    migrations="thresher_tides:migrations",
    prompts="thresher_tides:prompts",
    events={"tide_flooded": "The water in a harbour rose to the level of a flood."},
    effects={"tides.measured": "thresher_tides.store:write_level"},
    reads={"tides.closed": "thresher_tides.store:closed"},
    declare="thresher_tides.store:declare",
    commands=(Command("tides", "See how high the water stands.", "thresher_tides.cli:app"),),
    routes="thresher_tides.http:ROUTES",
    pages="thresher_tides.http:PAGES",
    templates="thresher_tides:templates",
    checks="thresher_tides.store:CHECKS",
    exports="thresher_tides.store:EXPORTS",
    scopes={"tides": "see how high the water stands"},
    key_headers=("X-Tides-Key",),
)
