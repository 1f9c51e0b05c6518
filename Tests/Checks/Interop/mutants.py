"""Removes one check after another from each receiver, and expects the test kit to notice every time.

This verifies that a receiver that passes the kit has the checks, not only the arithmetic. The replaced text must occur
in its file exactly once, so that the list cannot become outdated unnoticed.
"""
import functools
import os
import shutil
import subprocess
import sys
import tempfile

import drivers
import kit
from drivers import ROOT, Driver, Failure

PYTHON = {
    "checksum": ("keys.py", "if polymod(kind, values) != 1:", "if False:"),
    "padding bits of a key": ("keys.py", "if values[51] & 15:", "if False:"),
    "kind of a key": ("keys.py", "if of[0] != kind:", "if False:"),
    "case of a prefix": ("keys.py", 'if text.startswith(shown(other) + "1")]', 'if text.lower().startswith(other + "1")]'),
    "small order of a device key": ("keys.py", "if u >= P or u in SMALL_ORDER_U:", "if u >= P:"),
    "reduced device key": ("keys.py", "if u >= P or u in", "if u in"),
    "order of a sender key": ("keys.py", "if product[0] != 0 or product[1] != product[2]:", "if False:"),
    "length of a key": ("keys.py", "if len(data) != LENGTH:", "if False:"),
    "R that is the identity": ("keys.py", "if signature[:32] == IDENTITY:", "if False:"),
    "secret key that is not printed": ("keys.py", 'return f"<{type(self).__name__}>"', "return self.secret_text()"),
    "duplicate names": ("_json.py", "if len(object) == len(pairs) else refuse(\"an object has two members of one name\")", ""),
    "depth": ("_json.py", "if depth(text) > DEPTH:", "if False:"),
    "lone surrogates": ("_json.py", "            check_surrogates(value)\n    except", "            pass\n    except"),
    "a string that does not end": ("_json.py", """.)*"?'""", """.)*"'"""),
    "names of an object": ("_json.py", "if not isinstance(name, str):", "if False:"),
    "text of a parser's error": ("_json.py", 'f"it is not JSON, at character {error.pos}"', 'f"it is not JSON: {error.doc}"'),
    "aps": ("opening.py", 'if not isinstance(members.get("aps"), dict):', "if False:"),
    "overlap of messages": ("trust.py", "if old.verifies(now)]\n        revoked", "if old.statement]\n        revoked"),
    "the same statement again": (
        "trust.py",
        "        if any(old.statement is not None and old.statement[:SIGNED] == statement[:SIGNED] for old in sender.superseded):\n            return sender\n",
        "",
    ),
    "the signatures of the same statement": ("trust.py", "and old.statement[:SIGNED] == statement[:SIGNED] for", "and old.statement == statement for"),
    "first signature": ("trust.py", "if key.verifies(statement[53:117], signed(statement, 0x01, key))", ""),
    "new key": ("trust.py", "        return SenderPublicKey(statement[5:37])\n    except PushcryptError:\n        raise Fails(rule, Code.WEAK_KEY) from None", "        return SenderPublicKey(statement[5:37])\n    except PushcryptError:\n        raise Fails(rule, Code.BAD_STATEMENT_SIGNATURE) from None"),
    "second signature": ("trust.py", "require(new.verifies(statement[117:181], signed(statement, 0x02, old)), 6", "require(True, 6"),
    "rotation conflict": ("trust.py", "require(old == sender.pinned, 7", "require(True, 7"),
    "superseded new key": ("trust.py", "require(new != old and self.may_pin(new, sender), 8", "require(True, 8"),
    "superseded new key of a recovery": ("trust.py", "require(self.may_pin(new, sender), 20", "require(True, 20"),
    "recovery key as a new key": ("trust.py", " and bytes(key) not in self.recovery_keys()\n", "\n"),
    "key revoked for another sender": ("trust.py", " and key not in self.revoked() and bytes(key) not in", " and bytes(key) not in"),
    "revoked old key": ("trust.py", "require(old not in self.revoked(), 7", "require(True, 7"),
    "revoked key of a message": ("trust.py", "if key not in revoked and key.id_bytes == id]", "if key.id_bytes == id]"),
    "any number of keys with one id": ("trust.py", "key.id_bytes == id]", "key.id_bytes == id][:4]"),
    "overlap": ("trust.py", "<= LARGEST_OVERLAP, 9", "< 2**40, 9"),
    "statement from the future": ("trust.py", "require(issued_at <= later(now, TOLERANCE), 10", "require(True, 10"),
    "expired statement": ("trust.py", "require(now <= later(issued_at, number(statement, 45, 49)), 11", "require(True, 11"),
    "recovery's first signature": ("trust.py", "if key.verifies(statement[53:117], data))", "if data)"),
    "recovery's second signature": ("trust.py", "require(new.verifies(statement[117:181], data_of_new), 18", "require(True, 18"),
    "context of a recovery": ("trust.py", "bytes(recovery) + topic_field + statement[:SIGNED]", "bytes(recovery) + statement[:SIGNED]"),
    "serial": ("trust.py", "if serial < sender.serial or", "if"),
    "recovery conflict": ("trust.py", "require(serial > sender.serial, 19", "require(True, 19"),
    "serial 0": ("trust.py", "if statement[0] == RECOVERS and number(statement, 49, 53) == 0:", "if False:"),
    "recovery of a sender without a pin": ("trust.py", "if sender.pinned is None or not own:", "if not own:"),
    "every other key is revoked": ("trust.py", "in (*sender.past, sender.pinned) if key != new)", "in (sender.pinned,) if key != new)"),
    "senders apart": ("trust.py", "                failures.append(fails)\n", "                failures.append(fails)\n                break\n"),
    "highest rule": ("trust.py", "max([nobody, *failures], key", "min([*failures, nobody], key"),
    "statement version": ("trust.py", " or statement[0] not in (ROTATES, RECOVERS):", ":"),
    "pinned and superseded": ("trust.py", "if len(set(own)) != len(own):", "if False:"),
    "a key with two uses": ("trust.py", "if any(bytes(key) in self.recovery_keys() for key in own):", "if False:"),
    "parts of a trust": ("trust.py", "if len(sender.recovery) > MOST_RECOVERY_KEYS or len(sender.last_recovery) not in (0, SIGNED):", "if False:"),
    "statement of a trust": ("trust.py", "if any(old.statement is not None and len(old.statement) != STATEMENT for old in sender.superseded):", "if False:"),
    "sum that wraps around": ("_envelope.py", "min(time + 1000 * seconds, NEVER)", "(time + 1000 * seconds) % 2**64"),
    "all-zero result": ("_hpke.py", "    if not any(result):\n", "    if False:\n"),
    "tag": (
        "_hpke.py",
        "return self.aead.decrypt(self.nonce, ct, aad)",
        "return self.aead.encrypt(self.nonce, ct[:-16], aad)[:-16]",
    ),
    "context": ("_envelope.py", 'r"[A-Za-z0-9.-]{1,255}"', 'r".*"'),
    "canonical base64url": ("_envelope.py", "if encode(envelope) != text:", "if False:"),
    "suite": ("_envelope.py", "if envelope[0] != SUITE:", "if False:"),
    "bucket": ("_envelope.py", "if len(envelope) - OUTSIDE not in BUCKETS:", "if False:"),
    "end of a device key": ("opening.py", " and now <= key.end", ""),
    "body length": ("opening.py", "if end > len(inner):", "if False:"),
    "signature": ("opening.py", "if key.verifies(inner[4:68], data)", ""),
    "padding": ("opening.py", " or any(inner[end:])", ""),
    "content type": ("opening.py", "if inner[CONTENT] not in (PAYLOAD, STATEMENTS):", "if False:"),
    "time to live": ("opening.py", "not 1 <= time_to_live <= LONGEST_TIME_TO_LIVE or ", ""),
    "largest time": ("opening.py", " or sent_at > LARGEST_TIME:", ":"),
    "expired": ("opening.py", "if now > later(sent_at, time_to_live):", "if False:"),
    "from the future": ("opening.py", "if sent_at > later(now, TOLERANCE):", "if False:"),
    "strict payload": ("opening.py", "    check_payload(payload)\n", ""),
    "keys before a recovery": ("opening.py", "if not any(statement[0] == RECOVERS for statement in accepted):", "if True:"),
    "keys before a rotation": ("opening.py", "        candidates += trust.candidates(inner[:4], now)\n", "        pass\n"),
    "keys after the statements": ("opening.py", "candidates = after.candidates(inner[:4], now)", "candidates = []"),
    "recovery conflict first": ("opening.py", "raise PushcryptError(told[0],", "raise PushcryptError(told[-1],"),
    "trust after a refusal": ("opening.py", "trust.copy()", "trust"),
    "url": ("attachments.py", "if not is_url(self.url):", "if False:"),
    "port": ("attachments.py", ' or int(parts["port"] or 0) > LARGEST_PORT', ""),
    "labels of a host": ("attachments.py", 'return NAME.fullmatch(parts["host"]) is not None', "return True"),
    "numbers of an address": ("attachments.py", 'all(int(byte) <= 255 for byte in parts["host"].split("."))', "True"),
    "size of a full body": ("attachments.py", "not 1 <= reference.size - SMALLEST_FILE <=", "not 0 <= reference.size - SMALLEST_FILE <="),
    "name of a file": ("attachments.py", ' and "/" not in name and', " and"),
    "start of a file": ("attachments.py", "if self._buffer[:5] != PREFIX:", "if False:"),
    "tag of a chunk": ("attachments.py", "            if tag != MESSAGE:\n", "            if False:\n"),
    "bytes beyond the size": ("attachments.py", "if len(within) < len(piece):", "if False:"),
    "size": ("attachments.py", "if self._came != self._size:", "if False:"),
    "end of a file": ("attachments.py", "        if tag == MESSAGE:\n", "        if False:\n"),
    "final": ("attachments.py", "if tag != FINAL or (not chunk and not self._first):", "if False:"),
    "hash of a file": ("attachments.py", "if not hmac.compare_digest(self._hash.digest(), self._sha256):", "if False:"),
    "authenticator of a chunk": ("_stream.py", "if not hmac.compare_digest(mac, chunk[-16:]):", "if False:"),
    "eight attachments": ("attachments.py", "in list_[:MOST]:", "in list_:"),
    "file after a refusal": ("attachments.py", "if self._ended:", "if False:"),
    "key that is not printed": ("attachments.py", "    url: str\n    key: bytes = field(repr=False)", "    url: str\n    key: bytes"),
    "title without half of a pair": ("sealing.py", "bool(text.strip()) and is_unicode(text) and", "bool(text.strip()) and"),
    "length of a statement to seal": ("sealing.py", " or any(len(statement) != STATEMENT for statement in announcing)", ""),
    "statements of a message": ("sealing.py", "if len(announcing) > MOST_STATEMENTS or", "if"),
    "push type": ("sealing.py", "if push_type not in LIMITS:", "if False:"),
    "widest form": ("sealing.py", "if sent_exactly else widest\n", "if True else widest\n"),
    "nine attachments": ("sealing.py", "if len(attachments) > MOST:", "if False:"),
    "time to live to seal": ("sealing.py", "or not 1 <= time_to_live <= LONGEST_TIME_TO_LIVE:", "or time_to_live < 0:"),
    "rounded end": ("sealing.py", 'if push_type == "voip":\n        return', "if True:\n        return"),
    "reserved key": ("_aps.py", 'if "pushcrypt" in members:', "if False:"),
    "sealed already": ("_aps.py", 'if "ENCRYPTED_DATA" in members:', "if False:"),
    "fields of aps": ("_aps.py", 'check(aps, FIELDS, "aps")', "pass"),
    "fields of a sound": ("_aps.py", 'check(sound, SOUND_FIELDS, "aps.sound")', "pass"),
    "something to show": ("_aps.py", 'if push_type == "alert" and not has_text:', "if False:"),
    "hedged id": ("sealing.py", "hashlib.sha256(body).digest()\n            message_id", "bytes(32)\n            message_id"),
    "hedged key": ("sealing.py", "+ sender_id + topic + hash\n", "+ sender_id + topic\n"),
    "signature of a signer": ("signing.py", "if not isinstance(signer, SenderKey) and not (len", "if False and not (len"),
    "withdrawal of itself": ("messages.py", "    if own in names:", "    if False:"),
    "own id among withdrawals": ("messages.py", "if type(name) is str and name]", "if type(name) is str]"),
    "64 withdrawals": ("messages.py", "for name in names[:MOST_WITHDRAWN] if", "for name in names if"),
    "drop that is true": ("opening.py", 'own.get("drop") is True', 'bool(own.get("drop"))'),
    "control characters of a name": ("messages.py", '(character) in ("Cc", "Cs") for', '(character) in ("Cs",) for'),
    "recipients": ("messages.py", " or len(self.recipients) > MOST_RECIPIENTS", ""),
    "type of an avatar": ("messages.py", "reference.type not in AVATAR_TYPES or ", ""),
    "size of an avatar": ("messages.py", " or reference.size > LARGEST_AVATAR", ""),
    "key id of a record": ("records.py", 'require(key_id is None or key_id == record.public_key.key_id, "key_id, which is another key\'s,")\n        check_different(record.sender', "check_different(record.sender"),
    "suite of a record": ("records.py", 'require(suite is None or (type(suite) is Number and suite == str(SUITE)), "suite")', "pass"),
    "order of suites": ("records.py", " and suites == sorted(set(suites))", ""),
    "topic of a record": ("records.py", 'require(topic is None or TOPIC.fullmatch(topic) is not None, "topic")', "pass"),
    "device id": ("records.py", 'require(device is None or is_device_id(device), "the device\'s id")', "pass"),
    "one key in two places": ("records.py", 'require(len(set(keys)) == len(keys), "one key in two places")', "pass"),
    "version of a reply": ("records.py", 'require(fields.number("version") == 1, "the version")', "pass"),
    "another user": ("records.py", "if user is not None and user != held.user:", "if False:"),
    "generation": ("records.py", "record.generation < generation or (", "("),
    "the same generation": ("records.py", " or (record.generation == generation and record.public_key != held.public_key)", ""),
    "generation that is too high": ("records.py", "if record.generation > generation + GENERATION_STEP:", "if False:"),
    "another topic": ("records.py", "and held.topic != record.topic:", "and False:"),
    "key of another user": ("records.py", "if elsewhere is not None and (owner is None or elsewhere.user != owner):", "if False:"),
    "acknowledged key": ("records.py", "if reply.acknowledged != key:", "if False:"),
    "pin that is there": ("records.py", "if pins.sender is not None or sender_built_in", "if sender_built_in"),
    "built-in sender": ("records.py", " or sender_built_in or reply.sender is None", " or reply.sender is None"),
    "built-in recovery": ("records.py", "if not recovery and not recovery_built_in:", "if not recovery:"),
}
JAVASCRIPT = {
    "checksum": ("keys.js", "if (polymod(kind, values) !== 1)", "if (false)"),
    "padding bits of a key": ("keys.js", "if ((values[51] & 15) !== 0)", "if (false)"),
    "kind of a key": ("keys.js", "if (of !== kind)", "if (false)"),
    "small order of a device key": ("keys.js", "if (u >= P || SMALL_ORDER_U.includes(u))", "if (u >= P)"),
    "reduced device key": ("keys.js", "if (u >= P || SMALL", "if (SMALL"),
    "order of a sender key": ("keys.js", "if (integer(product) !== u)", "if (false)"),
    "duplicate names": ("payload.js", "if (members.has(name) || !takes(", "if (!takes("),
    "depth": ("payload.js", "const DEPTH = 32;", "const DEPTH = 33;"),
    "lone surrogates": ("payload.js", "/\\p{Surrogate}/u.test(value) ? refuse() : value", "value"),
    "UTF-8": ("payload.js", "fatal: true", "fatal: false"),
    "aps": ("payload.js", 'if (!(members.get("aps") instanceof Map))', "if (false)"),
    "overlap of messages": ("trust.js", ".filter((old) => old.verifies(now));", ".filter((old) => old.statement !== null);"),
    "the same statement again": ("trust.js", "old.statement !== null && old.statement.subarray(0, SIGNED).equals(first)", "old === null"),
    "the signatures of the same statement": ("trust.js", "old.statement.subarray(0, SIGNED).equals(first)", "old.statement.equals(statement)"),
    "first signature": ("trust.js", "own.find((key) => verifies(key, statement.subarray(53, 117), signed(statement, 0x01, key)))", "own[0]"),
    "new key": ("trust.js", '        must(isSenderKey(added), 5, "weak-key");\n', ""),
    "second signature": ("trust.js", "must(verifies(added, statement.subarray(117), signed(statement, 0x02, old)), 6", "must(true, 6"),
    "rotation conflict": ("trust.js", "must(sender.pinned !== null && sender.pinned.equals(old), 7", "must(true, 7"),
    "superseded new key": ("trust.js", "must(!added.equals(old) && this.mayPin(added, sender), 8", "must(true, 8"),
    "superseded new key of a recovery": ("trust.js", "must(this.mayPin(added, sender), 20", "must(true, 20"),
    "recovery key as a new key": ("trust.js", "[sender.past, this.revoked(), this.recoveryKeys()].some", "[sender.past, this.revoked()].some"),
    "key revoked for another sender": ("trust.js", "[sender.past, this.revoked(), this.recoveryKeys()].some", "[sender.past, this.recoveryKeys()].some"),
    "revoked old key": ("trust.js", "must(!has(this.revoked(), old), 7", "must(true, 7"),
    "revoked key of a message": ("trust.js", "!has(revoked, key) && keyID(ED25519, key).equals(id)", "keyID(ED25519, key).equals(id)"),
    "any number of keys with one id": ("trust.js", "keyID(ED25519, key).equals(id));\n    }", "keyID(ED25519, key).equals(id)).slice(0, 4);\n    }"),
    "overlap": ("trust.js", "must(statement.readUInt32BE(49) <= LARGEST_OVERLAP, 9", "must(true, 9"),
    "statement from the future": ("trust.js", "must(issuedAt <= later(now, TOLERANCE), 10", "must(true, 10"),
    "expired statement": ("trust.js", "must(now <= later(issuedAt, statement.readUInt32BE(45)), 11", "must(true, 11"),
    "recovery's first signature": ("trust.js", "own.find((key) => verifies(key, statement.subarray(53, 117), recoverySigned(statement, 0x03, key, context)))", "own[0]"),
    "recovery's second signature": ("trust.js", "must(verifies(added, statement.subarray(117), data), 18", "must(true, 18"),
    "recovery's new key": ("trust.js", '        must(isSenderKey(added), 17, "weak-key");\n', ""),
    "serial": ("trust.js", "if (serial < sender.serial || first", "if (first"),
    "recovery conflict": ("trust.js", "must(serial > sender.serial, 19", "must(true, 19"),
    "serial 0": ("trust.js", "if (version === RECOVERS && statement.readUInt32BE(49) === 0)", "if (false)"),
    "recovery of a sender without a pin": ("trust.js", "must(sender.pinned !== null && own.length > 0, 15", "must(own.length > 0, 15"),
    "every other key is revoked": ("trust.js", "[...sender.past, sender.pinned].filter((key) => !key", "[sender.pinned].filter((key) => !key"),
    "R that is the identity": ("trust.js", "return !signature.subarray(0, 32).equals(IDENTITY) && verify(", "return verify("),
    "statement version": ("trust.js", " || (version !== ROTATES && version !== RECOVERS)", ""),
    "tag": ("hpke.js", "            aead.final();\n", ""),
    "context": ("envelope.js", "if (!/^[A-Za-z0-9.-]{1,255}$/.test(context))", "if (false)"),
    "end of a device key": ("envelope.js", " && now <= key.end", ""),
    "body length": ("envelope.js", "if (end > inner.length)", "if (false)"),
    "signature": (
        "envelope.js",
        "verifies(sender, inner.subarray(4, 68), signed(header, enc, device.publicKey, sender, context, contentHash))",
        "true",
    ),
    "padding": ("envelope.js", " || inner.subarray(end).some((byte) => byte !== 0)", ""),
    "content type": ("envelope.js", "if (inner[CONTENT] !== PAYLOAD && inner[CONTENT] !== STATEMENTS)", "if (false)"),
    "expired": ("envelope.js", "if (now > later(sentAt, timeToLive))", "if (false)"),
    "from the future": ("envelope.js", "if (sentAt > later(now, TOLERANCE))", "if (false)"),
    "strict payload": ("envelope.js", "    checkPayload(payload);\n", ""),
    "canonical base64url": ("envelope.js", 'if (envelope.toString("base64url") !== text)', "if (false)"),
    "suite": ("envelope.js", "if (envelope[0] !== SUITE)", "if (false)"),
    "bucket": ("envelope.js", "if (!BUCKETS.includes(envelope.length - OUTSIDE))", "if (false)"),
    "keys before a recovery": ("envelope.js", "if (!isRecovered)", "if (true)"),
    "keys before a rotation": ("envelope.js", "if (!isRecovered)", "if (false)"),
    "recovery conflict first": ("envelope.js", "throw new PushcryptError(told[0])", "throw new PushcryptError(told.at(-1))"),
    "port": ("attachments.js", " || Number(port ?? 0) > LARGEST_PORT", ""),
    "labels of a host": ("attachments.js", ": NAME.test(host)", ": true"),
    "numbers of an address": ("attachments.js", 'host.split(".").every((byte) => Number(byte) <= 255)', "true"),
    "size of a full body": ("attachments.js", "length < 1 || length >", "length < 0 || length >"),
    "case of a prefix": ("keys.js", 'text.startsWith(inCase(other, other) + "1")', 'text.toLowerCase().startsWith(other + "1")'),
    "authenticator of a chunk": ("attachments.js", "if (!timingSafeEqual(mac, sealed.subarray(-16)))", "if (false)"),
    "associated data of a chunk": ("attachments.js", "[PREFIX, Buffer.alloc(16 - PREFIX.length), tagBlock", "[tagBlock"),
    "start of a file": ("attachments.js", "if (!buffered.subarray(0, 5).equals(PREFIX))", "if (false)"),
    "bytes beyond the size": ("attachments.js", "if (within.length < piece.length)", "if (false)"),
    "end of a file": ("attachments.js", 'if (tag === MESSAGE) throw new PushcryptError("truncated-file");', ""),
    "final": ("attachments.js", "if (tag !== FINAL || (chunk.length === 0 && !this.first))", "if (false)"),
    "hash of a file": ("attachments.js", "if (!timingSafeEqual(this.hash.digest(), this.sha256))", "if (false)"),
    "keys of a trust": ("keys.js", "if (kind === SENDER_PUBLIC || kind === RECOVERY_PUBLIC) checkSenderKey(key);", ""),
    "pinned and superseded": ("trust.js", "if (keys.some((key, index) => has(keys.slice(0, index), key)))", "if (false)"),
    "a key with two uses": ("trust.js", "if (keys.some((key) => has(this.recoveryKeys(), key)))", "if (false)"),
    "text with half of a pair": ("values.js", 'if (/\\p{Surrogate}/u.test(value)) throw new PushcryptError("invalid-request"', 'if (false) throw new PushcryptError("invalid-request"'),
    "an option of another name": ("values.js", "if (!names.includes(name))", "if (false)"),
    "an integer that was rounded": ("values.js", "if (Number.isInteger(value) && !Number.isSafeInteger(value))", "if (false)"),
    "a number that JSON lacks": ("values.js", "if (!Number.isFinite(value) || Object.is(value, -0))", "if (false)"),
    "an object of a class": ("values.js", "(prototype !== null && Object.getPrototypeOf(prototype) !== null) || ", ""),
    "an array with holes": ("values.js", "if (Object.keys(value).length !== value.length ||", "if ("),
    "a text with half of a pair as JSON": ("values.js", 'if (/\\p{Surrogate}/u.test(value)) throw new PushcryptError(code,', 'if (false) throw new PushcryptError(code,'),
    "length of a statement to seal": ("seal.js", " || statements.some((statement) => statement.length !== STATEMENT)", ""),
    "reserved member": ("seal.js", 'if (members.has("pushcrypt"))', "if (false)"),
    "Apple's fields": ("apple.js", "if (rule !== undefined && !rule[0](value))", "if (false)"),
    "an alert that shows nothing": ("apple.js", "if (isObject(alert) ?", "if (false && isObject(alert) ?"),
    "hedged randomness": ("seal.js", 'createHmac("sha256", sender.hedge)', 'createHmac("sha256", "")'),
    "rounded end": ("seal.js", 'if (pushType === "voip") return timeToLive;', "return timeToLive;"),
    "signature of a signer": ("sealer.js", "if (signature.length !== 64 || !verifies(publicKey, signature, message))", "if (false)"),
    "longest device name": ("sealer.js", "text.length < 1 || text.length > LONGEST_DEVICE_NAME", "text.length < 1"),
    "background at once": ("sealer.js", 'if (push.pushType === "background" && priority === 10)', "if (false)"),
    "empty names": ("sealer.js", 'string(name, what) === ""', "false"),
    "placeholder that shows nothing": ("sealer.js", "if (/^\\p{White_Space}*$/u.test(string(text, `the placeholder's ${what}`)))", "if (false)"),
    "most withdrawals": ("reserved.js", "if (names.length > MOST_WITHDRAWN)", "if (false)"),
    "withdrawal of itself": ("reserved.js", "if (names.includes(messageName))", "if (false)"),
    "withdrawals read": ("reserved.js", "names.slice(0, MOST_WITHDRAWN)", "names"),
    "type of an avatar": ("reserved.js", "!PICTURES.includes(reference.type) || ", ""),
    "texts of a sender": ("reserved.js", " && !/\\p{Cc}/u.test(text)", ""),
    "id of a record's key": ("records.js", 'named === id.toString("hex")', "true"),
    "suite of a record": ("records.js", 'suite instanceof NumberText && suite.text === "1"', "true"),
    "one key twice in a record": ("records.js", "rule(new Set(all).size === all.length,", "rule(true,"),
    "device id": ("records.js", ' && !id.startsWith("pcr1")', ""),
    "another user": ("records.js", "user === null ? record.publicKey !== held.publicKey : user !== heldUser", "user === null && record.publicKey !== held.publicKey"),
    "no user": ("records.js", "user === null ? record.publicKey !== held.publicKey : user !== heldUser", "user !== null && user !== heldUser"),
    "lower generation": ("records.js", "if (isLower)", "if (false)"),
    "generation that is too high": ("records.js", "if (record.generation > generation + GENERATION_STEP)", "if (false)"),
    "another topic": ("records.js", "record.topic !== undefined && record.topic !== topic", "false"),
    "key of another user": ("records.js", "sameKey.user === null || sameKey.user !== (user ?? heldUser)", "false"),
    "foreign key": ("records.js", "if (!record.recoveryKeys.every(isOwn))", "if (false)"),
    "pinned sender": ("records.js", "confirms && pinned === null &&", "confirms &&"),
    "another key acknowledged": ("records.js", "reply.acknowledged === string(", "true || string("),
    "file after a refusal": ("attachments.js", "if (this.ended)", "if (false)"),
    "key that is not printed": ("attachments.js", "{ value: bytes32(key) }", "{ value: bytes32(key), enumerable: true }"),
}
C = {
    "checksum": ("keys.c", "if (polymod(KINDS[kind].prefix, values) != 1)", "if (0)"),
    "padding bits of a key": ("keys.c", "if ((values[VALUES - CHECKSUM - 1] & 15) != 0)", "if (0)"),
    "order of a sender key": ("keys.c", " || memcmp(product, u, KEY) != 0)", ")"),
    "reduced device key": ("keys.c", "if ((key[31] & 0x80) != 0 || !is_reduced(key))", "if (0)"),
    "overlong UTF-8": ("payload.c", "if (at[0] == 0xe0 && at[1] < 0xa0)", "if (0)"),
    "overlong UTF-8 of four bytes": ("payload.c", "if (at[0] == 0xf0 && at[1] < 0x90)", "if (0)"),
    "surrogates in UTF-8": ("payload.c", "if (at[0] == 0xed && at[1] > 0x9f)", "if (0)"),
    "duplicate names": ("payload.c", "if (compare_names(&parser->names[index - 1], &parser->names[index]) == 0)", "if (0)"),
    "names compared unescaped": (
        "payload.c",
        "if (one != other) return one < other ? -1 : 1;",
        "if (one != other || a.at[-1] != b.at[-1]) return one < other ? -1 : 1;",
    ),
    "depth": ("payload.c", "enum { DEPTH = 32,", "enum { DEPTH = 33,"),
    "lone surrogates": ("payload.c", "if (second < 0xdc00 || second > 0xdfff)", "if (0)"),
    "overlap of messages": ("trust.c", "const bool overlaps = !old->is_revoked && now <=", "const bool overlaps = !old->is_revoked || now <="),
    "the signatures of the same statement": ("trust.c", "memcmp(past->statement, statement, SIGNED) == 0", "memcmp(past->statement, statement, STATEMENT) == 0"),
    "first signature": ("trust.c", "if (rotation_signed(key, OLD_ROLE, statement + FIRST_SIGNATURE, statement, key)) old", "old"),
    "second signature": ("trust.c", "if (!rotation_signed(added, NEW_ROLE, statement + SECOND_SIGNATURE, statement, old))", "if (0)"),
    "new key": ("trust.c", 'if (check_sender_key(added) != NULL) return (struct outcome){"weak-key", 5, false};', ""),
    "revoked old key": ("trust.c", "if (is_revoked(trust, old))", "if (0)"),
    "superseded new key": ("trust.c", "if (memcmp(added, old, KEY) == 0 || !may_pin(trust, sender, added))", "if (0)"),
    "superseded new key of a recovery": ("trust.c", "if (!may_pin(trust, sender, added)) return", "if (0) return"),
    "recovery key as a new key": ("trust.c", " && !is_recovery_key(trust, key);", ";"),
    "key revoked for another sender": ("trust.c", " && !is_revoked(trust, key) && !is_rec", " && !is_rec"),
    "revoked key of a message": ("trust.c", "if (!is_revoked(trust, candidates[index]))", "if (1)"),
    "any number of keys with one id": ("trust.c", "    return kept;", "    return kept < 4 ? kept : 4;"),
    "recovery's first signature": ("trust.c", "if (recovery_signed(key, RECOVERY_ROLE, statement + FIRST_SIGNATURE, statement, key, context)) recovery", "recovery"),
    "recovery's second signature": ("trust.c", "if (!recovery_signed(added, NEW_ROLE, statement + SECOND_SIGNATURE, statement, recovery, context))", "if (0)"),
    "recovery's new key": ("trust.c", 'if (check_sender_key(added) != NULL) return (struct outcome){"weak-key", 17, false};', ""),
    "serial": ("trust.c", "if (serial < serial_of(sender) || is_same)", "if (is_same)"),
    "recovery conflict": ("trust.c", "if (serial == serial_of(sender))", "if (0)"),
    "serial 0": ("trust.c", "if (statement[0] == RECOVERS && number(statement + SERIAL, 4) == 0)", "if (0)"),
    "every other key is revoked": ("trust.c", "sender->superseded[index].is_revoked = true;", ";"),
    "statement version": ("trust.c", " || (statement[0] != ROTATES && statement[0] != RECOVERS)", ""),
    "keys before a recovery": ("envelope.c", "if (!is_recovered)", "if (1)"),
    "keys before a rotation": ("envelope.c", "if (!is_recovered)", "if (0)"),
    "sum that wraps around": ("trust.c", "time > UINT64_MAX - milliseconds ? UINT64_MAX : time", "time"),
    "statement from the future": ("trust.c", "if (issued_at > later(now, TOLERANCE))", "if (0)"),
    "expired statement": ("trust.c", "if (now > later(issued_at, (uint32_t)number(statement + ACCEPT_FOR, 4)))", "if (0)"),
    "tag": (
        "hpke.c",
        "    sodium_memzero(context, sizeof *context);\n    return tag == 0;",
        "    if (tag != 0) crypto_stream_chacha20_ietf_xor_ic(pt, ct, length - 16, context->base_nonce, 1, "
        "context->key);\n    return true;",
    ),
    "all-zero result": (
        "hpke.c",
        "if (crypto_scalarmult_curve25519(dh, secret, public) != 0) return false;",
        "if (crypto_scalarmult_curve25519(dh, secret, public) != 0) memset(dh, 0, KEY);",
    ),
    "body length": ("envelope.c", "if (end > bucket)", "if (0)"),
    "signature": (
        "envelope.c",
        "if (verifies(candidates[index], inner + SIGNATURE_AT, data, signed_length)) sender",
        "(void)signed_length; sender",
    ),
    "padding": ("envelope.c", " || !sodium_is_zero(inner + end, bucket - end))", ")"),
    "expired": ("envelope.c", "if (now > later(sent_at, time_to_live))", "if (0)"),
    "from the future": ("envelope.c", "if (sent_at > later(now, TOLERANCE))", "if (0)"),
    "canonical base64url": ("envelope.c", "if ((bits & ((1U << count) - 1)) != 0)", "if (0)"),
    "suite": ("envelope.c", "if (envelope[0] != SUITE)", "if (0)"),
    "bytes beyond the size": ("attachments.c", 'return within < length ? "wrong-size" : NULL;', "return NULL;"),
    "tag of a chunk": ("attachments.c", 'if (tag != MESSAGE) return "malformed-file";', ""),
    "final": ("attachments.c", "if (tag != FINAL || (length == 0 && !opener->first))", "if (0)"),
    "hash of a file": ("attachments.c", "if (sodium_memcmp(hash, opener->sha256, sizeof hash) != 0)", "if (0)"),
    "url": ("attachments.c", "value, \"url\") && is_url(reference->url)", "value, \"url\")"),
    "keys of a trust": ("trust.c", "if (check_sender_key(key) != NULL)", "if (0)"),
    "pin of a trust": ("trust.c", "if (sender->has_pin && check_sender_key(sender->pinned) != NULL)", "if (0)"),
    "pinned and superseded": ("trust.c", "if (is_pin(sender, key) || is_past(added, key))", "if (0)"),
    "a key with two uses": ("trust.c", "if (two_uses)", "if (0)"),
    "name without an end": ("trust.c", " || memchr(sender->name, 0, sizeof sender->name) == NULL", ""),
    "port": ("attachments.c", " || strtoul(text, NULL, 10) > LARGEST_PORT", ""),
    "last label of a host": ("attachments.c", "if (text == end) return begins_with_letter ||", "if (text == end) return true ||"),
    "low surrogates": ("payload.c", "if (second < 0xdc00 || second > 0xdfff)", "if (second < 0xdc00)"),
    "size of a full body": ("attachments.c", "reference->size > SMALLEST_FILE &&", "reference->size >= SMALLEST_FILE &&"),
    "nothing left of a message": ("envelope.c", "    size_t text_length;\n    sodium_memzero(opened, sizeof *opened);\n", "    size_t text_length;\n"),
    "title that is UTF-8": ("seal.c", "!is_text(message->title) || ", ""),
    "push type": ("seal.c", "(unsigned)message->push_type > VOIP", "0"),
    "file after a refusal": ("attachments.c", "opener->ended ? \"malformed-file\" : take_last(", "take_last("),
    "full disk": ("attachments.c", "return written ? NULL : \"not-written\";", "return NULL;"),
}
JAVA = {
    "checksum": ("Keys.java", "if (polymod(kind.prefix, values) != 1)", "if (false)"),
    "order of a sender key": ("Keys.java", "if (!Arrays.equals(x25519(Bytes.littleEndian(scalar, LENGTH), encoded), encoded))", "if (scalar == null || encoded == null)"),
    "duplicate names": ("Payload.java", "if (members.put(name, value(depth)) != null)", "if (members.put(name, value(depth)) == NULL)"),
    "depth": ("Payload.java", "DEPTH = 32", "DEPTH = 33"),
    "lone surrogates": ("Payload.java", "== Character.SURROGATE) throw refused();", "== -1) throw refused();"),
    "unsigned times": ("Envelope.java", "if (TrustRules.isAfter(sentAt, LARGEST_TIME))", "if (sentAt > LARGEST_TIME)"),
    "sum that wraps around": ("TrustRules.java", "isAfter(time, sum) ? NEVER : sum", "sum"),
    "the same statement again": ("TrustRules.java", "if (!past.isRevoked() && Arrays.equals(Bytes.part(past.statement(), 0, SIGNED), first)) return sender;", ""),
    "first signature": ("TrustRules.java", "if (old == null && verifies(key, firstSignature, signed(first, 0x01, key)))", "if (old == null)"),
    "second signature": ("TrustRules.java", "require(verifies(added, secondSignature, signed(first, 0x02, old)), 6", "require(added != null, 6"),
    "new key": ("TrustRules.java", '        require(isSenderKey(added), 5, "weak-key");\n', ""),
    "revoked old key": ("TrustRules.java", "require(!contains(revoked(), old), 7", "require(true, 7"),
    "superseded new key": ("TrustRules.java", "require(!Arrays.equals(added, old) && mayPin(added, sender), 8", "require(true, 8"),
    "superseded new key of a recovery": ("TrustRules.java", "require(mayPin(added, sender), 20", "require(true, 20"),
    "recovery key as a new key": ("TrustRules.java", " && !contains(recoveryKeys(), key);", ";"),
    "key revoked for another sender": ("TrustRules.java", " && !contains(revoked(), key) && !contains(rec", " && !contains(rec"),
    "revoked key of a message": ("TrustRules.java", "!contains(revoked, key) && hasID(Keys.ED25519, key, id)).toList();\n    }", "hasID(Keys.ED25519, key, id)).toList();\n    }"),
    "any number of keys with one id": ("TrustRules.java", "hasID(Keys.ED25519, key, id)).toList();\n    }", "hasID(Keys.ED25519, key, id)).limit(4).toList();\n    }"),
    "recovery's first signature": ("TrustRules.java", "if (recovery == null && verifies(key, firstSignature, recoverySigned(first, 0x03, key, context)))", "if (recovery == null)"),
    "recovery's second signature": ("TrustRules.java", "require(verifies(added, secondSignature, recoverySigned(first, 0x02, recovery, context)), 18", "require(added != null, 18"),
    "recovery's new key": ("TrustRules.java", '        require(isSenderKey(added), 17, "weak-key");\n', ""),
    "serial": ("TrustRules.java", "if (serial < sender.serial() || Arrays", "if (Arrays"),
    "recovery conflict": ("TrustRules.java", "require(serial > sender.serial(), 19", "require(true, 19"),
    "serial 0": ("TrustRules.java", "if (statement[0] == RECOVERS && Bytes.number(statement, SERIAL, SIGNED) == 0)", "if (false)"),
    "every other key is revoked": ("TrustRules.java", "Stream.concat(sender.past().stream(), Stream.of(sender.pinned()))\n", "Stream.of(sender.pinned())\n"),
    "R that is the identity": ("TrustRules.java", "if (y.mod(Keys.P).equals(BigInteger.ONE)) return false;", ""),
    "keys before a recovery": ("Envelope.java", "if (!isRecovered)", "if (true)"),
    "port": ("Attachments.java", " || parts.group(2) != null && Integer.parseInt(parts.group(2)) > LARGEST_PORT", ""),
    "labels of a host": ("Attachments.java", "return NAME.matcher(host).matches();", "return true;"),
    "overlap": ("TrustRules.java", "<= LARGEST_OVERLAP, 9", "<= LARGEST_OVERLAP << 20, 9"),
    "body length": ("Envelope.java", "if (end > inner.length) throw", "if (end > 70000) throw"),
    "signature": ("Envelope.java", "if (sender == null && TrustRules.verifies(key, signature, signed))", "if (sender == null && signed != null)"),
    "padding": ("Envelope.java", "|| padding != 0)", "|| padding == 256)"),
    "expired": ("Envelope.java", "if (TrustRules.isAfter(now, TrustRules.later(sentAt, timeToLive)))", "if (false)"),
    "from the future": ("Envelope.java", "if (TrustRules.isAfter(sentAt, TrustRules.later(now, TrustRules.TOLERANCE)))", "if (false)"),
    "canonical base64url": ("Envelope.java", "if (!encode(envelope).equals(text))", "if (false)"),
    "strict payload": ("Envelope.java", "        Payload.checkPayload(payload);\n", ""),
    "authenticator of a chunk": ("FileStream.java", "if (!same)", "if (!same && mac == null)"),
    "final": ("FileStream.java", "if (chunk.tag != FINAL || chunk.plain.length == 0 && !first)", "if (false)"),
    "hash of a file": ("FileStream.java", "if (!MessageDigest.isEqual(hash.digest(), sha256))", "if (false)"),
    "all-zero result": ("Hpke.java", "if (any == 0)", "if (any == 256)"),
    "keys of a trust": ("SenderPublicKey.java", "            Keys.checkSenderKey(key);\n", ""),
    "pinned and superseded": ("TrustRules.java", "if (contains(keys.subList(0, index), keys.get(index)))", "if (false)"),
    "a key with two uses": ("TrustRules.java", "if (keys.stream().anyMatch(key -> contains(recoveryKeys(), key)))", "if (false)"),
    "text with half of a pair": ("Json.java", 'if (!isUnicode(text)) throw new PushcryptException("invalid-request"', 'if (false) throw new PushcryptException("invalid-request"'),
    "JSON with half of a pair": ("Json.java", "if (!isUnicode(json))", "if (false)"),
    "a number that JSON lacks": ("Json.java", "if (Double.isNaN(number) || Double.isInfinite(number))", "if (false)"),
    "a text of a map with half of a pair": ("Json.java", "if (!isUnicode(string))", "if (false)"),
    "a name that is not a text": ("Json.java", "instanceof String name) || !isUnicode(name))", "instanceof String name))"),
    "reserved member": ("Sealing.java", 'if (members.containsKey("pushcrypt"))', "if (false)"),
    "Apple's fields": ("Apple.java", "if (rule != null && !rule.test.test(value))", "if (false)"),
    "an alert that shows nothing": ("Apple.java", 'if (pushType == PushType.ALERT && !shows(aps.get("alert")))', "if (false)"),
    "hedged randomness": ("Sealing.java", "return hmac(sender.hedge, concat(", "return hmac(new byte[32], concat("),
    "rounded end": ("Sealing.java", "if (pushType == PushType.VOIP) return timeToLive;", "if (pushType != null) return timeToLive;"),
    "most statements": ("Sealing.java", "if (statements.size() > Envelope.MOST_STATEMENTS)", "if (false)"),
    "longest device name": ("Sealer.java", "if (name.length < 1 || name.length > 255)", "if (name.length < 1)"),
    "background at once": ("Sealer.java", "if (push.pushType() == PushType.BACKGROUND && priority == 10)", "if (false)"),
    "empty names": ("SealOptions.java", """if (Json.checked(name, "the message's name").isEmpty())""", "if (false)"),
    "time to live to seal": ("SealOptions.java", "timeToLive.getNano() != 0 || ", ""),
    "placeholder that shows nothing": ("Placeholder.java", "if (BLANK.matcher(text).matches())", "if (false)"),
    "most withdrawals": ("Reserved.java", "if (names.size() > MOST_WITHDRAWN)", "if (false)"),
    "withdrawal of itself": ("Reserved.java", "if (messageName != null && names.contains(messageName))", "if (false)"),
    "withdrawals read": ("Reserved.java", "Math.min(MOST_WITHDRAWN, names.size())", "names.size()"),
    "type of an avatar": ("MessageSender.java", "PICTURES.contains(reference.type()) && ", ""),
    "texts of a sender": ("MessageSender.java", " && text.codePoints().noneMatch(Character::isISOControl)", ""),
    "id of a record's key": ("Records.java", "id == null || id.equals(key.id())", "true"),
    "suite of a record": ("Records.java", 'suite == null || new Payload.Number("1").equals(suite)', "true"),
    "one key twice in a record": ("Records.java", "rule(all.size() == recovery.size() + (sender == null ? 0 : 1),", "rule(true,"),
    "device id": ("Records.java", ' && !id.startsWith("pcr1")', ""),
    "another user": ("Registration.java", "user == null ? !isSame : !user.equals(held.user())", "user == null && !isSame"),
    "no user": ("Registration.java", "user == null ? !isSame : !user.equals(held.user())", "user != null && !user.equals(held.user())"),
    "lower generation": ("Registration.java", "if (record.generation() < generation ||", "if ("),
    "generation that is too high": ("Registration.java", "if (record.generation() > generation + GENERATION_STEP)", "if (false)"),
    "another topic": ("Registration.java", "if (isBound && !Objects.equals(record.topic(), held.topic()))", "if (isBound && !Objects.equals(held, held))"),
    "key of another user": ("Registration.java", "if (other != null && (other.user() == null || !other.user().equals(user)))", "if (false)"),
    "foreign key": ("Registration.java", "if (own != null && !record.recoveryKeys()", "if (false && !record.recoveryKeys()"),
    "pinned sender": ("Reply.java", "confirms && phone.pinned() == null &&", "confirms &&"),
    "another key acknowledged": ("Reply.java", "boolean confirms = phone.publicKey().equals(acknowledged);", "boolean confirms = true;"),
    "length of a type": ("Attachments.java", "type.length() <= 255 && ", ""),
    "file after a refusal": ("FileStream.java", "if (ended)", "if (false)"),
    "key that is not printed": ("AttachmentReference.java", 'return "AttachmentReference(" + type() + ", " + size() + " bytes)";', "return json();"),
    "signature of a signer": ("Sealer.java", "if (signature.length != 64 || !TrustRules.verifies(publicKey.key, signature, message))", "if (false)"),
}
GO = {
    "checksum": ("bech32.go", "if polymod(kind, values) != 1 {", "if false {"),
    "padding bits of a key": ("bech32.go", "if values[51]&15 != 0 {", "if false {"),
    "kind of a key": ("bech32.go", "if found != kind {", "if false {"),
    "length of a key's text": ("bech32.go", "if len(values) != 58 {", "if len(values) < 58 {"),
    "small order of a device key": ("keys.go", "u.Cmp(primeP) >= 0 || isSmallOrder(u)", "u.Cmp(primeP) >= 0"),
    "reduced device key": ("keys.go", "u.Cmp(primeP) >= 0 || isSmallOrder(u)", "isSmallOrder(u)"),
    "reduced sender key": ("keys.go", "y.Cmp(primeP) >= 0 || y.Cmp(one) == 0", "y.Cmp(one) == 0"),
    "order of a sender key": ("keys.go", "err != nil || !bytes.Equal(product, encoded)", "err != nil || len(product) == 0"),
    "R that is the identity": ("keys.go", "!bytes.Equal(signature[:32], identity) &&", "!bytes.Equal(signature[:32], identity[:0]) &&"),
    "secret key that is not printed": ("keys.go", 'fmt.Fprintf(state, "SenderKey(%s)", key.public)', "fmt.Fprint(state, key.SecretText())"),
    "duplicate names": ("internal/jsontext/jsontext.go", "if names[name] || !p.take(':') {", "if !p.take(':') {"),
    "depth": ("internal/jsontext/jsontext.go", "&& depth == Depth:", "&& depth == Depth+1:"),
    "UTF-8": ("internal/jsontext/jsontext.go", "if !utf8.Valid(data) {", "if false {"),
    "lone surrogates": ("internal/jsontext/jsontext.go", "if 0xD800 <= point && point < 0xE000 || p.failed {", "if p.failed {"),
    "low surrogates": ("internal/jsontext/jsontext.go", "0xDC00 <= low && low < 0xE000", "0xDC00 <= low"),
    "leading zeros": ("internal/jsontext/jsontext.go", "	if p.next() == '0' {\n		p.at++\n	} else if", "	if"),
    "control characters in a string": ("internal/jsontext/jsontext.go", "		case c < 0x20:\n			p.fail()\n			return \"\"\n		}\n		p.at++", "		case c < 0x20 && p.at >= len(p.data):\n			p.fail()\n			return \"\"\n		}\n		p.at++"),
    "what follows the object": ("internal/jsontext/jsontext.go", "if p.failed || p.at != len(data) ||", "if p.failed ||"),
    "strings that encoding/json replaces": ("internal/jsontext/encode.go", "if bytes.HasPrefix(rest[at:], []byte(`\\ufffd`)) {", "if false {"),
    "aps": ("opening.go", "aps == nil || aps.Kind != jsontext.Object", "aps == nil"),
    "overlap of messages": ("trust.go", "if old.verifies(now) {\n				add(", "if !old.isRevoked() {\n				add("),
    "the same statement again": ("trust.go", "if !old.isRevoked() && bytes.Equal(old.Statement[:claimLength], claim) {", "if len(old.Statement) > 1<<30 {"),
    "the signatures of the same statement": ("trust.go", "bytes.Equal(old.Statement[:claimLength], claim) {", "bytes.Equal(old.Statement, statement) {"),
    "first signature": ("trust.go", "if key.verifies(statement[53:117], rotationMessage(roleOld, key, claim)) {", "{"),
    "new key": ("trust.go", "return nil, broken{5, WeakKey}", "return nil, broken{6, BadStatementSignature}"),
    "second signature": ("trust.go", "case !added.verifies(statement[117:], rotationMessage(roleNew, old, claim)):", "case false:"),
    "rotation conflict": ("trust.go", "case old != sender.Pinned:", "case false:"),
    "superseded new key": ("trust.go", "case added == old || !trust.mayPin(added, sender):", "case false:"),
    "superseded new key of a recovery": ("trust.go", "	case !trust.mayPin(added, sender):\n		return nil, broken{20", "	case false:\n		return nil, broken{20"),
    "recovery key as a new key": ("trust.go", " && !trust.isRecoveryKey(key)\n", "\n"),
    "key revoked for another sender": ("trust.go", "!sender.had(key) && !trust.isRevoked(key) &&", "!sender.had(key) &&"),
    "revoked old key": ("trust.go", "case trust.isRevoked(old):", "case false:"),
    "revoked key of a message": ("trust.go", "if bytes.Equal(key.id[:], id) && !trust.isRevoked(key) {", "if bytes.Equal(key.id[:], id) {"),
    "any number of keys with one id": ("trust.go", "if bytes.Equal(key.id[:], id) &&", "if len(keys) < 4 && bytes.Equal(key.id[:], id) &&"),
    "overlap": ("trust.go", "case u32(statement[49:]) > largestOverlap:", "case false:"),
    "statement from the future": ("trust.go", "case issuedAt > later(now, clockTolerance):", "case false:"),
    "expired statement": ("trust.go", "case now > later(issuedAt, u32(statement[45:])):", "case false:"),
    "recovery's first signature": ("trust.go", "if key.verifies(statement[53:117], recoveryMessage(roleRecovery, key, topic, claim)) {", "{"),
    "recovery's second signature": ("trust.go", "if !added.verifies(statement[117:], recoveryMessage(roleNew, recovery, topic, claim)) {", "if len(recovery.bytes) == 0 {"),
    "context of a recovery": ("statements.go", "appendLP16(append(data, recovery.bytes[:]...), topic)", "append(data, recovery.bytes[:]...)"),
    "serial": ("trust.go", "case serial < last || bytes.Equal", "case bytes.Equal"),
    "recovery conflict": ("trust.go", "case serial == last:", "case false:"),
    "serial 0": ("trust.go", "statement[0] == versionRecovery && u32(statement[49:]) == 0 {", "false {"),
    "recovery of a sender without a pin": ("trust.go", "if !sender.hasPin() || !bytes.Equal", "if !bytes.Equal"),
    "every other key is revoked": ("trust.go", "		after.Superseded = append(after.Superseded, Superseded{Key: old.Key})\n", "		_ = old\n"),
    "pinned key is revoked": ("trust.go", "if sender.Pinned != added {", "if false {"),
    "highest rule": ("trust.go", "if fails.rule > worst.rule {", "if false {"),
    "statement version": ("trust.go", "statement[0] != versionRotation && statement[0] != versionRecovery ||", "false ||"),
    "a key with two uses": ("trust.go", "if seen[key] || trust.isRecoveryKey(key) {", "if seen[key] {"),
    "pinned and superseded": ("trust.go", "if seen[key] || trust.isRecoveryKey(key) {", "if trust.isRecoveryKey(key) {"),
    "parts of a trust": ("trust.go", "if len(sender.Recovery) > mostRecoveryKeys || len(sender.LastRecovery) != 0 && len(sender.LastRecovery) != claimLength {", "if false {"),
    "statement of a trust": ("trust.go", "if old.Key.isZero() || !old.isRevoked() && len(old.Statement) != statementLength {", "if len(old.Statement) > 1<<30 {"),
    "sum that wraps around": ("envelope.go", "sum >= time {", "sum >= 0 {"),
    "tag": ("opening.go", "	if err != nil {\n		return nil, errNotAuthentic()\n	}\n\n	// Step 5.", "	if err != nil {\n		inner = context.aead.Seal(nil, context.nonce, sealed[:len(sealed)-16], nil)[:len(sealed)-16]\n	}\n\n	// Step 5."),
    "context": ("envelope.go", "return 1 <= len(topic) && len(topic) <= 255", "return true"),
    "canonical base64url": ("envelope.go", "base64.RawURLEncoding.Strict()", "base64.RawURLEncoding"),
    "line ends in base64url": ("envelope.go", ' || strings.ContainsAny(text, "\\r\\n")', ' || strings.Contains(text, "=")'),
    "suite": ("envelope.go", "if data[0] != suiteX25519 {", "if false {"),
    "bucket": ("envelope.go", "if len(data) == bucket+outsideLength {", "if len(data) == bucket+outsideLength || len(data) > 200 {"),
    "end of a device key": ("opening.go", " && held.opens(now) {", " {"),
    "body length": ("opening.go", "if end > len(inner) {", "if end > 70000 {"),
    "signature": ("opening.go", "if candidate.verifies(inner[4:68], message) {", "if len(message) > 0 {"),
    "padding": ("opening.go", "if !verified || padding != 0 {", "if !verified {"),
    "content type": ("opening.go", "if inner[contentOffset] != contentPayload && inner[contentOffset] != contentStatements {", "if false {"),
    "time to live": ("opening.go", "if timeToLive < 1 || timeToLive > longestTimeToLive ||", "if"),
    "largest time": ("opening.go", " || sentAt > largestTime {", " {"),
    "expired": ("opening.go", "if now > later(sentAt, timeToLive) {", "if false {"),
    "from the future": ("opening.go", "if sentAt > later(now, clockTolerance) {", "if false {"),
    "strict payload": ("opening.go", "if _, err := checkedPayload(payload); err != nil {", "if _, err := checkedPayload(payload); err == nil && now == 0 {"),
    "statements that cannot be read": ("opening.go", "body[0] < 1 || body[0] > mostStatements || len(body)", "body[0] < 1 || len(body)"),
    "keys before a recovery": ("opening.go", "if !recovered {", "if true {"),
    "keys before a rotation": ("opening.go", "if !recovered {", "if false {"),
    "keys after the statements": ("opening.go", "candidates, recovered := after.candidates(inner[:4], now), false", "candidates, recovered := receiver.Trust.candidates(inner[:4], now), false\n	_ = after"),
    "recovery conflict first": ("opening.go", "refuse(told[0],", "refuse(told[len(told)-1],"),
    "url": ("attachments.go", "case !isURL(reference.URL):", "case false:"),
    "port": ("attachments.go", "err != nil || port > 65535 || end > 6", "err != nil || port < 0 || end > 6"),
    "digits of a port": ("attachments.go", " || end > 6 {", " {"),
    "numbers of an address": ("attachments.go", "strconv.ParseUint(label, 10, 8)", "strconv.ParseUint(label, 10, 16)"),
    "leading zeros of an address": ("attachments.go", "err != nil || strconv.FormatUint(number, 10) != label", "err != nil || number > 255"),
    "length of a host": ("attachments.go", "len(host) == 0 || len(host) > 253", "len(host) == 0"),
    "size of a full body": ("attachments.go", "reference.Size <= smallestFile ||", "reference.Size < smallestFile ||"),
    "name of a file": ("attachments.go", " || character == '/' {", " {"),
    "canonical key of a file": ("attachments.go", ' || strings.ContainsAny(text, "\\r\\n")', ""),
    "start of a file": ("files.go", "if !bytes.HasPrefix(buffer, secretstream.Prefix) {", "if false {"),
    "tag of a chunk": ("files.go", "	if tag != secretstream.Message {", "	if tag == 0x77 {"),
    "bytes beyond the size": ("files.go", "if len(within) < len(piece) {", "if false {"),
    "size": ("files.go", "if opener.came != opener.reference.Size {", "if false {"),
    "end of a file": ("files.go", "case tag == secretstream.Message:", "case false:"),
    "final": ("files.go", "case tag != secretstream.Final || len(chunk) == 0 && opener.isLater:", "case false:"),
    "hash of a file": ("files.go", "case subtle.ConstantTimeCompare(opener.hash.Sum(nil), opener.reference.SHA256[:]) != 1:", "case subtle.ConstantTimeCompare(opener.hash.Sum(nil), opener.reference.SHA256[:]) == 2:"),
    "authenticator of a chunk": ("internal/secretstream/secretstream.go", "chunk[len(chunk)-16:]) != 1 {", "chunk[len(chunk)-16:]) == 2 {"),
    "file after a refusal": ("files.go", "	if opener.ended {", "	if false {"),
    "key that is not printed": ("attachments.go", 'fmt.Fprintf(state, "Reference(%s, %d bytes)", reference.URL, reference.Size)', "fmt.Fprint(state, reference.Key)"),
    "eight attachments": ("opening.go", "		elements = elements[:mostAttachments]\n", ""),
    "title without half of a pair": ("placeholder.go", "len(text) > longestClearText || !utf8.ValidString(text)", "len(text) > longestClearText || utf8.RuneError == 0"),
    "length of a statement to seal": ("sealing.go", "if len(statement) != statementLength {", "if false {"),
    "statements of a message": ("sealing.go", "if len(m.announcing) > mostStatements {", "if false {"),
    "widest form": ("sealing.go", "	length := widest\n", "	length := len(clear) + len(clearEnd) + textLength\n"),
    "nine attachments": ("sealing.go", "if len(m.attachments) > mostAttachments {", "if false {"),
    "time to live to seal": ("sealing.go", "|| seconds < 1 || seconds > longestTimeToLive {", "{"),
    "rounded end": ("sealing.go", "	if pushType == VoIP {", "	if true {"),
    "reserved key": ("aps.go", 'if members.Get("pushcrypt") != nil {', "if false {"),
    "sealed already": ("aps.go", 'if members.Get("ENCRYPTED_DATA") != nil {', "if false {"),
    "fields of aps": ("aps.go", 'checkFields(aps, apsFields, "aps")', 'checkFields(aps, nil, "aps")'),
    "fields of a sound": ("aps.go", 'checkFields(sound, apsSoundFields, "aps.sound")', 'checkFields(sound, nil, "aps.sound")'),
    "something to show": ("aps.go", "if pushType == Alert && !hasText {", "if false {"),
    "hedged id": ("sealing.go", "binary.BigEndian.AppendUint64(nil, sentAt), hash[:])", "binary.BigEndian.AppendUint64(nil, sentAt), hash[:0])"),
    "hedged key": ("sealing.go", "appendLP16(nil, sealer.topic), hash[:])", "appendLP16(nil, sealer.topic), hash[:0])"),
    "signature of a signer": ("hedge.go", "!ok && !own.public.verifies(signature, message) {", "!ok && len(signature) == 0 {"),
    "withdrawal of itself": ("messages.go", "		if name == own {", "		if false {"),
    "64 withdrawals": ("opening.go", "		if index == mostWithdrawn {", "		if index < 0 {"),
    "empty withdrawals": ("opening.go", 'name.Kind == jsontext.String && name.Text != "" && !seen[id]', "name.Kind == jsontext.String && !seen[id]"),
    "drop that is true": ("opening.go", "drop.Kind == jsontext.True", "drop.Kind != jsontext.False"),
    "control characters of a name": ("messages.go", "if unicode.Is(unicode.Cc, character) {", "if unicode.Is(unicode.Cs, character) {"),
    "recipients": ("messages.go", "if len(person.Recipients) > mostRecipients {", "if false {"),
    "type of an avatar": ("messages.go", 'reference.Type != "public.jpeg" && reference.Type != "public.png" || ', ""),
    "size of an avatar": ("messages.go", " || reference.Size > largestAvatar {", " {"),
    "key id of a record": ("records.go", 'fields.require(!fields.has("key_id") || id == record.PublicKey.ID(), "key_id")\n	fields.requireDifferent(record.Sender,', "_ = id\n	fields.requireDifferent(record.Sender,"),
    "suite of a record": ("records.go", 'fields.require(suite == nil || ok && number == suiteNumber && suite.Text == "1", "suite")', "_, _ = ok, number"),
    "order of suites": ("records.go", "ok && suite > last", "ok && suite > 0 && last < 256"),
    "own suite": ("records.go", 'fields.require(hasOwn, "suites")', "_ = hasOwn"),
    "topic of a record": ("records.go", 'fields.require(!fields.has("topic") || isTopic(topic), "topic")', ""),
    "device id": ("records.go", 'fields.require(!fields.has("device") || isDeviceID(device), "device")', ""),
    "one key in two places": ("records.go", 'fields.require(!seen[key.bytes], "one key in two places")', ""),
    "version of a reply": ("records.go", 'fields.require(ok && version == 1, "version")', "_, _ = ok, version"),
    "reason": ("records.go", 'fields.require(!fields.has("refused") || isReason(refused), "refused")', ""),
    "another user": ("registration.go", 'case held.User != "" && registration.User != "" && held.User != registration.User:', "case false:"),
    "generation": ("registration.go", "record.Generation < held.Generation || record", "record"),
    "the same generation": ("registration.go", " || record.Generation == held.Generation && !isSameKey):", "):"),
    "generation that is too high": ("registration.go", "case record.Generation > held.Generation && record.Generation-held.Generation > generationStep:", "case false:"),
    "another topic": ("registration.go", 'case held.Topic != "" && record.Topic != "" && held.Topic != record.Topic:', "case false:"),
    "key of another user": ("registration.go", 'owner == "" || registration.Elsewhere.User != owner', "false"),
    "acknowledged key": ("registration.go", "if reply.Acknowledged != key {", "if false {"),
    "pin that is there": ("registration.go", "if !pins.Sender.isZero() || senderBuiltIn", "if senderBuiltIn"),
    "built-in sender": ("registration.go", " || senderBuiltIn || reply.Sender.isZero() {", " || reply.Sender.isZero() {"),
    "built-in recovery": ("registration.go", "if len(recovery) == 0 && !recoveryBuiltIn {", "if len(recovery) == 0 {"),
}
MUTANTS = {"python": PYTHON, "go": GO, "javascript": JAVASCRIPT, "c": C, "java": JAVA}
# Checks that the platform also makes, so that removing them goes unnoticed. A libsodium without the fix of
# CVE-2025-69277 needs the second one.
TWICE = {("java", "a number that JSON lacks"), ("python", "all-zero result"), ("c", "order of a sender key")}


GO_ROOT = os.path.join(ROOT, ".build/languages/go")
# The folder of a language's sources.
SOURCES = {"python": "src/pushcrypt", "javascript": "lib", "java": "src/pushcrypt"}

# Removing a check may leave an argument unused, or allow an out-of-bounds read, which the sanitizer stops.
GCC = ["gcc", "-std=c11", "-O1", "-w", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


@functools.cache
def compiled(source):
    """The object of an unchanged C source, compiled once."""
    objects = os.path.join(drivers.BUILT, "mutants")
    os.makedirs(objects, exist_ok=True)
    result = os.path.join(objects, os.path.basename(source) + ".o")
    subprocess.run([*GCC, f"-I{ROOT}/Sources/Languages/c", "-c", source, "-o", result], check=True)
    return result


def build(language, folder, file):
    """The command of a copied receiver with its driver, in which one file is replaced."""
    receivers, tests = os.path.join(folder, "Sources/Languages", language), os.path.join(folder, "Tests/Checks/Interop", language)
    if language == "c":
        program, mutated = os.path.join(folder, "driver"), os.path.join(receivers, file)
        sources = [os.path.join(ROOT, part, "c") for part in ("Sources/Languages", "Tests/Checks/Interop")]
        sources = [os.path.join(part, name) for part in sources for name in os.listdir(part) if name.endswith(".c") and name != file]
        others = [compiled(source) for source in sources]
        subprocess.run([*GCC, f"-I{receivers}", mutated, *others, "-o", program, "-lsodium"], check=True)
        return [program]
    if language == "java":
        parts = [os.path.join(receivers, SOURCES[language]), tests, os.path.join(tests, "pushcrypt")]
        sources = [os.path.join(part, name) for part in parts for name in os.listdir(part) if name.endswith(".java")]
        subprocess.run(["javac", "-nowarn", "-d", folder, *sources], check=True)
        return ["java", "-cp", folder, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "Driver"]
    if language == "javascript":
        shutil.copytree(receivers, os.path.join(tests, "node_modules/pushcrypt"))
        return ["node", os.path.join(tests, "driver.mjs")]
    if language == "go":
        # The module is mutated, not downloaded.
        offline = {"GOFLAGS": "-mod=mod", "GOSUMDB": "off", "GOPROXY": f"file://{GO_ROOT}/proxy"}
        folders = {"GOMODCACHE": os.path.join(GO_ROOT, "modules"), "GOCACHE": os.path.join(GO_ROOT, "cache")}
        environment = {**os.environ, **offline, **folders}
        subprocess.run(["go", "mod", "edit", "-replace", f"example.com/pushcrypt={receivers}"], cwd=tests, env=environment, check=True)
        subprocess.run(["go", "build", "-o", "driver", "."], cwd=tests, env=environment, stderr=subprocess.DEVNULL, check=True)
        return [os.path.join(tests, "driver")]
    program = drivers.COMMANDS[language]
    # The mutated copy comes before the installed package.
    path = ["env", f"PYTHONPATH={os.path.join(receivers, 'src')}"] if language == "python" else []
    return [*path, *program[:-1], os.path.join(folder, program[-1])]


def noticed_by(language, name, file, old, new):
    """The first file of the kit with a different outcome, or `None`.

    The mutant must open a genuine message first: otherwise it may be broken altogether, and its refusals show nothing.
    """
    with tempfile.TemporaryDirectory() as folder:
        for part in ("Sources/Languages", "Tests/Checks/Interop"):
            shutil.copytree(os.path.join(ROOT, part, language), os.path.join(folder, part, language))
        path = os.path.join(folder, "Sources/Languages", language, SOURCES.get(language, ""), file)
        with open(path) as source:
            text = source.read()
        if text.count(old) != 1:
            raise Failure(f"{language}: {name}: {text.count(old)} times in {file}: {old}")
        with open(path, "w") as source:
            source.write(text.replace(old, new))
        driver = Driver(language, errors=subprocess.DEVNULL, command=build(language, folder, file))
        try:
            outcomes = kit.outcomes(driver)
            genuine, failure = next(outcomes)
            if failure:
                raise Failure(f"{language}: without the check: {name}: it does not even open {genuine}: {failure}")
            return next((path for path, failure in outcomes if failure), None)
        finally:
            driver.process.kill()
            driver.process.wait()


def run(languages):
    """The figure. Raises a `Failure` that names the mutants that the kit did not notice, and those wrongly listed as
    unnoticed."""
    counts, wrong, twice = [], [], 0
    for language in languages:
        noticed = 0
        for name, (file, old, new) in MUTANTS[language].items():
            by = noticed_by(language, name, file, old, new)
            print(f"mutants: {language}: {name}: {by or 'the kit passes'}", file=sys.stderr, flush=True)
            if (language, name) in TWICE:
                twice += 1
            elif by:
                noticed += 1
            if bool(by) == ((language, name) in TWICE):
                wrong.append(f"{language}: without the check: {name}: {f'noticed by {by}, so it is not checked twice' if by else 'the kit passes'}")
        counts.append(f"{language}={noticed}")
    if wrong:
        raise Failure("\n".join(wrong))
    return f"figure: interop-mutants {' '.join(counts)} checked-twice={twice} unnoticed=0"
