"""What phones post, one after another, and what a provider holds then."""

import json
from dataclasses import dataclass, field, replace

from reference import posts, records
from reference.keys import Kind, sign
from reference.posts import OPEN, SESSION, Store
from reference.records import END_SEQUENCE, Refused

from .forge import flip
from .material import DAY, HOUR, NOW, PHONE, PROVIDER, SECOND_PROVIDER, STRANGER, TABLET, TOPIC, Pair, seed
from .record_cases import MALFORMED, device_text
from .suite2_cases import NEW_PHONE
from .vector import Header, Vector, base64url, provider_text, vector

UPDATE, NEXT_UPDATE, OTHERS_UPDATE = (Pair(seed(f"update key {number}")) for number in (1, 2, 3))
ID, OTHER_ID = "5d0f9c1e", "77aa01b2"
GRANT, NEXT_GRANT = (base64url(seed(f"grant {number}")) for number in (1, 2))
ELSEWHERE = "com.example.other"
STALE, BAD, UNKNOWN, MISMATCH, ROLLBACK = (
    "stale-record", "bad-record-signature", "unknown-device", "user-mismatch", "generation-rollback")
ORDER = "Two faults; the order of the rules decides."


def nonce(number: int) -> str:
    return base64url(seed(f"nonce {number}")[:16])


def members(sequence: int, /, **changes: object) -> dict[str, object]:
    """A record's; `...` leaves one out."""
    record: dict[str, object] = {
        "device": ID,
        "public_key": device_text(PHONE.public),
        "generation": 2,
        "provider": provider_text(PROVIDER.public),
        "update_key": base64url(UPDATE.public),
        "sequence": sequence,
        "nonce": nonce(sequence),
    }
    return {name: value for name, value in (record | changes).items() if value is not ...}


def end(**changes: object) -> dict[str, object]:
    last: dict[str, object] = {
        "device": ID, "provider": provider_text(PROVIDER.public), "nonce": nonce(0), "sequence": END_SEQUENCE, "ended": True,
    }
    return {name: value for name, value in (last | changes).items() if value is not ...}


def compact(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def signed(
    record: dict[str, object] | bytes, channel: int = OPEN, by: Pair = UPDATE, *, topic: str = TOPIC, provider: Pair | None = PROVIDER,
    label: bytes = b"pushcrypt/1 record\x00",
) -> bytes:
    """The body of the post."""
    data = record if isinstance(record, bytes) else compact(record)
    to_sign = posts.record_to_sign(channel, topic, provider.public if provider else None, data)
    return posts.post(data, sign(by.seed, label + to_sign[len(b"pushcrypt/1 record\x00") :]))


def in_session(sequence: int, by: Pair = UPDATE, /, **changes: object) -> bytes:
    return signed(members(sequence, **({"update_key": base64url(by.public)} | changes)), SESSION, by)


@dataclass
class Scene:
    """The lines of a test, and the store after them."""

    seals: tuple[int, ...] | None = None
    store: Store = field(default_factory=lambda: Store(TOPIC, (PROVIDER.public,)))
    lines: list[bytes] = field(default_factory=list)
    outcome: str = ""
    foreign: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.store = replace(self.store, seals=self.seals)

    def post(self, outcome: str, body: bytes, channel: str = "open", user: str | None = None, at: int = NOW) -> "Scene":
        self.foreign = []
        try:
            if channel == "bare":
                record = records.read_record(body, Kind.DEVICE_PUBLIC)
                self.store, said = self.store.accept_bare(record, user, at)
            else:
                one = posts.read_post(body, channel == "session")
                if isinstance(one, dict):
                    said = next(iter(one))
                else:
                    self.store, said = self.store.accept(body, channel == "session", user, at)
                    if isinstance(one.content, records.Record):
                        self.foreign = records.foreign_members(one.content, self.store.given("", None, None))
        except Refused as error:
            said = str(error.args[0])
        assert said == outcome, (said, outcome, body)
        self.outcome = outcome
        self.lines.append(f"{at} {channel} {user or '-'} {outcome} ".encode() + body)
        return self

    def session(self, outcome: str, body: bytes, user: str | None = "alice", at: int = NOW) -> "Scene":
        return self.post(outcome, body, "session", user, at)

    def bare(self, outcome: str, record: dict[str, object], user: str | None = None, at: int = NOW) -> "Scene":
        return self.post(outcome, compact(record), "bare", user, at)

    def removed(self, why: str, at: int = NOW, device: str = ID) -> "Scene":
        self.store = self.store.removing(device, why, at)
        self.lines.append(f"{at} removed-by-{why} {device}".encode())
        return self

    def test(self, name: str, rules: str, comment: str) -> Vector:
        row = self.store.devices.get(ID)
        is_held = row is not None and row.removed is None
        header: list[Header] = [
            ("context", self.store.topic),
            ("provider-seed", PROVIDER.seed.hex()),
            ("seals", " ".join(map(str, self.seals)) if self.seals else None),
            ("id", ID),
        ]
        if row:
            header += [
                ("key-after", device_text(row.key) if is_held else None),
                ("update-key-after", row.update_key.hex() if row.update_key else None),
                ("sequence-after", row.sequence),
                ("user-after", row.user),
                ("grant-after", row.grant),
                ("removed-after", row.removed),
            ]
        header += [("foreign", member) for member in self.foreign]
        return vector("posts", name, self.outcome, rules, comment, header, b"\n".join(self.lines))


def held(user: str | None = "alice", **options: object) -> Scene:
    """The phone has enrolled by a session, or without a user by a pairing."""
    return Scene(**options).session("added", in_session(NOW), user)  # type: ignore[arg-type]


def paired() -> Scene:
    return held(None)


def form_cases() -> list[Vector]:
    one, limit = "A post with one fault. It has no effect.", "The limit is inclusive."
    good = signed(members(NOW + 1))
    post = json.loads(good)
    record, signature = post["record"], post["signature"]
    hello = base64url(seed("hello")[:16])

    def padded(size: int, channel: int = OPEN) -> bytes:
        """A record of so many bytes, behind a tab."""
        data = compact(members(NOW + 1, later=""))
        data = data.replace(b'"later":""', b'"later":"' + b"U" * (size - len(data)) + b'"')
        return signed(data, channel).replace(b"{", b"{\t", 1)

    def refused(name: str, rules: str, body: bytes | dict[str, object]) -> Vector:
        data = body if isinstance(body, bytes) else compact(body)
        return paired().post(MALFORMED, data).test(name, rules, one)

    def lacking(name: str, rules: str, **changes: object) -> Vector:
        return refused(name, rules, signed(members(NOW + 1, **changes)))

    def ending(name: str, **changes: object) -> Vector:
        return refused(name, "D-15", signed(end(**changes)))

    long_post = good[:-1] + b"\t" * (posts.MAXIMUM_POST - len(good)) + b"}"
    return [
        paired().post("unchanged", long_post).test("a post of 32,768 bytes", "D-17", limit),
        refused("a post of 32,769 bytes", "D-17", long_post[:-1] + b"\t}"),
        paired().post("unchanged", padded(16_384)).test("a record of 16,384 bytes", "D-17", limit),
        refused("a record of 16,385 bytes", "D-17", padded(16_385)),
        paired().post("unchanged", compact(post | {"later": [1], "session": None})).test("members of a post that nobody knows", "D-17 D-6", "They are ignored."),
        paired().post("unchanged", compact(post | {"hello": None})).test("a post with a hello that is null", "D-17 D-6", "It counts as absent."),
        Scene().post("hello", compact({"hello": hello})).test("a hello", "D-17", "It concerns no device."),
        Scene().post("hello", compact({"hello": hello, "signature": 7})).test("a hello with another member", "D-17", "It is ignored."),
        refused("a hello of 21 characters", "D-17", {"hello": hello[:-1]}),
        refused("a hello of 23 characters", "D-17", {"hello": hello + "A"}),
        refused("a hello with an unused bit set", "D-17", {"hello": base64url(bytes(16))[:-1] + "B"}),
        refused("a hello that is a number", "D-17", {"hello": 7}),
        refused("an answer that is an object", "D-17", {"answer": {}}),
        refused("a pairing that is an array", "D-17", {"pairing": [""]}),
        refused("a post of nothing", "D-17", {}),
        refused("a post that is an array", "D-17 J-3", b"[" + good + b"]"),
        refused("a post with a member twice", "D-17 J-5", good[:-1] + b',"signature":"' + signature.encode() + b'"}'),
        refused("a record and a hello", "D-17", post | {"hello": hello}),
        refused("a record and a pairing", "D-17", post | {"pairing": "AA"}),
        refused("a record and an answer", "D-17", post | {"answer": "AA"}),
        refused("a record without a signature", "D-17", {"record": record}),
        refused("a signature without a record", "D-17", {"signature": signature}),
        refused("a record in clear", "D-17", {"record": members(NOW + 1), "signature": signature}),
        refused("a record with padding", "D-17", signed(compact(members(NOW + 1)).ljust(302)).replace(b'","s', b'=","s')),
        refused("a record of the other alphabet", "D-17", post | {"record": "+" + record[1:]}),
        refused("a record with an unused bit set", "D-17", post | {"record": base64url(b"{}")[:-1] + "1"}),
        refused("a record that was cut", "D-17 J-2", signed(compact(members(NOW + 1))[:-1])),
        refused("a signature of 85 characters", "D-17", post | {"signature": signature[:-1]}),
        refused("a signature of 87 characters", "D-17", post | {"signature": signature + "A"}),
        refused("a signature with an unused bit set", "D-17", post | {"signature": base64url(bytes(64))[:-1] + "B"}),
        refused("a signature that is a number", "D-17", post | {"signature": 7}),
        lacking("a posted record without a device", "D-18", device=...),
        lacking("a posted record without an update key", "D-18", update_key=...),
        lacking("a posted record without a sequence", "D-18", sequence=...),
        lacking("a posted record without a nonce", "D-18", nonce=...),
        refused("a posted record without a provider", "D-18", signed(members(NOW + 1, provider=...), provider=None)),
        Scene().session(MALFORMED, signed(members(NOW, nonce=...), SESSION)).test("a record without a nonce in a session", "D-18", one),
        Scene().session("added", signed(members(NOW, provider=...), SESSION, provider=None)).test(
            "a record without a provider in a session", "D-18", "The account has no pin yet; 32 zero bytes are signed."),
        ending("an end without a device", device=...),
        ending("an end without a provider", provider=...),
        ending("an end without a nonce", nonce=...),
        ending("an end without a sequence", sequence=...),
        ending("an end with a sequence below the last", sequence=END_SEQUENCE - 1),
        ending("an end with a sequence of 2^53", sequence=2**53),
        ending("an end that is false", ended=False),
        ending("an end that is 1", ended=1),
        ending("an end that is a text", ended="true"),
        ending("a record with the last sequence that is no end", ended=...),
        paired().post("weak-key", signed(end(provider=provider_text(b"\x01" + bytes(31))))).test("an end with a weak provider", "D-15 K-7", one),
    ]


def enrol_cases() -> list[Vector]:
    first, mine = "A session brings any update key.", "The update key is the phone's."
    again, keeps = "Only the sequence is new.", "What the record does not bring is kept."
    key = device_text(TABLET.public)
    return [
        held().test("a session enrols a phone", "D-24 D-34", first),
        paired().test("a session without a user enrols a phone", "D-24", first),
        held().post("unchanged", signed(members(NOW + 1))).test("a record without a session", "D-24 D-25", again),
        held().post("updated", signed(members(NOW + 1, public_key=key, generation=3))).test("another key without a session", "D-24 D-25", mine),
        held().session("unchanged", in_session(NOW + 1)).test("a record in a session", "D-24 D-25", again),
        paired().post("updated", signed(members(NOW + 1, grant=GRANT))).post("unchanged", signed(members(NOW + 2))).test("a grant without a session", "D-33", keeps),
        paired().post("updated", signed(members(NOW + 1, grant=GRANT))).post("updated", signed(members(NOW + 2, grant=NEXT_GRANT))).test("another grant without a session", "D-33", mine),
        held().session("updated", in_session(NOW + 1, NEXT_UPDATE)).test("another update key in a session", "D-24 D-34", first),
        held().session("updated", in_session(NOW + 1, NEXT_UPDATE)).post(BAD, signed(members(NOW + 2))).test("the update key before it was replaced", "D-24 D-34", "It signs nothing any more."),
        held().session("updated", in_session(NOW + 1, NEXT_UPDATE)).post("unchanged", signed(members(NOW + 2, update_key=base64url(NEXT_UPDATE.public)), by=NEXT_UPDATE)).test(
            "a record under the update key that a session brought", "D-24 D-34", mine),
        held().post("updated", signed(members(NOW + 1, grant=GRANT, provider=provider_text(SECOND_PROVIDER.public)), provider=SECOND_PROVIDER)).test(
            "a record that names a provider key that the provider never had", "D-35 D-24", "The signature covers the key that the record names; the provider says so."),
    ]


def signature_cases() -> list[Vector]:
    one, record = "A signature with one fault. Nothing changes.", members(NOW + 1)
    good = json.loads(signed(record))

    def bad(name: str, body: bytes, comment: str = one, scene: Scene | None = None) -> Vector:
        return (scene or held()).post(BAD, body).test(name, "D-24", comment)

    def in_a_session(name: str, body: bytes, rules: str = "D-24") -> Vector:
        return held().session(BAD, body).test(name, rules, one)

    def with_signature(change: object) -> bytes:
        data = posts.decode(good["signature"], 64, 64)
        return compact(good | {"signature": base64url(change(data))})  # type: ignore[operator]

    group_order = 2**252 + 27742317777372353535851937790883648493
    raised = lambda data: data[:32] + (int.from_bytes(data[32:], "little") + group_order).to_bytes(32, "little")  # noqa: E731
    data = compact(record)
    other = compact(members(NOW + 2))
    return [
        bad("a signature with a bit of R changed", with_signature(flip(0))),
        bad("a signature with a bit of S changed", with_signature(flip(32))),
        bad("a signature of zeros", with_signature(lambda data: bytes(64))),
        bad("a signature whose S is above the group order", with_signature(raised)),
        bad("a record with a space more than was signed", compact(good | {"record": base64url(data + b" ")})),
        bad("a record with another sequence than was signed", compact(good | {"record": base64url(other)})),
        bad("a record with another key than was signed", compact(good | {"record": base64url(compact(members(NOW + 1, public_key=device_text(TABLET.public), generation=3)))})),
        bad("a record of another device under its own update key", signed(members(NOW + 1, update_key=base64url(OTHERS_UPDATE.public)), by=OTHERS_UPDATE)),
        bad("a record of another device that names this one", signed(record, by=OTHERS_UPDATE)),
        bad("a record signed by the provider", signed(record, by=PROVIDER)),
        bad("a record for another app", signed(record, topic=ELSEWHERE)),
        bad("a record for another provider", signed(record, provider=SECOND_PROVIDER)),
        bad("a record for no provider that names one", signed(record, provider=None)),
        bad("a record signed as a reply", signed(record, label=b"pushcrypt/1 reply\x00")),
        bad("a record for a session without one", signed(record, SESSION)),
        bad("a record for another channel", signed(record, 0)),
        bad("another update key without a session", signed(members(NOW + 1, update_key=base64url(NEXT_UPDATE.public)), by=NEXT_UPDATE), "Only a session or a pairing changes it."),
        bad("another update key without a session, signed by the held one", signed(members(NOW + 1, update_key=base64url(NEXT_UPDATE.public))), "Only a session or a pairing changes it."),
        bad("a record of a device without an update key", signed(members(NOW + 1)), "A session has to bring it.", Scene().bare("added", members(NOW, update_key=..., sequence=..., nonce=...))),
        Scene().bare("added", members(NOW, update_key=..., sequence=..., nonce=...), "alice").session("updated", in_session(NOW + 1)).test(
            "the first update key of a device comes by a session", "D-24 D-34", "A session brings any update key."),
        in_a_session("a record for no session in one", signed(record)),
        in_a_session("a record for another app in a session", signed(record, SESSION, topic=ELSEWHERE)),
        in_a_session("another update key in a session, signed by the held one", signed(members(NOW + 1, update_key=base64url(NEXT_UPDATE.public)), SESSION), "D-24 D-34"),
        in_a_session("a record in a session, signed by another", signed(record, SESSION, OTHERS_UPDATE)),
        Scene().session(BAD, signed(members(NOW), SESSION, OTHERS_UPDATE)).test("a first record, signed by another", "D-24", one),
        Scene().post(UNKNOWN, signed(members(NOW))).test("a record of a device that is not held", "D-23", "Without a session no device is added."),
    ]


def end_cases() -> list[Vector]:
    last, nothing = "An end outranks every record.", "Nothing changes."
    ended = held().post("ended", signed(end()))
    late = signed(members(NOW + DAY))
    return [
        ended.test("an end", "D-26", last),
        held().session("ended", signed(end())).test("an end in its user's session", "D-26", "It counts as sent without one."),
        held().session("ended", signed(end()), "bob").test("an end in another user's session", "D-26 D-22", "It counts as sent without one."),
        held().session("ended", signed(end()), None).test("an end in a session without a user", "D-26", "It counts as sent without one."),
        held().post("ended", signed(end(public_key=7, later=1))).test("an end with members of a record", "D-15", "They are ignored."),
        held().post("ended", signed(end())).post(UNKNOWN, signed(end())).test("an end that comes twice", "D-23 D-26", nothing),
        held().post("ended", signed(end())).post(UNKNOWN, late).test("a record after the end", "D-23 D-26", "A phone without a session does not come back."),
        held().post("ended", signed(end())).session(STALE, in_session(END_SEQUENCE - 1)).test("a record after the end in a session", "D-25 D-26", "The phone draws another id."),
        held().post("ended", signed(end())).session(STALE, in_session(END_SEQUENCE - 1, NEXT_UPDATE)).test("a record after the end in a session, with another update key", "D-25 D-26", "The phone draws another id."),
        held().post("unchanged", signed(members(END_SEQUENCE - 1))).post("ended", signed(end())).test("an end after the largest sequence", "D-25 D-26", last),
        Scene().post(UNKNOWN, signed(end())).test("an end of a device that is not held", "D-23", nothing),
        Scene().session(UNKNOWN, signed(end())).test("an end of a device that is not held, in a session", "D-23 D-26", nothing),
        held().post(BAD, signed(end(), SESSION)).test("an end for a session", "D-24", "An end never belongs to one."),
        held().session(BAD, signed(end(), SESSION)).test("an end for a session in one", "D-24", "An end never belongs to one."),
        held().post(BAD, signed(end(), by=OTHERS_UPDATE)).test("an end that another signed", "D-24", nothing),
        held().post(BAD, signed(end(), topic=ELSEWHERE)).test("an end for another app", "D-24", nothing),
        held().post(BAD, signed(end(device=ID), provider=SECOND_PROVIDER)).test("an end for another provider", "D-24", nothing),
        held().post(BAD, compact(json.loads(signed(end(device=OTHER_ID))) | {"record": base64url(compact(end()))})).test("an end of another device that names this one", "D-24", nothing),
        Scene().bare("added", members(NOW, update_key=..., sequence=..., nonce=...)).post(BAD, signed(end())).test("an end of a device without an update key", "D-24", nothing),
        held().removed("apns").post("ended", signed(end())).test("an end after APNs' answer", "D-23 D-26 D-39", last),
        held().removed("operator").post(UNKNOWN, signed(end())).test("an end after the operator's removal", "D-23", nothing),
        held().bare(MALFORMED, end()).test("an end that nobody signed", "D-15", nothing),
    ]


def sequence_cases() -> list[Vector]:
    old, next_one = "It is an older record, or the same again.", "One more suffices."
    later = in_session(NOW + 5)
    return [
        held().post("unchanged", signed(members(NOW + 1))).test("the next sequence", "D-25", next_one),
        held().post(STALE, signed(members(NOW))).test("the same sequence", "D-25", old),
        held().post(STALE, signed(members(NOW - 1))).test("a lower sequence", "D-25", old),
        held().post(STALE, signed(members(1, grant=GRANT))).test("the lowest sequence", "D-25 D-14", old),
        held().post("unchanged", signed(members(NOW + 1))).post(STALE, signed(members(NOW + 1))).test("a record that comes twice", "D-25", old),
        held().session("unchanged", later).session(STALE, later).test("a record that comes twice in a session", "D-25", old),
        held().session(STALE, in_session(NOW)).test("the same sequence in a session", "D-25", old),
        held().session(STALE, in_session(NOW, NEXT_UPDATE)).test("the same sequence in a session, with another update key", "D-25", "The held sequence is the device's, not the key's."),
        held().session("unchanged", later).post(STALE, signed(members(NOW + 4))).test("a lower sequence than a session brought", "D-25", old),
        held().post("unchanged", signed(members(NOW + 5))).session(STALE, in_session(NOW + 4)).test("a lower sequence in a session than came without one", "D-25", old),
        held().post("unchanged", signed(members(END_SEQUENCE - 1))).post(STALE, signed(members(END_SEQUENCE - 1))).test("the largest sequence", "D-25 D-14", "Only an end is above it."),
        held().post("unchanged", signed(members(NOW + 5))).post(STALE, signed(members(NOW + 4))).post("unchanged", signed(members(NOW + 6))).test(
            "a sequence above the one that the reply said", "D-25", "So a phone goes on from there."),
    ]


def bare_cases() -> list[Vector]:
    word = "The operator's word."
    lacking = {"update_key": ..., "sequence": ..., "nonce": ...}
    return [
        held().bare("updated", members(0, public_key=device_text(TABLET.public), generation=3, **lacking), "alice").test(
            "a bare record keeps update key and sequence", "D-33", "Later records of the phone pass."),
        held().bare("unchanged", members(NOW - 5), "alice").test("a bare record with a lower sequence", "D-33", "The higher one counts."),
        held().bare("unchanged", members(NOW + 5), "alice").post(STALE, signed(members(NOW + 5))).test("a bare record with a higher sequence", "D-33 D-25", "The higher one counts."),
        held().bare("updated", members(NOW - 5, update_key=base64url(NEXT_UPDATE.public)), "alice").test("a bare record with another update key", "D-34", word),
        held().bare(ROLLBACK, members(NOW + 5, generation=1), "alice").test("a bare record of a lower generation", "D-27", "Nobody signed it."),
        Scene().bare("added", members(NOW)).post("unchanged", signed(members(NOW + 1))).test("a bare record brings the update key", "D-24 D-34", word),
    ]


def removal_cases() -> list[Vector]:
    flight, back = "A record on its way does not undo a removal.", "The phone comes back by a newer record."
    until = NOW + 2 * HOUR + DAY

    def gone(why: str, user: str | None = None, sequence: int = NOW) -> Scene:
        return Scene().session("added", in_session(sequence), user).removed(why, NOW + 2 * HOUR)

    return [
        gone("apns").test("APNs says that a device is gone", "D-39 D-38", "Update key and sequence stay."),
        gone("apns").post(STALE, signed(members(NOW + HOUR)), at=NOW + 3 * HOUR).test("a late record after APNs' answer", "D-25 D-39", flight),
        gone("apns").post(STALE, signed(members(until)), at=NOW + 3 * HOUR).test("a record of the sequence that APNs' answer left", "D-25 D-39", flight),
        gone("apns").post("added", signed(members(until + 1)), at=until + 1).test("a newer record after APNs' answer", "D-23 D-39", back),
        gone("apns").post(BAD, signed(members(until + 1), by=OTHERS_UPDATE), at=until + 1).test("a stranger's record after APNs' answer", "D-24", "The held update key still counts."),
        gone("apns", "alice").session(STALE, in_session(NOW + HOUR), at=NOW + 3 * HOUR).test("a late record in a session after APNs' answer", "D-25 D-39", flight),
        gone("apns", "alice").session("added", in_session(until + 1), at=until + 1).test("a newer record in a session after APNs' answer", "D-25 D-39", back),
        gone("apns", sequence=until + DAY).post(STALE, signed(members(until + 1)), at=until + 1).test("a sequence that is higher than APNs' answer leaves", "D-39", "The higher one stays."),
        gone("apns").post(STALE, signed(members(NOW + HOUR))).post("added", signed(members(until + 1)), at=NOW + 3 * HOUR).test(
            "a record after the one that was late", "D-23 D-39", "The reply says the sequence, and the phone goes on from there."),
        gone("operator").post(UNKNOWN, signed(members(until + 1)), at=until + 1).test("a newer record after the operator's removal", "D-23 D-39", "The phone has to pair again."),
        gone("operator", "alice").session(STALE, in_session(until), at=until).test("a late record in a session after the operator's removal", "D-25 D-39", flight),
        gone("operator", "alice").session("added", in_session(until + 1), at=until + 1).test("a newer record in a session after the operator's removal", "D-25 D-39", back),
        held().session("added", in_session(NOW + 1, device=OTHER_ID)).post(UNKNOWN, signed(members(NOW + DAY + 9))).test(
            "a record of a device whose key has moved", "D-32 D-23", "Its key has another device now."),
        held().session("added", in_session(NOW + 1, device=OTHER_ID)).session(STALE, in_session(NOW)).test("a late record of a device whose key has moved", "D-32 D-25", flight),
    ]


def rule_cases() -> list[Vector]:
    """The other rules of providers, with a signature and without."""
    exempt, other = "The held update key says that it is the phone itself.", "Another update key may be somebody else's."
    lower, high, back = {"generation": 1, "public_key": device_text(TABLET.public)}, {"generation": 2000}, device_text(NEW_PHONE.public)
    owner, once = "A device belongs to one user.", "A key belongs to one device."
    both = (1, 2)

    def later() -> Scene:
        """The phone has a key of suite 2."""
        return Scene(seals=both).session("added", in_session(NOW, public_key=back))

    others = signed(members(NOW + 1, device=OTHER_ID, update_key=base64url(OTHERS_UPDATE.public)), by=OTHERS_UPDATE)
    return [
        held().post("updated", signed(members(NOW + 1, **lower))).test("a lower generation under the held update key", "D-27 D-24", exempt),
        held().session("updated", in_session(NOW + 1, **lower)).test("a lower generation under the held update key in a session", "D-27 D-24", exempt),
        held().session(ROLLBACK, in_session(NOW + 1, NEXT_UPDATE, **lower)).test("a lower generation under another update key", "D-27 D-24", other),
        held().post("updated", signed(members(NOW + 1, public_key=device_text(TABLET.public)))).test("the same generation and another key under the held update key", "D-27 D-24", exempt),
        held().session(ROLLBACK, in_session(NOW + 1, NEXT_UPDATE, public_key=device_text(TABLET.public))).test("the same generation and another key under another update key", "D-27 D-24", other),
        held().post("updated", signed(members(NOW + 1, **high))).test("a generation that is too high under the held update key", "D-28 D-24", exempt),
        held().session("generation-too-high", in_session(NOW + 1, NEXT_UPDATE, **high)).test("a generation that is too high under another update key", "D-28 D-24", other),
        Scene().session("generation-too-high", in_session(NOW, **high)).test("a first generation that is too high", "D-28", other),
        later().post("updated", signed(members(NOW + 1))).test("a key of suite 1 under the held update key", "D-29 D-24", exempt),
        later().session("suite-downgrade", in_session(NOW + 1, NEXT_UPDATE, generation=3)).test("a key of suite 1 under another update key", "D-29 D-24", other),
        held(seals=(1,)).post("unsupported-suite", signed(members(NOW + 1, public_key=back, generation=3))).test("a key that cannot be sealed to", "D-30", "The signature does not help."),
        Scene().session("added", in_session(NOW, topic=TOPIC)).post("topic-mismatch", signed(members(NOW + 1, topic=ELSEWHERE), topic=ELSEWHERE)).test(
            "another topic than is held, and signed", "D-31 D-24", "The record's own topic is signed."),
        Scene().session("added", in_session(NOW, topic=TOPIC)).post(BAD, signed(members(NOW + 1, topic=TOPIC), topic=ELSEWHERE)).test("another topic than the record has is signed", "D-24", "Nothing changes."),
        paired().session("added", in_session(NOW, OTHERS_UPDATE, device=OTHER_ID, public_key=device_text(TABLET.public)), None).post("key-taken", others).test(
            "the key of another device without a session", "D-32", once),
        held().session("key-taken", in_session(NOW + 1, OTHERS_UPDATE, device=OTHER_ID), "bob").test("the key of another user's device in a session", "D-32", once),
        held().session("added", in_session(NOW + 1, OTHERS_UPDATE, device=OTHER_ID)).test("the key of another device of the same user", "D-32", "It moves."),
        held().session(MISMATCH, in_session(NOW + 1, OTHERS_UPDATE), "bob").test("another user's session names the device", "D-22", owner),
        held().session(MISMATCH, in_session(NOW + 1), "bob").test("another user's session has the phone's own record", "D-22", owner),
        paired().session(MISMATCH, in_session(NOW + 1, OTHERS_UPDATE), "bob").test("a user's session names a device of nobody", "D-22", owner),
        paired().removed("apns").session(MISMATCH, in_session(NOW + 3 * DAY), "bob").test("a user's session names a removed device of nobody", "D-22 D-38", owner),
        held().removed("apns").session(MISMATCH, in_session(NOW + 3 * DAY), "bob").test("another user's session names a removed device", "D-22 D-38", owner),
        held().session(MISMATCH, in_session(NOW + 1, OTHERS_UPDATE, public_key=device_text(TABLET.public), generation=3), None).test("a session without a user brings another key", "D-22", owner),
        held().session(MISMATCH, in_session(NOW + 1, OTHERS_UPDATE), None).test("a session without a user brings another update key", "D-22", owner),
        held().session("unchanged", in_session(NOW + 1), None).test("a session without a user brings the held key", "D-22", "The device keeps its user."),
        held().bare(MISMATCH, members(NOW + 1, public_key=device_text(TABLET.public), generation=3)).test("a bare record without a user brings another key", "D-22", owner),
        paired().session("updated", in_session(NOW + 1, NEXT_UPDATE), None).test("a session without a user at a device of nobody", "D-22 D-34", "The operator, or a pairing."),
    ]


def order_cases() -> list[Vector]:
    lower = {"generation": 1, "public_key": device_text(TABLET.public)}
    stranger = {"update_key": base64url(OTHERS_UPDATE.public)}
    return [
        held().session(MISMATCH, signed(members(NOW), SESSION, OTHERS_UPDATE), "bob").test("another user before a bad signature", "D-22 D-24", ORDER),
        held().session(MISMATCH, in_session(NOW), "bob").test("another user before a stale sequence", "D-22 D-25", ORDER),
        Scene().post(UNKNOWN, signed(members(NOW), by=OTHERS_UPDATE)).test("an unknown device before a bad signature", "D-23 D-24", ORDER),
        held().removed("operator").post(UNKNOWN, signed(members(1))).test("an unknown device before a stale sequence", "D-23 D-25", ORDER),
        held().post(BAD, signed(members(NOW - 1), by=OTHERS_UPDATE)).test("a bad signature before a stale sequence", "D-24 D-25", ORDER),
        held().session(BAD, signed(members(NOW - 1, **stranger), SESSION)).test("a bad signature before a stale sequence in a session", "D-24 D-25", ORDER),
        held().session(STALE, in_session(NOW, NEXT_UPDATE, **lower)).test("a stale sequence before a lower generation", "D-25 D-27", ORDER),
        held(seals=(1,)).post(STALE, signed(members(NOW, public_key=device_text(NEW_PHONE.public), generation=3))).test("a stale sequence before a key that cannot be sealed to", "D-25 D-30", ORDER),
        Scene().post(MALFORMED, signed(members(NOW, nonce=""))).test("a malformed record before an unknown device", "D-14 D-23", ORDER),
        held().session(MALFORMED, signed(members(NOW, nonce=""), SESSION), "bob").test("a malformed record before another user", "D-14 D-22", ORDER),
        Scene().post("weak-key", signed(members(NOW, public_key=device_text(bytes(32))))).test("a weak key before an unknown device", "D-1 D-23", ORDER),
    ]


def trace_cases() -> list[Vector]:
    """What a model found of phones and providers that were restored, records that were held back, and strangers. Each needs its rule."""
    tablet, second = {"public_key": device_text(TABLET.public), "generation": 3}, {"public_key": device_text(NEW_PHONE.public), "generation": 3}
    return [
        held().session("updated", in_session(NOW + 5, **tablet)).session(STALE, in_session(NOW + 3)).session("updated", in_session(NOW + 6)).test(
            "a phone restored from its backup, whose clock is behind", "D-25", "It goes on from the sequence that the reply says, with its earlier key."),
        paired().post("updated", signed(members(NOW + 5, **tablet))).post("updated", signed(members(NOW + 9))).test(
            "a paired phone restored from its backup", "D-27 D-24", "Its clock makes its records the later ones, and its key is an earlier one."),
        paired().post("unchanged", signed(members(NOW + 9))).post(STALE, signed(members(NOW + 5, grant=GRANT))).post(STALE, signed(members(NOW + 7, grant=NEXT_GRANT))).test(
            "two records held back until a restored phone has posted", "D-25", "The clock is above what was made before."),
        held().session("updated", in_session(NOW + 5, **tablet)).session("updated", in_session(NOW + 9, grant=GRANT, **tablet)).session(STALE, in_session(NOW + 5, **tablet)).test(
            "a record that was delivered late in a session", "D-25", "A session says who sent it, not when."),
        held().session("unchanged", in_session(NOW + 5)).removed("apns", NOW + 9).session(STALE, in_session(NOW + 5)).test(
            "a session's record comes again after APNs' answer", "D-25 D-39", "Nothing brings the device back but a newer record."),
        held().removed("apns", NOW + 2).session(STALE, in_session(NOW + 1)).test("a session's first copy comes after APNs' answer", "D-25 D-39", "Nothing brings the device back but a newer record."),
        held().removed("operator", NOW + 2).session(STALE, in_session(NOW + 1)).test("a session's first copy comes after the operator's removal", "D-25 D-39", "Nothing brings the device back but a newer record."),
        paired().removed("operator", NOW + 2).post(UNKNOWN, signed(members(NOW + 1))).test("a paired phone's record comes after the operator's removal", "D-23", "Nothing brings the device back but a pairing."),
        Scene().session(BAD, signed(members(NOW + 1)), "bob").test("a user posts the record of a paired phone in his session, and the store was restored", "D-24", "It was not made for a session."),
        paired().session(MISMATCH, signed(members(NOW + 1)), "bob").test("a user posts the record of a paired phone in his session", "D-22", "The device is not his."),
        paired().session(MISMATCH, in_session(NOW + 1, OTHERS_UPDATE, public_key=device_text(TABLET.public), generation=9), "bob").test("a user names a paired phone's device, with a key of his own", "D-22", "The device is not his."),
        held(None, seals=(1, 2)).post("updated", signed(members(NOW + 3, **second))).post("updated", signed(members(NOW + 5))).test(
            "a phone restored to the time before its key of suite 2", "D-29 D-24", "It still has its update key."),
        paired().post("unchanged", signed(members(NOW + 9))).post("ended", signed(end())).test("a log-out of a phone restored from its backup", "D-26", "The end needs no clock and no counter."),
        held().post("ended", signed(end())).session(STALE, in_session(NOW + 9)).test("a record held back until the log-out, in a session", "D-25 D-26", "The end outranks it."),
        paired().post("ended", signed(end())).post(UNKNOWN, signed(members(NOW + 9))).test("a record held back until the log-out", "D-23 D-26", "The end outranks it."),
        paired().removed("apns", NOW + 2).post(STALE, signed(members(NOW + 3))).post("added", signed(members(NOW + DAY + 3))).test("APNs was wrong about a paired phone", "D-23 D-39", "It comes back alone."),
        Scene().post(UNKNOWN, signed(members(NOW + 9))).test("a store restored from before the pairing", "D-23", "The phone has to pair again."),
        paired().post("updated", signed(members(NOW + 9, **tablet))).test("a store restored from before the last record", "D-25", "The next record repairs it."),
        paired().post(BAD, signed(members(NOW + 9, update_key=base64url(NEXT_UPDATE.public)), by=NEXT_UPDATE)).test(
            "a store restored from before another pairing of the device", "D-24", "The phone has to pair again."),
        paired().post(BAD, signed(members(NOW + 1, update_key=base64url(STRANGER.public), public_key=device_text(TABLET.public), generation=9), by=STRANGER)).test(
            "a stranger knows all that the provider holds", "D-24", "Nothing of it signs."),
        paired().post(BAD, signed(end(), by=STRANGER)).test("a stranger who knows all that the provider holds ends the device", "D-24", "Nothing of it signs."),
        paired().session("added", in_session(NOW, OTHERS_UPDATE, device=OTHER_ID, public_key=device_text(TABLET.public)), None).post(
            "key-taken", signed(members(NOW + 1, device=OTHER_ID, update_key=base64url(OTHERS_UPDATE.public), generation=3), by=OTHERS_UPDATE)).test(
            "another paired phone registers the key that it saw", "D-32", "Devices without a user do not have the same one."),
    ]


def post_cases() -> list[Vector]:
    return [
        *form_cases(), *enrol_cases(), *signature_cases(), *end_cases(), *sequence_cases(), *bare_cases(), *removal_cases(), *rule_cases(),
        *order_cases(), *trace_cases(),
    ]
