"""End-to-end encrypted push notifications.

A provider seals the APNs payload that it sends today, and sends the result instead; only the phone reads it.

    from pushcrypt import ProviderKey, Sealer

    sealer = Sealer(ProviderKey.parse(open("provider.key").read()), topic="com.example.app")
    push = sealer.seal({"aps": {"alert": "Hello"}}, device)  # what `accept` returned when the phone registered
    request = sealer.request(push)  # its url, headers and payload are what APNs gets

What is refused raises a `PushcryptError`, a value of another type a `TypeError`. Times are `datetime`, with a zone, and durations `timedelta`.
`pushcrypt.testing` is a phone, for your tests.
"""

from ._attachments import FullBody, Reference, SealedFile, seal_file, seal_full_body
from ._certificates import Certificate, CertificateRequest, Credential, issue_certificate
from ._envelope import fingerprint
from ._errors import Code, PushcryptError
from ._keys import DevicePublicKey, ProviderKey, ProviderPublicKey, SigningKey
from ._messages import Person
from ._records import DeviceRecord, Reply
from ._registration import Accepted, Devices, StoredDevice, accept
from ._sealing import ClearField, Placeholder, PushRequest, PushType, SealedPush, Sealer

__version__ = "1.0.0b1"

__all__ = [
    "Accepted", "Certificate", "CertificateRequest", "ClearField", "Code", "Credential", "DevicePublicKey",
    "DeviceRecord", "Devices", "FullBody", "Person", "Placeholder", "ProviderKey", "ProviderPublicKey",
    "PushRequest", "PushType", "PushcryptError", "Reference", "Reply", "SealedFile", "SealedPush", "Sealer",
    "SigningKey", "StoredDevice", "accept", "fingerprint", "issue_certificate", "seal_file", "seal_full_body",
]
