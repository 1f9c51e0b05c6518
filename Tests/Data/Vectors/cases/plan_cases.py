"""What the next certificate says: epoch, floor, grace until and expires at."""

from reference import trust
from reference.trust import GRACE, NEVER, Certificate, Refused

from .material import CHAIN, DAY, EPOCHS, SENT_AT, SIGNING, certify
from .vector import Header, Vector, certificate_text, vector

NOW = SENT_AT


def case(
    name: str,
    expected: str,
    rules: str,
    comment: str,
    current: Certificate | None = None,
    past: list[tuple[Certificate | None, int]] | None = None,
    *,
    proven: Certificate | None = None,
    is_stolen: bool = False,
    lifetime: int | None = None,
    now: int = NOW,
) -> Vector:
    """`past` has earlier certificates, None for epoch 0, and when each was replaced."""
    before = past or []
    header: list[Header] = [
        ("time", now),
        ("kind", "stolen" if is_stolen else "planned"),
        ("certificate", certificate_text(current) if current else None),
        *(("past", f"{certificate_text(one) if one else '-'} {replaced}") for one, replaced in before),
        ("proven", certificate_text(proven) if proven else None),
        ("lifetime", lifetime),
    ]
    epochs = [(one.epoch if one else 0, replaced) for one, replaced in before]
    try:
        epoch, floor, grace = trust.plan(current, epochs, proven, now, is_stolen)
    except Refused as error:
        assert error.args == (expected,), (name, error.args)
    else:
        assert expected == "accepted", name
        expires_at = NEVER if lifetime is None else now + lifetime * 1000
        trust.parse(certify(epoch, SIGNING[0], floor, grace, expires_at).data)
        header += [("epoch", epoch), ("floor", floor), ("grace-until", grace), ("expires-at", expires_at)]
    return vector("plans", name, expected, rules, comment, header, b"")


def plan_cases() -> list[Vector]:
    number = "The epoch is the last one + 1, or the seconds since 1970 if greater."
    erased = "A clock after 4,102,444,800 counts as 0."
    planned = "What was in use within the last 38 days still opens."
    theft, stale = "Nothing before it opens.", "A certificate that was never issued here: nothing before it opens, and the epoch is above."
    first, second, third, fourth = CHAIN
    seconds = NOW // 1000
    ahead = certify(seconds + 3600, SIGNING[0])
    latest = 4_102_444_800
    old = NOW - GRACE
    far = certify(seconds + 390 * 86_400, SIGNING[0])
    end = certify(2**32 - 1, SIGNING[0], grace_until=NOW)
    unknown = certify(EPOCHS[2] + 7, SIGNING[4], EPOCHS[2] + 7)
    at_end = "epochs-exhausted"
    plan = [
        case("the first certificate", "accepted", "T-7 T-8", number),
        case("the first certificate after a theft of the provider's seed", "accepted", "T-9", theft, is_stolen=True),
        case("the next epoch", "accepted", "T-7 T-8", number, second),
        case("the next epoch in the second of the last one", "accepted", "T-7", number, certify(seconds, SIGNING[0])),
        case("the next epoch a millisecond before a second is over", "accepted", "T-7", number, certify(seconds, SIGNING[0]), now=NOW + 999),
        case("the next epoch a second after the last one", "accepted", "T-7", number, certify(seconds - 1, SIGNING[0])),
        case("the next epoch with a clock behind the last one", "accepted", "T-7", number, ahead),
        case("the next epoch after one that is 390 days ahead", "accepted", "T-7 T-8", number, far),
        case("the next epoch after the last but one", "accepted", "T-7", number, certify(2**32 - 2, SIGNING[0], grace_until=NOW)),
        case("the next epoch after the last one there is", at_end, "T-7", number, end),
        case("a theft with an epoch that is 390 days ahead", "accepted", "T-7 T-9", number, far, is_stolen=True),
        case("a theft after the last epoch there is", at_end, "T-7 T-9", number, end, is_stolen=True),
        case("the next epoch at the last clock that counts", "accepted", "T-7", number, second, now=latest * 1000 + 999),
        case("the next epoch at a clock a second later", "accepted", "T-7", erased, second, now=(latest + 1) * 1000),
        case("the first certificate by an erased clock", "accepted", "T-7", erased, now=2**53 - 1),
        case("the next epoch at a clock of 0", "accepted", "T-7", number, now=0),
        case("an epoch that was replaced 38 days ago", "accepted", "T-8", planned, second, [(first, old)]),
        case("an epoch that was replaced a millisecond more than 38 days ago", "accepted", "T-8", planned, second, [(first, old - 1)]),
        case("epoch 0 that was replaced 38 days ago", "accepted", "T-8", planned, first, [(None, old)]),
        case("epoch 0 that was replaced a millisecond more than 38 days ago", "accepted", "T-8", planned, first, [(None, old - 1)]),
        case("three epochs, of which two were in use", "accepted", "T-8", planned, third, [(first, NOW - 100 * DAY), (second, NOW - 20 * DAY)]),
        case("three epochs within a day", "accepted", "T-8", planned, certify(EPOCHS[3] + 9, SIGNING[4]), [(third, NOW - 3600_000), (first, NOW - 7200_000), (second, NOW - 1)]),
        case("an epoch in use that is below the floor", "accepted", "T-8", "The floor is never lowered.", fourth, [(third, NOW - 10 * DAY), (second, NOW - 20 * DAY)]),
        case("a floor above the epochs in use, and one more rotation", "accepted", "T-8", "The floor is never lowered.", certify(EPOCHS[3] + 9, SIGNING[4], EPOCHS[3]), [(fourth, NOW - 1), (third, NOW - 10 * DAY)]),
        case("an epoch that was replaced in the future", "accepted", "T-8", planned, second, [(first, NOW + DAY)]),
        case("a theft", "accepted", "T-9", theft, third, [(second, NOW - 20 * DAY)], is_stolen=True),
        case("a theft after a theft", "accepted", "T-9", theft, fourth, [(third, NOW - 10 * DAY)], is_stolen=True),
        case("a certificate that expires after 90 days", "accepted", "T-7 T-8", planned, second, lifetime=90 * 86_400),
        case("a certificate after a theft that expires after a day", "accepted", "T-9", theft, second, is_stolen=True, lifetime=86_400),
        case("a record proves a later epoch", "accepted", "T-9 D-36", stale, second, [(first, NOW - DAY)], proven=unknown),
        case("a record proves an epoch ahead of the clock", "accepted", "T-7 T-9 D-36", stale, second, proven=ahead),
        case("a record proves an epoch that is 390 days ahead", "accepted", "T-7 T-9 D-36", stale, second, proven=far),
        case("a record proves the last epoch there is", at_end, "T-7 T-9 D-36", stale, second, proven=end),
        case("a record proves another claim of the current epoch", "accepted", "T-9 D-36", stale, third, proven=certify(EPOCHS[2], SIGNING[4])),
        case("a record proves an epoch below the current one", "accepted", "T-9 D-36", "Whatever the proven epoch is, nothing before the new one opens.", third, [(second, NOW - DAY)], proven=certify(EPOCHS[2] - 1, SIGNING[4])),
        case("a record proves an epoch, and there is none here", "accepted", "T-9 D-36", stale, proven=first),
        case("a record proves an epoch, and there was a theft", "accepted", "T-9 D-36", stale, second, proven=unknown, is_stolen=True),
    ]
    return plan
