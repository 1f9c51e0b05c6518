"""Sealing a payload for one device: Docs/Format.md, "Clear part", "Size" and "Sealing".

It uses plain randomness, which the format allows: a clone of a running machine may repeat an ephemeral key; the Swift
sealer hedges against this. No field of `aps` is kept in the clear, and a sound is named there only if the payload has
one. Violations of Apple's rules for payloads are not refused.
"""
import json
import re
import secrets

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from envelope import (
    BODY, BUCKETS, CONTENT, LARGEST_TIME, LONGEST_TIME_TO_LIVE, MOST_STATEMENTS, OUTSIDE, PAYLOAD, STATEMENTS, SUITE,
    check_context, encode, envelope_info, signed,
)
from hpke import setup_base_s
from keys import ED25519, X25519, Refused, check_device_key, key_id
from payload import Number, check_payload, minify
from trust import STATEMENT

# For each push type, the most bytes that APNs accepts, and the largest bucket.
LIMITS = {"alert": (4096, 2816), "background": (4096, 2816), "voip": (5120, 3584)}


def seal(payload, context, device, seed, sent_at, *, time_to_live=LONGEST_TIME_TO_LIVE, push_type="alert",
         title="New message", sound="default", message_id=None, statements=(), ephemeral=None):
    """Seals a payload for one device. Returns the push to send instead of the payload. `message_id` is for a retry: the
    same 16 bytes each time.

    `ephemeral` is for vectors alone: the input of `DeriveKeyPair` instead of a random key, which must never be
    used twice [S-9].
    """
    check_context(context)
    check_device_key(device)
    members = check_payload(payload)
    if "ENCRYPTED_DATA" in members or "pushcrypt" in members:
        raise Refused("reserved-key")
    if push_type not in LIMITS:
        raise Refused("push-type-not-sealable")
    if type(time_to_live) is not int or not 1 <= time_to_live <= LONGEST_TIME_TO_LIVE:
        raise Refused("invalid-time")
    if type(sent_at) is not int or not 0 <= sent_at <= LARGEST_TIME:
        raise Refused("invalid-time")
    if len(statements) > MOST_STATEMENTS or any(len(statement) != STATEMENT for statement in statements):
        raise Refused("invalid-request")
    message_id = secrets.token_bytes(16) if message_id is None else message_id
    if len(message_id) != 16 or not is_unicode(title) or not (sound is None or is_unicode(sound)):
        raise Refused("invalid-request")
    limit, largest = LIMITS[push_type]
    body = bytes([len(statements)]) + b"".join(statements) if statements else b""
    body += minify(payload)
    bucket = next((bucket for bucket in BUCKETS if BODY + len(body) <= bucket <= largest), None)
    if bucket is None:
        raise Refused("payload-too-large")
    before, after = clear_part(push_type, members["aps"], title, sound)
    if widest(before + after) + (4 * (OUTSIDE + bucket) + 2) // 3 > limit:
        raise Refused("push-too-large")

    sender = Ed25519PrivateKey.from_private_bytes(seed)
    sender_public = sender.public_key().public_bytes_raw()
    header = bytes([SUITE]) + key_id(X25519, device)
    enc, encryption = setup_base_s(device, envelope_info(header, context), ephemeral)
    content = bytes([STATEMENTS if statements else PAYLOAD]) + message_id
    content += sent_at.to_bytes(8, "big") + time_to_live.to_bytes(4, "big") + len(body).to_bytes(2, "big") + body
    inner = key_id(ED25519, sender_public) + bytes(64) + content.ljust(bucket - CONTENT, b"\0")
    signature = sender.sign(signed(header, enc, device, sender_public, context, inner))
    inner = inner[:4] + signature + inner[CONTENT:]
    text = encode(header + enc + encryption.seal(b"", inner))
    return (before + text + after).encode()


def is_unicode(text):
    """Whether a text can be encoded as UTF-8: it has no lone surrogate."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def clear_part(push_type, aps, title, sound):
    """The text before and after the envelope: all that the relay sees of a push."""
    clear = {}
    if push_type == "alert":
        clear = {"mutable-content": 1, "alert": {"title": title, "body": "(Encrypted)"}}
        if aps.get("sound") is not None and sound is not None:
            clear["sound"] = sound
    wakes = aps.get("content-available")
    if push_type == "background" or (type(wakes) is Number and wakes == "1"):
        clear["content-available"] = 1
    aps = json.dumps(clear, ensure_ascii=False, separators=(",", ":"))
    return '{"aps":' + aps + ',"ENCRYPTED_DATA":"', '"}'


def widest(json_text):
    """The length of a clear part in the longest form that a client may write [S-4]."""
    count = 0
    for token in re.findall(r'"(?:[^"\\]|\\.)*"|.', json_text):
        if token[0] != '"':
            count += 2 if token in ",:" else 1
            continue
        for character in re.findall(r"\\u....|\\.|.", token):
            if character[0] == "\\" or character in "<>&'+=`\x7f":
                count += 6
            elif character == "/":
                count += 2
            else:
                count += 1 if character < "\x80" else 6 if character < "\U00010000" else 12
    return count
