"""Reads questions from standard input, one per line, and answers them with the installed Python package. README.md describes the
language."""
import functools
import hashlib
import io
import sys

sys.dont_write_bytecode = True

from pushcrypt import (
    Certificate, Credential, DevicePublicKey, Placeholder, ProviderKey, ProviderPublicKey, PushcryptError, Reference, SealedFile, Sealer,
    seal_file,
)
from pushcrypt.testing import DeviceKey, FileOpener, Learned, Trust, open_push


def data(word):
    return b"" if word == "-" else bytes.fromhex(word)


def word(data):
    return data.hex() or "-"


def several(text):
    return [] if text == "-" else text.split(",")


# Parsing each key once makes the many questions about one device fast.
device_key, device_public_key, pin = (functools.cache(kind.parse) for kind in (DeviceKey, DevicePublicKey, ProviderPublicKey))


@functools.cache
def read_learned(text):
    lines = [line.split(":") for line in several(text)]
    return {pin(key): Learned(Certificate.parse(certificate), int(floor)) for key, certificate, floor in lines}


@functools.cache
def signing_key(text):
    """A provider's secret key, or the three lines of a signing key file."""
    lines = several(text)
    return ProviderKey.parse(text) if len(lines) == 1 else Credential.parse("\n".join(lines))


def answer_push(context, devices, pins, learned, push_type, now, push):
    trust = Trust([pin(text) for text in several(pins)], read_learned(learned))
    opened = open_push(
        data(push), topic=context, devices=[device_key(text) for text in several(devices)], trust=trust, push_type=push_type, at=int(now))
    trust.learn(opened.provider, opened.learned)
    known = [(key, trust.learned(key)) for key in trust.pins]
    lines = [f"{key}:{one.certificate}:{one.floor}" for key, one in known if one.certificate]
    return (
        f"opened {word(opened.payload)} {opened.message_id.hex()} {opened.sent_at} {opened.time_to_live} {opened.provider} "
        f"{opened.epoch} {','.join(lines) or '-'} {'certificate-conflict' if opened.has_certificate_conflict else '-'}"
    )


@functools.cache
def sealer(context, secret, title, sound):
    return Sealer(signing_key(secret), topic=context, placeholder=Placeholder(title=title, sound=sound or None))


def answer_message(context, device, secret, sent_at, payload, *words):
    pairs = (each.partition("=") for each in words)
    options = {name: bytes.fromhex(value).decode() for name, _, value in pairs}
    sealing = sealer(context, secret, options.pop("title", "New message"), options.pop("sound", "matching"))
    push = sealing.seal(
        data(payload), device_public_key(device), at=int(sent_at), push_type=options.pop("push-type", "alert"),
        time_to_live=int(options.pop("time-to-live", "2592000")), message_id=options.pop("id", None))
    assert not options, options
    return f"sealed {push.payload.hex()}"


def answer_reference(text):
    found = Reference.from_json(data(text))
    texts = [text.encode() for text in (found.url, found.type, found.name)]
    return "ok " + " ".join(word(text) for text in [*texts, found.key, found.sha256]) + f" {found.size}"


def answer_file(file_key, size, sha256, pieces):
    plain = FileOpener(SealedFile(data(file_key), int(size), data(sha256))).open(map(data, several(pieces)))
    return f"opened {len(plain)} {hashlib.sha256(plain).hexdigest()}"


def answer_sealfile(secret, plain):
    sealed = io.BytesIO()
    file = seal_file(io.BytesIO(data(plain)), sealed, signing_key(secret))
    return f"sealed {file.key.hex()} {sealed.getvalue().hex()}"


ANSWERS = {
    "push": answer_push, "message": answer_message, "reference": answer_reference, "file": answer_file, "sealfile": answer_sealfile,
}

for line in sys.stdin:
    words = line.split()
    try:
        print(ANSWERS[words[0]](*words[1:]), flush=True)
    except PushcryptError as refused:
        print("refused", refused.code, flush=True)
    except Exception as error:
        print("broken", repr(error), flush=True)
