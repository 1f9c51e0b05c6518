"""The phone's half, for tests: opening what a `Sealer` sealed, and answering as a phone does.

It is not part of the stable surface, and not for phones: it has no key store, no replay guard and no screen. Apps use the
Swift library.

    phone = DeviceKey.generate()
    push = sealer.seal(payload, phone.public_key)
    opened = open_push(push.payload, topic=sealer.topic, devices=[phone], trust=Trust([sealer.provider]))
"""

from .._attachments import check_full_body
from ._answers import seal_answer
from ._files import FileOpener
from ._opening import DeviceKey, HeldKey, Opened, open_envelope, open_push
from ._pairing import PairingCode
from ._trust import Change, Learned, Trust, apply_reply

__all__ = [
    "Change", "DeviceKey", "FileOpener", "HeldKey", "Learned", "Opened", "PairingCode", "Trust", "apply_reply", "check_full_body",
    "open_envelope", "open_push", "seal_answer",
]
