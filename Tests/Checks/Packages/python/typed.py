"""Checked by mypy, and not run: the types as a program uses them."""

from typing import TypedDict

from pushcrypt import DevicePublicKey, SealedPush, Sealer, StoredDevice


class Alert(TypedDict):
    aps: dict[str, str]
    table: int


class Table:
    """A provider's devices."""

    def __init__(self) -> None:
        self.rows: dict[str, StoredDevice] = {}

    def find(self, device: str) -> StoredDevice | None:
        return self.rows.get(device)

    def holders(self, public_key: DevicePublicKey, token: str | None) -> list[StoredDevice]:
        return [row for row in self.rows.values() if row.public_key == public_key or (token and row.token == token)]


def seal(sealer: Sealer, device: StoredDevice, alert: Alert) -> SealedPush:
    """A typed dict is no `dict[str, Any]`."""
    return sealer.seal(alert, device)
