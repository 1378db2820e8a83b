"""Technologies are found as whole words, and words of the language only where they are technologies."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.hiring.mentions import MAX_TEXT
from thresher.hiring.technology import family, known_as, names, technologies

NAMED = [
    ("We build in Python, Go and Rust.", "python|go|rust"),
    ("Our backend is written in Go.", "go"),
    ("Senior Go Engineer", "go"),
    ("experience with golang", "go"),
    ("We write Go.", "go"),
    ("- Python\n- Go\n- Rust", "python|go|rust"),
    ("Python/Go/Java", "python|go|java"),
    ("python, go, java", "python|go|java"),
    ("C, C++ and C#", "c|c++|c#"),
    ("C++17, C#, F#", "c++|c#|f#"),
    ("Embedded C and assembly language", "c|assembly"),
    ("Programming languages: C, R", "c|r"),
    ("Python, R, SQL", "python|r|sql"),
    ("Experience with R or Stata", "r"),
    (".NET, ASP.NET and .NET Core", ".net"),
    ("Java and JavaScript are two languages", "java|javascript"),
    ("TypeScript with React and Node.js", "typescript|react|node.js"),
    ("React.js, Vue.js, Next.js", "react|vue|next.js"),
    ("React Native and React", "react native|react"),
    ("Ruby on Rails", "ruby on rails"),
    ("We use Ruby, Python and Perl", "ruby|python|perl"),
    ("Spring Boot microservices", "spring|microservices"),
    ("Java, Spring, Hibernate", "java|spring|hibernate"),
    ("Swift and Kotlin for our apps", "swift|kotlin"),
    ("Swift, Objective-C", "swift|objective-c"),
    ("Apache Spark and Hadoop", "spark|hadoop"),
    ("Spark, Kafka, Airflow", "spark|kafka|airflow"),
    ("Rust developer wanted", "rust"),
    ("Docker, Kubernetes (k8s), Helm", "docker|kubernetes|helm"),
    ("AWS, GCP and Azure", "aws|gcp|azure"),
    ("PostgreSQL or Postgres", "postgresql"),
    ("MS SQL Server", "sql server"),
    ("machine learning, deep learning and NLP", "machine learning|deep learning|nlp"),
    ("AI/ML platform", "machine learning"),
    ("scikit-learn, pandas, NumPy", "scikit-learn|pandas|numpy"),
    ("使用Python开发", "python"),
    ("Kenntnisse in Java und Go", "java|go"),
    ("Erfahrung mit React", "react"),
    ("RESTful services, REST APIs", "rest"),
    ("We use dbt and Snowflake", "dbt|snowflake"),
    ("CI/CD with GitLab CI", "ci/cd|gitlab"),
    ("Microsoft Excel", "excel"),
    ("LLMs and generative AI", "llm|artificial intelligence"),
]
NOT_NAMED = [
    "Go further with us",
    "Go to our page",
    "We go home in time.",
    "a go-to-market team",
    "ready to go",
    "Let's Go!",
    "React to change",
    "We react quickly",
    "how we React when things fail",
    "reactive people",
    "no rust on our bridges",
    "Rust never sleeps",
    "Our machines do not rust.",
    "the Rust Belt",
    "spark joy",
    "A spark of genius",
    "a swift response",
    "Taylor Swift",
    "Swift delivery of parcels",
    "Spring 2025",
    "Our Spring collection",
    "a spring in the step",
    "R&D in Washington D.C.",
    "Series C funded",
    "our C-suite",
    "Vitamin C",
    "John C. Smith",
    "20 °C",
    "html5ai",
    "the maintenance team",
    "our products",
    "in the rain",
    "5 ml of water",
    "ML Strategic Management LLC",
    "The coffee in the kitchen comes from Java.",
    "West Java",
    "We excel at service",
    "Excel in your career",
    "at the helm of the company",
    "a hive of activity",
    "an elastic band",
    "Mr. Jenkins",
    "the chef cooks",
    "a puppet show",
    "Celery soup",
    "the selenium in nuts",
    "a cypress tree",
    "said in jest",
    "acme.net",
    "mail@example.net",
    "https://react.dev/about",
    "info@golang.example",
    "express delivery",
    "American Express",
    "express yourself",
    "the rest of the team",
    "an angular shape",
    "Unity is strength",
    "J'ai un chien",
    "Julia leads the team",
    "Dart players",
    "a phoenix rises",
    "Apache helicopters",
    "bash the button",
    "Let us bootstrap a company",
    "DBT therapy",
    "bourgeois society",
    "cargo",
    "Tableau de bord",
    "scalable",
    "javascripting",
    "Toys R Us",
    "on rails",
]


@pytest.mark.parametrize(("text", "wanted"), NAMED)
def test_a_technology_is_named(text, wanted):
    assert sorted(names(text)) == sorted(wanted.split("|"))


@pytest.mark.parametrize("text", NOT_NAMED)
def test_a_word_that_only_looks_like_a_technology_is_none(text):
    found = set(names(text)) - {"html"}
    assert not found


def test_the_longer_of_two_names_counts():
    (found,) = technologies("We use Ruby on Rails")
    assert found.name == "ruby on rails"


def test_a_mention_says_where_it_stands():
    text = "İstanbul: Python, golang"
    assert [text[each.start : each.end] for each in technologies(text)] == ["Python", "golang"]


@pytest.mark.parametrize(
    ("word", "name"),
    [("Golang", "go"), ("k8s", "kubernetes"), ("React.js", "react"), ("c#", "c#"), ("Knitting", "knitting")],
)
def test_a_word_of_a_profile_gets_the_name_that_pages_get(word, name):
    assert known_as(word) == name


def test_every_technology_finds_itself_and_has_a_family():
    for name in ("python", "react", "postgresql", "machine learning", "docker", "salesforce", ".net", "c++"):
        assert family(name)
        assert name in names(f"Experience with {name} and Python")


def test_a_technology_beyond_the_limit_is_not_read():
    assert names("x " * MAX_TEXT + "python") == ()


@pytest.mark.promise(14)
@given(st.text(alphabet=st.sampled_from("goGORcC+#. .,\n/jJavaScriptRust&-'İß中ML"), max_size=200))
def test_whatever_the_text_mentions_lie_inside_it_in_order_and_apart(text):
    found = technologies(text)
    assert all(0 <= each.start < each.end <= len(text) for each in found)
    assert all(before.end <= after.start for before, after in itertools.pairwise(found))


@given(
    st.lists(
        st.sampled_from(
            [
                "Go",
                "R",
                "C",
                "Python",
                "and",
                "or",
                ",",
                "Spring",
                "a",
                "to",
                "2025",
                ".",
                "\n",
                "React",
                "we",
                "use",
            ]
        ),
        max_size=60,
    )
)
def test_words_in_any_order_are_read_without_trouble(words):
    text = " ".join(words)
    assert {text[each.start : each.end] for each in technologies(text)} <= {
        "Go",
        "R",
        "C",
        "Python",
        "Spring",
        "React",
    }
