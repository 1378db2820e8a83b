"""The password of a database is in no message, whatever is wrong with its URL."""

import traceback

import pytest

from thresher.core.errors import ConfigError, DatabaseProblem
from thresher.runtime import open_backend
from thresher.store.postgres.connection import Postgres

HERE = "127.0.0.1:1"  # nobody listens there
WRONG = [
    f"postgresql://ada:hunter2@{HERE}/queue",
    f"postgresql://ada@{HERE}/queue?password=hunter2",
    f"postgresql://ada:hunter2@{HERE}/queue?sslmode=hunter2",
    f"postgresql://ada:hunter2@{HERE}/queue?nonsense=1",
    "postgresql://ada:hunter2@db.example:port/queue",
    "postgresql://ada:hunter2/x@db.example/queue",
    "postgresql://ada:hunter2#x@db.example/queue",
    "postgresql://ada:[hunter2@db.example/queue",
    "postgress://ada:hunter2@db.example/queue",
    "host=db.example user=ada password=hunter2",
]


@pytest.mark.promise(17)
@pytest.mark.parametrize("url", WRONG)
def test_an_error_about_a_database_shows_no_password(url):
    with pytest.raises((ConfigError, DatabaseProblem)) as raised:
        open_backend(url)
    told = "".join(traceback.format_exception_only(raised.value)) + str(raised.value.__cause__)
    assert "hunter2" not in told
    assert len(told) > 40


@pytest.mark.promise(17)
@pytest.mark.parametrize("url", WRONG[:7])
def test_a_pool_shows_no_password_either(url):
    postgres = Postgres(url, 1)
    try:
        assert "hunter2" not in postgres._shown
    finally:
        postgres.close()
