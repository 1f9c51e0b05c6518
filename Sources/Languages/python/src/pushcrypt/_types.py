"""The types of what a caller gives: another one would be sealed, stored or compared as something else."""

from __future__ import annotations


def check_type(value: object, kinds: type | tuple[type, ...], what: str) -> None:
    """Raises a `TypeError` that quotes nothing. `True` and `False` are no numbers."""
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise TypeError(f"{what} is {' or '.join(kind.__name__ for kind in kinds)}, not {type(value).__name__}")


def check_types(values: object, kinds: type | tuple[type, ...], what: str) -> None:
    """The same of a list or tuple, or another collection that is no text."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{what} is a list, not {type(values).__name__}")
    for value in values:
        check_type(value, kinds, f"one of {what}")
