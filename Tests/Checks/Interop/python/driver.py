"""Reads questions from standard input, one per line, and answers them with the installed Python package. README.md describes the
language."""
import functools
import io
import sys
from datetime import datetime, timedelta, timezone

sys.dont_write_bytecode = True

from pushcrypt import Credential, DevicePublicKey, Placeholder, ProviderKey, PushcryptError, Sealer, StoredDevice, seal_file


def data(word):
    return b"" if word == "-" else bytes.fromhex(word)


# Parsing each key once makes the many questions about one device fast.
@functools.cache
def stored(topic, key):
    return StoredDevice(device="phone1", topic=topic, public_key=DevicePublicKey.parse(key), generation=1)


@functools.cache
def signing_key(text):
    """A provider's secret key, or the three lines of a signing key file."""
    lines = text.split(",")
    return ProviderKey.parse(text) if len(lines) == 1 else Credential.parse("\n".join(lines))


@functools.cache
def sealer(context, secret, title, sound):
    return Sealer(signing_key(secret), topic=context, placeholder=Placeholder(title=title, sound=sound or None))


def answer_message(context, device, secret, sent_at, payload, *words):
    pairs = (each.partition("=") for each in words)
    options = {name: bytes.fromhex(value).decode() for name, _, value in pairs}
    sealing = sealer(context, secret, options.pop("title"), options.pop("sound"))
    push = sealing.seal(
        data(payload), stored(context, device), at=EPOCH + timedelta(milliseconds=int(sent_at)), push_type=options.pop("push-type"),
        time_to_live=timedelta(seconds=int(options.pop("time-to-live"))), message_id=options.pop("id", None))
    assert not options, options
    return f"sealed {push.payload.hex()}"


def answer_sealfile(secret, plain):
    sealed = io.BytesIO()
    file = seal_file(io.BytesIO(data(plain)), sealed, signing_key(secret))
    return f"sealed {file.key.hex()} {sealed.getvalue().hex()}"


EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
ANSWERS = {"message": answer_message, "sealfile": answer_sealfile}

for line in sys.stdin:
    words = line.split()
    try:
        print(ANSWERS[words[0]](*words[1:]), flush=True)
    except PushcryptError as refused:
        print("refused", refused.code, flush=True)
    except Exception as error:
        print("broken", repr(error), flush=True)
