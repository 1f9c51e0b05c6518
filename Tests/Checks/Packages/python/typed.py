"""Checked by mypy, and not run: the types as a program uses them."""

from typing import TypedDict

from pushcrypt import DevicePublicKey, SealedPush, Sealer


class Alert(TypedDict):
    aps: dict[str, str]
    table: int


def seal(sealer: Sealer, device: DevicePublicKey, alert: Alert) -> SealedPush:
    """A typed dict is no `dict[str, Any]`."""
    return sealer.seal(alert, device)
