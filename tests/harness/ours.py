"""The settings of the machine and of our own apps: their tests share databases."""

from thresher.apps.jobs.settings import SETTINGS as JOBS
from thresher.apps.roles.settings import SETTINGS as ROLES
from thresher.config.settings import Catalogue

OURS = Catalogue({"jobs": JOBS, "roles": ROLES})
