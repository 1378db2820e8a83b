"""What the roles app brings: its pipelines, its schedules, and what it asks models for. Scrapers and people
come in by the API.
"""

from thresher.apps.roles.expire import EXPIRE, expire_postings
from thresher.apps.roles.match_candidates import match_candidates
from thresher.apps.roles.match_postings import match_postings
from thresher.apps.roles.normalize import SCHEMA, normalize
from thresher.apps.roles.upkeep import END_SESSIONS, RESET_ROLES, end_sessions, reset_roles
from thresher.core.pipeline import App

app = App(
    "roles",
    pipelines=(normalize, match_postings, match_candidates, expire_postings, end_sessions, reset_roles),
    schedules=(END_SESSIONS, RESET_ROLES, EXPIRE),
    schemas=(SCHEMA,),
    near={"role": "thresher.apps.roles.role_names:near_roles"},
    effects={
        "matches.replace": "thresher.apps.roles.store.matches:replace_matches",
        "matches.trim": "thresher.apps.roles.store.matches:trim_matches",
        "postings.expire": "thresher.apps.roles.store.upkeep:expire_postings",
        "roles.reset": "thresher.apps.roles.store.upkeep:reset_rested",
        "scrapes.expire": "thresher.apps.roles.store.upkeep:expire_sessions",
        "titles.join": "thresher.apps.roles.store.resolution:join_titles",
        "titles.link": "thresher.apps.roles.store.resolution:link_asking",
        "titles.settle": "thresher.apps.roles.store.resolution:settle_title",
    },
)
