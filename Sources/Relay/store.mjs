// Revocations in a file: a line each, synchronised before it is answered.
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { dirname } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { DAY } from "./bytes.mjs";
import { LIFE } from "./grants.mjs";

export const STORE_HEADER = "pushcrypt relay 1\n";
const CHUNK = 1 << 16, LOCK_SECONDS = 10;
/** A cut-off is a day ahead of the clock, and lasts as long as the grants that it ends. */
const KEPT = LIFE + DAY;
/** A grant with its end, or a token with its cut-off. What a crash cut, and was not answered, may stand before it. */
const ROW = /([gt])([0-9a-f]{32}) ([0-9]{1,16})$/;

/** What is wrong with the files or arguments. */
export class Misuse extends Error {}

export function fail(text) {
    throw new Misuse(text);
}

/** One process has a folder: the kernel ends its lock with it. Waits for one that is ending. */
function lock(folder, warn) {
    const file = fs.openSync(folder, "r");
    const stdio = ["ignore", "ignore", "ignore", file];
    const { status } = spawnSync("flock", ["-w", `${LOCK_SECONDS}`, "3"], { stdio });
    if (status === 1) fail(`another relay uses ${folder}`);
    if (status !== 0) warn(`${folder} cannot be locked with flock: two relays with one store would lose revocations`);
    return file;
}

/** The lines of a file. A last one without its newline was never answered, and is left out. */
function* linesOf(file) {
    const chunk = Buffer.alloc(CHUNK);
    let rest = "";
    for (let count = fs.readSync(file, chunk); count > 0 && rest.length < CHUNK; count = fs.readSync(file, chunk)) {
        const lines = (rest + chunk.latin1Slice(0, count)).split("\n");
        rest = lines.pop();
        yield* lines;
    }
    // No valid line is this long, but the lines after it must not be lost.
    if (rest.length >= CHUNK) yield rest;
}

/**
 * Revocations in memory and in a file, which is rewritten without expired and repeated ones at start, and when most of
 * its lines are such. Ids are 16 bytes. Throws `Misuse` if there is no store.
 */
export function fileStore(path, { most = 1_000_000, now = Date.now, warn = () => {} } = {}) {
    // By 16 bytes as Latin-1, which take a third of their digits' memory: when a grant ends; the cut-off of a token.
    const grants = new Map(), cutoffs = new Map(), kinds = [["g", grants], ["t", cutoffs]];
    let file, lines = 0, isBroken = false, waiting = [], writing, swept = 0;

    const id = Buffer.alloc(16), keyOf = (digits) => id.latin1Slice(0, id.write(digits, "hex"));
    const lineOf = (kind, key, time) => `${kind}${Buffer.from(key, "latin1").toString("hex")} ${time}\n`;
    const isOver = (kind, time) => (kind === "g" ? time : time + KEPT) < now();

    function keep(kind, key, time) {
        const rows = kind === "g" ? grants : cutoffs;
        rows.set(key, Math.max(time, rows.get(key) ?? time));
    }

    function read() {
        if (!fs.existsSync(path)) fail(`there is no store ${path}: restore it, or revoked grants would work again`);
        file = fs.openSync(path, "a+");
        let isFirst = true;
        for (const line of linesOf(file)) {
            const isHeader = isFirst && `${line}\n` === STORE_HEADER, row = ROW.exec(line);
            if (isFirst && !isHeader) break;
            isFirst = false;
            if (isHeader) continue;
            if (!row) fail(`${path} is damaged: restore a copy, or start with a new relay key`);
            lines += 1;
            if (!isOver(row[1], Number(row[3]))) keep(row[1], keyOf(row[2]), Number(row[3]));
        }
        if (isFirst) fail(`${path} is empty or no store: restore it`);
    }

    /** Replaces the file by what is kept. */
    function rewrite() {
        const next = `${path}.new`;
        fs.rmSync(next, { force: true });
        const opened = fs.openSync(next, "a", 0o600);
        fs.writeFileSync(opened, STORE_HEADER);
        for (const [kind, rows] of kinds) {
            let part = [];
            for (const [key, time] of rows) {
                if (part.push(lineOf(kind, key, time)) < 10_000) continue;
                fs.writeFileSync(opened, part.join(""));
                part = [];
            }
            fs.writeFileSync(opened, part.join(""));
        }
        fs.fsyncSync(opened);
        fs.renameSync(next, path);
        fs.fsyncSync(place);
        fs.closeSync(file);
        file = opened;
        lines = grants.size + cutoffs.size;
    }

    /** The file must still be the one that the next start reads. */
    function check() {
        const [own, there] = [fs.fstatSync(file), fs.statSync(path)];
        if (own.ino !== there.ino || own.dev !== there.dev) throw new Error("the store was replaced");
    }

    /** What waits is written at once, and synchronised once. */
    async function write() {
        await turn();
        const own = waiting;
        [waiting, writing] = [[], undefined];
        const text = own.map(([kind, key, time]) => lineOf(kind, key, time)).join("");
        isBroken = true;
        check();
        // What a full disk cut must not join the next line.
        if (fs.writeSync(file, text) < text.length) throw new Error("the disk is full");
        fs.fsyncSync(file);
        isBroken = false;
        own.forEach((row) => isOver(row[0], row[2]) || keep(...row));
        lines += own.length;
        if (lines <= 2 * most + 1000) return;
        // The rows are stored: it tries again after 1,000 more lines.
        try {
            rewrite();
        } catch (error) {
            lines -= 1000;
            warn(`${path} cannot be rewritten: ${error.message}`);
        }
    }

    function append(rows) {
        waiting.push(...rows);
        return (writing ??= write());
    }

    const place = lock(dirname(path), warn);
    read();
    if (lines > grants.size + cutoffs.size) rewrite();
    return {
        get rows() {
            return grants.size + cutoffs.size;
        },
        /** Whether a grant was revoked. */
        hasEnded: (id) => grants.has(id.latin1Slice()),
        /** When the latest grant of a token was issued that has ended with all before it, or −1. */
        cutoff: (name) => cutoffs.get(name.latin1Slice()) ?? -1,
        /** Whether another row may be stored; at most once a minute, what has expired is dropped for it. */
        hasRoom() {
            if (this.rows < most || now() < swept + 60_000) return this.rows < most;
            swept = now();
            for (const [kind, rows] of kinds) for (const [key, time] of rows) if (isOver(kind, time)) rows.delete(key);
            return this.rows < most;
        },
        /** Stores ends of grants, `[id, expires]`. */
        end: (...ended) => append(ended.map(([id, expires]) => ["g", id.latin1Slice(), expires])),
        /** Stores cut-offs of tokens, `[name, time]`. */
        cut: (...ended) => append(ended.map(([name, time]) => ["t", name.latin1Slice(), time])),
        /** Throws if a revocation could not be stored. After one that could not, a row that has expired is tried. */
        async probe() {
            check();
            if (isBroken) await append([["g", "\0".repeat(16), 0]]);
        },
        close() {
            fs.closeSync(file);
            fs.closeSync(place);
        },
    };
}
