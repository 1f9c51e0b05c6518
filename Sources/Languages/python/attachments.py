"""Files that accompany a push: Docs/FormatAttachments.md.

The secret stream is libsodium's, through PyNaCl. Keys are not wiped. Nothing is fetched: the caller must fetch over
https only, and never more than `size` bytes [A-16], [A-34].
"""
import base64
import hashlib
import hmac
import re
from dataclasses import dataclass, field

from nacl import bindings as sodium
from nacl.exceptions import RuntimeError as WrongTag

from keys import Refused
from payload import Number

PREFIX = b"PCA1\x10"
START = 29
CHUNK = 65553
OVERHEAD = 17
SMALLEST_FILE = 46
LARGEST_FILE = 2**53 - 1
LARGEST_FULL_BODY = 65536
LARGEST_PORT = 65535
MOST = 8
MESSAGE, FINAL = 0x00, 0x03

URL = re.compile(
    r"https://(?P<host>[A-Za-z0-9._-]{1,253})(?::(?P<port>[0-9]{1,5}))?"
    r"(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?"
    r"(?:\?(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?"
)
NAME = re.compile(r"(?:[A-Za-z0-9_-]{1,63}\.)*[A-Za-z][A-Za-z0-9_-]{0,62}")
ADDRESS = re.compile(r"(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})")
TYPE = re.compile(r"(?=.{3,255}\Z)[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")


@dataclass(frozen=True)
class Reference:
    """The location of a sealed file, and its key. Because of the key it must never reach `userInfo` or a log [A-15].

    The name is a label to show, never a path: [A-7] allows names that some systems treat as paths, such as `C:x`, `CON`
    or a backslash.
    """

    url: str
    key: bytes = field(repr=False)
    size: int
    sha256: bytes
    type: str
    name: str


def parse_reference(value):
    """Reads a reference from a JSON value [A-5] to [A-10]."""
    if not isinstance(value, dict):
        raise Refused("malformed-reference")
    texts = [value.get(name) for name in ("url", "type", "name", "key", "sha256")]
    size = value.get("size")
    if any(type(text) is not str for text in texts) or type(size) is not Number:
        raise Refused("malformed-reference")
    url, uniform_type, name, key, sha256 = texts
    controls = any(character < " " or "\x7f" <= character < "\xa0" for character in name)
    if (
        not is_url(url)
        or not TYPE.fullmatch(uniform_type)
        or name in (".", "..") or not 1 <= len(name.encode()) <= 255 or "/" in name or controls
        or not size.is_integer() or len(size) > 16 or not SMALLEST_FILE <= int(size) <= LARGEST_FILE
    ):
        raise Refused("malformed-reference")
    return Reference(url, bytes32(key), int(size), bytes32(sha256), uniform_type, name)


def is_url(text):
    """The grammar of [A-5]."""
    parts = URL.fullmatch(text)
    if parts is None or int(parts["port"] or 0) > LARGEST_PORT:
        return False
    if ADDRESS.fullmatch(parts["host"]):
        return all(int(byte) <= 255 for byte in parts["host"].split("."))
    return NAME.fullmatch(parts["host"]) is not None


def bytes32(text):
    """Reads 32 bytes from canonical base64url: 43 characters, the last with two unused bits."""
    if not re.fullmatch("[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]", text):
        raise Refused("malformed-reference")
    return base64.urlsafe_b64decode(text + "=")


def attachments(members):
    """Returns the references in a payload, and a code for each dropped item [A-11] to [A-14]."""
    own = members.get("pushcrypt")
    if own is None:
        return [], []
    list_ = own.get("attachments") if isinstance(own, dict) else own
    if isinstance(own, dict) and list_ is None:
        return [], []
    if not isinstance(own, dict) or not isinstance(list_, list):
        return [], ["malformed-reference"]
    references, dropped = [], []
    for element in list_[:MOST]:
        try:
            references.append(parse_reference(element))
        except Refused as refused:
            dropped.append(refused.code)
    return references, dropped + ["too-many-attachments"] * (len(list_) > MOST)


def full_body(members):
    """Returns the reference of a text that was too long for the push, or `None` [A-28], [A-31]."""
    own = members.get("pushcrypt")
    if not isinstance(own, dict) or own.get("body") is None:
        return None
    reference = parse_reference(own["body"])
    if reference.type != "public.plain-text" or not 1 <= reference.size - SMALLEST_FILE <= LARGEST_FULL_BODY:
        raise Refused("malformed-reference")
    return reference


def check_full_body(plain):
    """Returns the text in the plain file of a full body [A-28], [A-30]. If it is refused, the payload's own body is
    shown."""
    try:
        text = plain.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("malformed-file") from None
    if not 1 <= len(plain) <= LARGEST_FULL_BODY or text.startswith("\ufeff"):
        raise Refused("malformed-file")
    return text


class FileOpener:
    """Opens a sealed file in pieces [A-17] to [A-26].

    The bytes from `update` are authentic but may be truncated: write them to a file with a temporary name, and rename
    it only after `finish` has returned the rest [A-27], [A-35]. After a `Refused`, and after `finish`, everything is
    refused.
    """

    def __init__(self, key, size, sha256):
        self.key, self.size, self.sha256 = key, size, sha256
        self.hash, self.came, self.buffer, self.state = hashlib.sha256(), 0, bytearray(), None
        self.first, self.ended = True, False

    def update(self, piece):
        """Accepts bytes of the file and returns those of the chunks that are now known not to be the last."""
        self.begin()
        within = piece[: self.size - self.came]
        self.came += len(within)
        self.hash.update(within)
        plain, taken = [], 0
        while taken < len(within):
            full = START if self.state is None else CHUNK
            if len(self.buffer) == full:
                plain.append(self.take_buffer())
                continue
            part = within[taken : taken + full - len(self.buffer)]
            self.buffer += part
            taken += len(part)
        if len(within) < len(piece):
            raise Refused("wrong-size")
        self.ended = False
        return b"".join(plain)

    def begin(self):
        """Refuses further calls until the current one succeeds."""
        if self.ended:
            raise Refused("malformed-file")
        self.ended = True

    def take_buffer(self):
        """Processes the start of the file, or a chunk that is not the last."""
        chunk = b""
        if self.state is None:
            if self.buffer[:5] != PREFIX:
                raise Refused("not-a-sealed-file")
            self.state = sodium.crypto_secretstream_xchacha20poly1305_state()
            sodium.crypto_secretstream_xchacha20poly1305_init_pull(self.state, bytes(self.buffer[5:]), self.key)
        else:
            chunk, tag = self.pull()
            if tag != MESSAGE:
                raise Refused("malformed-file")
            self.first = False
        self.buffer.clear()
        return chunk

    def finish(self):
        """Returns the last chunk, if the whole file matches its reference."""
        self.begin()
        if self.came != self.size:
            raise Refused("wrong-size")
        if self.state is None or len(self.buffer) < OVERHEAD:
            raise Refused("truncated-file")
        chunk, tag = self.pull()
        if tag == MESSAGE:
            raise Refused("truncated-file")
        if tag != FINAL or (not chunk and not self.first):
            raise Refused("malformed-file")
        if not hmac.compare_digest(self.hash.digest(), self.sha256):
            raise Refused("wrong-hash")
        return chunk

    def pull(self):
        try:
            return sodium.crypto_secretstream_xchacha20poly1305_pull(self.state, bytes(self.buffer), PREFIX)
        except WrongTag:
            raise Refused("authentication-failed") from None


def seal_file(plain, key):
    """Seals a file under a key that is never used for anything else [A-1] to [A-3]."""
    state = sodium.crypto_secretstream_xchacha20poly1305_state()
    sealed = [PREFIX, sodium.crypto_secretstream_xchacha20poly1305_init_push(state, key)]
    chunks = [plain[start : start + CHUNK - OVERHEAD] for start in range(0, len(plain), CHUNK - OVERHEAD)] or [b""]
    for index, chunk in enumerate(chunks):
        tag = FINAL if index + 1 == len(chunks) else MESSAGE
        sealed.append(sodium.crypto_secretstream_xchacha20poly1305_push(state, chunk, PREFIX, tag))
    return b"".join(sealed)
