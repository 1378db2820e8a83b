import numpy as np
import pytest

from thresher.core.errors import UsageError
from thresher.vectors.matrix import cosine, matrix_of, unpack

matrix = matrix_of([[1, 0, 0], [0, 0.5, 0.25]], 3)


def test_rows_are_read_with_and_without_numpy():
    assert [row.tolist() for row in matrix] == np.asarray(matrix).tolist() == [[1, 0, 0], [0, 0.5, 0.25]]
    assert np.shares_memory(np.asarray(matrix), np.asarray(matrix))
    assert matrix[-1].tolist() == [0, 0.5, 0.25]
    with pytest.raises(IndexError):
        matrix[2]


def test_what_was_stored_comes_back_to_the_bit():
    again = unpack([matrix.pack(0), matrix.pack(1)], 3)
    assert again.numbers.tobytes() == matrix.numbers.tobytes()
    assert len(matrix.pack(0)) == 12


def test_vectors_of_another_embedder_are_refused():
    with pytest.raises(UsageError, match="embed again"):
        unpack([matrix.pack(0)], 384)
    with pytest.raises(UsageError, match="embed again"):
        matrix_of([[1, 2]], 3)
    with pytest.raises(ValueError, match="shorter"):
        cosine([1, 2], [1])


def test_an_empty_matrix_has_no_rows():
    empty = matrix_of([], 3)
    assert (len(empty), np.asarray(empty).shape, len(unpack([], 3))) == (0, (0, 3), 0)
