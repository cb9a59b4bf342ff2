"""How many there are of something, in words: one of them is not said with a plural."""


def counted(number: int, one: str, many: str = "") -> str:
    """How many there are of something: ``counted(1, "item")`` is ``1 item``, ``counted(2000, "item")`` ``2,000 items``.

    Args:
        number: How many.
        one: What one of them is called.
        many: What several are called, where it is not ``one`` with an s.
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
