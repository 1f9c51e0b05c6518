// The client of `pushcrypt seal --batch` against a child that does what the command never should; and, if there is one, against the command.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { FilterError, ProviderKey, PushcryptError, SealFilter } from "pushcrypt";
import { DeviceKey, Trust, open } from "pushcrypt/testing";
import { command, internal, noCommand, throws } from "./support.mjs";

const { filter: pauses } = internal("format"), usual = { ...pauses };
const folder = mkdtempSync(join(tmpdir(), "pushcrypt-")), fake = join(folder, "fake");
writeFileSync(fake, `#!${process.execPath}
const { appendFileSync, existsSync, readFileSync, writeSync } = require("node:fs"), { LOG, MODE = "" } = process.env;
const run = LOG && existsSync(LOG) ? readFileSync(LOG, "utf8").split("start").length - 1 : 0, log = (text) => LOG && appendFileSync(LOG, text + "\\n");
log("start " + process.argv.slice(2).join(" "));
const say = (line) => process.stdout.write(line + "\\n"), is = (mode) => MODE.split(" ").includes(mode);
if (is("exit64")) process.exit(64);
if (is("exit")) { process.stderr.write("no store\\n"); process.exit(1); }
let rest = "", seen = 0;
const waiting = [];
function answer(line) {
    seen += 1;
    log(line);
    const message = JSON.parse(line), { payload, ...members } = message, number = message["pushcrypt-client"];
    if (is("stop") && (run === 0 || is("always"))) return process.kill(process.pid, "SIGSTOP");
    if (is("die") && run === 0 && seen === 3) return process.kill(process.pid, "SIGKILL");
    if (is("silent")) return;
    if (is("garbage") && (run === 0 || is("always"))) return say(process.env.GARBAGE.replace("NUMBER", number));
    if (payload.refuse) return say(JSON.stringify({ error: { code: payload.refuse, message: "refused" }, line: 1, ...members }));
    const text = '{"big":12345678901234567890,"to":' + JSON.stringify(message.to) + "}", { to, ...more } = members;
    const said = JSON.stringify({ to }).slice(0, -1) + ',"payload":' + text + "," + JSON.stringify(more).slice(1);
    if (is("late")) setTimeout(() => say(said), 150);
    else if (is("batches")) waiting.push(said);
    else say(said);
}
process.stdin.on("data", (data) => {
    const lines = (rest + data).split("\\n");
    rest = lines.pop();
    lines.forEach(answer);
    if (is("batches")) setTimeout(() => { log("unanswered " + waiting.length); waiting.splice(0).forEach(say); }, 20);
}).on("end", () => { if (is("stays")) setInterval(() => {}, 1000); });
`, { mode: 0o755 });
let number = 0;
const made = [];
/** A filter that ends with its test, also if that fails. */
function filterOf(options) {
    made.push(new SealFilter(options));
    return made.at(-1);
}
/** A filter of the fake in this mode, and a function that reads what it logged. */
function fakeOf(mode, more = {}, env = {}) {
    const log = join(folder, `log${number++}`), filter = filterOf({ command: fake, env: { ...process.env, MODE: mode, LOG: log, ...env }, ...more });
    return { filter, lines: () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []), starts: () => (existsSync(log) ? readFileSync(log, "utf8").split("start ").length - 1 : 0) };
}
const message = (id, more) => ({ to: "d", id, token: `t${id}`, payload: { aps: { alert: "a" } }, ...more });
test.beforeEach(() => Object.assign(pauses, usual, { firstPause: 1, longestPause: 50 }));
// Not `test.after`, which Node runs as soon as nothing is left to do, also while a test waits: then the tests that follow would miss the folder.
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
test.afterEach(() => Promise.all(made.splice(0).map((filter) => filter.close(0))));

test("each message gets its own answer, as it was written", async () => {
    const { filter, lines } = fakeOf("", { args: ["--store", "P"] });
    const answers = await Promise.all(Array.from({ length: 500 }, (_, id) => filter.seal(message(`${id}`))));
    answers.forEach((answer, id) => assert.deepEqual(answer, { to: "d", id: `${id}`, token: `t${id}`, payload: '{"big":12345678901234567890,"to":"d"}' }));
    const error = await throws("unknown-device", () => filter.seal(message("x", { payload: { refuse: "unknown-device" } })));
    assert.ok(error instanceof PushcryptError && error.answer.token === "tx");
    assert.equal((await throws("store-busy", () => filter.seal(message("x", { payload: { refuse: "store-busy" } })))).retryable, true);
    assert.equal((await filter.seal(message("y", { payload: '{"a" : 1,\n"payload":{"to":"e"}}' }))).id, "y");
    await filter.close();
    assert.equal(lines()[0], "start seal --batch --store P");
    assert.equal(filter.pid, undefined);
    await throws(TypeError, () => filter.seal(message("z")));
    await filter.close();
});

test("no more than a window is without an answer", async () => {
    const { filter, lines } = fakeOf("batches", { window: 7 });
    await Promise.all(Array.from({ length: 50 }, (_, id) => filter.seal(message(`${id}`))));
    const counts = lines().filter((line) => line.startsWith("unanswered")).map((line) => Number(line.split(" ")[1]));
    assert.ok(Math.max(...counts) <= 7, `${counts}`);
    await filter.close();
});

test("an answer wakes one message that waits, however many do", async () => {
    const costOf = async (count) => {
        const { filter } = fakeOf("", { window: 4 });
        await filter.seal(message("first"));
        const start = process.cpuUsage();
        await Promise.all(Array.from({ length: count }, () => filter.seal({ to: "d", payload: {} })));
        const { user, system } = process.cpuUsage(start);
        await filter.close();
        return (user + system) / count;
    };
    await costOf(1000);
    const few = await costOf(1000), many = await costOf(10_000);
    assert.ok(many < 3 * few, `${few} µs for each of 1,000, ${many} µs for each of 10,000`);
});

test("a command that stops is killed, and another one answers", async () => {
    const { filter, starts } = fakeOf("stop", { answerTimeout: 10 });
    const answers = await Promise.all(["a", "b"].map((id) => filter.seal(message(id))));
    assert.deepEqual([answers.map(({ id }) => id), starts()], [["a", "b"], 2]);
    await filter.close();
});

test("a command that only ever stops fails what waits, and says that trying again may help", async () => {
    const { filter } = fakeOf("stop always", { answerTimeout: 0.3 });
    const error = await throws(FilterError, () => filter.seal(message("a")));
    assert.deepEqual([error.code, error.retryable], ["filter-ended", true]);
    assert.match(error.message, /answered nothing for 0.3 seconds/);
    await filter.close();
});

test("a slow command is waited for", async () => {
    const { filter, starts } = fakeOf("late", { answerTimeout: 30, window: 3 });
    const answers = await Promise.all(Array.from({ length: 9 }, (_, id) => filter.seal(message(`${id}`))));
    assert.deepEqual([answers.length, starts()], [9, 1]);
    await filter.close();
});

test("a command that dies is followed by another, and nothing is lost", async () => {
    const { filter, starts } = fakeOf("die");
    const answers = await Promise.all(Array.from({ length: 10 }, (_, id) => filter.seal(message(`${id}`))));
    assert.deepEqual([answers.map(({ id }) => id).join(""), starts()], ["0123456789", 2]);
    await filter.close();
});

test("a command that answers nothing is started five times, and again with the next message", async () => {
    const { filter, starts } = fakeOf("exit"), calls = [1, 2, 3].map((id) => throws(FilterError, () => filter.seal(message(`${id}`))));
    const [error] = await Promise.all(calls);
    assert.match(error.message, /ended with 1: no store/);
    assert.deepEqual([error.retryable, starts()], [true, 5]);
    await throws(FilterError, () => filter.seal(message("again")));
    assert.ok(starts() > 5);
    await filter.close();
});

test("wrong options are final, and never tried again", async () => {
    const { filter, starts } = fakeOf("exit64");
    assert.equal((await throws(FilterError, () => filter.seal(message("a")))).retryable, false);
    await throws(FilterError, () => filter.seal(message("b")));
    assert.equal(starts(), 1);
    await filter.close();
});

test("a program that is not there is told at once", async () => {
    // A pause would last for the whole day.
    Object.assign(pauses, { firstPause: 86_400_000, longestPause: 86_400_000 });
    writeFileSync(join(folder, "text"), "no program", { mode: 0o644 });
    for (const name of ["/no/such/program", "/no/null\0byte", join(folder, "text"), "pushcrypt-no-such-program"]) {
        const filter = filterOf({ command: name }), errors = await Promise.all([1, 2].map((id) => throws(FilterError, () => filter.seal(message(`${id}`)))));
        assert.ok(errors.every(({ retryable, message }) => !retryable && message.includes(name.replaceAll("\0", "\\x00")) || message.includes(name)), errors[0].message);
        await throws(FilterError, () => filter.seal(message("again")));
        await filter.close();
    }
});

test("what is no answer ends the command, and leaves nobody waiting", async () => {
    for (const line of [
        "hello", "[]", "null", "{}", '{"pushcrypt-client":99,"payload":{}}', '{"pushcrypt-client":NUMBER}', '{"pushcrypt-client":NUMBER,"payload":7}',
        '{"pushcrypt-client":NUMBER,"error":{}}', '{"pushcrypt-client":NUMBER,"payload":{', '{"pushcrypt-client":"NUMBER","payload":{}}', '{"pushcrypt-client":NUMBER,"payload":{a}}', "\ufffd",
    ]) {
        const { filter, starts } = fakeOf("garbage", {}, { GARBAGE: line });
        assert.equal((await filter.seal(message("a"))).id, "a", line);
        assert.equal(starts(), 2, line);
        await filter.close();
    }
    // Always, it is given up.
    const never = fakeOf("garbage always", {}, { GARBAGE: '{"pushcrypt-client":99,"payload":{}}' });
    await throws(FilterError, () => never.filter.seal(message("a")));
    assert.equal(never.starts(), 5);
    pauses.longestAnswer = 1000;
    const { filter, starts } = fakeOf("garbage", {}, { GARBAGE: "x".repeat(5000) });
    assert.equal((await filter.seal(message("a"))).id, "a");
    assert.equal(starts(), 2);
    await filter.close();
});

test("close waits for answers, but no longer than it is told", async () => {
    const slow = fakeOf("late").filter, answer = slow.seal(message("a"));
    await slow.close();
    assert.equal((await answer).id, "a");
    const { filter } = fakeOf("stop always", { window: 1 }), calls = ["a", "b"].map((id) => throws(FilterError, () => filter.seal(message(id))));
    await delay(200);
    const { pid } = filter;
    const closing = filter.close();
    await filter.close(0.1);
    await closing;
    const [error] = await Promise.all(calls);
    assert.deepEqual([error.retryable, filter.pid], [true, undefined]);
    assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
    for (const wrong of ["1", -1, NaN, Infinity, 1n]) await throws(TypeError, async () => new SealFilter().close(wrong));
    await new SealFilter().close();
});

test("a command that does not end with its input is killed", async () => {
    const { filter } = fakeOf("stays", { answerTimeout: 4 });
    await filter.seal(message("a"));
    await filter.close();
    assert.equal(filter.pid, undefined);
});

test("a process that the command left behind keeps nobody", async () => {
    pauses.lastWords = 50;
    const leaving = join(folder, "leaving");
    writeFileSync(leaving, `#!/bin/sh\nsleep 100 &\necho $! >${leaving}.pid\nexec ${fake} "$@"\n`, { mode: 0o755 });
    const filter = filterOf({ command: leaving });
    await filter.seal(message("a"));
    await filter.close();
    process.kill(Number(readFileSync(`${leaving}.pid`, "utf8")));
});

test("sealAll answers in order, takes no more than a window, and an answer waits for nobody", async () => {
    const { filter } = fakeOf("", { window: 5 });
    let taken = 0, answered = 0;
    const source = function* () {
        for (let id = 0; id < 40; id++) {
            taken += 1;
            assert.ok(taken - answered <= 6, `${taken - answered} messages were taken without an answer`);
            yield message(`${id}`, id % 10 === 3 ? { payload: { refuse: "no-key" } } : id % 10 === 7 ? { payload: { value: NaN } } : {});
        }
    };
    for await (const { message: own, answer, error } of filter.sealAll(source())) {
        assert.equal(own.id, `${answered}`);
        assert.equal(error?.code, { 3: "no-key", 7: "malformed-payload" }[answered % 10]);
        if (error === undefined) assert.equal(answer.id, own.id);
        answered += 1;
    }
    assert.equal(answered, 40);
    let ask, isEnded = false;
    const queue = async function* () {
        try {
            yield message("a");
            yield message("b");
            await new Promise((resolve) => (ask = resolve));
            yield message("c");
            throw new RangeError("the queue");
        } finally {
            isEnded = true;
        }
    };
    const results = filter.sealAll(queue());
    assert.deepEqual([(await results.next()).value.answer.id, (await results.next()).value.answer.id], ["a", "b"]);
    while (ask === undefined) await delay(1);
    ask();
    assert.equal((await results.next()).value.answer.id, "c");
    await throws(RangeError, () => results.next());
    // A loop that is left does not wait for the source.
    ask = undefined;
    const left = filter.sealAll(queue());
    await left.next();
    await left.next();
    assert.equal((await left.return()).done, true);
    isEnded = false;
    for await (const each of filter.sealAll([message("a"), message("b")])) if (each.answer) break;
    const ending = function* () {
        try {
            for (;;) yield message("a");
        } finally {
            isEnded = true;
        }
    };
    for await (const each of filter.sealAll(ending())) if (each.answer) break;
    assert.equal(isEnded, true, "the source ends with the loop");
    for (const wrong of [7, null, undefined, {}]) await throws(TypeError, () => filter.sealAll(wrong).next());
    await filter.close();
});

test("messages that are no lines are refused before they are written", async () => {
    const { filter } = fakeOf("");
    for (const [what, wrong] of [
        [TypeError, { to_user: "alice", payload: {} }], [TypeError, { to: "x", payload: {}, "pushcrypt-client": 0 }], ["malformed-payload", { to: "x", payload: '{"aps":{}},"to":{"a":1}' }],
        ["malformed-payload", { to: "x", payload: { big: 2 ** 60 } }], ["malformed-payload", { to: "x", payload: [] }], ["malformed-payload", { to: "x", payload: "7" }],
        ["invalid-request", { to: "x", payload: {}, token: NaN }], ["invalid-request", { to: "x", payload: {}, token: undefined }],
        ["invalid-request", { to: "x", payload: "{}", token: new Date() }], ["line-too-long", { to: "x", payload: { a: "a".repeat(1 << 20) } }],
        ["line-too-long", { to: "x", payload: `{"a":"${"é".repeat(600_000)}"}` }], [TypeError, { to: "x" }], [TypeError, { to: "x", payload: 7 }], [TypeError, null], [TypeError, 7], [TypeError, []],
        ["invalid-request", Object.assign(new Date(), { to: "x", payload: {} })],
    ]) await throws(what, () => filter.seal(wrong));
    assert.equal((await filter.seal({ to: "x", payload: "{}" })).to, "x");
    await filter.close();
});

test("the command seals while it is killed: each message gets one answer, which opens", { skip: noCommand }, async () => {
    Object.assign(pauses, usual, { firstPause: 10 });
    const provider = ProviderKey.generate(), device = DeviceKey.generate(), topic = "com.example.app", file = join(folder, "provider.key");
    writeFileSync(file, `${provider.secretText()}\n`, { mode: 0o600 });
    const filter = filterOf({ command, args: ["--topic", topic, "--signing-key-file", file], window: 64 }), seen = new Set();
    const options = { topic, devices: [device], trust: new Trust([provider.publicKey]) };
    let kills = 0, last, before = 0, answered = 0;
    // Each child, after it has answered something.
    const killer = setInterval(() => {
        if (filter.pid === undefined || filter.pid === last || answered === before) return;
        [last, before] = [filter.pid, answered];
        process.kill(last, kills++ % 3 === 2 ? "SIGTERM" : "SIGKILL");
    }, 50);
    const messages = function* () {
        for (let id = 0; id < 1000 || kills < 3; id++) {
            yield { to: device.publicKey, id: `m${id}`, token: `t${id}`, payload: `{"aps":{"alert":${id % 50 === 7 ? '""' : `"${id}"`}},\n"big":12345678901234567890}` };
        }
    };
    for await (const { message: own, answer, error } of filter.sealAll(messages())) {
        const id = answered++;
        assert.equal(own.token, `t${id}`);
        if (id % 50 === 7) {
            assert.deepEqual([error.code, error.answer.token], ["nothing-to-show", own.token]);
            continue;
        }
        assert.equal(error, undefined);
        assert.equal(answer.token, own.token);
        const opened = open(answer.payload, options);
        assert.equal(opened.payload.toString(), `{"aps":{"alert":"${id}"},"big":12345678901234567890}`);
        assert.ok(!seen.has(opened.messageId));
        seen.add(opened.messageId);
    }
    clearInterval(killer);
    await filter.close();
});
