// Connections of HTTP/1.1 and HTTP/2, at a port of this process: `node --test`. NIGHTLY=1 adds what takes a minute.
import assert from "node:assert";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import * as http2 from "node:http2";
import { connect } from "node:net";
import test from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { httpServer } from "../../../Sources/Relay/http.mjs";
import { tally } from "./world.mjs";

const short = { timeout: 60_000 }, nightly = { timeout: 120_000, skip: !process.env.NIGHTLY };

/** Answers with the length of the body, as `handle`, which never throws. */
async function reading({ read }) {
    const { status = 200, length } = await read(524_288).catch((error) => error) ?? {};
    return { status, headers: {}, body: `${length}` };
}

/** An `httpServer` at a port, behind so many proxies, until the test ends. */
async function listening(context, handle, proxies) {
    const server = httpServer(handle, proxies).listen(0, "127.0.0.1");
    context.after(() => (server.close(), server.drain()));
    await once(server, "listening");
    return { server, port: server.address().port };
}

/** A frame of HTTP/2 of a stream, or of the connection. */
const frame = (type, flags, stream, payload = []) =>
    Buffer.from([0, payload.length >> 8, payload.length, type, flags, 0, 0, stream >> 8, stream, ...payload]);

/** A client's first bytes, with a setting, and then frames. */
const beginning = (setting, ...frames) =>
    Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(4, 0, 0, setting), ...frames]);

/** Headers without compression. With `flags` 4 the headers end, with 1 the request. */
function headers(stream, flags, method, ...more) {
    const fields = [[":method", method], [":path", "/"], [":scheme", "http"], [":authority", "a"], ...more];
    const text = (value) => [value.length, ...Buffer.from(value)];
    return frame(1, flags, stream, fields.flatMap(([name, value]) => [0, ...text(name), ...text(value)]));
}

/** What a server answers to these bytes, in text, until it ends the connection. */
const raw = async (port, ...bytes) => {
    const socket = connect(port, "127.0.0.1").setEncoding("utf8").on("error", () => {});
    bytes.forEach((part) => socket.write(part));
    return (await socket.toArray().catch(() => [])).join("");
};
const post = (...lines) => `${["POST / HTTP/1.1", "host: a", "connection: close", ...lines].join("\r\n")}\r\n\r\n`;

test("bodies have a length and a number of pieces", short, async (context) => {
    const handle = async ({ read }) => ({ status: 200, headers: {}, body: `${(await read(65_536))?.length}` });
    const { port } = await listening(context, handle), ask = async (pieces, size) => {
        const piece = `${size.toString(16)}\r\n${"a".repeat(size)}\r\n`;
        const text = await raw(port, `${post("transfer-encoding: chunked")}${piece.repeat(pieces)}0\r\n\r\n`);
        return text.slice(text.indexOf("\r\n\r\n") + 4);
    };
    for (const [pieces, size, length] of [[900, 1, 900], [600, 109, 65_400], [600, 110], [1100, 1]]) {
        assert.equal(await ask(pieces, size), `${length}`);
    }
    // Of what is announced, no more is read than of what is not.
    assert.match(await raw(port, post("content-length: 1099511627776"), Buffer.alloc(600_000)), /undefined$/);
    const session = http2.connect(`http://127.0.0.1:${port}`);
    for (const [size, length] of [[65_536, "65536"], [65_537, "undefined"]]) {
        const stream = session.request({ ":method": "POST" }).setEncoding("utf8");
        stream.end(Buffer.alloc(size));
        assert.equal((await stream.take(1).toArray())[0], length);
    }
    session.destroy();
});

test("requests in two meanings are refused", short, async (context) => {
    const { port } = await listening(context, reading), length = "content-length: 4";
    for (const [status, ...lines] of [
        [200, length], [400, length, "content-length: 14"], [400, length, "transfer-encoding: chunked"],
        [400, "content-length: x"], [431, length, `${"a".repeat(20_000)}: b`],
    ]) assert.match(await raw(port, `${post(...lines)}four`), new RegExp(`^HTTP/1.1 ${status} `), lines[1]);
});

test("an address has 64 connections, and one of HTTP/2 has 8 requests and counts as 8", short, async (context) => {
    const { port } = await listening(context, reading);
    for (const [at, count, text, most] of [[1, 70, "", 64], [2, 11, beginning([]), 8]]) {
        let ended = 0;
        const held = Array.from({ length: count }, () => connect({ port, localAddress: `127.0.0.${at}` }).resume());
        for (const socket of held) socket.on("error", () => {}).once("close", () => (ended += 1)).write(text);
        await pause(1000);
        assert.equal(ended, count - most);
        held.forEach((socket) => socket.destroy());
    }
    const session = http2.connect(`http://127.0.0.1:${port}`);
    await once(session, "remoteSettings");
    assert.equal(session.remoteSettings.maxConcurrentStreams, 8);
    const long = session.request({ a: "b".repeat(10_000) }).on("error", () => {});
    await new Promise((done) => long.once("close", done));
    assert.equal(long.rstCode, http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
    assert.equal((await once(session.request(), "response"))[0][":status"], 200);
    session.destroy();
});

test("what is open at the end is answered over HTTP/2, and others are ended", short, async (context) => {
    let open;
    const opening = new Promise((done) => (open = done)), answer = { status: 200, headers: {}, body: "" };
    const { port, server } = await listening(context, ({ method }) => (method === "GET" ? answer : opening));
    const start = Date.now();
    // One is silent, and one idle. Their clients do not end them.
    const others = [[], beginning([], headers(1, 5, "GET"))].map((bytes) => {
        const socket = connect({ port, allowHalfOpen: true }).resume();
        socket.write(Buffer.from(bytes));
        return once(socket, "end").then(() => socket.destroy());
    });
    const session = http2.connect(`http://127.0.0.1:${port}`), late = session.request({ ":method": "POST" });
    late.end();
    await pause(500);
    const ended = Promise.all([...others, once(session, "goaway"), once(session, "close"), once(server, "close")]);
    server.close();
    server.drain();
    await pause(2000);
    open(answer);
    assert.equal((await once(late.resume(), "response"))[0][":status"], 200);
    await ended;
    assert(Date.now() - start < 8000);
});

test("a request of HTTP/2 that is taken back at once ends alone", short, async (context) => {
    const { port } = await listening(context, reading), ask = async (ending, ...fields) => {
        const socket = connect(port, "127.0.0.1").on("error", () => {});
        socket.end(beginning([], headers(1, 4, "POST", ...fields), ...ending));
        await socket.resume().toArray();
    };
    const reset = frame(3, 0, 1, [0, 0, 0, 8]), body = frame(0, 0, 1, [1]), last = frame(0, 1, 1, [1]);
    const goAway = frame(7, 0, 0, Buffer.alloc(8)), resets = [[reset], [body, reset], [last, reset]];
    for (const expected of ["100-continue", "100-Continue", "another"]) {
        for (const ending of [...resets, [goAway], [reset, goAway], []]) await ask(ending, ["expect", expected]);
    }
    for (const ending of resets) await ask(ending);
    // More than was announced.
    const long = Buffer.alloc(200);
    for (const type of [0, 1]) await ask([frame(0, 0, 1, long), frame(0, type, 1, long)], ["content-length", "1"]);
    const session = http2.connect(`http://127.0.0.1:${port}`);
    const stream = session.request({ ":method": "POST", expect: "100-continue" });
    let continued = 0;
    stream.on("continue", () => (continued += 1) && stream.end("four"));
    assert.deepEqual([(await stream.setEncoding("utf8").toArray()).join(""), continued], ["4", 1]);
    session.destroy();
});

test("one network cannot hold all bodies", short, async (context) => {
    const { port } = await listening(context, reading, 1);
    /** Begins a request; returns a function that sends the rest of its body and gives the status. */
    const begin = async (address) => {
        const socket = connect(port, "127.0.0.1").setEncoding("utf8").on("error", () => {});
        const answered = socket.take(1).toArray().catch(() => [""]);
        socket.write(post(`x-forwarded-for: ${address}`, "content-length: 500000"));
        await new Promise((sent) => socket.write(Buffer.alloc(400_000), sent));
        return async () => {
            socket.write(Buffer.alloc(100_000));
            return (await answered).join("").split(" ")[1];
        };
    };
    const rests = [];
    for (let at = 0; at < 200; at++) rests.push(await begin(`10.0.${at}.1`));
    assert.equal(await (await begin("192.0.2.1"))(), "200");
    const statuses = tally(await Promise.all(rests.map((rest) => rest())));
    // A /16 has 80 MiB of 128.
    const { 200: read, 503: refused } = statuses;
    assert(read > 150 && read <= 167 && read + refused === 200, JSON.stringify(statuses));
});

test("HTTP/1.1 and HTTP/2 come at one port, in whatever pieces", short, async (context) => {
    const { port } = await listening(context, async ({ method, path, read }) => (
        { status: 200, headers: {}, body: `${method} ${path} ${(await read(200_000)).length}` }));
    const send = async (first, bytes) => {
        const socket = connect(port, "127.0.0.1").setNoDelay().setEncoding("latin1"), text = socket.take(3).toArray();
        for (let at = 0; at < 30 && first === 1; at++) {
            socket.write(bytes.subarray(at, at + 1));
            await pause(1);
        }
        socket.end(first === 1 ? bytes.subarray(30) : bytes);
        return (await text).join("");
    };
    const body = Buffer.alloc(60_000), parts = [0, 0, 0, 1].map((isLast) => frame(0, isLast, 1, body.subarray(45_000)));
    for (const first of [1, 60_000]) {
        for (const method of ["POST", "PUT", "PROPFIND"]) {
            const head = Buffer.from(post("content-length: 60000").replace("POST", method));
            assert.match(await send(first, Buffer.concat([head, body])), new RegExp(`${method} / 60000$`));
        }
        assert.match(await send(first, beginning([], headers(1, 4, "POST"), ...parts)), /POST \/ 60000/);
    }
});

test("answers that nobody reads take an address 2 MB, and no more", short, async (context) => {
    const handle = async ({ path, whenGone }) => {
        if (path === "/gone") await new Promise((done) => whenGone(done));
        return { status: 200, headers: {}, body: "a".repeat(path === "/push" ? 16_384 : 524_288) };
    };
    const { port, server } = await listening(context, handle), get = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
    const sessions = [0, 0].map(() => http2.connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 0 } }));
    const streams = sessions.flatMap((session) => Array.from({ length: 8 }, () => session.request()));
    const answered = await Promise.all(streams.map((stream) => new Promise((done) => {
        stream.on("response", () => done(true)).on("error", () => {}).on("close", () => done(false)).resume();
    })));
    assert.equal(answered.filter((one) => one).length, 4);
    // The answer to a push comes all the same.
    assert.match(await raw(port, get.replace("/", "/push").replace("host: a", "connection: close\r\nhost: a")), /aaa$/);
    sessions.forEach((session) => session.destroy());
    for (let at = 0; at < 100 && server.places.count("bytes") > 0; at++) await pause(20);
    // Whoever leaves before the answer takes no room.
    const session = http2.connect(`http://127.0.0.1:${port}`), stream = session.request({ ":path": "/gone" }).on("error", () => {});
    await pause(100);
    stream.close(http2.constants.NGHTTP2_CANCEL);
    await pause(100);
    assert.equal(server.places.count("bytes"), 0);
    session.destroy();
    for (let at = 0; at < 8; at++) assert.match(await raw(port, get.replace("host: a", "connection: close\r\nhost: a")), /aaa$/);
    // Over HTTP/1.1, whoever asks again before the answer gets none.
    assert.equal(await raw(port, get.repeat(2)), "");
});

test("silent and slow clients are ended", nightly, async (context) => {
    const answer = { status: 200, headers: {}, body: "a" }, head = "POST / HTTP/1.1\r\nhost: a\r\n";
    const { port } = await listening(context, (asked) => (asked.method === "GET" ? answer : reading(asked)));
    const ping = frame(6, 0, 0, Buffer.from("12345678")), get = headers(1, 5, "GET"), post = headers(1, 4, "POST");
    // The seconds that each may have, its first bytes, and those of each second.
    const cases = [
        [35, ""], [35, "POST / HT"], [35, head, "x: y\r\n"], [35, `${head}content-length: 500000\r\n\r\n`, " "],
        [35, `${head}content-length: 9\r\n\r\n{`], [35, `${head}transfer-encoding: chunked\r\n\r\n`, "1\r\n \r\n"],
        [35, "GET / HTTP/1.1\r\nhost: a\r\n\r\n"],
        [20, "PR"], [20, beginning([]).subarray(0, 18)], [20, beginning([])], [20, beginning([]), ping],
        [20, beginning([], get), ping], [20, beginning([], headers(1, 0, "POST"))],
        // A body that lasts, an answer that nobody reads, and nonsense.
        [45, beginning([], post), frame(0, 0, 1, [32])], [45, beginning([0, 4, 0, 0, 0, 0], get)],
        [90, beginning([0, 4, 0, 0, 0, 0], post, frame(0, 1, 1, [32])), ping],
        [45, Buffer.concat([beginning([], post), Buffer.alloc(3000, 255)])],
    ];
    const isEnded = async ([seconds, first, more = ""], at) => {
        const socket = connect({ port, localAddress: `127.0.1.${at + 1}`, allowHalfOpen: true }).resume();
        const ended = new Promise((done) => socket.on("error", done).on("end", done));
        socket.write(first);
        const drip = setInterval(() => more && socket.write(more), 1000);
        const isLate = await Promise.race([ended.then(() => false), pause(seconds * 1000, true)]);
        clearInterval(drip);
        socket.destroy();
        return !isLate;
    };
    assert.deepEqual(await Promise.all(cases.map(isEnded)), cases.map(() => true));
});

test("nonsense over HTTP/2 stops nobody, and leaves no connection", nightly, async (context) => {
    const { port, server } = await listening(context, reading), files = () => readdirSync("/proc/self/fd").length;
    const before = files(), numbers = Array.from({ length: 1000 }, (_, at) => 2 * at + 1);
    const say = (bytes, isOver) => new Promise((done) => {
        const socket = connect(port, "127.0.0.1").resume().on("error", () => {}).on("close", done);
        // It breaks off.
        socket.write(bytes, () => setTimeout(() => socket.resetAndDestroy(), isOver ? 100 : 0));
    });
    for (const bytes of ["PR", beginning([]).subarray(0, 24), beginning([])]) await say(bytes);
    for (const bytes of [
        "PRI", "PRI / HTTP/1.1\r\n\r\n", beginning([]).subarray(0, 18), beginning([], Buffer.alloc(3000, "A")),
        ...Array.from({ length: 5 }, () => beginning([], randomBytes(3000))),
        beginning([], ...numbers.map((number) => headers(number, 5, "GET"))),
        beginning([], ...numbers.map((number) => headers(number, 4, "POST"))),
    ]) await say(bytes, true);
    const session = http2.connect(`http://127.0.0.1:${port}`), stream = session.request();
    assert.equal((await stream.setEncoding("utf8").toArray()).join(""), "0");
    session.destroy();
    // Node notices some only after the time for idle connections.
    for (let at = 0; at < 200 && (files() > before || server.places.count("all") > 0); at++) await pause(100);
    assert.deepEqual([files() <= before, server.places.count("all")], [true, 0]);
});
