// What the tests share: the vectors of the format, which lie in the project's checkout, and the parts of the package that only tests see.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const root = dirname(require.resolve("pushcrypt/package.json"));
const folder = process.env.PUSHCRYPT_VECTORS ?? fileURLToPath(new URL("../../../../Tests/Data/Vectors", import.meta.url));

/** A module of `lib`, which the package does not export. */
export const internal = (name) => require(join(root, "lib", `${name}.js`));

/** For `test`: why the tests of the vectors are left out, or that they are not. */
export const skip = existsSync(join(folder, "kit"))
    ? false
    : `NOT TESTED AGAINST THE FORMAT: there are no vectors in ${folder}; set PUSHCRYPT_VECTORS to Tests/Data/Vectors of the project's checkout`;
if (skip) process.stderr.write(`${skip}\n`);

/** The command, which two tests need; and why they are left out, or that they are not. */
export const command = process.env.PUSHCRYPT ?? "pushcrypt";
export const noCommand = (() => {
    try {
        return execFileSync(command, ["--version"]).length === 0;
    } catch {
        return "there is no pushcrypt in PATH; set PUSHCRYPT";
    }
})();

/** A file of vectors. What is beyond 2^53 stays a text. */
export const vectors = (name) => JSON.parse(readFileSync(join(folder, name), "utf8").replace(/"(expiresAt|graceUntil)": *([0-9]{17,})/g, '"$1": "$2"'));

export const hex = (digits) => Buffer.from(digits, "hex");

/** Bytes of pieces in hexadecimal digits; `00*9` is one nine times. */
export const joined = (pieces) => Buffer.concat(pieces.map((piece) => {
    const [digits, count = "1"] = piece.split("*");
    return Buffer.concat(Array(Number(count)).fill(hex(digits)));
}));

/** A provider's devices. */
export const storeOf = (...rows) => {
    const all = new Map(rows.filter((row) => row).map((row) => [row.device, row]));
    return {
        rows: all, find: async (device) => all.get(device) ?? null,
        holders: (publicKey, token) => [...all.values()].filter((row) => row.publicKey === publicKey || (token !== null && row.token === token)),
    };
};

/** The clock of all tests, but for those that set it; without a time it is the system's. */
export const NOW = 1_767_225_600_000;
const system = Date.now;
export const setClock = (now) => {
    Date.now = now === undefined ? system : () => Number(now);
};
setClock(NOW);

/** A device with a key. */
export const stored = (publicKey, topic, more) => ({ device: "phone1", topic, publicKey, generation: 1, user: null, ...more });

/** A phone's record as JSON. */
export const recordJSON = ({ publicKey: public_key, appVersion: app_version, updateKey: update_key, ...same }) =>
    JSON.stringify({ public_key, app_version, update_key, ...same });

/** How a call ends: what it returns, or the code of what it refuses. */
export function outcomeOf(call) {
    try {
        return call();
    } catch (error) {
        if (error?.name !== "PushcryptError") throw error;
        return error.code;
    }
}

// The kit. What is not checked must not pass: an unknown group, member or outcome is a failure.

const COMMON = ["name", "expect", "rules", "comment", "body", "pieces"];
const TRUST = ["pin", "learned"], AFTER = ["learned-after"];
/** For each group the members that any test may have, and those of a good outcome. */
const MEMBERS = {
    "certificates": [["context", ...TRUST], AFTER],
    "plans": [["time", "kind", "certificate", "past", "proven", "lifetime"], ["epoch", "floor", "grace-until", "expires-at"]],
    "contexts": [[], []],
    "keys": [["kind", "bytes"], ["key-id", "public-key"]],
    "suite-2-keys": [["kind", "bytes"], ["key-id", "public-key"]],
    "references": [[], ["url", "key", "size", "sha256", "type", "file-name"]],
    "full-bodies": [[], []],
    "records": [
        ["kind", "held-key", "held-generation", "held-topic", "held-user", "user", "elsewhere", "replace", "removed", "provider-has", "issued", "seals", "checked"],
        [
            "key", "generation", "device", "suites", "topic", "created", "provider", "certificate", "app-version", "token", "environment", "update-key",
            "sequence", "nonce", "grant", "foreign", "stale",
        ],
    ],
    "posts": [["context", "provider-seed", "id", "seals", "key-after", "removed-after", "update-key-after", "sequence-after", "user-after", "grant-after", "foreign"], []],
    "replies": [
        ["device", "context", "built-in", ...TRUST],
        ["confirms", "acknowledged", "refused", "provider", "certificate", "push-key", "next-push-key", "ended", "hello", "sequence", "grant", "suites", "foreign", "pin-after", "learned-after", "told"],
    ],
    "payloads": [
        ["push-type", "time", "time-to-live", "title", "clear-sound", "kept", "attachment", "certificate", "certificate-expires-at", "sent-exactly"],
        ["bucket", "payload-sha256", "clear", "length", "widest-length"],
    ],
};
/** The phone's groups. */
const NOT_ASKED = ["attachments", "attachment-lists", "envelopes", "notifications", "pushes", "reserved", "sequences", "suite-2-envelopes"];
const GOOD = ["accepted", "unchanged", "certificate-conflict"];

export const groups = Object.keys(MEMBERS);

/** The groups that have a file. */
export const groupsOfKit = () => readdirSync(join(folder, "kit")).map((name) => name.replace(/\.json$/, "")).sort();
export const knownGroups = [...groups, ...NOT_ASKED].sort();

/** Refuses a member that says nothing of the test's outcome, because nothing would check it. */
export function checkMembers(group, test) {
    const [any, good] = MEMBERS[group], allowed = [...COMMON, ...any, ...(test.expect?.some((one) => GOOD.includes(one)) ? good : [])];
    if (!test.expect?.length || (test.expect.length !== 1 && group !== "certificates")) throw new Error("not one outcome");
    const unknown = Object.keys(test).filter((name) => !allowed.includes(name));
    if (unknown.length > 0) throw new Error(`unknown members: ${unknown}`);
}

/** The tests of a group: each member is a list of texts, and `body` is bytes. */
export function* testsOf(group) {
    const file = vectors(`kit/${group}.json`), names = new Set();
    if (file.group !== group || file.tests.length === 0 || Object.keys(file).length !== 3) throw new Error(`${group} is not the file of a group`);
    for (const own of file.tests) {
        const test = Object.fromEntries(Object.entries({ ...file.shared, ...own }).map(([name, value]) => [name, [value].flat()]).filter(([, value]) => value.length > 0));
        if (!Object.values(test).flat().every((one) => typeof one === "string") || names.has(own.name)) throw new Error(`${group}: ${own.name} is no test`);
        names.add(own.name);
        checkMembers(group, test);
        const text = test.body === undefined ? undefined : Buffer.from(test.body.join("\n"));
        yield { ...test, name: own.name, expected: test.expect[0], body: test.pieces === undefined ? text : joined(test.pieces), one: (name) => test[name]?.[0] };
    }
}

/** Whether a call, or the promise that it returns, throws this: a code, an error, or a type of errors. */
export async function throws(what, call, name = `${call}`) {
    try {
        await call();
    } catch (error) {
        const isRight = typeof what === "string" ? error?.code === what : error === what || (typeof what === "function" && error?.constructor === what);
        if (isRight) return error;
        throw new Error(`${name}: ${error?.stack}, and not ${what}`);
    }
    throw new Error(`${name} is not refused`);
}
