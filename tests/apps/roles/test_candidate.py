"""A candidate as it is kept, and the words that are searched for on its behalf."""

from thresher.apps.roles.candidate import Candidate, as_data, keywords, of_data

ADA = Candidate(
    "ada",
    "Ada",
    "Python Developer",
    skills=("SQL", "python developer", "Docker", "Git", "Linux", "Bash"),
    tech_stack=("Django", "sql", "AWS", "Redis"),
    specializations=("payments",),
    experience_years=8.5,
    remote=False,
)


def test_keywords_are_the_title_five_skills_three_tools_and_what_one_specialises_in_each_once():
    assert keywords(ADA) == ["Python Developer", "SQL", "Docker", "Git", "Linux", "Django", "AWS", "payments"]
    assert keywords(Candidate("b", "B", "Python", skills=("SQL", "python"))) == ["Python", "SQL"]
    assert keywords(Candidate("c", "C")) == []


def test_a_candidate_comes_back_from_its_record_as_it_went_in():
    assert of_data("ada", as_data(ADA)) == ADA
    assert as_data(Candidate("c", "C")) == {"name": "C", "keywords": []}


def test_no_is_kept_and_is_not_the_same_as_nothing_said():
    assert as_data(ADA)["remote"] is False
    assert "remote" not in as_data(Candidate("c", "C"))


def test_titles_that_lead_to_roles_are_each_asked_for_once():
    assert Candidate("c", "C", "Nurse", roles=("Midwife", "Nurse", "")).titles == ("Nurse", "Midwife")
