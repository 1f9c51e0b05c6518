"""The C library from Python: the header in `ctypes`. Copy this file beside your program."""
import ctypes
from ctypes import POINTER, Structure, byref, c_char, c_char_p, c_size_t, c_uint32, c_uint64, create_string_buffer, sizeof

PUSH_MAX, PAYLOAD_MAX, ERROR_MAX, KEY, ID, LEARNED = 5120, 3584, 1024, 63, 33, 174


class Options(Structure):
    _fields_ = [
        ("size", c_size_t), ("push_type", c_char_p), ("message_name", c_char_p), ("title", c_char_p), ("time_to_live", c_uint32),
        ("flags", c_uint32),
    ]


class Opened(Structure):
    _fields_ = [
        ("size", c_size_t), ("sent_at", c_uint64), ("expires_at", c_uint64), ("file_count", c_uint32), ("device_number", c_uint32),
        ("epoch", c_uint32), ("certificate_conflict", c_uint32), ("message_id", c_char * ID), ("provider", c_char * KEY),
        ("device_key", c_char * KEY), ("learned", c_char * LEARNED),
    ]


library = ctypes.CDLL("libpushcrypt.so.0")
text, output = c_char_p, [c_char_p, c_size_t, POINTER(c_size_t)]
library.pushcrypt_seal.argtypes = [c_char_p, c_size_t, text, text, text, c_uint64, POINTER(Options)] + output
library.pushcrypt_open.argtypes = [c_char_p, c_size_t, text, text, text, text, c_uint64, POINTER(Opened)] + output
library.pushcrypt_last_error.argtypes, library.pushcrypt_last_error.restype = [c_char_p, c_size_t], c_size_t
library.pushcrypt_version.restype = c_char_p


class Refused(Exception):
    """`result` is that of the call; the text begins with the code."""

    def __init__(self, result):
        reason = create_string_buffer(ERROR_MAX)
        library.pushcrypt_last_error(reason, sizeof(reason))
        super().__init__(reason.value.decode())
        self.result = result


def seal(payload, device_key, signing_key, topic, now, **options):
    push, length = create_string_buffer(PUSH_MAX), c_size_t()
    result = library.pushcrypt_seal(
        payload, len(payload), device_key, signing_key, topic, now, byref(Options(size=sizeof(Options), **options)), push, sizeof(push),
        byref(length))
    if result != 0:
        raise Refused(result)
    return push.raw[: length.value]


def open_push(push, device_keys, providers, topic, now, push_type=None):
    opened, payload, length = Opened(size=sizeof(Opened)), create_string_buffer(PAYLOAD_MAX), c_size_t()
    result = library.pushcrypt_open(
        push, len(push), push_type, device_keys, providers, topic, now, byref(opened), payload, sizeof(payload), byref(length))
    if result != 0:
        raise Refused(result)
    return opened, payload.raw[: length.value]


def changed(providers, opened):
    """The list of providers after a message, to store."""
    lines = dict(line.partition(b" ")[::2] for line in providers.split(b"\n") if line)
    if opened.learned:
        lines[opened.provider] = opened.learned
    return b"".join(key + b" " * bool(rest) + rest + b"\n" for key, rest in lines.items())
