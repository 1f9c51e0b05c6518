"""A phone's life: rotations, thefts, floors, two pins, accounts, and what becomes of the replay guard's rows."""

import json
from dataclasses import replace
from typing import Any

from reference.envelope import Signer
from reference.reserved import message_id

from .forge import forge
from .material import (
    CHAIN,
    DAY,
    EPOCHS,
    HOUR,
    NOW,
    PHONE,
    PROVIDER,
    SECOND_PROVIDER,
    SENT_AT,
    SIGNING,
    STRANGER,
    TABLET,
    by,
    certify,
    kept,
    knows,
    pinned,
    seed,
    signer,
)
from .sequence_cases import Step, comes, hand_over, launch, learn, lock, pin, screen, sequence_case, take, unlock, unpin
from .vector import Vector

REFUSED, QUIET = "authentication-failed", "duplicate-quietly"
FIRST, SECOND, THIRD, FOURTH = (signer(number) for number in range(4))
BOTH = pinned(PROVIDER, SECOND_PROVIDER)


def said(number: int, by_key: Signer, **fields: Any) -> bytes:
    """A message of its own, named by its number."""
    return forge(signer=by_key, message_id=seed(f"life {number}")[:16], **fields)


def named(by_key: Signer, name: str = "table-17", **fields: Any) -> bytes:
    return forge(signer=by_key, message_id=message_id(name), **fields)


def withdraws(by_key: Signer, number: int = 99, name: str = "table-17", **fields: Any) -> bytes:
    payload = json.dumps({"aps": {"alert": "Changed"}, "pushcrypt": {"withdraw": [name]}}, separators=(",", ":"))
    return forge(payload.encode(), signer=by_key, message_id=seed(f"life {number}")[:16], **fields)


def case(name: str, expected: str, rules: str, comment: str, *steps: Step, **options: Any) -> Vector:
    return sequence_case(name, expected, rules, comment, *steps, **options)


def rotation_cases() -> list[Vector]:
    planned, theft = "Epochs come in any order, and each opens while T-4 says so.", "After one push, or a reply, nobody believes the thief."
    end = CHAIN[2].grace_until
    fresh = knows(0)
    return [
        case("a planned rotation, and servers that get the new key late", "new new new new", "T-3 T-4", planned, comes(NOW, "a", said(1, SECOND)), comes(NOW + 1, "b", said(2, THIRD)), comes(NOW + 2, "c", said(3, SECOND)), comes(NOW + 3, "d", said(4, THIRD)), receiver=knows(1)),
        case("a planned rotation until the end of the grace", f"new new {REFUSED} new", "T-4", planned, comes(NOW, "a", said(1, THIRD)), comes(end, "b", said(2, SECOND, sent_at=end - HOUR)), comes(end + 1, "c", said(3, SECOND, sent_at=end - HOUR)), comes(end + 2, "d", said(4, THIRD, sent_at=end - HOUR)), receiver=knows(1)),
        case("from epoch 0 to the first certificate and on", f"new new new new {REFUSED}", "T-3 T-4", planned, comes(NOW, "a", said(1, signer())), comes(NOW + 1, "b", said(2, by(SIGNING[0], certify(EPOCHS[3], SIGNING[0])))), comes(NOW + 2, "c", said(3, signer())), comes(NOW + 3, "d", said(4, by(SIGNING[1], certify(EPOCHS[3] + 1, SIGNING[1], EPOCHS[3])))), comes(NOW + 4, "e", said(5, signer())), receiver=pinned(PROVIDER)),
        case("a phone that slept through three rotations", f"new {REFUSED} {REFUSED}", "T-3 T-4", planned, comes(NOW, "a", said(1, FOURTH)), comes(NOW + 1, "b", said(2, THIRD)), comes(NOW + 2, "c", said(3, FIRST)), receiver=fresh),
        case("a theft, and the thief comes first", f"new new {REFUSED}", "T-3 T-4", theft, comes(NOW, "a", said(1, THIRD)), comes(NOW + 1, "b", said(2, FOURTH)), comes(NOW + 2, "c", said(3, THIRD)), receiver=knows(2)),
        case("a theft, and a reply tells of it", f"accepted {REFUSED} new", "T-3 T-4 D-43", theft, learn(NOW, CHAIN[3]), comes(NOW + 1, "a", said(1, THIRD)), comes(NOW + 2, "b", said(2, FOURTH)), receiver=knows(2)),
        case("a theft of a key whose rotation the phone missed", f"new {REFUSED} {REFUSED}", "T-3 T-4", theft, comes(NOW, "a", said(1, FOURTH)), comes(NOW + 1, "b", said(2, THIRD)), comes(NOW + 2, "c", said(3, SECOND)), receiver=pinned(PROVIDER)),
        case("an old reply after a theft lowers nothing", f"new unchanged {REFUSED}", "T-3 T-6", theft, comes(NOW, "a", said(1, FOURTH)), learn(NOW + 1, CHAIN[2]), comes(NOW + 2, "b", said(2, THIRD)), receiver=knows(2)),
        case("two thefts", f"new {REFUSED} new {REFUSED}", "T-3 T-4", theft, comes(NOW, "a", said(1, FOURTH)), comes(NOW + 1, "b", said(2, THIRD)), comes(NOW + 2, "c", said(3, by(SIGNING[4], certify(EPOCHS[3] + 9, SIGNING[4], EPOCHS[3] + 9)))), comes(NOW + 3, "d", said(4, FOURTH)), receiver=knows(2)),
        case("a signing key that expires", f"new {REFUSED} new", "T-4", "A thief is believed for that long, even by a phone that hears nothing.", comes(NOW, "a", said(1, by(SIGNING[0], certify(EPOCHS[3], SIGNING[0], expires_at=NOW)))), comes(NOW + HOUR, "b", said(2, by(SIGNING[0], certify(EPOCHS[3], SIGNING[0], expires_at=NOW)), sent_at=NOW + 1)), comes(NOW + HOUR, "c", said(3, by(SIGNING[1], certify(EPOCHS[3] + 1, SIGNING[1])), sent_at=NOW + 1)), receiver=pinned(PROVIDER)),
        case("a store that was restored issues one epoch twice", "new new new certificate-conflict", "T-3", "Both open, and the app is told.", comes(NOW, "a", said(1, by(SIGNING[0], certify(EPOCHS[3], SIGNING[0])))), comes(NOW + 1, "b", said(2, by(SIGNING[1], certify(EPOCHS[3], SIGNING[1])))), comes(NOW + 2, "c", said(3, by(SIGNING[0], certify(EPOCHS[3], SIGNING[0])))), learn(NOW + 3, certify(EPOCHS[3], SIGNING[2])), receiver=pinned(PROVIDER)),
        case("a store that was restored is above the epoch that a phone proved", f"new {REFUSED} new", "T-3 T-4 T-9", "The floor ends both earlier keys.", comes(NOW, "a", said(1, by(SIGNING[4], certify(EPOCHS[3] + 5, SIGNING[4], EPOCHS[3] + 5)))), comes(NOW + 1, "b", said(2, FOURTH)), comes(NOW + 2, "c", said(3, by(SIGNING[4], certify(EPOCHS[3] + 5, SIGNING[4], EPOCHS[3] + 5)))), receiver=knows(3)),
        case("a clock that is ten years ahead ends a grace, and then is right again", f"expired {REFUSED} new", "T-4", "What is kept does not depend on the clock.", comes(NOW + 3650 * DAY, "a", said(1, THIRD)), comes(NOW + 3650 * DAY, "b", said(2, SECOND)), comes(NOW, "c", said(3, SECOND)), receiver=knows(2)),
    ]


def merge_cases() -> list[Vector]:
    comment = "Extension and app may write in any order."
    return [
        case("the app takes over what the extension learned", f"new {REFUSED}", "T-6 O-9.1", comment, comes(NOW, "a", said(1, FOURTH)), launch(NOW + 1), comes(NOW + 2, "b", said(2, THIRD)), receiver=knows(2)),
        case("the extension learned a lower epoch than the app", f"new accepted {REFUSED} new", "T-6", comment, comes(NOW, "a", said(1, THIRD)), learn(NOW + 1, CHAIN[3]), launch(NOW + 2), comes(NOW + 3, "b", said(2, THIRD)), comes(NOW + 4, "c", said(3, FOURTH)), receiver=knows(1)),
        case("the app gets a lower epoch in a reply than the extension learned", f"new accepted {REFUSED} new", "T-6", comment, comes(NOW, "a", said(1, by(SIGNING[4], certify(EPOCHS[3] + 9, SIGNING[4], EPOCHS[1])))), learn(NOW + 1, CHAIN[3]), comes(NOW + 2, "b", said(2, THIRD)), comes(NOW + 3, "c", said(3, FOURTH)), receiver=knows(1)),
        case("launches without anything new", "new new", "T-6", comment, launch(NOW), comes(NOW, "a", said(1, FOURTH)), launch(NOW + 1), launch(NOW + 2), comes(NOW + 3, "b", said(2, FOURTH)), receiver=knows(2)),
        case("a floor and a certificate from two messages", f"new new {REFUSED} new", "T-6", comment, comes(NOW, "a", said(1, by(SIGNING[4], certify(EPOCHS[3] + 9, SIGNING[4])))), comes(NOW + 1, "b", said(2, FOURTH)), launch(NOW + 2), comes(NOW + 3, "c", said(3, THIRD)), comes(NOW + 4, "d", said(4, FOURTH)), receiver=knows(1)),
    ]


def pin_cases() -> list[Vector]:
    keeps, own = "Removing a pin forgets nothing of its key.", "Pins are an account's; what is kept of a key is every account's."
    two = pinned(PROVIDER, devices=(PHONE, TABLET))
    accounts = {TABLET.secret: "work"}
    second_at_work = replace(two, account_pins={TABLET.secret: (SECOND_PROVIDER.public,)})
    by_second = signer(provider=SECOND_PROVIDER)
    return [
        case("a pin removed and set again after a theft", f"new unpinned {REFUSED} pinned {REFUSED} new", "T-6", keeps, comes(NOW, "a", said(1, FOURTH)), unpin(NOW + 1, PROVIDER), comes(NOW + 2, "b", said(2, FOURTH)), pin(NOW + 3, PROVIDER), comes(NOW + 4, "c", said(3, THIRD)), comes(NOW + 5, "d", said(4, FOURTH)), receiver=knows(2)),
        case("a pin removed and set again after the app took over a theft", f"new unpinned pinned {REFUSED}", "T-6", keeps, comes(NOW, "a", said(1, FOURTH)), launch(NOW + 1), unpin(NOW + 2, PROVIDER), pin(NOW + 3, PROVIDER), comes(NOW + 4, "b", said(2, THIRD)), receiver=knows(2)),
        case("an app's release changes the provider key", f"new pinned new new unpinned {REFUSED} new", "T-5", "Two pins, until the old one goes.", comes(NOW, "a", said(1, signer())), pin(NOW + 1, SECOND_PROVIDER), comes(NOW + 2, "b", said(2, signer())), comes(NOW + 3, "c", said(3, by_second)), unpin(NOW + 4, PROVIDER), comes(NOW + 5, "d", said(4, signer())), comes(NOW + 6, "e", said(5, by_second))),
        case("a third pin", "too-many-pins", "T-5", "An account has at most two.", pin(NOW, STRANGER), receiver=BOTH),
        case("a third pin, and its messages", f"too-many-pins {REFUSED} new", "T-5", "An account has at most two.", pin(NOW, STRANGER), comes(NOW, "a", said(1, signer(provider=STRANGER))), comes(NOW, "b", said(2, by_second)), receiver=BOTH),
        case("a pin that is there already", "pinned new", "T-5", "It stays one.", pin(NOW, PROVIDER), comes(NOW, "a", said(1, signer()))),
        case("a message of another account's provider", f"new {REFUSED} new {REFUSED}", "T-5", own, comes(NOW, "a", said(1, signer())), comes(NOW + 1, "b", said(2, by_second)), comes(NOW + 2, "c", said(3, by_second, device=TABLET)), comes(NOW + 3, "d", said(4, signer(), device=TABLET)), receiver=second_at_work, accounts=accounts),
        case("a theft that one account heard of protects the other", f"new {REFUSED} {REFUSED} new", "T-5 T-6", own, comes(NOW, "a", said(1, FOURTH, device=TABLET)), comes(NOW + 1, "b", said(2, THIRD)), comes(NOW + 2, "c", said(3, THIRD, device=TABLET)), comes(NOW + 3, "d", said(4, FOURTH)), receiver=replace(two, learned=kept(CHAIN[2])), accounts=accounts),
        case("a theft of one provider's key leaves the other's epochs", "new new new", "T-5 T-6", "Each provider key has its own epochs.", comes(NOW, "a", said(1, FOURTH)), comes(NOW + 1, "b", said(2, by_second)), comes(NOW + 2, "c", said(3, FOURTH)), receiver=BOTH),
    ]


def row_cases() -> list[Vector]:
    """O-8.2."""
    void, stays = "What a thief did before the floor rose counts as absent.", "A retry after a planned rotation is the same message."
    return [
        case("a thief silences a named message, and the provider learns of the theft", "new new", "O-8.2", void, comes(NOW, "a", named(THIRD)), comes(NOW + 1, "b", named(FOURTH)), receiver=knows(2)),
        case("a thief silences a named message, and nobody learns of it", f"new {QUIET}", "O-8.2 O-8.6", "The floor has not risen.", comes(NOW, "a", named(THIRD)), comes(NOW + 1, "b", named(THIRD)), receiver=knows(2)),
        case("a thief silences a named message, and a reply tells of the theft", "new accepted new", "O-8.2 D-43", void, comes(NOW, "a", named(THIRD)), learn(NOW + 1, CHAIN[3]), comes(NOW + 2, "b", named(FOURTH)), receiver=knows(2)),
        case("a thief silences a named message, and another message brings the theft", "new new new", "O-8.2", void, comes(NOW, "a", named(THIRD)), comes(NOW + 1, "b", said(1, FOURTH)), comes(NOW + 2, "c", named(FOURTH)), receiver=knows(2)),
        case("a thief withdraws a named message before it comes", "new new", "O-8.2 O-8.13", void, comes(NOW, "a", withdraws(THIRD)), comes(NOW + 1, "b", named(FOURTH)), receiver=knows(2)),
        case("a thief withdraws a named message before it comes, and nobody learns of it", "new withdrawn", "O-8.2 O-8.14", "The floor has not risen.", comes(NOW, "a", withdraws(THIRD)), comes(NOW + 1, "b", named(THIRD)), receiver=knows(2)),
        case("a retry after a planned rotation", f"new {QUIET}", "O-8.6 O-8.2", stays, comes(NOW, "a", named(SECOND)), comes(NOW + 1, "b", named(THIRD)), receiver=knows(1)),
        case("a retry from epoch 0 to the first certificate", f"new {QUIET}", "O-8.6 O-8.2", stays, comes(NOW, "a", named(signer())), comes(NOW + 1, "b", named(by(SIGNING[0], certify(EPOCHS[3], SIGNING[0]))))),
        case("a retry of the old key after a planned rotation", f"new {QUIET}", "O-8.6 O-8.2", stays, comes(NOW, "a", named(THIRD)), comes(NOW + 1, "b", named(SECOND)), receiver=knows(2)),
        case("a row keeps the highest epoch that found it", f"new {QUIET} {QUIET}", "O-8.2", stays, comes(NOW, "a", named(by(SIGNING[0], certify(EPOCHS[2], SIGNING[0])))), comes(NOW + 1, "b", named(by(SIGNING[1], certify(EPOCHS[2] + 1, SIGNING[1])))), comes(NOW + 2, "c", named(by(SIGNING[2], certify(EPOCHS[2] + 2, SIGNING[2], EPOCHS[2] + 1)))), receiver=pinned(PROVIDER)),
        case("a row whose highest epoch is below the floor", f"new {QUIET} new", "O-8.2", void, comes(NOW, "a", named(by(SIGNING[0], certify(EPOCHS[2], SIGNING[0])))), comes(NOW + 1, "b", named(by(SIGNING[1], certify(EPOCHS[2] + 1, SIGNING[1])))), comes(NOW + 2, "c", named(by(SIGNING[2], certify(EPOCHS[2] + 2, SIGNING[2], EPOCHS[2] + 2)))), receiver=pinned(PROVIDER)),
        case("a row at the floor", f"new new {QUIET}", "O-8.2", "The floor itself is not below it.", comes(NOW, "a", named(FOURTH)), comes(NOW + 1, "b", said(1, by(SIGNING[4], certify(EPOCHS[3] + 1, SIGNING[4], EPOCHS[3])))), comes(NOW + 2, "c", named(FOURTH)), receiver=knows(2)),
        case("a withdrawal by a later epoch raises a row's epoch", "new new new withdrawn", "O-8.2 O-8.13", stays, comes(NOW, "a", named(THIRD)), comes(NOW + 1, "b", withdraws(by(SIGNING[4], certify(EPOCHS[2] + 1, SIGNING[4], EPOCHS[2])))), comes(NOW + 2, "c", said(1, by(SIGNING[0], certify(EPOCHS[2] + 2, SIGNING[0], EPOCHS[2] + 1)))), comes(NOW + 3, "d", named(by(SIGNING[0], certify(EPOCHS[2] + 2, SIGNING[0], EPOCHS[2] + 1)))), receiver=knows(2)),
        case("a message of epoch 0 before a theft", "new new", "O-8.2", void, comes(NOW, "a", named(signer())), comes(NOW + 1, "b", named(FOURTH)), receiver=pinned(PROVIDER)),
        case("a row of another provider stays", f"new new {QUIET}", "O-8.2", "The floor is of one provider key.", comes(NOW, "a", named(signer(provider=SECOND_PROVIDER))), comes(NOW + 1, "b", said(1, FOURTH)), comes(NOW + 2, "c", named(signer(provider=SECOND_PROVIDER))), receiver=BOTH),
        case("a row of another account counts as absent too", "new new new", "O-8.2 T-6", void, comes(NOW, "a", named(THIRD, device=TABLET)), comes(NOW + 1, "b", said(1, FOURTH)), comes(NOW + 2, "c", named(FOURTH, device=TABLET)), receiver=replace(pinned(PROVIDER, devices=(PHONE, TABLET)), learned=kept(CHAIN[2])), accounts={TABLET.secret: "work"}),
        case("a thief raises the guard's floor for want of room", "new new new new", "O-8.2 O-8.9", void, comes(NOW, "a", said(1, THIRD, sent_at=NOW + 5 * HOUR)), comes(NOW + 1, "b", said(2, THIRD, sent_at=NOW + 6 * HOUR)), comes(NOW + 2, "c", said(3, FOURTH)), comes(NOW + 3, "d", said(4, FOURTH)), receiver=knows(2), room=1),
        case("a guard's floor of the epoch before a planned rotation stays", f"new new {QUIET}", "O-8.2 O-8.9", "The floor of the guard is that of the row that went.", comes(NOW, "a", said(1, SECOND, sent_at=SENT_AT + HOUR)), comes(NOW + 1, "b", said(2, SECOND, sent_at=SENT_AT + 2 * HOUR)), comes(NOW + 2, "c", said(3, THIRD)), receiver=knows(1), room=1),
        case("a guard's floor has the epoch of the row that went", "new new new", "O-8.2 O-8.9", "Not that of the message that needed the room.", comes(NOW, "a", said(1, THIRD, sent_at=NOW + 5 * HOUR)), comes(NOW + 1, "b", said(2, by(SIGNING[4], certify(EPOCHS[3], SIGNING[4], EPOCHS[2])), sent_at=NOW + 6 * HOUR)), comes(NOW + 2, "c", said(3, by(SIGNING[0], certify(EPOCHS[3] + 1, SIGNING[0], EPOCHS[3])))), receiver=knows(2), room=1),
        case("the floor of the whole guard stays after a theft", QUIET, "O-8.2 O-8.10", "It has no epoch.", comes(NOW, "a", said(1, FOURTH)), receiver=knows(2), floor=SENT_AT),
        case("a thief's row, and a guard that cannot be written", "new new", "O-8.2 O-8.11", void, comes(NOW, "a", named(THIRD)), lock(NOW + 1), comes(NOW + 2, "b", named(FOURTH)), unlock(NOW + 3), receiver=knows(2)),
        case("a message withdrawn by a thief is on the screen again after the theft", "new new a new nothing", "O-8.15 O-8.2", void, comes(NOW, "a", named(THIRD)), comes(NOW + 1, "b", withdraws(THIRD)), screen(NOW + 2), comes(NOW + 3, "c", said(1, FOURTH)), screen(NOW + 4), receiver=knows(2)),
        case("a message taken before the theft is handed over after it", "new new new", "O-8.2 O-8.7", "It passed all steps when it was taken.", take(NOW, "a", named(THIRD)), comes(NOW + 1, "b", said(1, FOURTH)), hand_over(NOW + 2, 1), receiver=knows(2)),
    ]


def life_cases() -> list[Vector]:
    return [*rotation_cases(), *merge_cases(), *pin_cases(), *row_cases()]
