"""Records of devices that change over to suite 0x02, and of those that would change back."""

import json

from reference.records import Held, Provider

from .material import PHONE, TABLET, TOPIC
from .record_cases import GOOD, device_text, record_case
from .suite2_cases import NEW_PHONE, NEW_TABLET
from .vector import Vector

LATER: dict[str, object] = {
    "public_key": device_text(NEW_PHONE.public),
    "key_id": NEW_PHONE.key_id.hex(),
    "suite": 2,
    "suites": [1, 2],
}


def suite_2_record_cases() -> list[Vector]:
    old, new, other = PHONE.public, NEW_PHONE.public, NEW_TABLET.public
    elsewhere = "com.example.other"
    downgrade, unsupported, rollback = "suite-downgrade", "unsupported-suite", "generation-rollback"
    back = "Anyone on the path must not lead a device back to a key that a recording gives away."
    lacks = "The provider would hold a key that it cannot seal to."
    order = "Two faults; the order of the rules decides."

    def earlier(name: str, expected: str, rules: str, comment: str, held: Held, **options: object) -> Vector:
        """A record of suite 1, of generation 2 unless it says otherwise."""
        return case(name, expected, rules, comment, held, {}, options)

    def later(name: str, expected: str, rules: str, comment: str, held: Held, **options: object) -> Vector:
        """A record of suite 2, at a provider that seals to suite 1 alone unless `seals` says otherwise."""
        return case(name, expected, rules, comment, held, LATER, {"seals": (1,)} | options)

    def case(name: str, expected: str, rules: str, comment: str, held: Held, record: dict, options: dict) -> Vector:
        known = {key: value for key, value in options.items() if key in Provider.__dataclass_fields__}
        changes = record | {key: value for key, value in options.items() if key not in known}
        return record_case(name, expected, rules, comment, json.dumps(GOOD | changes), provider=Provider(held, **known))

    return [
        earlier("a key of suite 1 where one of suite 2 is held", downgrade, "D-29", back, Held(new, 1, TOPIC)),
        earlier("a key of suite 1 where one of suite 2 is held, and the operator replaces", "accepted", "D-29", "The operator requests it.", Held(new, 1, TOPIC), is_replaced=True),
        earlier("a key of suite 1 that reports suite 2, where one of suite 2 is held", downgrade, "D-29", back, Held(new, 1, TOPIC), suites=[1, 2]),
        earlier("another user before a key of suite 1", "user-mismatch", "D-22 D-29", order, Held(new, 1, TOPIC, "alice"), user="bob"),
        earlier("a lower generation before a key of suite 1", rollback, "D-27 D-29", order, Held(new, 3, TOPIC)),
        earlier("the generation of the key of suite 2 before a key of suite 1", rollback, "D-27 D-29", order, Held(new, 2, TOPIC)),
        earlier("a generation that is too high before a key of suite 1", "generation-too-high", "D-28 D-29", order, Held(new, 1, TOPIC), generation=1026),
        earlier("a key of suite 1 before another topic", downgrade, "D-29 D-31", order, Held(new, 1, elsewhere)),
        earlier("a key of suite 1 before a key that is taken", downgrade, "D-29 D-32", order, Held(new, 1, TOPIC), elsewhere=""),
        later("a first key of suite 2 that cannot be sealed to", unsupported, "D-30", lacks, Held()),
        later("a key of suite 2 that cannot be sealed to, after one of suite 1", unsupported, "D-30", lacks, Held(old, 1, TOPIC)),
        later("a key of suite 2 that cannot be sealed to, after another of suite 2", unsupported, "D-30", lacks, Held(other, 1, TOPIC)),
        later("a key of suite 2 that cannot be sealed to, and the operator replaces", unsupported, "D-30", lacks, Held(old, 1, TOPIC), is_replaced=True),
        later("a key of suite 2 that cannot be sealed to, and is held", "accepted", "D-30", "Another server of the provider has stored it.", Held(new, 2, TOPIC)),
        later("a key of suite 2 that cannot be sealed to and is held, and the operator replaces", "accepted", "D-30", "Another server of the provider has stored it.", Held(new, 2, TOPIC), is_replaced=True),
        later("a lower generation before a key of suite 2 that cannot be sealed to", rollback, "D-27 D-30", order, Held(old, 3, TOPIC)),
        later("a key of suite 2 that cannot be sealed to before another topic", unsupported, "D-30 D-31", order, Held(old, 1, elsewhere)),
        later("a key of suite 2 after one of suite 1", "accepted", "D-29 D-30", "The device changes over.", Held(old, 1, TOPIC), seals=(1, 2)),
        later("a key of suite 2 after another of suite 2", "accepted", "D-29 D-30", "It stays.", Held(other, 1, TOPIC), seals=(1, 2)),
        later("a key of suite 2 of the generation of one of suite 1", rollback, "D-27", "A change over is a new generation.", Held(TABLET.public, 2, TOPIC), seals=(1, 2)),
    ]
