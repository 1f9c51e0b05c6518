// What `serve.mjs` makes and starts with: `node --test`.
import assert from "node:assert";
import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

import { checkConfiguration } from "../../../Sources/Relay/configuration.mjs";
import { app, origin, p8, topic } from "./world.mjs";

const SERVE = fileURLToPath(new URL("../../../Sources/Relay/serve.mjs", import.meta.url));
const P8 = `AuthKey_${app.key_id}.p8`, PORT = "relay: error: listen is not like 127.0.0.1:8787";
const pem = (key) => key.export({ type: key.type === "public" ? "spki" : "pkcs8", format: "pem" });
const run = (...words) => spawnSync(process.execPath, [SERVE, ...words], { encoding: "utf8", timeout: 15_000 });

/** A folder that `init` made. `starts` reads it but for a port, and gives the error and what is logged before. */
function made(context) {
    const place = fs.mkdtempSync(join(tmpdir(), "relay-start-")), folder = join(place, "relay");
    const file = join(folder, "relay.json");
    context.after(() => fs.rmSync(place, { recursive: true }));
    fs.writeFileSync(join(place, P8), pem(p8.privateKey));
    const { status } = run("init", folder, origin, topic, app.team, join(place, P8));
    assert.equal(status, 0);
    const first = JSON.parse(fs.readFileSync(file, "utf8"));
    return { place, folder, starts(more) {
        fs.writeFileSync(file, JSON.stringify({ ...first, listen: "no port", listen_metrics: "127.0.0.1:0", ...more }));
        const { status, stderr } = run(folder), lines = stderr.split("\n");
        assert.equal(status, 64);
        return [lines.at(-2), lines.slice(0, -2)];
    } };
}

test("init makes secrets that only their owner reads, and replaces nothing", { timeout: 60_000 }, (context) => {
    const { place, folder } = made(context), key = join(folder, "relay.key"), before = fs.readFileSync(key, "utf8");
    for (const name of fs.readdirSync(folder)) assert.equal(fs.statSync(join(folder, name)).mode & 0o077, 0, name);
    for (const words of [["init", folder, origin, topic, app.team, join(place, P8)], ["key", key]]) {
        assert.notEqual(run(...words).status, 0);
        assert.equal(fs.readFileSync(key, "utf8"), before);
    }
    for (const wrong of [[`${origin}/`, topic], ["HTTPS://A", topic], ["relay", topic], [origin, "a b"]]) {
        assert.equal(run("init", `${folder}x`, ...wrong, app.team, join(place, P8)).status, 64, wrong[0]);
    }
});

test("what relay.json says of files and ports stops the start, if it is wrong", { timeout: 60_000 }, (context) => {
    const { starts } = made(context);
    for (const listen of ["127.0.0.1:65536", "127.0.0.1", ":8787"]) assert.equal(starts({ listen })[0], PORT, listen);
    const wrong = { listen: "127.0.0.1:0", listen_metrics: "127.0.0.1:99999" };
    assert.match(starts(wrong)[0], /listen_metrics is not like/);
    for (const [more, text] of [
        [{ relay_keys: [] }, "relay_keys"], [{ relay_keys: ["relay.json"] }, "no relay key"], [{ store: 1 }, "store"],
        [{ trusted_proxies: -1 }, "trusted_proxies"], [{ unknown: 1 }, "it needs origin"],
    ]) assert(starts(more)[0].includes(text), text);
});

test("mounted secrets are read, and a warning says who can read them", { timeout: 60_000 }, (context) => {
    const { folder, starts } = made(context), secrets = ["relay.key", P8];
    // As Kubernetes does: a link to a file of a folder that is replaced as a whole.
    fs.mkdirSync(join(folder, "..1"));
    fs.symlinkSync("..1", join(folder, "..data"));
    for (const name of secrets) {
        fs.renameSync(join(folder, name), join(folder, "..1", name));
        fs.symlinkSync(join("..data", name), join(folder, name));
    }
    for (const [mode, warnings] of [[0o400, 0], [0o640, 0], [0o644, 2]]) {
        for (const name of secrets) fs.chmodSync(join(folder, name), mode);
        const [error, lines] = starts();
        assert.deepEqual([error, lines.filter((line) => line.includes("can read")).length], [PORT, warnings], mode);
    }
});

test("what is no key of Apple's does not start, and is not shown", { timeout: 60_000 }, (context) => {
    const { folder, starts } = made(context), good = pem(p8.privateKey), word = "c2VjcmV0LXdvcmQ=";
    const curve = pem(generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey), whole = pem(p8.publicKey);
    const none = `-----BEGIN PRIVATE KEY-----\n${word}\n-----END PRIVATE KEY-----`;
    for (const text of ["", word, good.slice(0, 100), curve, whole, none]) {
        fs.writeFileSync(join(folder, P8), text);
        const [error, lines] = starts();
        assert(error.includes("is no key of Apple's") && !error.includes("c2Vj") && lines.length === 0, error);
    }
});

test("a wrong configuration is refused", () => {
    const isGood = (more) => {
        try {
            return Boolean(checkConfiguration({ origin, apps: { [topic]: app }, ...more }));
        } catch {
            return false;
        }
    };
    const ofApp = (more) => isGood({ apps: { [topic]: { ...app, ...more } } });
    const title = (text) => ({ alert: { title: text } });
    // {"aps":{"mutable-content":1,"alert":{"title":"…"},"sound":"default","content-available":1},"ENCRYPTED_DATA":""}
    const long = "a".repeat(160), sounds = ["longer.caf"];
    assert.deepEqual([long, `${long}a`, "é".repeat(81)].map((text) => ofApp(title(text))), [true, false, false]);
    assert.deepEqual([ofApp({ ...title(long), sounds }), ofApp({ ...title(long.slice(3)), sounds })], [false, true]);
    assert(ofApp({ alert: { "loc-key": "NEW" } }) && isGood());
    for (const more of [
        { alert: {} }, title(""), { alert: { word: "a", title: "a" } }, { team: "short" }, { more: 1 }, { sounds: "a" },
    ]) assert(!ofApp(more), JSON.stringify(more));
    for (const more of [
        { origin: `${origin}/` }, { origin: "https://A.example" }, { apps: {} }, { kinds: ["voip"] }, { kinds: [] },
        { unknown: 1 }, { limits: { a: 1 } }, { limits: { pushes_a_day: 0 } }, { data_format: "other" },
        { data_format: { member: "d", limit: 4000 } }, { data_format: { member: "aps", limit: 1 } },
    ]) assert(!isGood(more), JSON.stringify(more));
});
