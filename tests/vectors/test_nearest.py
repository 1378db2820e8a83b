"""Both scorers against the obvious way, and against what makes search undecided: ties, copies, blocks,
nothing at all."""

import tracemalloc
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.core.errors import UsageError
from thresher.vectors import dense
from thresher.vectors.dense import Dense
from thresher.vectors.matrix import Matrix, matrix_of
from thresher.vectors.nearest import Index, Near, Pair, Plain, Scorer, match

Make = Callable[[Matrix], Scorer]
both = pytest.mark.parametrize("make", [Plain, Dense])


def random(rows: int, dims: int = 8, seed: int = 1) -> Matrix:
    numbers = np.random.default_rng(seed).standard_normal((rows, dims))
    return matrix_of((numbers / np.linalg.norm(numbers, axis=1, keepdims=True)).tolist(), dims)


def joined(*matrices: Matrix) -> Matrix:
    return matrix_of([row.tolist() for each in matrices for row in each], matrices[0].dims)


def obvious(rows: Matrix, queries: Matrix) -> list[list[tuple[float, int]]]:
    scores = np.round(np.asarray(queries).astype(float) @ np.asarray(rows).astype(float).T, 9)
    return [sorted((-score, place) for place, score in enumerate(line.tolist())) for line in scores]


def hits(found: Sequence[tuple[float, int]]) -> tuple[list[int], list[float]]:
    return [place for _, place in found], [pytest.approx(-score, abs=2e-9) for score, _ in found]


@both
@pytest.mark.parametrize("rows", [1, 63, 64, 65, 700])
@pytest.mark.parametrize("k", [1, 2, 5, 64, 700])
def test_the_best_are_the_best(make: Make, rows: int, k: int):
    matrix, queries = random(rows), random(9, seed=2)
    assert list(make(matrix).best(queries, min(k, rows))) == [
        hits(line[:k]) for line in obvious(matrix, queries)
    ]


@both
@pytest.mark.parametrize("least", [-1.1, 0.0, 0.5, 0.99, 1.1])
def test_all_that_are_near_enough_are_found_and_no_other(make: Make, least: float):
    matrix, queries = random(300), random(9, seed=2)
    expected = [hits([each for each in line if -each[0] >= least]) for line in obvious(matrix, queries)]
    assert list(make(matrix).over(queries, least)) == expected


@both
def test_equal_scores_go_by_place_wherever_the_copies_stand(make: Make):
    one = random(1)
    matrix = joined(random(70, seed=3), one, random(400, seed=4), one, one, random(90, seed=5), one)
    ((places, scores),) = make(matrix).best(one, 3)
    assert (list(places), len(set(scores))) == ([70, 471, 472], 1)


@both
@pytest.mark.promise(18)
def test_a_vector_of_zeros_is_as_near_to_all(make: Make):
    nothing = matrix_of([[0.0] * 8], 8)
    assert list(make(random(500)).best(nothing, 2)) == [([0, 1], [0.0, 0.0])]
    assert list(make(joined(*[nothing] * 500)).best(nothing, 2)) == [([0, 1], [0.0, 0.0])]


@given(st.integers(1, 300), st.integers(1, 12), st.integers(1, 6), st.integers(0, 2**31))
def test_with_and_without_numpy_the_answer_is_the_same(rows: int, k: int, distinct: int, seed: int):
    """Few distinct vectors make many ties."""
    pick = np.random.default_rng(seed).integers(0, distinct, rows)
    pool = random(distinct, seed=seed)
    matrix = matrix_of([pool[int(each)].tolist() for each in pick], 8)
    queries = random(3, seed=seed + 1)
    assert list(Dense(matrix).best(queries, min(k, rows))) == list(Plain(matrix).best(queries, min(k, rows)))


@pytest.mark.promise(18)
def test_blocks_change_neither_the_answer_nor_its_order(monkeypatch: pytest.MonkeyPatch):
    matrix, queries = random(500), random(40, seed=2)
    whole = list(Dense(matrix).best(queries, 7)), list(Dense(matrix).over(queries, 0.4))
    for block, again in ((1, 1), (1_500, 3), (501, 64)):
        monkeypatch.setattr(dense, "BLOCK", block)
        monkeypatch.setattr(dense, "AGAIN", again)
        assert (list(Dense(matrix).best(queries, 7)), list(Dense(matrix).over(queries, 0.4))) == whole


def test_an_index_answers_with_keys_and_ties_go_by_key():
    north, east = [1.0, 0.0], [0.0, 1.0]
    index = Index(["b", "c", "a"], matrix_of([north, east, north], 2))
    assert index.nearest(north, 2) == [Near("a", 1.0), Near("b", 1.0)]
    assert index.nearest(east, 9) == [Near("c", 1.0), Near("a", 0.0), Near("b", 0.0)]
    assert list(index.nearest_each(matrix_of([north, east], 2), 1)) == [[Near("a", 1.0)], [Near("c", 1.0)]]
    assert Index([30, 4], matrix_of([north, north], 2)).nearest(north, 1) == [Near(4, 1.0)]


def test_the_order_in_which_an_index_was_filled_does_not_matter():
    matrix = random(200)
    keys = [f"k{number:03}" for number in range(200)]
    turned = Index(keys[::-1], matrix_of([row.tolist() for row in matrix][::-1], 8))
    queries = random(20, seed=2)
    assert list(Index(keys, matrix).nearest_each(queries, 5)) == list(turned.nearest_each(queries, 5))


def test_a_match_finds_every_pair_over_the_threshold_once():
    left = Index(["x", "y"], matrix_of([[1, 0], [0.6, 0.8]], 2))
    right = Index(["a", "b", "c"], matrix_of([[0, 1], [1, 0], [0.8, 0.6]], 2))
    found = [(pair.left, pair.right, round(pair.score, 6)) for pair in match(left, right, 0.8)]
    assert found == [("x", "b", 1.0), ("x", "c", 0.8), ("y", "c", 0.96), ("y", "a", 0.8)]
    assert list(match(left, right, 1.01)) == []
    assert isinstance(next(match(left, right, 0.8)), Pair)


def test_an_empty_index_finds_nothing():
    empty = Index([], matrix_of([], 2))
    full = Index(["a"], matrix_of([[1, 0]], 2))
    assert empty.nearest([1.0, 0.0], 3) == []
    assert list(match(empty, full, 0)) == list(match(full, empty, 0)) == []


def test_what_cannot_be_compared_is_refused():
    index = Index(["a"], matrix_of([[1, 0]], 2))
    with pytest.raises(UsageError, match="embed"):
        index.nearest([1.0, 0.0, 0.0], 1)
    with pytest.raises(UsageError, match="embed both the same way"):
        list(index.over(random(2), 0.5))
    for wrong in (float("nan"), float("inf")):
        with pytest.raises(UsageError, match="contains NaN"):
            index.nearest([wrong, 0.0], 1)
        with pytest.raises(UsageError, match="contains NaN"):
            Index(["a"], matrix_of([[1, wrong]], 2))
        assert not Plain.sound(matrix_of([[1, wrong]], 2))
    with pytest.raises(UsageError, match="1 or more"):
        index.nearest([1.0, 0.0], 0)
    with pytest.raises(UsageError, match="one key"):
        Index(["a", "b"], matrix_of([[1, 0]], 2))
    with pytest.raises(UsageError, match="twice"):
        Index(["a", "a"], matrix_of([[1, 0], [0, 1]], 2))


@pytest.mark.promise(18)
def test_a_hundred_thousand_vectors_are_searched_in_bounded_memory():
    """NumPy reports what it allocates: the scores of a block and the candidates, never the whole product."""
    numbers = np.random.default_rng(1).standard_normal((100_000, 384), np.float32)
    numbers /= np.linalg.norm(numbers, axis=1, keepdims=True)
    index = Index(range(100_000), Matrix(memoryview(numbers.reshape(-1).data), 384))
    queries = Matrix(memoryview(numbers[:200].reshape(-1).copy().data), 384)
    tracemalloc.start()
    found = [each[0].key for each in index.nearest_each(queries, 5)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == list(range(200))
    assert peak < 60 << 20  # the whole product would be 80 MB, and 40 GB for all against all
