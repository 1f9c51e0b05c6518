"""End-to-end encrypted push notifications.

A provider seals the APNs payload that it sends today, and sends the result instead; only the phone reads it.

    from pushcrypt import DevicePublicKey, Sealer, ProviderKey

    sealer = Sealer(ProviderKey.parse(open("provider.key").read()), topic="com.example.app")
    push = sealer.seal({"aps": {"alert": "Hello"}}, DevicePublicKey.parse("pcr1…"))
    request = sealer.request(push)  # its headers and its payload are what APNs gets

Everything refused is a `PushcryptError`, with the reason as its `code`. Times are milliseconds since 1970, durations
seconds, whole numbers.
"""

from ._envelope import fingerprint
from ._errors import Code, PushcryptError
from .attachments import (
    FileOpener,
    FullBody,
    Reference,
    SealedFile,
    check_full_body,
    seal_file,
    seal_full_body,
)
from .certificates import Certificate, Credential, issue_certificate
from .keys import DeviceKey, DevicePublicKey, ProviderKey, ProviderPublicKey, SigningKey
from .messages import Person
from .opening import HeldKey, Opened, open_push
from .records import (
    DeviceRecord,
    HeldDevice,
    ProviderRecord,
    Reply,
    apply_reply,
    check_registration,
    shows_stale_store,
)
from .sealing import ClearField, Placeholder, PushRequest, PushType, SealedPush, Sealer
from .signing import Signer
from .trust import Change, Learned, Trust

__version__ = "1.0.0b1"

__all__ = [
    "Certificate", "Change", "ClearField", "Code", "Credential", "DeviceKey", "DevicePublicKey", "DeviceRecord", "FileOpener", "FullBody",
    "HeldDevice", "HeldKey", "Learned", "Opened", "Person", "Placeholder", "ProviderKey", "ProviderPublicKey",
    "ProviderRecord", "PushRequest", "PushType", "PushcryptError", "Reference", "Reply", "SealedFile", "SealedPush", "Sealer",
    "Signer", "SigningKey", "Trust", "apply_reply", "check_full_body", "check_registration", "fingerprint",
    "issue_certificate", "open_push", "seal_file", "seal_full_body", "shows_stale_store",
]
