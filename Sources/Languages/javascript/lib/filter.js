// A client for `pushcrypt seal --batch` as a child process: each message is a line, matched with its answer by a number that the command passes through.
//
// A child that ends is followed by another, after a pause. If MOST_ENDS in a row answered nothing, what waits is rejected, and the next message starts
// another one after the longest pause. Only a child that ends with 64, which the command never accepts, is the last.
"use strict";

const { spawn } = require("node:child_process");
const { PushcryptError } = require("./errors.js");
const { parseObject, minify, writtenMembers } = require("./payload.js");
const { array, json, options, string } = require("./values.js");

/** The member of a line that the command returns with its answer. */
const NUMBER = "pushcrypt-client";
const LONGEST_LINE = 1 << 20, LONGEST_ANSWER = 1 << 22;
/** Ends in a row without an answer, while something waited, after which that is rejected. */
const MOST_ENDS = 5;
/** Milliseconds, twice as many after each such end. */
const FIRST_PAUSE = 100, LONGEST_PAUSE = 5000;
const LAST_WORDS = 1000;
const MISUSE = 64;
const KEPT_ERRORS = 2000;

class SealFilter {
    #command;
    #env;
    #window;
    #child = null;
    #pending = new Map();
    #waiting = [];
    #queued = 0;
    #pause = null;
    #next = 0;
    #ends = 0;
    #isMisused = false;
    #failures = 0;
    #failure = null;
    #errors = "";
    #closing = null;

    constructor(given = {}) {
        const { command = "pushcrypt", args = [], env = process.env, window = 1000 } = options(given, ["command", "args", "env", "window"], "SealFilter");
        if (!Number.isInteger(window) || window < 1) throw new TypeError("window must be a whole number, 1 or more");
        this.#command = [string(command, "command"), "seal", "--batch", ...array(args, "args").map((argument) => string(argument, "an argument"))];
        this.#env = env;
        this.#window = window;
    }

    /** The id of the child process, if it runs. */
    get pid() {
        return this.#child?.pid;
    }

    async seal(message) {
        if (this.#closing !== null) throw new TypeError("the filter is closed");
        const line = this.#line(message), failures = this.#failures;
        this.#queued += 1;
        while (this.#pending.size >= this.#window && failures === this.#failures) await this.#change();
        this.#queued -= 1;
        if (this.#isMisused || failures !== this.#failures) {
            this.#wake();
            throw this.#failure;
        }
        return new Promise((resolve, reject) => {
            this.#pending.set(line.number, { text: line.text, resolve, reject });
            if (this.#child !== null) this.#child.stdin.write(line.text);
            else if (this.#pause !== null) this.#pause.ref();
            else this.#start();
        });
    }

    async *sealAll(messages) {
        const source = messages[Symbol.asyncIterator]?.() ?? messages[Symbol.iterator](), underWay = [];
        let next = null, isOver = false, failure = null;
        try {
            for (;;) {
                if (!isOver && underWay.length < this.#window) next ??= following(source);
                if (underWay.length === 0 && next === null) break;
                const first = await Promise.race([underWay[0], next].filter((one) => one));
                if (!("done" in first)) {
                    underWay.shift();
                    yield first;
                    continue;
                }
                next = null;
                ({ done: isOver, failure } = first);
                const message = first.value;
                if (!isOver) underWay.push(this.seal(message).then((answer) => ({ message, answer }), (error) => ({ message, error })));
            }
            if (failure !== null) throw failure.error;
        } finally {
            const ended = isOver ? null : source.return?.();
            // A source that is being asked may take long to end.
            if (next === null) await ended;
            else Promise.resolve(ended).catch(() => {});
        }
    }

    /** Waits for the answers under way, and ends the command. */
    close() {
        this.#closing ??= this.#close();
        return this.#closing;
    }

    async #close() {
        while (this.#pending.size + this.#queued > 0) await this.#change();
        const child = this.#child;
        if (child === null) return;
        const ended = new Promise((resolve) => child.once("close", resolve));
        child.stdin.end();
        await ended;
    }

    /** A message as a line. The payload is checked first, so that none can add members to its line. */
    #line(message) {
        const { payload, ...members } = options(message, Object.keys(message ?? {}), "a message");
        for (const name of ["to_user", NUMBER]) {
            if (Object.hasOwn(members, name)) throw new TypeError(`a message cannot have ${name} here: each has one answer`);
        }
        const data = json(payload, "malformed-payload");
        parseObject(data, "malformed-payload");
        const number = this.#next++, rest = json(members, "invalid-request").toString().slice(1, -1);
        const text = `{${rest === "" ? "" : `${rest},`}"payload":${minify(data.toString())},"${NUMBER}":${number}}\n`;
        if (Buffer.byteLength(text) > LONGEST_LINE) throw new PushcryptError("line-too-long", "a line has at most 1 MiB");
        return { number, text };
    }

    /** Starts the command, and gives it everything that is not answered, in order. */
    #start() {
        const [command, ...args] = this.#command;
        let child, rest = "", reason = null;
        try {
            child = spawn(command, args, { env: this.#env, stdio: ["pipe", "pipe", "pipe"] });
        } catch (error) {
            this.#ended(null, error.message);
            return;
        }
        child.on("error", (error) => {
            reason ??= error.message;
        });
        if (!child.stdin) {
            // Without a descriptor for its pipes it was not started, and tells nothing but an error.
            this.#ended(null, "it cannot be started: too many open files");
            return;
        }
        this.#child = child;
        // A broken pipe is told by the end of the process.
        for (const stream of child.stdio) stream.on("error", () => {});
        child.stdout.setEncoding("utf8").on("data", (text) => {
            const lines = (rest + text).split("\n");
            rest = lines.pop();
            try {
                if (rest.length > LONGEST_ANSWER) throw new TypeError("a line does not end");
                for (const line of lines) this.#answer(line);
            } catch (error) {
                reason ??= "its output is not that of pushcrypt";
                child.kill();
            }
        });
        child.stderr.setEncoding("utf8").on("data", (text) => {
            this.#errors = (this.#errors + text).slice(-KEPT_ERRORS);
        });
        // A process that it started may hold its standard error open.
        let patience;
        child.on("exit", () => {
            patience = setTimeout(() => child.stderr.destroy(), LAST_WORDS);
        });
        child.on("close", (code) => {
            clearTimeout(patience);
            this.#ended(code, reason);
        });
        for (const { text } of this.#pending.values()) child.stdin.write(text);
    }

    #answer(line) {
        const members = JSON.parse(line), number = members[NUMBER], entry = this.#pending.get(number), { error } = members;
        // The payload as written, because JSON.parse rounds large numbers.
        const [, payload] = writtenMembers(line, { start: 0, end: line.length }).find(([name]) => name === "payload") ?? [];
        const isRefused = payload === undefined && typeof error?.code === "string" && typeof error.message === "string";
        if (entry === undefined || !(isRefused || payload?.[0] === "{")) throw new TypeError("not an answer of pushcrypt to a message that waits");
        this.#pending.delete(number);
        delete members[NUMBER];
        this.#ends = 0;
        this.#wake();
        if (isRefused) entry.reject(Object.assign(new PushcryptError(error.code, error.message), { answer: members }));
        else entry.resolve({ ...members, payload });
    }

    #ended(code, reason) {
        this.#child = null;
        if (this.#pending.size > 0) this.#ends += 1;
        this.#isMisused = code === MISUSE;
        const isGivenUp = this.#isMisused || this.#ends >= MOST_ENDS;
        if (isGivenUp) {
            const why = reason ?? `it ended with ${code}: ${this.#errors.trim()}`;
            this.#failure = new PushcryptError("filter-ended", `${this.#command[0]} seal --batch does not answer: ${why}`);
            this.#failures += 1;
            for (const { reject } of this.#pending.values()) reject(this.#failure);
            this.#pending.clear();
        }
        this.#wake();
        if (this.#isMisused) return;
        this.#pause = setTimeout(() => {
            this.#pause = null;
            if (this.#pending.size > 0) this.#start();
        }, isGivenUp ? LONGEST_PAUSE : FIRST_PAUSE * 2 ** this.#ends);
        // A program does not wait for it if nothing else does.
        if (this.#pending.size === 0) this.#pause.unref();
    }

    /** Resolves at the next answer, or when nothing more will be answered. */
    #change() {
        return new Promise((resolve) => this.#waiting.push(resolve));
    }

    #wake() {
        for (const resolve of this.#waiting.splice(0)) resolve();
    }
}

/** The next message; the error of a source is its end. */
async function following(source) {
    try {
        const { value, done } = await source.next();
        return { value: await value, done: done === true, failure: null };
    } catch (error) {
        return { done: true, failure: { error } };
    }
}

module.exports = { SealFilter };
