import pytest

from thresher.store.postgres.connection import redacted

URLS = [
    "postgresql://ada:hunter2@db.example/queue",
    "postgresql://ada:hunter2@db.example:99999/queue?schema=x",
    "postgresql://ada@db.example/queue?password=hunter2&schema=x",
    "postgresql://ada@db.example/queue?sslpassword=hunter2",
    "postgresql://ada:hun%74er2@db.example/queue",
    "postgresql://ada:hunter2@more@db.example/queue",
    "postgress://ada:hunter2@db.example/queue",
    "host=db.example user=ada password=hunter2 dbname=queue",
    "host=db.example password = 'hunter2' user=ada",
]


@pytest.mark.promise(17)
@pytest.mark.parametrize("url", URLS)
def test_no_message_that_quotes_a_url_shows_its_password(url):
    said = redacted(f"cannot connect with {url!r}: the password hunter2 is wrong", url)
    assert "hunter2" not in said
    assert "hun%74er2" not in said
    assert "db.example" in said
    assert said.startswith("cannot connect with")


@pytest.mark.promise(17)
def test_a_part_of_a_password_that_was_taken_for_a_port_is_hidden():
    url = "postgresql://ada:hunter/two@db.example/queue"
    assert redacted('invalid integer value "hunter" for connection option "port"', url) == (
        'invalid integer value "***" for connection option "port"'
    )
    assert "hunter" not in redacted("Port could not be cast to integer value as 'hunter'", url)


def test_a_message_about_a_url_without_a_password_stays_as_it_is():
    assert (
        redacted("is the server of ada running?", "postgresql://ada@db.example/queue")
        == "is the server of ada running?"
    )
