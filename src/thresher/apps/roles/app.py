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
        "matches.replace": "thresher.store.roles.matches:replace_matches",
        "matches.trim": "thresher.store.roles.matches:trim_matches",
        "postings.expire": "thresher.store.roles.expiry:expire_postings",
        "roles.reset": "thresher.store.roles.upkeep:reset_rested",
        "scrapes.expire": "thresher.store.roles.upkeep:expire_sessions",
        "titles.join": "thresher.store.roles.resolution:join_titles",
        "titles.link": "thresher.store.roles.resolution:link_asking",
        "titles.settle": "thresher.store.roles.resolution:settle_title",
    },
)
