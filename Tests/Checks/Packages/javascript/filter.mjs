// Seals with the client of the filter while its child is killed: every message gets one answer, its own, and opens.
// Usage: node filter.mjs PUSHCRYPT FOLDER COUNT
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { DeviceKey, PushcryptError, SealFilter, SenderKey, Trust, open } from "pushcrypt";

const [command, folder, count] = process.argv.slice(2), total = Number(count), topic = "com.example.app";
const sender = SenderKey.generate(), device = DeviceKey.generate(), file = `${folder}/sender.key`;
writeFileSync(file, sender.secretText() + "\n", { mode: 0o600 });
const args = ["--topic", topic, "--sender-key-file", file], options = { topic, devices: [device], trust: new Trust([{ name: "a", pinned: sender.publicKey }]) };
assert.equal(createRequire(import.meta.url)("pushcrypt").SealFilter, SealFilter, "ES modules and CommonJS share the classes");

/** Messages, of which some are refused; and how many the program has taken without an answer. */
let taken = 0, answered = 0, mostUnderWay = 0;
function* messages() {
    for (let number = 0; number < total; number++) {
        taken += 1;
        mostUnderWay = Math.max(mostUnderWay, taken - answered);
        const refused = number % 50 === 7;
        yield { to: device.publicKey, id: `m${number}`, token: `t${number}`, payload: `{"aps":{"alert":${refused ? '""' : `"${number}"`}},\n"big":12345678901234567890}` };
    }
}

const window = 64, filter = new SealFilter({ command, args, window });
let kills = 0, last, before = 0;
// Each child, after it has answered something: one that never does is not started for ever.
const killer = setInterval(() => {
    if (filter.pid === undefined || filter.pid === last || answered === before) return;
    last = filter.pid;
    before = answered;
    process.kill(last, kills % 3 === 2 ? "SIGTERM" : "SIGKILL");
    kills += 1;
}, 60);
const seen = new Set();
let number = 0;
for await (const { message, answer, error } of filter.sealAll(messages())) {
    answered += 1;
    assert.equal(message.token, `t${number}`, "in order");
    if (number % 50 === 7) {
        assert.ok(error instanceof PushcryptError && error.code === "nothing-to-show" && error.answer.token === message.token);
    } else {
        assert.equal(error, undefined);
        assert.equal(answer.token, message.token);
        const opened = open(answer.payload, options);
        assert.equal(opened.payload.toString(), `{"aps":{"alert":"${number}"},"big":12345678901234567890}`);
        assert.ok(!seen.has(opened.messageID));
        seen.add(opened.messageID);
    }
    number += 1;
}
clearInterval(killer);
assert.equal(number, total);
assert.ok(kills >= 3, `the child was killed ${kills} times: give more messages`);
assert.ok(mostUnderWay <= window + 1, `${mostUnderWay} messages were taken without an answer`);
await filter.close();
assert.equal(filter.pid, undefined);
await assert.rejects(filter.seal({ to: device.publicKey, payload: {} }), TypeError);

// A command that cannot run, one that is misused, and one that never answers.
for (const [given, code] of [[{ command: `${folder}/none` }, "filter-ended"], [{ command, args: ["--no-such-option"] }, "filter-ended"], [{ command: "false" }, "filter-ended"], [{ command: "echo" }, "filter-ended"]]) {
    const broken = new SealFilter(given), asked = [1, 2, 3].map(() => broken.seal({ to: device.publicKey, payload: { aps: { alert: "a" } } }));
    for (const each of asked) await assert.rejects(each, { name: "PushcryptError", code });
    await broken.close();
}
// One that reads, ends and never answers: it is started five times, one after another, and gets no more than a window.
const deaf = `${folder}/deaf`;
writeFileSync(deaf, '#!/bin/sh\nmkdir "$0 runs" || touch "$0.two"\ntimeout 0.5 cat > "$0.$$"\nrmdir "$0 runs"\nexit 3\n', { mode: 0o755 });
const unheard = new SealFilter({ command: deaf, window: 30 }), calls = [];
for (let call = 0; call < 60; call++) {
    calls.push(assert.rejects(unheard.seal({ to: device.publicKey, payload: { aps: { alert: "a" } } }), { code: "filter-ended" }));
    await new Promise((resolve) => setTimeout(resolve, 25));
}
await Promise.all(calls);
const runs = readdirSync(folder).filter((name) => name.startsWith("deaf.")).map((name) => readFileSync(`${folder}/${name}`, "utf8").split("\n").length - 1);
assert.ok(runs.length === 5 && Math.max(...runs) === 30, `${runs.length} runs got ${runs} lines`);

const misused = new SealFilter({ command, args });
await assert.rejects(misused.seal({ "to-user": "alice", payload: {} }), TypeError);
await assert.rejects(misused.seal({ to: "x", payload: '{"aps":{}},"to":{"a":1}' }), { code: "malformed-payload" });
await assert.rejects(misused.seal({ to: "x", payload: { big: 2 ** 60 } }), { code: "malformed-payload" });
await assert.rejects(misused.seal({ to: "x", payload: `{"a":"${"a".repeat(1 << 20)}"}` }), { code: "line-too-long" });
await misused.close();

// What the command seals opens here, and what is sealed here opens there.
const { Sealer } = await import("pushcrypt");
const push = new Sealer({ sender, topic, placeholder: { clearFields: ["badge"] } }).seal({ aps: { alert: "ours", badge: 3 } }, { to: device.publicKey, from: { name: "Anna" }, withdrawing: ["m1"], drop: true });
writeFileSync(`${folder}/phone.key`, device.secretText() + "\n", { mode: 0o600 });
const shown = execFileSync(command, ["open", "--json", "--topic", topic, "--device-key-file", `${folder}/phone.key`, "--sender", sender.publicKey], { input: push.json }).toString();
assert.ok(shown.includes('"ours"') && readFileSync(file).length > 60, shown);
console.log(`figure: filter-javascript messages=${total} kills=${kills} lost=0 most-under-way=${mostUnderWay}`);
