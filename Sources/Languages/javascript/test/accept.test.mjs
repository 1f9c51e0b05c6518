// Tests/Data/Vectors/accept.json: what becomes of a record that a session authenticates.
import assert from "node:assert/strict";
import test from "node:test";
import { ProviderKey, SigningKey, accept, parseDeviceRecord } from "pushcrypt";
import { DeviceKey } from "pushcrypt/testing";
import { internal, recordJSON, skip, storeOf, vectors } from "./support.mjs";

const keys = internal("keys"), APP = "com.example.app", provider = ProviderKey.generate().publicKey;
const [first, second] = [1, 2].map((seed) => new DeviceKey(Buffer.alloc(32, seed)).publicKey);
const later = (key) => keys.keyText(Buffer.concat([Buffer.alloc(1184), keys.parseKey(key, keys.DEVICE_PUBLIC)]), keys.DEVICE_PUBLIC);
const KEYS = { "1A": first, "1B": second, "2Q": later(first), "2R": later(second) };
const UPDATE_KEYS = Object.fromEntries(["U", "V"].map((name) => [name, Buffer.from(SigningKey.generate().publicBytes).toString("base64url")]));
const defined = (members) => Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

const membersOf = ({ id = "d", key = "1A", generation = 1, created = 100, token, topic, update_key, sequence }) =>
    defined({ device: id, publicKey: KEYS[key], generation, created, token, topic, updateKey: UPDATE_KEYS[update_key], sequence });

/** A row as it is stored. Of a removed device less is kept. */
function rowOf({ user = null, removed, ...row }, topic) {
    const { token, created, ...kept } = { topic, ...membersOf(row), user };
    return removed === undefined ? defined({ ...kept, created, token }) : { ...kept, isRemoved: true };
}

test("the cases of accept.json", { skip }, async () => {
    const { cases } = vectors("accept.json"), failures = [];
    let count = 0;
    for (const { name, suite, held, holders = [], record, expect, after } of cases) {
        // A session has checked the signature.
        if (!["bare", "session"].includes(record?.way) || expect === "bad-record-signature" || suite === 2) continue;
        count += 1;
        const topic = record.topic ?? held?.topic ?? APP, rows = [...(held ? [held] : []), ...holders].map((row) => rowOf(row, topic));
        try {
            const { changes } = await accept(parseDeviceRecord(recordJSON(membersOf(record))), storeOf(...rows), record.user ?? null, { topic, provider, replace: record.replace });
            assert.ok(["added", "updated", "unchanged"].includes(expect));
            const shown = (row) => JSON.stringify(Object.entries(row).filter(([name]) => !["suites", "environment", ...(row.isRemoved ? ["topic", "created"] : [])].includes(name)).sort());
            assert.deepEqual(changes.map(shown).sort(), after.map((row) => shown(rowOf(row, topic))).sort());
        } catch (error) {
            const isRight = error.code === expect && error.sequence === (expect === "stale-record" ? held.sequence : undefined);
            if (!isRight || after !== undefined) failures.push(`${name}: ${error.message}`);
        }
    }
    assert.ok(failures.length === 0 && count > 40, `${count}: ${failures.join("\n")}`);
});
