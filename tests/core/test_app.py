"""What an app says of itself, and what is refused of it."""

import pytest

from thresher import App
from thresher.apps.jobs.app import app as jobs
from thresher.apps.roles.app import app as roles
from thresher.core.errors import UsageError
from thresher.core.named import load_named


@pytest.mark.parametrize("make", ["mark", "no module:mark", "module:", "a:b:c"])
def test_an_effect_that_names_nothing_is_refused_where_it_is_written(make):
    with pytest.raises(UsageError, match=r"write package\.module:name"):
        App("threshing", (), effects={"mark": make})


@pytest.mark.parametrize("app", [jobs, roles], ids=lambda app: app.name)
def test_every_name_in_our_own_apps_leads_somewhere(app):
    named = [*app.effects.values(), *app.near.values()]
    assert [name for name in named if isinstance(name, str) and not callable(load_named(name))] == []


def test_a_name_that_leads_nowhere_says_so():
    with pytest.raises(UsageError, match="has no 'nothing'"):
        load_named("thresher.core.named:nothing")
