"""What a phone does with a reply: `Docs/FormatRecords.md`, Rules of phones."""

from __future__ import annotations

from .._errors import Code, PushcryptError
from .._keys import DevicePublicKey
from .._records import Reply
from .._types import check_type
from ._trust import Change, Trust


def apply_reply(reply: Reply, key: DevicePublicKey, trust: Trust, *, topic: str, is_built_in: bool) -> tuple[bool, Code | None]:
    """Changes `trust` as a phone does by a reply to the record of `key` [D-12], [D-13], [D-20]. `is_built_in`: whether the app has a pin.

    Returns whether the key is confirmed, and a code to tell the app of.
    """
    for value, kind in ((reply, Reply), (key, DevicePublicKey), (trust, Trust), (topic, str), (is_built_in, bool)):
        check_type(value, kind, "an argument")
    if reply.acknowledged not in (None, key):
        return False, None
    confirms = reply.acknowledged == key
    if confirms and not trust.pins and not is_built_in and reply.provider is not None:
        trust.pins = (reply.provider,)
    if reply.certificate is None or not trust.pins:
        return confirms, reply.refused_certificate
    try:
        return confirms, Code.CERTIFICATE_CONFLICT if trust.accept(reply.certificate, topic=topic) is Change.CONFLICT else None
    except PushcryptError as refused:
        return confirms, refused.code
