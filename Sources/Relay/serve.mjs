#!/usr/bin/env node
// Runs relay.mjs on Node 20 or later, behind a server that ends TLS: Docs/SelfHosted.md.
//
//     serve.mjs init FOLDER ORIGIN TOPIC TEAM AuthKey_ID.p8    makes a folder with relay.json, a relay key, the .p8 and an empty store
//     serve.mjs key FILE                                       makes another relay key; name it first in relay_keys
//     serve.mjs FOLDER                                         runs until SIGTERM; logs to standard error, a JSON object a line
//
// Secrets are files that only their owner can read, never arguments or variables.
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { createServer } from "node:http";
import * as http2 from "node:http2";
import { isIP } from "node:net";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { APNS, RelayError, answerOf, checkConfiguration, createRelay, decode, network } from "./relay.mjs";

/** Slow and silent clients: how long headers, a whole request, an idle connection and a slow reader may take. */
const TIMES = { headersTimeout: 10_000, requestTimeout: 20_000, keepAliveTimeout: 15_000, connectionsCheckingInterval: 1000 };
/** How many connections there are in all and of a network. One of HTTP/2 counts as many as it has streams: it holds as many requests. */
const CONNECTIONS = 2000, CONNECTIONS_OF_ONE = 64, STREAMS = 8;
const SILENCE = 40_000, LAST_WORDS = 1000, DRAIN = 25_000, LONGEST_HEADERS = 8192, LONGEST_ANSWER = 4096;
const STORE_HEADER = '{"pushcrypt_relay":1}\n';

/** What is wrong with the files or arguments. */
class Misuse extends Error {}

const fail = (text) => {
    throw new Misuse(text);
};

// Files

function readSecret(path) {
    const { mode } = fs.statSync(path);
    if ((mode & 0o077) !== 0) fail(`${path} can be read by others: chmod 600 ${path}`);
    return fs.readFileSync(path, "utf8");
}

function writeNew(path, text, mode = 0o600) {
    const file = fs.openSync(path, "wx", mode);
    fs.writeSync(file, text);
    fs.fsyncSync(file);
    fs.closeSync(file);
}

const newKey = () => `${randomBytes(32).toString("base64url")}\n`;

/**
 * Revocations, a JSON line each, appended and synchronised before they are answered. Several relays on one machine may share the file: each reads what the
 * others appended. A last line without its newline was never answered.
 */
export function fileStore(path, now = Date.now) {
    const rows = new Map();
    let file, length = 0, isBroken = false;

    function keep({ name, at, until }) {
        const held = rows.get(name);
        rows.set(name, { at: Math.max(at, held?.at ?? at), until: Math.max(until, held?.until ?? until) });
    }

    /** Reads what was appended since the last time. */
    function readOn() {
        const { size } = fs.fstatSync(file);
        if (size === length) return;
        if (size < length) throw new Error("the store was cut");
        const added = Buffer.alloc(size - length), count = fs.readSync(file, added, 0, added.length, length);
        const end = added.subarray(0, count).lastIndexOf(10) + 1, text = added.toString("utf8", 0, end);
        for (const line of text.split("\n").slice(0, -1)) {
            if (length === 0 && `${line}\n` === STORE_HEADER) continue;
            // A line that a crash cut has another one after it in the same line, and was not answered.
            const row = /^.*(\{"name":"[cg][0-9a-f]{32}","at":[0-9]+,"until":[0-9]+\})$/.exec(line);
            if (!row) throw new Error(`${path} is damaged: restore a copy, or start with a new relay key`);
            const one = JSON.parse(row[1]);
            if (one.until >= now()) keep(one);
        }
        length += end;
    }

    /** The file must still be the one that the next start reads. */
    function check() {
        const [own, there] = [fs.fstatSync(file), fs.statSync(path)];
        if (own.ino !== there.ino || own.dev !== there.dev) throw new Error("the store was replaced");
    }

    try {
        file = fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_APPEND);
    } catch (error) {
        fail(`there is no store ${path} (${error.code}): restore it, or revoked grants would work again; \`init\` makes the first one`);
    }
    const head = Buffer.alloc(STORE_HEADER.length);
    if (fs.readSync(file, head, 0, head.length, 0) < head.length || head.toString() !== STORE_HEADER) fail(`${path} is empty or no store: restore it`);
    readOn();

    const append = (text) => {
        check();
        const bytes = Buffer.from(text), written = fs.writeSync(file, bytes);
        // What a full disk cut must not join the next line.
        if (written < bytes.length) throw new Error("the disk is full");
        fs.fsyncSync(file);
    };
    return {
        async find(names) {
            readOn();
            return new Map(names.flatMap((name) => (rows.has(name) ? [[name, rows.get(name).at]] : [])));
        },
        async put(added) {
            isBroken = true;
            append(added.map(({ name, at, until }) => `${JSON.stringify({ name, at, until })}\n`).join(""));
            isBroken = false;
            readOn();
        },
        /** Whether a revocation could be stored. After one that could not, a row that has already expired is tried. */
        async probe() {
            check();
            if (isBroken) await this.put([{ name: `g${"0".repeat(32)}`, at: 0, until: 0 }]);
            return true;
        },
    };
}

// APNs

/** Speaks HTTP/2 to APNs, on one connection for each environment. */
export function http2Transport(hosts = APNS, options = {}) {
    const sessions = new Map();

    function session(environment) {
        const held = sessions.get(environment);
        if (held && !held.closed && !held.destroyed) return held;
        const made = http2.connect(hosts[environment], { ...options, settings: { enablePush: false } });
        made.once("connect", () => (made.isConnected = true));
        made.on("error", () => {});
        made.setTimeout(15 * 60_000, () => made.close());
        sessions.set(environment, made);
        return made;
    }

    const transport = ({ environment, token, headers, body }, milliseconds) => new Promise((answer, reject) => {
        const own = session(environment), unread = Object.assign(new Error("not read"), { unread: true });
        let stream, head, text = "";
        try {
            stream = own.request({ ":method": "POST", ":path": `/3/device/${token}`, ...headers });
        } catch {
            return reject(unread);
        }
        // A connection that does not answer gets no further requests.
        const timer = setTimeout(() => {
            own.close();
            stream.close(http2.constants.NGHTTP2_CANCEL);
        }, Math.max(milliseconds, 1));
        stream.setEncoding("utf8");
        stream.on("response", (received) => (head = received));
        stream.on("data", (part) => (text.length < LONGEST_ANSWER ? (text += part) : stream.close(http2.constants.NGHTTP2_CANCEL)));
        stream.on("error", () => {});
        stream.on("close", () => {
            clearTimeout(timer);
            if (head && stream.rstCode === 0) return answer(answerOf(head[":status"], (name) => head[name], text));
            // Refused, after a GOAWAY too; or never sent.
            const isUnread = stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM || !own.isConnected || stream.id === undefined;
            return reject(isUnread && !head ? unread : new Error("no answer"));
        });
        stream.end(body);
    });
    transport.close = () => sessions.forEach((one) => one.close());
    return transport;
}

// HTTP

/** Who asks: the client, or what the last of so many trusted proxies says. */
export function addressOf(request, proxies) {
    const chain = (request.headers["x-forwarded-for"] ?? "").split(",").map((one) => one.trim());
    const given = proxies > 0 ? chain.at(-proxies) : undefined;
    return given && isIP(given) ? given : request.socket.remoteAddress ?? "";
}

/** A body up to a length; a longer one is undefined. */
function readBody(request, most) {
    return new Promise((done, reject) => {
        const parts = [];
        let length = 0;
        request.on("data", (part) => {
            length += part.length;
            if (length > most) {
                request.pause();
                return done(undefined);
            }
            parts.push(part);
        });
        request.on("end", () => done(new Uint8Array(Buffer.concat(parts))));
        // Nobody reads what is then answered.
        request.on("close", () => reject(new RelayError(400, "malformed-request")));
        request.on("error", () => {});
    });
}

/** Serves HTTP/1.1 and HTTP/2 without TLS at one port. */
export function httpServer(handle, proxies = 0) {
    const open = new Map(), ends = new Map();

    async function answer(request, response) {
        const header = (name) => request.headers[name] ?? null, read = (most) => readBody(request, most);
        const { status, headers, body } = await handle({ method: request.method, path: request.url, address: addressOf(request, proxies), header, read });
        if (response.destroyed) return;
        const isCut = status === 413, closes = request.httpVersionMajor === 1 && (isCut || !server.listening);
        response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body), ...(closes && { connection: "close" }) });
        response.end(body, () => isCut && setTimeout(() => request.destroy(), 200));
    }

    const server = createServer({ ...TIMES, maxHeaderSize: LONGEST_HEADERS }, answer), [speakHTTP1] = server.listeners("connection");
    const settings = { maxConcurrentStreams: STREAMS, maxHeaderListSize: LONGEST_HEADERS };
    const other = http2.createServer({ maxSessionMemory: 1, settings }, answer);
    server.setTimeout(SILENCE);

    /** Whether there is room for a connection with so many requests. */
    function take(socket, count) {
        // Behind a proxy all come from one address, and the proxy counts.
        const places = [["all", CONNECTIONS], ...(proxies === 0 ? [[network(socket.remoteAddress ?? ""), CONNECTIONS_OF_ONE]] : [])];
        if (places.some(([name, most]) => (open.get(name) ?? 0) + count > most)) return false;
        for (const [name] of places) {
            open.set(name, (open.get(name) ?? 0) + count);
            socket.once("close", () => (open.get(name) === count ? open.delete(name) : open.set(name, open.get(name) - count)));
        }
        return true;
    }

    function speakHTTP2(socket) {
        if (!take(socket, STREAMS - 1)) return socket.destroy();
        other.once("session", (session) => {
            let streams = 0, idle;
            const end = () => {
                session.close();
                setTimeout(() => socket.destroy(), LAST_WORDS);
            };
            const rest = () => (idle = setTimeout(end, server.listening ? TIMES.keepAliveTimeout : 0));
            ends.set(socket, () => (streams > 0 ? session.close() : end()));
            session.setTimeout(SILENCE, () => socket.destroy());
            session.on("stream", (stream) => {
                const slow = setTimeout(() => stream.close(http2.constants.NGHTTP2_CANCEL), TIMES.requestTimeout);
                streams += 1;
                clearTimeout(idle);
                stream.once("end", () => clearTimeout(slow));
                stream.once("close", () => {
                    clearTimeout(slow);
                    streams -= 1;
                    if (streams === 0 && !socket.destroyed) rest();
                });
            });
            socket.once("close", () => clearTimeout(idle));
            rest();
        });
        other.emit("connection", socket);
    }

    // The first bytes say which: no request of HTTP/1.1 begins with `PRI`.
    server.removeListener("connection", speakHTTP1);
    server.on("connection", (socket) => {
        if (!take(socket, 1)) return socket.destroy();
        const end = () => socket.destroy(), timer = setTimeout(end, TIMES.headersTimeout);
        let head = "";
        ends.set(socket, end);
        socket.on("error", () => {});
        socket.once("end", end);
        socket.once("close", () => {
            clearTimeout(timer);
            ends.delete(socket);
        });
        socket.on("data", function look(part) {
            head += part.toString("latin1");
            if (head.length < 3 && "PRI".startsWith(head)) return;
            clearTimeout(timer);
            socket.off("data", look).pause().unshift(head, "latin1");
            if (head.startsWith("PRI")) return speakHTTP2(socket);
            // From here on Node ends connections of HTTP/1.1 itself, after what is written.
            socket.off("end", end);
            ends.delete(socket);
            speakHTTP1.call(server, socket);
            socket.resume();
        });
    });
    /** Ends connections that have no request, after `close`; the others end after their answers. */
    server.drain = () => ends.forEach((end) => end());
    return server;
}

// Commands

function init(folder, origin, topic, team, p8) {
    const [, keyID] = /^AuthKey_([A-Z0-9]{10})\.p8$/.exec(basename(p8)) ?? fail("the .p8 keeps the name that Apple gave it, AuthKey_ID.p8");
    const configuration = { origin, apps: { [topic]: { team, key_id: keyID, alert: { title: "New message", body: "(Encrypted)" } } } };
    try {
        checkConfiguration(configuration);
    } catch (error) {
        fail(error.message);
    }
    const p8Text = fs.readFileSync(p8, "utf8");
    fs.mkdirSync(folder, { mode: 0o700 });
    writeNew(join(folder, "relay.key"), newKey());
    writeNew(join(folder, basename(p8)), p8Text);
    writeNew(join(folder, "ended.jsonl"), STORE_HEADER);
    const runs = { listen: "127.0.0.1:8787", trusted_proxies: 1, relay_keys: ["relay.key"], store: "ended.jsonl" };
    writeNew(join(folder, "relay.json"), `${JSON.stringify({ ...runs, ...configuration }, null, 4)}\n`);
    console.log(`made ${folder}; run: serve.mjs ${folder}`);
}

/** A folder's relay: its handler and what serves it. */
export function load(folder, log) {
    const place = (name) => resolve(folder, name);
    let given;
    try {
        given = JSON.parse(fs.readFileSync(place("relay.json"), "utf8"));
    } catch (error) {
        fail(`${place("relay.json")}: ${error.message}`);
    }
    const { listen = "127.0.0.1:8787", trusted_proxies: proxies = 0, relay_keys: names, store: storeName, apns, apns_authority: authority, ...rest } = given;
    const [, host, port] = /^(.+):([0-9]{1,5})$/.exec(listen) ?? fail("listen is not like 127.0.0.1:8787");
    if (!Number.isSafeInteger(proxies) || proxies < 0) fail("trusted_proxies is a number");
    if (!Array.isArray(names) || names.length === 0 || typeof storeName !== "string") fail("relay.json needs relay_keys, the newest first, and store");
    let configuration;
    try {
        configuration = checkConfiguration(rest);
    } catch (error) {
        fail(`relay.json: ${error.message}`);
    }
    const relayKeys = names.map((name) => decode(readSecret(place(name)).trim(), 32) ?? fail(`${name} is no relay key`));
    const pems = new Map(Object.values(configuration.apps).map(({ key_id: id }) => [id, readSecret(place(`AuthKey_${id}.p8`))]));
    const transport = http2Transport({ ...APNS, ...apns }, authority ? { ca: fs.readFileSync(place(authority)) } : {});
    const store = fileStore(place(storeName)), authorize = async (_, id) => pems.get(id);
    const handle = createRelay({ configuration, relayKeys, authorize, store, transport, log });
    return { handle, transport, proxies, host: host.replace(/^\[|\]$/g, ""), port: Number(port) };
}

function serve(folder) {
    const log = (line) => process.stderr.write(`${JSON.stringify({ at: Date.now(), ...line })}\n`);
    const { handle, transport, proxies, host, port } = load(folder, log), server = httpServer(handle, proxies);
    server.on("error", (error) => {
        log({ event: "error", text: error.message });
        process.exit(1);
    });
    server.listen(port, host, () => log({ event: "listening", address: server.address().address, port: server.address().port }));
    const drain = () => {
        log({ event: "draining" });
        server.close(() => {
            transport.close();
            process.exit(0);
        });
        server.drain();
        setTimeout(() => process.exit(1), DRAIN).unref();
    };
    process.on("SIGTERM", drain);
    process.on("SIGINT", drain);
}

if (process.argv[1] && import.meta.url === pathToFileURL(fs.realpathSync(process.argv[1])).href) {
    const [command, ...rest] = process.argv.slice(2);
    try {
        if (command === "init" && rest.length === 5) init(...rest);
        else if (command === "key" && rest.length === 1) writeNew(rest[0], newKey());
        else if (command !== undefined && rest.length === 0 && !command.startsWith("-")) serve(command);
        else fail("use: serve.mjs FOLDER, serve.mjs key FILE, or serve.mjs init FOLDER ORIGIN TOPIC TEAM AuthKey_ID.p8");
    } catch (error) {
        process.stderr.write(`relay: error: ${error.message}\n`);
        process.exitCode = error instanceof Misuse ? 64 : 1;
    }
}
