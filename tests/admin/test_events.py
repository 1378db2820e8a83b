"""What events and results say to a person: members by their names, and no JSON where words do."""

import pytest

from thresher.admin.events import about_event, in_words


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"roles_reset": 0}, "roles reset: 0"),
        ({"source": "scraper", "done": True, "late": None}, "source: scraper, done: yes, late: none"),
        ({"job_ids": [4, 5, 6]}, "job ids: 4, 5, 6"),
        ({"job_ids": list(range(1_200))}, "job ids: 0, 1, 2 and 1,197 more"),
        ({"pages": []}, "pages: none"),
        ({"deep": {"a": [1]}}, 'deep: {"a": [1]}'),
        ([{"a": 1}], '[{"a": 1}]'),
        ("as it is", "as it is"),
        (7, "7"),
    ],
)
def test_json_is_told_in_words_as_far_as_it_is_flat(value, said):
    assert in_words(value) == said


def test_an_event_is_told_by_its_details_or_else_by_its_sentence():
    told = {"detail": {"until": 0, "why": None}, "sentence": "A gate was paused."}
    assert about_event(told) == "until: 1970-01-01T00:00:00.000Z"
    assert about_event(told | {"detail": {}}) == "A gate was paused."
