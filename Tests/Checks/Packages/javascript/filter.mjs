// Seals with the client of the filter while its child is killed: every message gets one answer, its own, and opens.
// Usage: node filter.mjs PUSHCRYPT FOLDER COUNT
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { DeviceKey, ProviderKey, PushcryptError, SealFilter, Trust, open } from "pushcrypt";

const [command, folder, count] = process.argv.slice(2), total = Number(count), topic = "com.example.app";
const provider = ProviderKey.generate(), device = DeviceKey.generate(), file = resolve(folder, "provider.key");
writeFileSync(file, provider.secretText() + "\n", { mode: 0o600 });
const args = ["--topic", topic, "--signing-key-file", file], options = { topic, devices: [device], trust: new Trust([provider.publicKey]) };
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
    const wrong = new SealFilter(given), asked = [1, 2, 3].map(() => wrong.seal({ to: device.publicKey, payload: { aps: { alert: "a" } } }));
    for (const each of asked) await assert.rejects(each, { name: "PushcryptError", code });
    await wrong.close();
}
// Answers that belong to no message, or are neither a payload nor an error: none is left waiting.
await Promise.all(['{"pushcrypt-client":99,"payload":{}}', '{"pushcrypt-client":0}', '{"pushcrypt-client":0,"payload":7}', '{"pushcrypt-client":0,"error":{}}'].map(async (line, index) => {
    const path = `${folder}/garbage${index}`;
    writeFileSync(path, `#!/bin/sh\necho '${line}'\nexec sleep 100\n`, { mode: 0o755 });
    const garbage = new SealFilter({ command: path }), one = garbage.seal({ to: device.publicKey, payload: { aps: { alert: "a" } } });
    await assert.rejects(one, { name: "PushcryptError", code: "filter-ended" }, line);
    await garbage.close();
}));
// One that reads, ends and never answers: it is started five times, one after another, and gets no more than a window.
const deaf = `${folder}/deaf`;
writeFileSync(deaf, '#!/bin/sh\nmkdir "$0 runs" || touch "$0.two"\ntimeout 0.5 cat > "$0.$$"\nrmdir "$0 runs"\nexit 3\n', { mode: 0o755 });
const unheard = new SealFilter({ command: deaf, window: 30 }), calls = [];
for (let call = 0; call < 60; call++) {
    // The last ones wait for room.
    calls.push(assert.rejects(unheard.seal({ to: device.publicKey, payload: { aps: { alert: "a" } } }), { code: "filter-ended" }));
    await new Promise((resolve) => setTimeout(resolve, 25));
}
await Promise.all(calls);
const runs = readdirSync(folder).filter((name) => name.startsWith("deaf.")).map((name) => readFileSync(`${folder}/${name}`, "utf8").split("\n").length - 1);
assert.ok(runs.length === 5 && Math.max(...runs) === 30, `${runs.length} runs got ${runs} lines`);

// An answer does not wait for the next message.
const live = new SealFilter({ command, args }), aps = { aps: { alert: "a" } }, to = device.publicKey;
let ask;
async function* queue() {
    yield { to, payload: { value: NaN } };
    yield { to, payload: aps };
    await new Promise((resolve) => {
        ask = resolve;
    });
    yield { to, payload: aps };
    throw new RangeError("the queue");
}
const results = live.sealAll(queue()), within = (promise) => Promise.race([promise, new Promise((resolve) => setTimeout(resolve, 60_000).unref())]);
assert.equal((await within(results.next())).value.error.code, "malformed-payload");
assert.ok((await within(results.next()))?.value.answer);
ask();
assert.ok((await results.next()).value.answer);
await assert.rejects(results.next(), RangeError);
// Nor does its end.
const left = live.sealAll(queue());
await left.next();
await left.next();
assert.ok((await within(left.return()))?.done);
await live.close();

// A command that fails for a while fails what waits then; one that is misused is not tried again.
const broken = `${folder}/broken`, tried = `${folder}/tried`;
for (const code of [1, 64]) {
    writeFileSync(tried, "");
    writeFileSync(broken, `${code}`);
    const script = `echo . >>${tried}; [ ! -e ${broken} ] || exit "$(cat ${broken})"; exec ${command} "$@"`;
    writeFileSync(`${folder}/flaky`, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const flaky = new SealFilter({ command: `${folder}/flaky`, args });
    await assert.rejects(flaky.seal({ to, payload: aps }), { code: "filter-ended" });
    const runs = readFileSync(tried).length;
    rmSync(broken);
    if (code === 1) {
        assert.ok((await flaky.seal({ to, payload: aps })).payload);
        // Nothing waits for a child that is killed now.
        for (let kill = 0; kill < 6; kill++) {
            process.kill(flaky.pid, "SIGKILL");
            while (flaky.pid !== undefined) await new Promise((resolve) => setTimeout(resolve, 20));
            assert.ok((await flaky.seal({ to, payload: aps })).payload);
        }
    } else {
        await assert.rejects(flaky.seal({ to, payload: aps }), { code: "filter-ended" });
        assert.equal(readFileSync(tried).length, runs);
    }
    await flaky.close();
}

// Nor does closing wait for a process that the command left, which holds its standard error.
writeFileSync(`${folder}/leaving`, `#!/bin/sh\nsleep 100 >/dev/null &\nexec ${command} "$@"\n`, { mode: 0o755 });
const leaving = new SealFilter({ command: `${folder}/leaving`, args });
await leaving.seal({ to, payload: aps });
assert.equal(await within(leaving.close().then(() => "closed")), "closed");

// Without descriptors a child cannot be started, and is once they are there.
execFileSync("bash", ["-c", `ulimit -n 40; exec node --input-type=module -e '
    import { closeSync, openSync } from "node:fs";
    import { SealFilter } from "pushcrypt";
    const [command, to, ...args] = process.argv.slice(1), filter = new SealFilter({ command, args }), held = [];
    const open = () => { try { for (;;) held.push(openSync("/dev/null")); } catch {} };
    setTimeout(() => held.forEach((each) => closeSync(each)), 1000);
    open();
    await filter.seal({ to, payload: { aps: { alert: "a" } } });
    await filter.close();
' "$@"`, "-", command, to, ...args], { cwd: folder, timeout: 60_000 });

const misused = new SealFilter({ command, args });
await assert.rejects(misused.seal({ "to_user": "alice", payload: {} }), TypeError);
await assert.rejects(misused.seal({ to: "x", payload: '{"aps":{}},"to":{"a":1}' }), { code: "malformed-payload" });
await assert.rejects(misused.seal({ to: "x", payload: { big: 2 ** 60 } }), { code: "malformed-payload" });
await assert.rejects(misused.seal({ to: "x", payload: {}, token: NaN }), { code: "invalid-request" });
await assert.rejects(misused.seal({ to: "x", payload: `{"a":"${"a".repeat(1 << 20)}"}` }), { code: "line-too-long" });
await misused.close();

// What the command seals opens here, and what is sealed here opens there.
const { Sealer } = await import("pushcrypt");
const push = new Sealer({ key: provider, topic, placeholder: { clearFields: ["badge"] } }).seal({ aps: { alert: "ours", badge: 3 } }, { to: device.publicKey, from: { name: "Anna" }, withdrawing: ["m1"], drop: true });
writeFileSync(`${folder}/phone.key`, device.secretText() + "\n", { mode: 0o600 });
const shown = execFileSync(command, ["open", "--json", "--topic", topic, "--device-key-file", `${folder}/phone.key`, "--provider", provider.publicKey], { input: push.json }).toString();
assert.ok(shown.includes('"ours"') && readFileSync(file).length > 60, shown);
console.log(`figure: filter-javascript messages=${total} kills=${kills} lost=0 most-under-way=${mostUnderWay}`);
