"""Bar codes of products: EAN, UPC and ISBN as one number of fourteen digits, proven by its check digit."""

_LENGTHS = frozenset({8, 12, 13, 14})
_ISBN10 = 10


def normal_gtin(text: str) -> str | None:
    """A bar code with fourteen digits, so that a UPC equals its EAN; None where the check digit is wrong."""
    bare = text.replace("-", "").replace(" ", "").strip()
    if not bare.isascii() or len(bare) > 14:
        return None
    if len(bare) == _ISBN10 and bare[:9].isdigit():
        return _of_isbn10(bare)
    if len(bare) not in _LENGTHS or not bare.isdigit() or not int(bare):
        return None
    whole = bare.zfill(14)
    return whole if whole[-1] == check_digit(whole[:-1]) else None


def check_digit(digits: str) -> str:
    """The check digit that belongs behind these digits."""
    total = sum(int(digit) * (3 if at % 2 == 0 else 1) for at, digit in enumerate(reversed(digits)))
    return str(-total % 10)


def _of_isbn10(bare: str) -> str | None:
    last = 10 if bare[9] in "Xx" else int(bare[9]) if bare[9].isdigit() else None
    if last is None:
        return None
    total = sum((10 - at) * int(digit) for at, digit in enumerate(bare[:9])) + last
    digits = f"978{bare[:9]}"
    return f"0{digits}{check_digit(digits)}" if total % 11 == 0 else None
