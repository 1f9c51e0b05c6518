// A client for `pushcrypt seal --batch` as a child process: each message is a line, matched with its answer by a number that the command passes through.
//
// A child that ends, or answers nothing for a while and is killed, is followed by another, after a pause. If MOST_ENDS in a row answered nothing, what waits
// is rejected, and the next message starts another one after the longest pause. A child that ends with 64, which the command never accepts, is the last.
"use strict";

const { spawn } = require("node:child_process");
const { FilterError, PushcryptError } = require("./errors.js");
const { filter: format, limits } = require("./format.js");
const { minify, parseObject, spansOf } = require("./json.js");
const { array, checkUnchanged, json, options, string } = require("./values.js");

/** The member of a line that the command returns with its answer. */
const NUMBER = "pushcrypt-client";
const KEPT_ERRORS = 2000;
/** Of an error of `spawn`: nothing that waiting would change. */
const NO_PROGRAM = ["ERR_INVALID_ARG_VALUE", "ENOENT", "EACCES", "ENOTDIR", "ENOEXEC", "ELOOP", "E2BIG"];

class SealFilter {
    #command;
    #env;
    #window;
    /** Milliseconds. */
    #answerTimeout;
    #child = null;
    /** What the child was given and has not answered, by number. */
    #pending = new Map();
    /** What it is given when there is room: what came last, and before that what came first, in reverse order. */
    #waiting = [];
    #turn = [];
    /** Lines for the next write. */
    #lines = "";
    #pause = null;
    #watch = null;
    #heard = 0;
    #next = 0;
    #ends = 0;
    /** The error of everything from now on. */
    #final = null;
    #errors = "";
    #closing = null;
    #idle = null;

    constructor(given = {}) {
        const { command = "pushcrypt", args = [], env = process.env, window = format.window, answerTimeout = format.answerTimeout / 1000 } = options(
            given, ["command", "args", "env", "window", "answerTimeout"], "SealFilter",
        );
        if (!Number.isInteger(window) || window < 1) throw new TypeError("window must be a whole number, 1 or more");
        this.#command = [string(command, "command"), "seal", "--batch", ...array(args, "args").map((argument) => string(argument, "an argument"))];
        this.#env = options(env, null, "env");
        this.#window = window;
        this.#answerTimeout = milliseconds(answerTimeout, "answerTimeout");
    }

    /** The id of the child process, if it runs. */
    get pid() {
        return this.#child?.pid;
    }

    seal(message) {
        return new Promise((resolve, reject) => {
            if (this.#closing !== null) throw new TypeError("the filter is closed");
            const number = this.#next++, entry = { number, text: lineOf(message, number), resolve, reject };
            if (this.#final !== null) throw this.#final;
            if (this.#pending.size < this.#window) this.#give(entry);
            else this.#waiting.push(entry);
        });
    }

    async *sealAll(messages) {
        const source = messages?.[Symbol.asyncIterator]?.() ?? messages?.[Symbol.iterator]?.();
        if (source === undefined) throw new TypeError("messages must be an iterable");
        const underWay = [];
        let change = signal(), room = signal(), isOver = false, isLeft = false, isAsking = false, failure = null;
        const pump = async () => {
            try {
                while (!isLeft) {
                    isAsking = true;
                    const { value, done } = await source.next();
                    isAsking = false;
                    if (done || isLeft) break;
                    const message = await value;
                    underWay.push(this.seal(message).then((answer) => ({ message, answer }), (error) => ({ message, error })));
                    change.resolve();
                    if (underWay.length >= this.#window) await (room = signal()).promise;
                }
            } catch (error) {
                failure = { error };
            }
            isOver = true;
            change.resolve();
        };
        pump();
        try {
            for (;;) {
                if (underWay.length > 0) {
                    const result = await underWay[0];
                    underWay.shift();
                    room.resolve();
                    yield result;
                } else if (isOver) {
                    break;
                } else {
                    await change.promise;
                    change = signal();
                }
            }
            if (failure !== null) throw failure.error;
        } finally {
            isLeft = true;
            room.resolve();
            const ended = isOver ? null : source.return?.();
            // A source that is being asked may take long to end.
            if (isAsking) Promise.resolve(ended).catch(() => {});
            else await ended;
        }
    }

    /** Waits for the answers under way, and ends the command; after `timeout` seconds for neither. */
    close(timeout) {
        const patience = timeout === undefined ? undefined : milliseconds(timeout, "timeout");
        this.#closing ??= this.#close();
        if (patience === undefined) return this.#closing;
        const timer = setTimeout(() => {
            this.#giveUp(new FilterError("the filter was closed before the answer", true));
            this.#child?.kill("SIGKILL");
        }, patience);
        return this.#closing.finally(() => clearTimeout(timer));
    }

    async #close() {
        if (this.#pending.size > 0) await (this.#idle = signal()).promise;
        clearTimeout(this.#pause);
        const child = this.#child;
        if (child === null) return;
        const ended = new Promise((resolve) => child.once("close", resolve));
        child.stdin.end();
        const timer = setTimeout(() => child.kill("SIGKILL"), this.#answerTimeout);
        await ended;
        clearTimeout(timer);
    }

    /** Takes the line that has waited longest. */
    #take() {
        if (this.#turn.length === 0) [this.#turn, this.#waiting] = [this.#waiting.reverse(), []];
        return this.#turn.pop();
    }

    /** Gives a line to the child, or has one started. */
    #give(entry) {
        if (this.#pending.size === 0) this.#heard = performance.now();
        this.#pending.set(entry.number, entry);
        if (this.#child !== null) this.#write(entry.text);
        else if (this.#pause !== null) this.#pause.ref();
        else this.#start();
    }

    /** Lines of one turn of the loop are written at once. */
    #write(text) {
        if (this.#lines === "") setImmediate(() => this.#flush());
        this.#lines += text;
        if (this.#lines.length > 65536) this.#flush();
    }

    #flush() {
        if (this.#lines !== "") this.#child?.stdin.write(this.#lines);
        this.#lines = "";
    }

    /** Starts the command, and gives it everything that is not answered, in order. */
    #start() {
        const [command, ...args] = this.#command;
        let child, rest = "", reason = null;
        this.#lines = "";
        this.#errors = "";
        try {
            child = spawn(command, args, { env: this.#env, stdio: ["pipe", "pipe", "pipe"] });
        } catch (error) {
            this.#ended(null, error);
            return;
        }
        if (!child.stdin) {
            // Without a descriptor for its pipes it was not started, and tells nothing but an error.
            child.on("error", () => {});
            this.#ended(null, new Error("it cannot be started: too many open files"));
            return;
        }
        child.on("error", (error) => {
            reason ??= error;
            // A program that cannot run has no exit, and no last words.
            if (child.pid === undefined) for (const stream of child.stdio) stream.destroy();
        });
        this.#child = child;
        this.#heard = performance.now();
        this.#watch = setInterval(() => {
            if (this.#pending.size === 0 || performance.now() - this.#heard < this.#answerTimeout) return;
            reason ??= new Error(`it answered nothing for ${this.#answerTimeout / 1000} seconds`);
            child.kill("SIGKILL");
        }, Math.min(Math.max(this.#answerTimeout / 10, 1), 1000)).unref();
        // A broken pipe is told by the end of the process.
        for (const stream of child.stdio) stream.on("error", () => {});
        child.stdout.setEncoding("utf8").on("data", (text) => {
            const lines = (rest + text).split("\n");
            rest = lines.pop();
            try {
                if (rest.length > format.longestAnswer) throw new TypeError("a line does not end");
                for (const line of lines) this.#answer(line);
            } catch (error) {
                reason ??= new Error("its output is not that of pushcrypt");
                child.kill("SIGKILL");
            }
        });
        child.stderr.setEncoding("utf8").on("data", (text) => {
            this.#errors = (this.#errors + text).slice(-KEPT_ERRORS);
        });
        // A process that it started may hold its pipes open.
        let patience;
        child.on("exit", () => {
            patience = setTimeout(() => child.stdio.forEach((stream) => stream.destroy()), format.lastWords);
        });
        child.on("close", (code) => {
            clearTimeout(patience);
            clearInterval(this.#watch);
            this.#ended(code, reason);
        });
        for (const { text } of this.#pending.values()) this.#write(text);
    }

    #answer(line) {
        // The payload as written, because JSON.parse rounds large numbers.
        const { from, to } = payloadOf(line), payload = from === undefined ? undefined : line.slice(from, to);
        const members = JSON.parse(line), number = members[NUMBER];
        const entry = this.#pending.get(number), { error } = members;
        const isRefused = payload === undefined && typeof error?.code === "string" && typeof error.message === "string";
        if (entry === undefined || !(isRefused || payload?.[0] === "{")) throw new TypeError("not an answer of pushcrypt to a message that waits");
        delete members[NUMBER];
        this.#ends = 0;
        this.#heard = performance.now();
        this.#pending.delete(number);
        const next = this.#take();
        if (next !== undefined) this.#give(next);
        if (isRefused) entry.reject(Object.assign(new PushcryptError(error.code, error.message), { answer: members }));
        else entry.resolve(Object.assign(members, { payload }));
        if (this.#pending.size === 0) this.#idle?.resolve();
    }

    #ended(code, reason) {
        this.#child = null;
        if (this.#pending.size > 0) this.#ends += 1;
        const isMisused = code === format.misuse, isMissing = NO_PROGRAM.includes(reason?.code), isGivenUp = isMisused || isMissing || this.#ends >= format.mostEnds;
        if (isGivenUp) {
            const why = reason?.message ?? `it ended with ${code}: ${this.#errors.trim()}`;
            const error = new FilterError(`${this.#command[0]} seal --batch does not answer: ${why}`, !isMisused && !isMissing);
            if (isMisused) this.#final = error;
            this.#giveUp(error);
        }
        if (this.#final !== null || isMissing) return;
        const pause = setTimeout(() => {
            this.#pause = null;
            if (this.#pending.size > 0) this.#start();
        }, isGivenUp ? format.longestPause : format.firstPause * 2 ** this.#ends);
        this.#pause = pause;
        // A program does not wait for it if nothing else does.
        if (this.#pending.size === 0) pause.unref();
    }

    /** Rejects everything that waits. */
    #giveUp(error) {
        for (const { reject } of this.#pending.values()) reject(error);
        this.#pending.clear();
        for (let next = this.#take(); next !== undefined; next = this.#take()) next.reject(error);
        this.#idle?.resolve();
    }
}

/** A message as a line. The payload is checked first, so that none can add members to its line. */
function lineOf(message, number) {
    const { payload } = options(message, null, "a message");
    for (const name of ["to_user", NUMBER]) {
        if (Object.hasOwn(message, name)) throw new TypeError(`a message cannot have ${name} here: each has one answer`);
    }
    const text = `${membersOf(message, payload)},"${NUMBER}":${number}}\n`;
    if (text.length > format.longestLine / 3 && Buffer.byteLength(text) > format.longestLine) throw new PushcryptError("line-too-long");
    return text;
}

/** A message without the brace that ends it. */
function membersOf(message, payload) {
    if (typeof payload === "string" || payload instanceof Uint8Array) {
        const { payload: _, ...members } = message, { text, isSpaced } = parseObject(json(payload, "malformed-payload"), "malformed-payload");
        return `{"payload":${isSpaced ? minify(text) : text}${json(members, "invalid-request").slice(1, -1).replace(/^(?=.)/su, ",")}`;
    }
    if (payload === null || typeof payload !== "object") throw new TypeError("a message must have a payload: JSON as a string, a Uint8Array or an object");
    if (Array.isArray(payload)) throw new PushcryptError("malformed-payload");
    checkUnchanged(payload, limits.deepestJSON, "malformed-payload");
    checkUnchanged(message, limits.deepestJSON, "invalid-request", payload);
    return JSON.stringify(message).slice(0, -1);
}

/** Where the payload of an answer begins and ends. */
function payloadOf(line) {
    for (const span of spansOf(line)) if (span.name === "payload") return span;
    return {};
}

/** A promise that resolves when it is told to. */
function signal() {
    const made = {};
    made.promise = new Promise((resolve) => {
        made.resolve = resolve;
    });
    return made;
}

function milliseconds(seconds, what) {
    if (typeof seconds !== "number" || !(seconds >= 0) || seconds > 2_000_000) throw new TypeError(`${what} must be a number of seconds`);
    return seconds * 1000;
}

module.exports = { SealFilter };
