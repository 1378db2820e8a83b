"""The benchmarks of what is stored and of the next role still run: nobody looks at them until a release is
due.
"""

import subprocess
import sys

import pytest

from tests.house.paper import ROOT


@pytest.mark.parametrize(
    "words",
    [
        ("arrivals.py", "--store", "sqlite", "--jobs", "20", "--rounds", "1", "--json"),
        ("records.py", "--store", "sqlite", "--most", "20", "--rounds", "1", "--json"),
        ("prices.py", "--store", "sqlite", "--points", "100", "--page", "20", "--filled", "20", "--json"),
        ("queries.py", "--store", "sqlite", "--offers", "20", "--rounds", "1", "--json"),
        (
            "next_role.py",
            "--store",
            "sqlite",
            "--roles",
            "500",
            "--scrapers",
            "1",
            "--seconds",
            "2",
            "--pace",
            "20",
        ),
    ],
    ids=lambda words: words[0],
)
def test_a_benchmark_of_what_is_stored_runs(words: tuple[str, ...]):
    ran = subprocess.run(
        [sys.executable, *words], cwd=ROOT / "bench", capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr[-2_000:]
    assert ran.stdout.strip()
