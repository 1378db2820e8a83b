"""Unpacking: everything that can be packed comes back, nothing comes out larger than it may."""

import gzip
import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.core.errors import ConnectionFailed, Malformed, TaskError, TooLarge
from thresher.core.zstd import zstd
from thresher.fetch.body import ACCEPTED, PACKINGS, unpack
from thresher.fetch.request import Bounds

BOUNDS = Bounds(size=3 * 1024 * 1024)
TEXT = b"The quick brown fox jumps over the lazy dog. " * 3_000


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


PACK = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "zstd": zstd.compress,
    "identity": bytes,
}


@pytest.mark.parametrize("encoding", list(PACK))
def test_what_was_packed_comes_back(encoding: str):
    for body in (b"", b"x", TEXT, bytes(range(256)) * 1_000):
        assert unpack(PACK[encoding](body), encoding, BOUNDS) == body


def test_brotli_is_taken_only_where_its_output_can_be_bounded():
    brotli = pytest.importorskip("brotli")
    assert ("br" in PACKINGS) == ("br" in ACCEPTED) == hasattr(brotli.Decompressor, "can_accept_more_data")
    assert unpack(brotli.compress(TEXT), "br", BOUNDS) == TEXT


@given(st.binary(max_size=5_000), st.lists(st.sampled_from(list(PACK)), max_size=2))
def test_layers_are_undone_in_the_order_in_which_they_were_put_on(body: bytes, encodings: list[str]):
    packed = body
    for encoding in encodings:
        packed = PACK[encoding](packed)
    assert unpack(packed, " , ".join(encodings).upper(), BOUNDS) == body


def test_the_naked_deflate_of_careless_servers_is_understood():
    assert unpack(raw_deflate(TEXT), "deflate", BOUNDS) == TEXT


def test_parts_belong_together_and_padding_does_not():
    assert unpack(gzip.compress(b"one ") + gzip.compress(b"two"), "gzip", BOUNDS) == b"one two"
    assert unpack(zstd.compress(b"one ") + zstd.compress(b"two"), "zstd", BOUNDS) == b"one two"
    assert unpack(gzip.compress(b"one") + bytes(50), "gzip", BOUNDS) == b"one"


@pytest.mark.promise(18)
@pytest.mark.parametrize(
    "part",
    [gzip.compress(b""), zstd.compress(b""), gzip.compress(b"x")],
    ids=["gzip", "zstd", "letters"],
)
def test_a_body_of_nothing_but_parts_is_given_up_on(part: bytes):
    encoding = "gzip" if part[:2] == b"\x1f\x8b" else "zstd"
    with pytest.raises(Malformed, match="more than 1,000 parts"):
        unpack(part * 100_000, encoding, BOUNDS)


@pytest.mark.promise(18)
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd"])
def test_the_limit_is_exact(encoding: str):
    bounds = Bounds(size=2_000_000, ratio=1e9)
    assert len(unpack(PACK[encoding](bytes(2_000_000)), encoding, bounds)) == 2_000_000
    with pytest.raises(TooLarge, match=r"more than 2,000,000 bytes, the limit of fetch\.size_limit"):
        unpack(PACK[encoding](bytes(2_000_001)), encoding, bounds)


@pytest.mark.promise(18)
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd"])
def test_a_body_that_grows_out_of_all_proportion_is_called_a_bomb(encoding: str):
    with pytest.raises(TooLarge, match="a decompression bomb"):
        unpack(PACK[encoding](bytes(9_000_000)), encoding, Bounds(size=10_000_000, ratio=100.0))


@pytest.mark.promise(18)
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd"])
def test_wherever_it_is_cut_it_is_noticed(encoding: str):
    packed = PACK[encoding](TEXT)
    for end in range(1, len(packed)):
        with pytest.raises(ConnectionFailed, match="cut off"):
            unpack(packed[:end], encoding, BOUNDS)


@pytest.mark.promise(18)
def test_a_window_larger_than_the_standard_allows_is_not_given():
    packed = zstd.compress(bytes(2**25) + TEXT, options={zstd.CompressionParameter.window_log: 25})
    with pytest.raises(Malformed, match="zstd"):
        unpack(packed, "zstd", BOUNDS)


@pytest.mark.promise(18)
@given(
    st.binary(max_size=400),
    st.sampled_from(["gzip", "deflate", "zstd", "br", "gzip, zstd"]),
    st.integers(0, 20),
)
def test_no_bytes_at_all_make_it_stumble(noise: bytes, encoding: str, keep: int):
    """Also those that begin as they should."""
    start = PACK.get(encoding, gzip.compress)(TEXT)[:keep]
    with suppress(TaskError):
        assert len(unpack(start + noise, encoding, BOUNDS)) <= BOUNDS.size


@pytest.mark.parametrize("encoding", ["compress", "gzip, nonsense", "x" * 10_000, "gzip gzip"])
def test_an_unknown_packing_is_named(encoding: str):
    with pytest.raises(Malformed, match="the response is compressed as"):
        unpack(b"abc", encoding, BOUNDS)


@pytest.mark.promise(18)
def test_more_layers_than_anybody_needs_are_refused():
    with pytest.raises(Malformed, match="compressed 3 times"):
        unpack(b"abc", "gzip, gzip, gzip", BOUNDS)
    with pytest.raises(Malformed, match="compressed 5000 times"):
        unpack(b"abc", "gzip," * 5_000, BOUNDS)
