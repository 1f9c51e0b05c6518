// The store of revocations: `node --test`.
import assert from "node:assert";
import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { STORE_HEADER, fileStore } from "../../../Sources/Relay/store.mjs";

const DAY = 86_400_000, NOW = 1_800_000_000_000, SOURCE = new URL("../../../Sources/Relay/store.mjs", import.meta.url).href;
const id = (number) => Buffer.from(number.toString(16).padStart(32, "0"), "hex"), digits = (number) => id(number).toString("hex");

function place(context, text = STORE_HEADER) {
    const folder = fs.mkdtempSync(join(tmpdir(), "relay-store-")), path = join(folder, "ended");
    context.after(() => fs.rmSync(folder, { recursive: true }));
    fs.writeFileSync(path, text);
    return path;
}

/** The arguments of another process, which runs `program`; `store` is the store in it. */
const argumentsOf = (path, program) => ["--max-old-space-size=256", "--input-type=module", "-e", `
    import { fileStore } from ${JSON.stringify(SOURCE)};
    const start = performance.now(), store = fileStore(${JSON.stringify(path)}, { now: () => ${NOW} });
    const seconds = (performance.now() - start) / 1000;
    ${program}`];
const elsewhere = (path, program) => spawnSync(process.execPath, argumentsOf(path, program), { encoding: "utf8" });

test("what is stored is there after a start, and what has expired is not", async (context) => {
    const path = place(context);
    let now = NOW;
    const store = fileStore(path, { now: () => now });
    await Promise.all([store.end([id(1), NOW + DAY]), store.end([id(2), NOW + 3 * DAY]), store.cut([id(3), NOW], [id(4), NOW + DAY])]);
    await store.cut([id(3), NOW + 5]);
    store.close();
    assert.equal(fs.readFileSync(path, "utf8").split("\n").length, 7);
    now += 2 * DAY;
    const next = fileStore(path, { now: () => now });
    assert.deepEqual([1, 2, 5].map((one) => next.hasEnded(id(one))), [false, true, false]);
    assert.deepEqual([3, 4, 5].map((one) => next.cutoff(id(one))), [NOW + 5, NOW + DAY, -1]);
    next.close();
    const lines = [`g${digits(2)} ${NOW + 3 * DAY}`, `t${digits(3)} ${NOW + 5}`, `t${digits(4)} ${NOW + DAY}`];
    assert.equal(fs.readFileSync(path, "utf8"), `${STORE_HEADER}${lines.join("\n")}\n`);
    now = NOW + 182 * DAY + 1;
    const last = fileStore(path, { now: () => now });
    assert.deepEqual([last.rows, fs.readFileSync(path, "utf8")], [0, STORE_HEADER]);
    last.close();
});

test("a budget counts rows that have not expired", async (context) => {
    let now = NOW;
    const store = fileStore(place(context), { most: 2, now: () => now });
    await store.end([id(1), NOW + DAY], [id(2), NOW + 2 * DAY]);
    assert.deepEqual([store.hasRoom(), store.rows], [false, 2]);
    now += DAY + 1;
    assert.deepEqual([store.hasRoom(), store.rows], [true, 1]);
    store.close();
});

test("a file in which most lines repeat others is written again", async (context) => {
    const path = place(context), store = fileStore(path, { most: 10, now: () => NOW });
    for (let at = 0; at < 1100; at++) await store.cut([id(1), NOW + at]);
    const { size } = fs.statSync(path);
    assert(size < 5000, `${size}`);
    await store.end([id(2), NOW + DAY]);
    store.close();
    const next = fileStore(path, { now: () => NOW });
    assert.deepEqual([next.cutoff(id(1)), next.hasEnded(id(2))], [NOW + 1099, true]);
    next.close();
});

test("a file that cannot be written again keeps what is stored", async (context) => {
    const path = place(context), said = [], store = fileStore(path, { most: 10, now: () => NOW, warn: (text) => said.push(text) });
    fs.mkdirSync(`${path}.new`);
    for (let at = 0; at < 1100; at++) await store.cut([id(1), NOW + at]);
    assert.deepEqual([said.length, store.cutoff(id(1))], [1, NOW + 1099]);
    fs.rmdirSync(`${path}.new`);
    for (let at = 0; at < 1000; at++) await store.cut([id(1), NOW + at]);
    assert(fs.statSync(path).size < 50_000);
    store.close();
});

test("what a crash cut was not answered, and joins nothing", (context) => {
    const row = `g${digits(10)} ${NOW + DAY}`, cut = `t${"c".repeat(31)}`;
    for (const [text, rows] of [
        [`${row}\n`, 1], [row, 0], [`${cut}${row}\n`, 1], [`t${"c".repeat(32)} 12${row}\n`, 1], [`${row}\n${cut}`, 1], ["", 0],
        [`${"\0".repeat(50)}${row}\n`, 1], [`${row.slice(0, -1)}${row}\n`, 1],
    ]) {
        const store = fileStore(place(context, STORE_HEADER + text), { now: () => NOW });
        assert.deepEqual([store.rows, store.hasEnded(id(10))], [rows, rows === 1], text);
        store.close();
    }
    for (const text of [`${row} \n`, `${"\0".repeat(50)}\n`, `g${digits(1)}\n`, "\n", `x${digits(1)} 5\n`]) {
        assert.throws(() => fileStore(place(context, STORE_HEADER + text)), /is damaged/, text);
    }
    // Damage longer than one read must not end reading.
    for (const long of ["\0".repeat(1 << 20), "x".repeat(3 << 20)]) {
        for (const text of [`${row}\n${long}\n${row}\n`, `${row}\n${long}`]) assert.throws(() => fileStore(place(context, STORE_HEADER + text)), /is damaged/);
    }
    for (const text of ["", STORE_HEADER.slice(0, -1), `x${STORE_HEADER}`]) {
        assert.throws(() => fileStore(place(context, text)), /restore it/, text);
    }
    const path = place(context);
    fs.rmSync(path);
    assert.throws(() => fileStore(path), /there is no store/);
});

test("one process has a folder, and the next waits until it ends, and has what it stored", async (context) => {
    const path = place(context), store = fileStore(path, { now: () => NOW }), start = Date.now();
    const other = elsewhere(path, "");
    assert(other.status !== 0 && other.stderr.includes("another relay uses") && Date.now() - start > 9000, other.stderr);
    const next = execFile(process.execPath, argumentsOf(path, "console.log(store.rows)")), text = next.stdout.toArray();
    await pause(1000);
    await store.end([id(1), NOW + DAY]);
    store.close();
    assert.deepEqual([await once(next, "exit"), (await text).join("")], [[0, null], "1\n"]);
});

test("a store that was removed or replaced takes nothing", async (context) => {
    const path = place(context), store = fileStore(path, { now: () => NOW });
    await store.end([id(1), NOW + DAY]);
    const text = fs.readFileSync(path);
    fs.rmSync(path);
    for (let at = 0; at < 2; at++) {
        for (const work of [() => store.end([id(2), NOW + DAY]), () => store.cut([id(3), NOW]), () => store.probe()]) {
            await assert.rejects(work);
        }
        assert.deepEqual([1, 2].map((one) => store.hasEnded(id(one))), [true, false]);
        fs.writeFileSync(path, text);
    }
    store.close();
});

test("a full disk refuses until there is room, and loses nothing", (context) => {
    const path = place(context), program = `
        import { spawnSync } from "node:child_process";
        const limit = (bytes) => spawnSync("prlimit", ["--pid", process.pid, "--fsize=" + bytes + ":unlimited"]);
        const codes = [], row = (number) => [Buffer.alloc(16, number), ${NOW + DAY}];
        const attempt = (work) => work().then(() => codes.push("done"), (error) => codes.push(error.message));
        // A line fits, and half of the next.
        limit(${STORE_HEADER.length + 70});
        for (const number of [1, 2]) await attempt(() => store.end(row(number)));
        await attempt(() => store.cut(row(3)));
        await attempt(() => store.probe());
        limit("unlimited");
        await attempt(() => store.probe());
        await attempt(() => store.end(row(4)));
        console.log(JSON.stringify(codes));`;
    const { stdout, stderr } = elsewhere(path, program), full = "the disk is full", codes = JSON.parse(stdout || "[]");
    assert.deepEqual([codes[0], codes[1], ...codes.slice(4)], ["done", full, "done", "done"], stdout + stderr);
    assert(codes[2] !== "done" && codes[3] !== "done", stdout);
    const store = fileStore(path, { now: () => NOW });
    assert.deepEqual([1, 2, 3, 4].map((one) => store.hasEnded(Buffer.alloc(16, one))), [true, false, false, true]);
    store.close();
});

test("a million rows are read in 300 MB, and six million that have expired", (context) => {
    const path = place(context), part = [];
    for (let at = 0; at < 1_000_000; at++) part.push(`${at % 2 ? "g" : "t"}${digits(at)} ${NOW + 100 * DAY}`);
    fs.writeFileSync(path, `${STORE_HEADER}${part.join("\n")}\n`);
    // Six times as many had expired.
    const old = part.map((line) => line.replace(/ .*/, " 5")).join("\n");
    for (let at = 0; at < 6; at++) fs.appendFileSync(path, `${old}\n`);
    const program = "console.log(JSON.stringify([store.rows, seconds, process.cpuUsage().user / 1e6, process.resourceUsage().maxRSS / 1000]));";
    for (const name of ["seven", "one"]) {
        const { stdout, stderr } = elsewhere(path, program);
        const [rows, seconds, busy, megabytes] = JSON.parse(stdout || "[]");
        assert.equal(rows, 1_000_000, stderr);
        console.log(`figure: relay-start lines=${name}-million seconds=${seconds.toFixed(1)} cpu=${busy.toFixed(1)} megabytes=${Math.round(megabytes)}`);
        assert(megabytes < 300, `${megabytes} MB`);
    }
});
