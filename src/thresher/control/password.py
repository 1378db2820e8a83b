"""Passwords: what one has to be, and the slow hash of it that is kept.

A password is short enough to be guessed, unlike a key, so a guess must cost something: scrypt, 32 MiB and a
quarter of a second. What it cost is kept beside the hash, so that the price may be raised and old hashes
still be read.
"""

import hashlib
import hmac
import secrets
import unicodedata

from thresher.core.errors import UsageError

MIN_LENGTH, MAX_LENGTH = 12, 1_024
COST = 15  # scrypt's N as a power of two
_R, _P = 8, 3
_SIZE = 32


def check_password(password: str, name: str) -> None:
    """Refuse a password that is too short, too long, or the name itself."""
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        raise UsageError(
            f"a password has from {MIN_LENGTH} to {MAX_LENGTH:,} characters, this one has {len(password):,}"
        )
    if password.casefold() == name.casefold():
        raise UsageError("a password that is the name is guessed first; choose another")


def generated() -> str:
    """A password that nobody has to think up: 144 random bits."""
    return secrets.token_urlsafe(18)


def hashed(password: str, cost: int = COST) -> str:
    """The hash of a password, with its salt and what it was made with. Slow on purpose."""
    salt = secrets.token_bytes(16)
    return f"scrypt${cost}${_R}${_P}${salt.hex()}${_scrypt(password, salt, cost, _R, _P).hex()}"


def nobodys(like: str | None = None, cost: int = COST) -> str:
    """A hash that no password has, as dear as another: to compare with where there is nobody, so that it
    takes as long as if there were.
    """
    price = like.split("$")[1:4] if like else [str(cost), str(_R), str(_P)]
    return "$".join(["scrypt", *price, secrets.token_hex(16), secrets.token_hex(_SIZE)])


def fits(password: str, kept: str) -> bool:
    """Whether a password is the one that a hash was made of. As slow as making it."""
    _, cost, r, p, salt, digest = kept.split("$")
    return hmac.compare_digest(
        _scrypt(password, bytes.fromhex(salt), int(cost), int(r), int(p)), bytes.fromhex(digest)
    )


def _scrypt(password: str, salt: bytes, cost: int, r: int, p: int) -> bytes:
    # One letter can be written in several ways, and which one is up to the keyboard.
    text = unicodedata.normalize("NFKC", password[:MAX_LENGTH]).encode("utf-8", "surrogatepass")
    return hashlib.scrypt(text, salt=salt, n=2**cost, r=r, p=p, maxmem=2**cost * r * 256, dklen=_SIZE)
