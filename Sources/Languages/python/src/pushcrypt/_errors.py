"""What this package refuses: one exception, with one code for each reason."""

from __future__ import annotations

import enum


class Code(str, enum.Enum):
    """A reason for refusing, as programs read it. `pushcrypt explain CODE` prints the cause and the fix.

    A code is a string: `error.code == "expired"` and `error.code is Code.EXPIRED` are the same question.
    """

    # Opening
    MALFORMED_NOTIFICATION = "malformed-notification"
    NOT_ENCRYPTED = "not-encrypted"
    MALFORMED_ENVELOPE = "malformed-envelope"
    UNSUPPORTED_SUITE = "unsupported-suite"
    UNKNOWN_RECIPIENT_KEY = "unknown-recipient-key"
    AUTHENTICATION_FAILED = "authentication-failed"
    UNSUPPORTED_MESSAGE = "unsupported-message"
    WRONG_PUSH_CLASS = "wrong-push-class"
    EXPIRED = "expired"
    NOT_YET_VALID = "not-yet-valid"
    MALFORMED_PAYLOAD = "malformed-payload"
    # Sealing
    MISSING_APS = "missing-aps"
    INVALID_FIELD = "invalid-field"
    NOTHING_TO_SHOW = "nothing-to-show"
    RESERVED_KEY = "reserved-key"
    TOO_MANY_ATTACHMENTS = "too-many-attachments"
    PAYLOAD_TOO_LARGE = "payload-too-large"
    PUSH_TOO_LARGE = "push-too-large"
    PUSH_TYPE_NOT_SEALABLE = "push-type-not-sealable"
    INVALID_PLACEHOLDER = "invalid-placeholder"
    INVALID_TIME = "invalid-time"
    INVALID_REQUEST = "invalid-request"
    WRONG_TOPIC = "wrong-topic"
    WRONG_SIGNATURE = "wrong-signature"
    # Keys and records
    MALFORMED_KEY = "malformed-key"
    WRONG_CHECKSUM = "wrong-checksum"
    WRONG_KIND_OF_KEY = "wrong-kind-of-key"
    WEAK_KEY = "weak-key"
    MALFORMED_RECORD = "malformed-record"
    USER_MISMATCH = "user-mismatch"
    GENERATION_ROLLBACK = "generation-rollback"
    GENERATION_TOO_HIGH = "generation-too-high"
    SUITE_DOWNGRADE = "suite-downgrade"
    TOPIC_MISMATCH = "topic-mismatch"
    KEY_TAKEN = "key-taken"
    # Trust
    MALFORMED_CERTIFICATE = "malformed-certificate"
    BAD_CERTIFICATE_SIGNATURE = "bad-certificate-signature"
    CERTIFICATE_CONFLICT = "certificate-conflict"
    WRONG_CERTIFICATE = "wrong-certificate"
    TOO_MANY_PINS = "too-many-pins"
    IMPLAUSIBLE_EPOCH = "implausible-epoch"
    # Files
    MALFORMED_REFERENCE = "malformed-reference"
    NOT_A_SEALED_FILE = "not-a-sealed-file"
    WRONG_SIZE = "wrong-size"
    WRONG_HASH = "wrong-hash"
    MALFORMED_FILE = "malformed-file"
    CHANGED_FILE = "changed-file"
    BODY_TOO_LONG = "body-too-long"

    def __str__(self) -> str:
        return self.value


class PushcryptError(Exception):
    """The input is refused, now and whenever it is tried again.

    The text says what is wrong and what to do. It quotes no key and nothing of a payload, and is for the developer's
    log: a phone's user is shown the fallback, and nothing is sent back.
    """

    code: Code

    def __init__(self, code: Code, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (type(self), self.code, self.args)


def _restored(kind: type[PushcryptError], code: Code, args: tuple[object, ...]) -> PushcryptError:
    error = kind.__new__(kind)
    error.code, error.args = code, args
    return error
