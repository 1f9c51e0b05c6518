"""End-to-end encrypted push notifications.

A provider seals the APNs payload that it sends today, and sends the result instead; only the phone reads it.

    from pushcrypt import DevicePublicKey, Sealer, SenderKey

    sealer = Sealer(SenderKey.parse(open("sender.key").read()), topic="com.example.app")
    push = sealer.seal({"aps": {"alert": "Hello"}}, DevicePublicKey.parse("pcr1…"))
    request = sealer.request(push)  # its headers and its payload are what APNs gets

Everything refused is a `PushcryptError`, with the reason as its `code`. Times are milliseconds since 1970, durations
seconds, whole numbers.
"""

from ._envelope import fingerprint
from ._errors import Code, PushcryptError
from .announced import AnnouncedStatements, statement_line
from .attachments import (
    FileOpener,
    FullBody,
    Reference,
    SealedFile,
    check_full_body,
    seal_file,
    seal_full_body,
)
from .keys import DeviceKey, DevicePublicKey, RecoveryKey, RecoveryPublicKey, SenderKey, SenderPublicKey
from .messages import Person
from .opening import HeldKey, Opened, open_push
from .records import (
    DeviceRecord,
    HeldDevice,
    Pins,
    Reply,
    SenderRecord,
    apply_reply,
    check_registration,
)
from .sealing import ClearField, Placeholder, PushRequest, PushType, SealedPush, Sealer
from .signing import Signer
from .trust import Sender, Superseded, Trust, recovery_statement, rotation_statement

__version__ = "1.0.0b1"

__all__ = [
    "AnnouncedStatements", "ClearField", "Code", "DeviceKey", "DevicePublicKey", "DeviceRecord", "FileOpener", "FullBody",
    "HeldDevice", "HeldKey", "Opened", "Person", "Pins", "Placeholder", "PushRequest", "PushType", "PushcryptError",
    "RecoveryKey", "RecoveryPublicKey", "Reference", "Reply", "SealedFile", "SealedPush", "Sealer", "Sender", "SenderKey",
    "SenderPublicKey", "SenderRecord", "Signer", "Superseded", "Trust", "apply_reply", "check_full_body",
    "check_registration", "fingerprint", "open_push", "recovery_statement", "rotation_statement", "seal_file",
    "seal_full_body", "statement_line",
]
