"""All pipelines of the roles app, their schedules, and what it asks models for."""

from thresher.apps.roles.expire import EXPIRE, expire_postings
from thresher.apps.roles.match_candidates import match_candidates
from thresher.apps.roles.match_postings import match_postings
from thresher.apps.roles.normalize import SCHEMA, normalize
from thresher.apps.roles.upkeep import END_SESSIONS, RESET_ROLES, end_sessions, reset_roles

PIPELINES = (normalize, match_postings, match_candidates, expire_postings, end_sessions, reset_roles)
SCHEDULES = (END_SESSIONS, RESET_ROLES, EXPIRE)
SCHEMAS = (SCHEMA,)
