"""Counts with a noun in singular or plural."""


def pluralize(number: int, singular: str, plural: str = "") -> str:
    """Return a count with its noun: ``pluralize(2000, "item")`` is ``2,000 items``.

    Args:
        singular: The noun for one.
        plural: The noun for several; ``singular`` with an s if not given.
    """
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"
