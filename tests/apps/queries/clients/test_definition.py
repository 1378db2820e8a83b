"""The file of a client: what may be written in it, which mistakes are named, with a line and a way out."""

import pickle
from datetime import date

import pytest

from tests.apps.queries.clients.answers import BASE, client
from thresher.apps.queries.clients.api import api_client
from thresher.apps.queries.clients.search import Search, WindowKind
from thresher.core.errors import ConfigError

PATHED = """
name: acme
request: {{url: "https://api.acme.example/{{land}}/list", query: {{q: "{{text}}"}}}}
parameters: {{land: {{help: Country., {more}}}}}
answer: {{rows: offers, fields: {{id: id, title: name}}}}
"""


def test_a_definition_says_what_its_answers_prove():
    made = client(
        request='{url: https://api.acme.example/o, query: {q: "{text}", back: "{bucket}"}}',
        window="{kind: buckets, values: {1: day, 7: week}}",
        newest_first="true",
        timezone="Europe/Madrid",
    )
    assert (made.title, made.timezone, made.takes_text) == ("Acme Offers", "Europe/Madrid", True)
    assert made.reach.window is WindowKind.BUCKETS
    assert (made.reach.buckets, made.reach.any, made.reach.newest_first) == ((1, 7), False, True)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "A client"}, "acme.yaml, line 10: name: 'A client' is not a valid name"),
        ({"nonsense": "1"}, "nonsense: nonsense is not a known key"),
        ({"request": "{url: ftp://a.example/x}"}, "request.url: 'ftp://a.example/x' is not a URL"),
        ({"request": '{url: "https://{host}.example/x"}'}, "the host must be written out"),
        ({"request": '{url: "https://me:pw@a.example/x"}'}, "the host must be written out"),
        ({"request": '{url: "https://a.example/x?q={text}"}'}, "write parameters under query"),
        ({"request": "{url: https://a.example/x, query: [1]}"}, "request.query"),
        ({"request": '{url: https://a.example/x, headers: {"a b": c}}'}, "request.headers.a b"),
        ({"request": '{url: https://a.example/x, query: {q: "{what}"}}'}, "nothing fills {what}"),
        ({"request": '{url: "https://a.example/{text}"}'}, "must be a parameter with a pattern"),
        ({"paging": "{kind: page, size: 5}"}, "{page} stands nowhere in the request"),
        ({"paging": "{kind: page}"}, "size is missing"),
        ({"paging": "{kind: sideways}"}, "write one of none, page, offset, cursor, link"),
        ({"paging": "{kind: link}"}, "next is missing: where the answer says the link"),
        ({"window": "{kind: since}"}, "none of days, since stands in the request"),
        ({"window": "{kind: buckets}"}, "buckets, and only they, need values"),
        ({"window": "{kind: since, format: '%Q'}"}, "is no format of a day"),
        ({"parameters": "{page: {help: x}}"}, "{page} has a meaning of its own"),
        ({"parameters": "{where: {help: x}}"}, "{where} stands nowhere in the request"),
        ({"parameters": "{where: {}}"}, "help is missing"),
        ({"parameters": '{where: {help: x, pattern: "("}}'}, "is not a regular expression"),
        ({"auth": "{as: bearer, env: abc-secret-value}"}, "never the secret itself"),
        ({"auth": "{as: basic, env: A}"}, "auth.password_env"),
        ({"auth": "{as: query, env: A}"}, "name is missing: the query"),
        ({"timezone": "Mars/Olympus"}, "is not a time zone"),
        ({"timezone": "../../etc/passwd"}, "is not a time zone"),
        ({"answer": "{rows: x, fields: {id: id}}"}, "title is needed, and id or url"),
        ({"answer": "{rows: x, fields: {id: id, title: {}}}"}, "answer.fields.title: {} is not a field"),
        ({"answer": "{format: xml, fields: {id: id, title: t}}"}, "root is missing"),
        ({"answer": "{rows: x, fields: {id: a, title: b}, remote: moon}"}, "is wrong; write {path"),
        ({"detail": '{request: {url: "https://b.example/{id}"}, answer: {}}'}, "on the same host"),
        ({"detail": '{request: {url: "https://api.acme.example/{q}"}, answer: {}}'}, "nothing fills {q}"),
        ({"terms": "x" * 301}, "the limit is 300"),
    ],
)
def test_a_mistake_is_named_with_its_file_its_line_its_key_and_advice(changes, said):
    with pytest.raises(ConfigError) as problem:
        client(**changes)
    assert "acme.yaml, line " in str(problem.value)
    assert said in str(problem.value)


def test_a_mistake_in_a_list_of_answers_is_named_by_its_place():
    with pytest.raises(ConfigError, match=r"line \d+: answer\[1\].fields.nmae: nmae is not a known key"):
        client(
            answer="[{rows: a, fields: {id: id, title: t}}, {rows: b, fields: {id: id, title: t, nmae: x}}]"
        )


@pytest.mark.parametrize("text", ["", "- a", "name: [", "a: &a [*a]", "x: " + "[" * 400, "#" * 300_000])
def test_what_is_no_definition_at_all_is_a_mistake_and_no_crash(text):
    with pytest.raises(ConfigError, match=r"acme\.yaml"):
        api_client(text, "acme.yaml")


def test_what_stands_in_the_path_needs_a_pattern_that_its_default_fits():
    with pytest.raises(ConfigError, match="must be a parameter with a pattern"):
        api_client(PATHED.format(more="default: gb"), "acme.yaml")
    with pytest.raises(ConfigError, match=r"land.default: 'x/y' does not fit the pattern"):
        api_client(PATHED.format(more='default: x/y, pattern: "[a-z]{2}"'), "acme.yaml")
    made = api_client(PATHED.format(more='default: gb, pattern: "[a-z]{2}"'), "acme.yaml")
    assert made.defaults == {"land": "gb"}


def test_a_client_can_be_sent_to_another_process_and_is_the_same_there():
    made = client(auth="{env: ACME_KEY}")
    other = pickle.loads(pickle.dumps(made))
    search = Search("welder", today=date(2026, 3, 9))
    assert other == made
    assert other.call(search, None, {"ACME_KEY": "k"}) == made.call(search, None, {"ACME_KEY": "k"})


def test_the_fingerprint_changes_with_the_definition_and_with_the_secret_and_gives_neither_away():
    made, again = client(auth="{env: ACME_KEY}"), client(auth="{env: ACME_KEY}")
    other = client(auth="{env: ACME_KEY}", newest_first="true")
    one, two = {"ACME_KEY": "s3cret-one"}, {"ACME_KEY": "s3cret-two"}
    assert made.fingerprint(one) == again.fingerprint(one)
    assert (
        len({made.fingerprint(one), made.fingerprint(two), made.fingerprint({}), other.fingerprint(one)}) == 4
    )
    assert "s3cret" not in made.fingerprint(one)
    assert made.fingerprint({**one, "PATH": "x"}) == made.fingerprint(one)


def test_the_base_of_these_tests_is_a_definition():
    assert api_client(BASE, "acme.yaml").name == "acme"
