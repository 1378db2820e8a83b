"""Seniority, from titles only."""

import pytest

from thresher.hiring.level import read_level


@pytest.mark.parametrize(
    ("title", "level"),
    [
        ("Sr. Software Engineer", "senior"),
        ("Senior Data Analyst", "senior"),
        ("Staff Engineer", "staff"),
        ("Senior Staff Engineer", "staff"),
        ("Senior/Staff Engineer", "senior"),
        ("Mid or Senior Engineer", "mid"),
        ("Principal Designer", "principal"),
        ("Software Engineer I", "junior"),
        ("Software Engineer II", "mid"),
        ("Software Engineer III, Payments", "senior"),
        ("Data Analyst 2", "mid"),
        ("Learning Specialist IV", "senior"),
        ("Software Engineer IV", "staff"),
        ("Lead Developer", "lead"),
        ("Tech Lead, Search", "lead"),
        ("Engineering Manager", "manager"),
        ("Manager, Accounting", "manager"),
        ("Head of Data", "director"),
        ("Associate Director", "director"),
        ("VP Engineering", "executive"),
        ("Chief Technology Officer", "executive"),
        ("Summer Intern 2031", "intern"),
        ("Internship - Office of the CEO", "intern"),
        ("Werkstudent (m/w/d) Marketing", "intern"),
        ("Junior Developer", "junior"),
        ("Entry-Level Analyst", "junior"),
        ("Associate Software Engineer", "junior"),
        ("Graduate Engineer", "junior"),
        ("Store Manager Trainee", "junior"),
        ("Mid/Senior Engineer", "mid"),
        ("Mid-Level Backend Developer", "mid"),
        ("Senior Product Manager", "senior"),
        ("Junior Operations Manager", "junior"),
        ("Jr. Store Manager", "junior"),
        ("Entry Level Manager", "junior"),
        ("Junior Team Lead", "junior"),
        ("Senior Operations Manager", "manager"),
        ("Manager, Junior Accounts", "manager"),
        ("Early Career Recruiting Manager", "manager"),
        ("Junior/Senior Developer", "junior"),
        ("Junior to Mid Developer", "junior"),
    ],
)
def test_a_title_names_its_level(title: str, level: str):
    found = read_level(title)
    assert found is not None
    assert (found.value, title[found.start : found.end].strip() != "") == (level, True)


@pytest.mark.parametrize(
    "title",
    [
        "Software Engineer",
        "Product Manager",  # of a thing
        "Lead Generation Specialist",
        "Staff Accountant",
        "Member of Technical Staff",
        "Chief of Staff",
        "Executive Assistant to the CEO",
        "Internal Auditor",
        "International Sales Representative",
        "Assistant Principal",
        "Head Coach",
        "Helicopter Crew Chief",
        "Chief Clerk",
        "Data Entry Clerk",
        "Sales Associate",
        "Leadership Coach",
        "Plant Operator - Unit 4B",
        "Senior Living Caregiver",
        "Mid-Market Account Executive",
        "Junior High Teacher",
        "Graduate School Registrar",
        "",
    ],
)
def test_a_word_that_only_looks_like_a_level_is_none(title: str):
    assert read_level(title) is None
