"""requests.json: the collapse ids and the expirations of pushes, which only a sealer makes."""

from reference.envelope import collapse_id, message_id_of_name
from reference.sealing import expiration

from .material import PHONE, PROVIDER, SECOND_PROVIDER, SENT_AT, TABLET, TOPIC, Case, Device, Pair
from .suite2_cases import NEW_PHONE


def collapse_case(
    name: str,
    *,
    provider: Pair = PROVIDER,
    topic: str = TOPIC,
    device: Device | None = PHONE,
    device_name: str | None = None,
    collapse_name: str | None = None,
    caller_id: str = "order-7731",
) -> Case:
    """A device is its id or its key, what collapses is a name or one message; a device without a key has no name."""
    identifier = message_id_of_name(caller_id)
    return {
        "name": name,
        "topic": topic,
        "providerPublic": provider.public.hex(),
        **({"devicePublic": device.public.hex()} if device else {}),
        **({"device": device_name} if device_name is not None else {}),
        "callerID": caller_id,
        **({"collapseName": collapse_name} if collapse_name is not None else {}),
        "collapseID": collapse_id(
            provider.public,
            topic,
            device_name,
            device.public if device else None,
            collapse_name,
            identifier,
        ),
    }


def collapse_cases() -> list[Case]:
    return [
        collapse_case("a device with a name, pushes with a name", device_name="phone1", collapse_name="chat-c41"),
        collapse_case("a device with a name, one message", device_name="phone1"),
        collapse_case("a device without a name, pushes with a name", collapse_name="chat-c41"),
        collapse_case("a device without a name, one message"),
        collapse_case(
            "another key of a device with a name: the same id",
            device=TABLET,
            device_name="phone1",
            collapse_name="chat-c41",
        ),
        collapse_case("another device without a name", device=TABLET),
        collapse_case("another message", device_name="phone1", caller_id="order-7732"),
        collapse_case("another app", device_name="phone1", collapse_name="chat-c41", topic="com.example.other"),
        collapse_case("another provider", device_name="phone1", collapse_name="chat-c41", provider=SECOND_PROVIDER),
        collapse_case("a device of suite 2 without a name", device=NEW_PHONE, collapse_name="chat-c41"),
        collapse_case("a device without a key", device=None),
        collapse_case("names that are not ASCII", device_name="전화 1", collapse_name="채팅 🚲"),
        collapse_case("the longest name of a device", device_name="d" * 255, collapse_name="x"),
        collapse_case("a longer name of the device, a shorter one of the pushes", device_name="ab", collapse_name="c"),
        collapse_case("a shorter name of the device, a longer one of the pushes", device_name="a", collapse_name="bc"),
    ]


def expiration_case(name: str, sent_at: int, requested: int, push_type: str = "alert") -> Case:
    """The time to live as the caller wants it, the one that is sealed, and the header in seconds."""
    sealed, expires = expiration(sent_at, requested, push_type)
    return {
        "name": name,
        "pushType": push_type,
        "sentAt": sent_at,
        "requested": requested,
        "ttl": sealed,
        "expiration": expires,
    }


def expiration_cases() -> list[Case]:
    longest = 2_592_000
    return [
        expiration_case("an end at a multiple of ten minutes stays", SENT_AT, 600),
        expiration_case("an end a second after one rises to the next", SENT_AT, 601),
        expiration_case("an end a millisecond after one rises to the next", SENT_AT + 1, 600),
        expiration_case("the shortest time to live", SENT_AT, 1),
        expiration_case("half a second is rounded up to a whole one", SENT_AT + 500, 86_400),
        expiration_case("a day, sent in the middle of an hour", SENT_AT + 1_234_567, 86_400),
        expiration_case("the longest time to live at a multiple of ten minutes", SENT_AT, longest),
        expiration_case("the longest time to live elsewhere falls", SENT_AT + 1, longest),
        expiration_case("the longest time to live just before a multiple of ten minutes falls", SENT_AT - 1, longest),
        expiration_case("nearly the longest rises to it", SENT_AT, longest - 1),
        expiration_case("a voip push keeps its time to live", SENT_AT + 1, 30, "voip"),
        expiration_case("a background push", SENT_AT + 1, 30, "background"),
        *(expiration_case(f"now or never, as {push_type}", SENT_AT + 1, 0, push_type) for push_type in ("alert", "background", "voip")),
    ]
