// A client for `pushcrypt seal --batch` as a child process: each message is a line, matched with its answer by a number that the command passes through.
"use strict";

const { spawn } = require("node:child_process");
const { PushcryptError } = require("./errors.js");
const { parseObject, minify, writtenMembers } = require("./payload.js");
const { array, json, options, string } = require("./values.js");

/** The member of a line that the command returns with its answer. */
const NUMBER = "pushcrypt-client";
const LONGEST_LINE = 1 << 20;
/** Ends in a row without an answer, after which nothing is tried again. */
const MOST_ENDS = 5;
const FIRST_PAUSE = 50;
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
    #pausing = false;
    #next = 0;
    #ends = 0;
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
        const line = this.#line(message);
        this.#queued += 1;
        while (this.#pending.size >= this.#window && this.#failure === null) await this.#change();
        this.#queued -= 1;
        if (this.#failure !== null) throw this.#failure;
        return new Promise((resolve, reject) => {
            this.#pending.set(line.number, { text: line.text, resolve, reject });
            if (this.#child !== null) this.#child.stdin.write(line.text);
            else if (!this.#pausing) this.#start();
        });
    }

    async *sealAll(messages) {
        const under = [];
        for await (const message of messages) {
            under.push(this.seal(message).then((answer) => ({ message, answer }), (error) => ({ message, error })));
            if (under.length >= this.#window) yield await under.shift();
        }
        yield* under;
    }

    /** Waits for the answers under way, and ends the command. */
    close() {
        this.#closing ??= this.#close();
        return this.#closing;
    }

    async #close() {
        while (this.#pending.size + this.#queued > 0 && this.#failure === null) await this.#change();
        const child = this.#child;
        if (child === null) return;
        const ended = new Promise((resolve) => child.once("close", resolve));
        child.stdin.end();
        await ended;
    }

    /** A message as a line. The payload is checked first, so that none can add members to its line. */
    #line(message) {
        const { payload, ...members } = options(message, Object.keys(message ?? {}), "a message");
        for (const name of ["to-user", NUMBER]) {
            if (Object.hasOwn(members, name)) throw new TypeError(`a message cannot have ${name} here: each has one answer`);
        }
        const data = json(payload, "malformed-payload");
        parseObject(data, "malformed-payload");
        const number = this.#next++, rest = json(members, "malformed-line").toString().slice(1, -1);
        const text = `{${rest === "" ? "" : `${rest},`}"payload":${minify(data.toString())},"${NUMBER}":${number}}\n`;
        if (Buffer.byteLength(text) > LONGEST_LINE) throw new PushcryptError("line-too-long", "a line has at most 1 MiB");
        return { number, text };
    }

    /** Starts the command, and gives it everything that is not answered, in order. */
    #start() {
        const [command, ...args] = this.#command;
        const child = spawn(command, args, { env: this.#env, stdio: ["pipe", "pipe", "pipe"] });
        this.#child = child;
        let rest = "", failed = null;
        child.on("error", (error) => {
            failed = error;
        });
        // A broken pipe is told by the end of the process.
        child.stdin.on("error", () => {});
        child.stdout.setEncoding("utf8").on("data", (text) => {
            const lines = (rest + text).split("\n");
            rest = lines.pop();
            try {
                for (const line of lines) this.#answer(line);
            } catch (error) {
                failed ??= error;
                child.kill();
            }
        });
        child.stderr.setEncoding("utf8").on("data", (text) => {
            this.#errors = (this.#errors + text).slice(-KEPT_ERRORS);
        });
        child.on("close", (code) => this.#ended(code, failed));
        for (const { text } of this.#pending.values()) child.stdin.write(text);
    }

    #answer(line) {
        const members = JSON.parse(line);
        const entry = this.#pending.get(members[NUMBER]);
        if (entry === undefined) return;
        this.#pending.delete(members[NUMBER]);
        delete members[NUMBER];
        this.#ends = 0;
        this.#wake();
        if (members.error !== undefined && members.payload === undefined) {
            entry.reject(Object.assign(new PushcryptError(members.error.code, members.error.message), { answer: members }));
            return;
        }
        // The payload as written, because JSON.parse rounds large numbers.
        const [, payload] = writtenMembers(line, { start: 0, end: line.length }).find(([name]) => name === "payload");
        entry.resolve({ ...members, payload });
    }

    #ended(code, failed) {
        this.#child = null;
        if (this.#pending.size === 0) return;
        this.#ends += 1;
        if (failed !== null || code === MISUSE || this.#ends >= MOST_ENDS) {
            const reason = failed?.message ?? `it ended with ${code}: ${this.#errors.trim()}`;
            this.#failure = new PushcryptError("filter-ended", `${this.#command[0]} seal --batch does not answer: ${reason}`);
            for (const { reject } of this.#pending.values()) reject(this.#failure);
            this.#pending.clear();
            this.#wake();
            return;
        }
        this.#pausing = true;
        setTimeout(() => {
            this.#pausing = false;
            this.#start();
        }, FIRST_PAUSE * 2 ** this.#ends);
    }

    /** Resolves at the next answer, or when nothing more will be answered. */
    #change() {
        return new Promise((resolve) => this.#waiting.push(resolve));
    }

    #wake() {
        for (const resolve of this.#waiting.splice(0)) resolve();
    }
}

module.exports = { SealFilter };
