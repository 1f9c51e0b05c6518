"""Reads questions from standard input, one per line, and answers them with the Python receiver. README.md describes the
language."""
import copy
import functools
import hashlib
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../../Sources/Languages/python"))

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import attachments
import envelope
import keys
import misuse
import payload
import seal
import trust as trusts


def data(word):
    return b"" if word == "-" else bytes.fromhex(word)


def word(data):
    return data.hex() or "-"


def several(text):
    return [] if text == "-" else text.split(",")


@functools.cache
def key(text, kind):
    return keys.parse_key(text, kind)


@functools.cache
def devices(text):
    pairs = [device.partition("@") for device in several(text)]
    return [envelope.DeviceKey(key(secret, keys.DEVICE_SECRET), int(end or trusts.NEVER)) for secret, _, end in pairs]


@functools.cache
def read_trust(text):
    return trusts.Trust([read_sender(sender) for sender in text.split("/") if sender != "-"])


def read_sender(text):
    name, pinned, superseded, recovery, last = text.split(";")
    pairs = [old.split(":") for old in several(superseded)]
    return trusts.Sender(
        name,
        None if pinned == "-" else key(pinned, keys.SENDER_PUBLIC),
        tuple(trusts.Superseded(key(old, keys.SENDER_PUBLIC), data(by) or None) for old, by in pairs),
        tuple(key(own, keys.RECOVERY_PUBLIC) for own in several(recovery)),
        data(last),
    )


def write_trust(trust):
    return "/".join(write_sender(sender) for sender in trust.senders) or "-"


def write_sender(sender):
    superseded = [sender_text(old.key) + ":" + word(old.statement or b"") for old in sender.superseded]
    recovery = [keys.key_text(own, keys.RECOVERY_PUBLIC) for own in sender.recovery]
    pinned = "-" if sender.pinned is None else sender_text(sender.pinned)
    return ";".join([sender.name, pinned, ",".join(superseded) or "-", ",".join(recovery) or "-", word(sender.last_recovery)])


def sender_text(key):
    return keys.key_text(key, keys.SENDER_PUBLIC)


def answer_key(kind, text):
    text = data(text).decode("utf-8", "surrogateescape")
    found = keys.parse_key(text, kind)
    if keys.key_text(found, kind) != text.removesuffix("\n"):
        return "the text of the key is another one"
    if kind == keys.DEVICE_PUBLIC:
        return f"ok {found.hex()} {keys.key_id(keys.X25519, found).hex()} -"
    if kind == keys.SENDER_PUBLIC:
        return f"ok {found.hex()} {keys.key_id(keys.ED25519, found).hex()} -"
    if kind == keys.RECOVERY_PUBLIC:
        return f"ok {found.hex()} {keys.key_id(keys.RECOVERY, found).hex()} -"
    if kind == keys.DEVICE_SECRET:
        return f"ok {found.hex()} - {envelope.DeviceKey(found).public.hex()}"
    return f"ok {found.hex()} - {Ed25519PrivateKey.from_private_bytes(found).public_key().public_bytes_raw().hex()}"


def answer_check(kind, public_key):
    check = keys.check_device_key if kind == keys.DEVICE_PUBLIC else keys.check_sender_key
    check(data(public_key))
    return "ok"


def answer_context(text):
    envelope.check_context(data(text).decode())
    return "ok"


def answer_text(text):
    decoded = envelope.decode(data(text).decode())
    if envelope.encode(decoded) != data(text).decode():
        return "encodes as another text"
    return f"ok {decoded[1:5].hex()} {len(decoded) - envelope.OUTSIDE}"


def answer_fingerprint(text):
    return f"ok {envelope.fingerprint(data(text).decode())}"


def answer_open(context, device_keys, trust, now, text, open=envelope.open_text):
    opened = open(text, context, devices(device_keys), read_trust(trust), int(now))
    after = copy.copy(read_trust(trust))
    if after.follow(opened.statements, context, int(now))[0] != opened.statements:
        return "broken the statements are not accepted again"
    return (
        f"opened {word(opened.payload)} {opened.message_id.hex()} {opened.sent_at} {opened.time_to_live} "
        f"{sender_text(opened.sender)} {write_trust(after)} {','.join(opened.told) or '-'}"
    )


def answer_statement(trust, context, now, statement):
    after = copy.copy(read_trust(trust))
    changed, told = after.evaluate(data(statement), context, int(now))
    return f"{'accepted' if changed else 'unchanged'} {write_trust(after)} {told or '-'}"


def answer_seal(
    context, device, secret, sent_at, time_to_live, push_type, title, sound, message_id, ephemeral, statements, text
):
    push = seal.seal(
        data(text), context, key(device, keys.DEVICE_PUBLIC), key(secret, keys.SENDER_SECRET), int(sent_at),
        time_to_live=int(time_to_live), push_type=push_type, title=data(title).decode(),
        sound=data(sound).decode() or None, message_id=data(message_id) or None, ephemeral=data(ephemeral) or None,
        statements=[data(statement) for statement in several(statements)],
    )
    return f"sealed {push.hex()}"


def answer_reference(text):
    return "ok " + reference_text(attachments.parse_reference(payload.parse_object(data(text), "malformed-reference")))


def reference_text(reference):
    texts = [text.encode() for text in (reference.url, reference.type, reference.name)]
    return " ".join(word(text) for text in [*texts, reference.key, reference.sha256]) + f" {reference.size}"


def answer_attachments(text):
    members = payload.check_payload(data(text))
    references, dropped = attachments.attachments(members)
    names, body = [word(reference.name.encode()) for reference in references], None
    try:
        body = attachments.full_body(members)
    except keys.Refused as refused:
        dropped.append(refused.code)
    return f"ok {','.join(names) or '-'} {word(body.url.encode()) if body else '-'} {','.join(dropped) or '-'}"


def answer_fullbody(plain):
    attachments.check_full_body(data(plain))
    return "ok"


def answer_file(file_key, size, sha256, pieces):
    opener, plain = attachments.FileOpener(data(file_key), int(size), data(sha256)), b""
    for piece in several(pieces):
        plain += opener.update(data(piece))
    plain += opener.finish()
    return f"opened {len(plain)} {hashlib.sha256(plain).hexdigest()}"


def answer_sealfile(file_key, plain):
    return f"sealed {attachments.seal_file(data(plain), data(file_key)).hex()}"


def answer_misuse(device, secret):
    seed = key(secret, keys.SENDER_SECRET)
    public = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
    wrong = [name for name, good in misuse.answers(key(device, keys.DEVICE_PUBLIC), seed, public) if not good]
    return f"broken {', '.join(wrong)}" if wrong else "ok"


ANSWERS = {
    "key": answer_key,
    "check": answer_check,
    "context": answer_context,
    "text": answer_text,
    "fingerprint": answer_fingerprint,
    "open": lambda *words: answer_open(*words[:4], data(words[4]).decode()),
    "push": lambda *words: answer_open(*words[:4], data(words[4]), envelope.open_push),
    "statement": answer_statement,
    "seal": answer_seal,
    "reference": answer_reference,
    "attachments": answer_attachments,
    "fullbody": answer_fullbody,
    "file": answer_file,
    "sealfile": answer_sealfile,
    "misuse": answer_misuse,
}

for line in sys.stdin:
    words = line.split()
    try:
        print(ANSWERS[words[0]](*words[1:]), flush=True)
    except keys.Refused as refused:
        print("refused", refused.code, flush=True)
    except Exception as error:
        print("broken", repr(error), flush=True)
