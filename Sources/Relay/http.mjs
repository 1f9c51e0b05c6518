// HTTP/1.1 and HTTP/2 without TLS at one port; slow and silent clients are ended.
import { createServer } from "node:http";
import * as http2 from "node:http2";
import { isIP } from "node:net";
import { RelayError, unavailable } from "./bytes.mjs";
import { Places, networkPlaces } from "./limits.mjs";

/** How long headers, a whole request, an idle connection and a slow reader may take. */
const TIMES = {
    headersTimeout: 10_000, requestTimeout: 20_000, keepAliveTimeout: 15_000, connectionsCheckingInterval: 1000,
};
/** How many connections there are in all and of an address. One of HTTP/2 counts as many as it has streams. */
const CONNECTIONS = 2000, CONNECTIONS_OF_ADDRESS = 64, STREAMS = 8;
const SILENCE = 40_000, LAST_WORDS = 1000, LONGEST_HEADERS = 8192;
/** How long a stream of HTTP/2 may take after its request: the longest wait, and a slow reader. */
const ANSWERED = 25_000 + SILENCE;
/** The most pieces of a body, and the most bytes of unfinished bodies and long unread answers, in all and of an address. */
const PIECES = 1000, FIRST = 16_384, SHORT = 16_384, BYTES = 1 << 27, BYTES_OF_ADDRESS = BYTES >> 6;

const roomOf = (address) => [["bytes", BYTES], ...networkPlaces("bytes", address, BYTES_OF_ADDRESS)];

/** Who asks: the client, or what the last of so many trusted proxies says. */
export function addressOf(request, proxies) {
    const chain = (request.headers["x-forwarded-for"] ?? "").split(",").map((one) => one.trim());
    const given = proxies > 0 ? chain.at(-proxies) : undefined;
    return given && isIP(given) ? given : request.socket.remoteAddress ?? "";
}

/** A body up to a length, in one buffer; undefined if it is longer or in too many pieces. `places` has its room. */
function readBody(request, most, address, places) {
    const room = roomOf(address);
    const whole = Math.min(Number(request.headers["content-length"] ?? most), most);
    let body = Buffer.alloc(0), length = 0, pieces = 0, leave = () => {};
    return new Promise((done, reject) => {
        request.on("data", (part) => {
            const needed = length + part.length;
            if (needed > most || (pieces += 1) > PIECES) return request.pause() && done(undefined);
            if (needed > body.length) {
                const size = Math.min(Math.max(2 * body.length, FIRST, needed), whole);
                const before = leave, next = places.enter(room, size - body.length);
                if (!next) return request.pause() && reject(unavailable());
                [body, leave] = [Buffer.concat([body], size), () => (before(), next())];
            }
            part.copy(body, length);
            length = needed;
        });
        request.on("end", () => done(body.subarray(0, length)));
        // Nobody reads what is then answered.
        request.on("close", () => reject(new RelayError(400, "malformed-request")));
        request.on("error", () => {});
    }).finally(() => leave());
}

/** Serves a relay's `handle`. `server.places` counts connections as `all`; `server.drain` ends those without a request. */
export function httpServer(handle, proxies = 0) {
    const places = new Places(), ends = new Map(), asking = new WeakSet();

    async function answer(request, response) {
        const { method, url: path, socket } = request, address = addressOf(request, proxies);
        const isHTTP1 = request.httpVersionMajor === 1, whenGone = (call) => response.once("close", call);
        if (isHTTP1) {
            // A client that pipelines only fills the memory with answers.
            if (asking.has(socket)) return socket.destroy();
            asking.add(socket);
            whenGone(() => asking.delete(socket));
        }
        let isGone = false;
        whenGone(() => (isGone = true));
        const { status, headers, body } = await handle({
            method, path, address, whenGone, header: (name) => request.headers[name] ?? null,
            read: (most) => readBody(request, most, address, places),
        });
        if (isGone) return;
        const size = Buffer.byteLength(body), leave = size > SHORT ? places.enter(roomOf(address), size) : () => {};
        // A client that reads no long answers gets no more of them; the short answer to a push always goes out.
        if (!leave) return response.destroy();
        whenGone(leave);
        const isCut = !request.complete, closes = isHTTP1 && (isCut || !server.listening);
        response.writeHead(status, { ...headers, "content-length": size, ...(closes && { connection: "close" }) });
        response.end(body, () => isCut && setTimeout(() => request.destroy(), 200));
    }

    const server = createServer({ ...TIMES, maxHeaderSize: LONGEST_HEADERS }, answer);
    const [speakHTTP1] = server.listeners("connection");
    const settings = { maxConcurrentStreams: STREAMS, maxHeaderListSize: LONGEST_HEADERS };
    const other = http2.createServer({ maxSessionMemory: 1, settings }, answer);
    // Node's own handler continues a stream that has already ended, and throws.
    other.on("checkContinue", (request, response) => {
        if (!response.stream.destroyed && !response.stream.closed) response.writeContinue();
        return answer(request, response);
    });
    server.setTimeout(SILENCE);

    /** Whether there is room for a connection with so many requests. */
    function take(socket, count) {
        // Behind a proxy all come from one address, and the proxy counts.
        const ofAddress = proxies === 0 ? networkPlaces("connection", socket.remoteAddress ?? "", CONNECTIONS_OF_ADDRESS) : [];
        const leave = places.enter([["all", CONNECTIONS], ...ofAddress], count);
        if (leave) socket.once("close", leave);
        return leave !== undefined;
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
                const cancel = () => stream.close(http2.constants.NGHTTP2_CANCEL);
                let slow = setTimeout(cancel, TIMES.requestTimeout);
                streams += 1;
                clearTimeout(idle);
                stream.once("end", () => {
                    clearTimeout(slow);
                    slow = setTimeout(cancel, ANSWERED);
                });
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
    server.places = places;
    /** Ends connections that have no request, after `close`; the others end after their answers. */
    server.drain = () => ends.forEach((end) => end());
    return server;
}
