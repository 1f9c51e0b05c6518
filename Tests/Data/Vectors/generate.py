"""Writes the test vectors of the pushcrypt format, version 1.

    make setup PART=interop                                            makes the environment
    .build/interop/bin/python Tests/Data/Vectors/generate.py           writes the files beside this one
    .build/interop/bin/python Tests/Data/Vectors/generate.py --check   exits with 1 if they differ

Needs Python 3.11. The output is a function of this source alone: every seed is SHA-256 of a label. `reference`
implements the format, `cases` states each case's outcome. A case is written only after the reference gave that outcome,
every HPKE ciphertext only after pyhpke gave the same, and every chunk of a sealed file only after libsodium, through
PyNaCl, gave the same.
"""

import json
import sys
from pathlib import Path
from typing import Any

# Compiled copies of the sources do not belong in the repository.
sys.dont_write_bytecode = True

from cases import (  # noqa: E402
    answer_cases,
    attachment_cases,
    attachment_chunk_cases,
    attachment_list_cases,
    attachment_seal_cases,
    body_cases,
    carried_cases,
    certificate_cases,
    effect_cases,
    epoch_cases,
    hpke_cases,
    index,
    inner_cases,
    key_cases,
    key_point_cases,
    life_cases,
    notification_cases,
    order_cases,
    outer_cases,
    pairing_cases,
    payload_cases,
    plan_cases,
    post_cases,
    push_cases,
    record_cases,
    reference_cases,
    relay_cases,
    reply_cases,
    request_cases,
    reserved_cases,
    seal_cases,
    sealer_cases,
    sequence_cases,
    signed_cases,
    suite2_cases,
    suite2_record_cases,
    suite2_seal_cases,
    worked_example,
)
from cases.vector import Vector, document  # noqa: E402

# The sections of one file, each a list of cases.
Document = dict[str, list[dict[str, Any]]]

HERE = Path(__file__).resolve().parent


def envelopes() -> Document:
    return {
        "seal": [seal.case for seal in seal_cases.seal_cases()],
    }


def attachments() -> Document:
    return {
        "seal": attachment_seal_cases.seal_cases(),
    }


def documents() -> dict[str, Document]:
    return {
        "hpke.json": hpke_cases.document(),
        "trust.json": {"certificates": certificate_cases.json_cases()},
        "envelopes.json": envelopes(),
        "suite-2-seals.json": {"seal": suite2_seal_cases.seal_cases()},
        "attachments.json": attachments(),
        "requests.json": {
            "collapse": request_cases.collapse_cases(),
            "expiration": request_cases.expiration_cases(),
        },
        "answers.json": {
            "keys": answer_cases.key_cases(),
            "answers": answer_cases.answer_cases(),
            "refused": answer_cases.refused_cases(),
        },
        "pairing.json": {
            "pairings": pairing_cases.pairing_cases(),
            "refused": pairing_cases.refused_cases(),
            "beliefs": pairing_cases.belief_cases(),
            "urls": pairing_cases.url_cases(),
        },
        "signed.json": {
            "records": signed_cases.record_cases(),
            "replies": signed_cases.reply_cases(),
            "beliefs": signed_cases.belief_cases(),
            "sequences": signed_cases.sequence_cases(),
            "stale": signed_cases.stale_cases(),
        },
        "relay.json": {
            "grants": relay_cases.grant_cases(),
            "refusedGrants": relay_cases.refused_grant_cases(),
            "requests": relay_cases.request_cases(),
            "refusedRequests": relay_cases.refused_request_cases(),
            "answers": relay_cases.answer_cases(),
            "messages": relay_cases.message_cases(),
            "collapse": relay_cases.collapse_cases(),
        },
    }


def kit() -> list[Vector]:
    return [
        *push_cases.context_cases(),
        *push_cases.push_cases(),
        *outer_cases.plain_cases(),
        *outer_cases.text_cases(),
        *outer_cases.header_cases(),
        *outer_cases.device_key_cases(),
        *outer_cases.decryption_cases(),
        *inner_cases.signature_cases(),
        *inner_cases.verification_cases(),
        *inner_cases.structure_cases(),
        *inner_cases.message_cases(),
        *order_cases.order_cases(),
        *payload_cases.opened_cases(),
        *payload_cases.malformed_cases(),
        *carried_cases.carried_cases(),
        *epoch_cases.epoch_cases(),
        *attachment_cases.attachment_cases(),
        *attachment_chunk_cases.attachment_chunk_cases(),
        *reference_cases.reference_cases(),
        *attachment_list_cases.list_cases(),
        *reserved_cases.reserved_cases(),
        *body_cases.body_cases(),
        *key_cases.key_cases(),
        *key_point_cases.device_key_faults(),
        *key_point_cases.provider_key_faults(),
        *certificate_cases.certificate_cases(),
        *plan_cases.plan_cases(),
        *notification_cases.notification_cases(),
        *record_cases.record_cases(),
        *post_cases.post_cases(),
        *reply_cases.reply_cases(),
        *sequence_cases.replay_cases(),
        *effect_cases.effect_cases(),
        *life_cases.life_cases(),
        *sealer_cases.sealer_cases(),
        *(seal.envelope for seal in seal_cases.seal_cases()),
        *suite2_cases.suite_2_cases(),
        *suite2_record_cases.suite_2_record_cases(),
    ]


def kit_documents() -> dict[str, dict[str, Any]]:
    """The files of the kit, one for each group."""
    groups: dict[str, list[Vector]] = {}
    for vector in kit():
        groups.setdefault(vector.group, []).append(vector)
    rules = index.rules_of(*sorted((HERE.parents[2] / "Docs").glob("Format*.md")), HERE / "README.md")
    index.check(rules, [vector for vectors in groups.values() for vector in vectors])
    return {f"kit/{group}.json": document(group, groups[group]) for group in sorted(groups)}


def check_names(cases: list[dict[str, Any]]) -> None:
    """A name states what its case proves, so no two cases of a section share one."""
    names = [case["name"] for case in cases]
    assert len(names) == len(set(names)), [name for name in names if names.count(name) > 1]


def render(sections: Document) -> str:
    """JSON with one field of a case on each line, so that a difference names the field."""

    def compact(value: object) -> str:
        return json.dumps(value, ensure_ascii=False)

    def item(case: dict[str, object]) -> str:
        return "{" + ",".join(f"\n   {compact(name)}: {compact(value)}" for name, value in case.items()) + "\n  }"

    texts = []
    for name, section in sections.items():
        items = ",".join(f"\n  {item(case)}" for case in section)
        texts.append(f"\n {compact(name)}: [{items}\n ]")
    text = "{" + ",".join(texts) + "\n}\n"
    assert json.loads(text) == sections
    return text


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 64
    if not __debug__:
        print("error: without assertions nothing is checked; run Python without -O", file=sys.stderr)
        return 64
    files: dict[str, bytes] = {}
    for file, sections in documents().items():
        for section, cases in sections.items():
            check_names(cases)
            print(f"{file:16} {section:18} {len(cases):4}")
        files[file] = render(sections).encode()
    files["worked-example.md"] = worked_example.document().encode()

    for file, group in kit_documents().items():
        check_names(group["tests"])
        print(f"{file:36}{len(group['tests']):4}")
        files[file] = (json.dumps(group, ensure_ascii=False, indent=1) + "\n").encode()

    stale = [path for path in HERE.glob("kit/*") if path.relative_to(HERE).as_posix() not in files]
    differing = [
        file for file, data in files.items() if not (HERE / file).exists() or (HERE / file).read_bytes() != data
    ]
    if arguments:
        for wrong in [*differing, *map(str, stale)]:
            print(f"error: {wrong} is not what this program writes", file=sys.stderr)
        return 1 if differing or stale else 0
    for path in stale:
        path.unlink()
    for file in differing:
        (HERE / file).parent.mkdir(parents=True, exist_ok=True)
        (HERE / file).write_bytes(files[file])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
