"""Misuse by a caller that no file of the kit can express: each call must be refused, or do no harm."""
import os
import time

import attachments
import envelope
import keys
import payload
import seal
import trust as trusts


def refused(code, function, *arguments, **named):
    """Whether the call is refused with the code."""
    try:
        function(*arguments, **named)
    except keys.Refused as refused:
        return refused.code == code
    return False


def seals(sender, device, **named):
    def attempt(**other):
        return seal.seal(b'{"aps":{"alert":"a","sound":"b"}}', "a", device, sender, 0, **other)

    return refused("invalid-time" if "time_to_live" in named else "invalid-request", attempt, **named)


def answers(device, sender, sender_public):
    """A name for each, and whether it passed. The keys are valid."""
    half, key = "\ud800", os.urandom(32)
    yield "a title with half of a pair", seals(sender, device, title=half)
    yield "a sound with half of a pair", seals(sender, device, sound=half)
    yield "a message id of 15 bytes", seals(sender, device, message_id=bytes(15))
    yield "a statement of 180 bytes", seals(sender, device, statements=[bytes(180)])
    yield "a time to live with a fraction", seals(sender, device, time_to_live=1.5)
    woken = seal.seal(b'{"aps":{"alert":"a","content-available":"1"}}', "a", device, sender, 0)
    yield "a string that looks like the number 1", b"content-available" not in woken
    old, zeros = trusts.Superseded(sender_public), trusts.Superseded(bytes(32))
    yield "a pin of zeros", refused("weak-key", trusts.Trust, [trusts.Sender("a", bytes(32))])
    yield "a superseded key of zeros", refused("weak-key", trusts.Trust, [trusts.Sender("a", None, (zeros,))])
    yield "a recovery key of zeros", refused("weak-key", trusts.Trust, [trusts.Sender("a", None, (), (bytes(32),))])
    both = [trusts.Sender("a", sender_public, (old,))]
    yield "a key that is pinned and superseded", refused("sender-superseded", trusts.Trust, both)
    two_uses = [trusts.Sender("a", sender_public), trusts.Sender("b", None, (), (sender_public,))]
    yield "a key that is a sender's and a recovery key", refused("key-has-two-uses", trusts.Trust, two_uses)
    serial = [trusts.Sender("a", sender_public, (), (), bytes(52))]
    yield "a last recovery of 52 bytes", refused("malformed-trust", trusts.Trust, serial)
    statement = bytes([1]) + bytes(180)
    same = trusts.Trust([trusts.Sender("a", None, (trusts.Superseded(sender_public, statement),))])
    yield "the same statement of a sender without a pin", same.evaluate(statement, "a", 0) == (False, None)
    opener = attachments.FileOpener(key, 46, bytes(32))
    first, then = refused("not-a-sealed-file", opener.update, bytes(46)), refused("malformed-file", opener.update, b"")
    yield "a file after it was refused", first and then and refused("malformed-file", opener.finish)
    reference = attachments.Reference("https://a", key, 46, bytes(32), "a.b", "a")
    yield "a key that is printed", repr(key) not in repr(reference)
    yield "the fingerprint of half of a pair", len(envelope.fingerprint(half)) == 8
    start = time.process_time()
    hard = refused("malformed-payload", payload.check_payload, b'{"' + b'\\"' * 8_000)
    yield "an unterminated string", hard and time.process_time() - start < 0.1
