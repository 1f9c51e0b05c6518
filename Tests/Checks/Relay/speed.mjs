#!/usr/bin/env node
// What the relay does for a push of 4 KB beside a bare HTTP/2 proxy that passes it on: processor time of each server's process, in one run.
//
//     speed.mjs [REQUESTS]      by default 4,000 to each, in turns
import { fork } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as http2 from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { encode } from "../../../Sources/Relay/bytes.mjs";
import { sealGrant } from "../../../Sources/Relay/grants.mjs";
import { httpServer } from "../../../Sources/Relay/http.mjs";
import { http2Transport } from "../../../Sources/Relay/apns.mjs";
import { createRelay } from "../../../Sources/Relay/relay.mjs";
import { fileStore, STORE_HEADER } from "../../../Sources/Relay/store.mjs";
import { checkConfiguration } from "../../../Sources/Relay/configuration.mjs";
import { PushKey, app, origin, p8, relayKeys, topic } from "./world.mjs";

const SELF = fileURLToPath(import.meta.url), ROUND = 500, AT_ONCE = 8, data = encode(Buffer.concat([Buffer.of(1), Buffer.alloc(52 + 2816)]));

/** Prints the port and, when asked, the processor time in microseconds. */
function report(server) {
    server.listen(0, "127.0.0.1", () => process.send(server.address().port));
    process.on("message", () => process.send(process.cpuUsage()));
}

const roles = {
    apns() {
        const server = http2.createServer();
        server.on("stream", (stream) => stream.resume().on("end", () => (stream.respond({ ":status": 200, "apns-id": "id" }), stream.end())));
        report(server);
    },
    proxy(port) {
        const server = http2.createServer(), apns = http2.connect(`http://127.0.0.1:${port}`);
        server.on("stream", (stream, headers) => {
            const onward = apns.request({ ":method": "POST", ":path": headers[":path"] });
            stream.pipe(onward).on("response", (answered) => stream.respond({ ":status": answered[":status"] })).pipe(stream);
        });
        report(server);
    },
    relay(port) {
        const folder = fs.mkdtempSync(join(tmpdir(), "relay-speed-")), high = 1e12;
        fs.writeFileSync(join(folder, "ended"), STORE_HEADER);
        const limits = { requests_a_minute: high, pushes_a_minute: high, pushes_a_day: high, requests_at_once: high };
        const transport = http2Transport({ production: `http://127.0.0.1:${port}` }), store = fileStore(join(folder, "ended"));
        const configuration = checkConfiguration({ origin, apps: { [topic]: app }, limits }), keys = new Map([[app.key_id, p8.privateKey]]);
        const log = fs.createWriteStream("/dev/null");
        const { handle } = createRelay({ configuration, relayKeys, keys, store, transport, log: (line) => log.write(JSON.stringify(line)) });
        report(httpServer(handle));
    },
};

async function start(role, ...more) {
    const child = fork(SELF, ["role", role, ...more]), [port] = await once(child, "message");
    return { child, port, async time() {
        child.send("time");
        const [{ user, system }] = await once(child, "message");
        return user + system;
    } };
}

/** Sends requests over one connection, a few at a time, and returns the microseconds of the server's processor for each. */
async function measure(server, count, request) {
    const session = http2.connect(`http://127.0.0.1:${server.port}`), before = await server.time();
    let left = count;
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
        while (left-- > 0) {
            const { headers, body } = request(), stream = session.request({ ":method": "POST", ...headers });
            stream.end(body);
            const [answered] = await once(stream, "response");
            if (answered[":status"] !== 200) throw new Error(`status ${answered[":status"]}`);
            await stream.resume().toArray();
        }
    }));
    session.destroy();
    return ((await server.time()) - before) / count;
}

async function main(count) {
    const apns = await start("apns"), servers = [await start("proxy", `${apns.port}`), await start("relay", `${apns.port}`)];
    const key = new PushKey(), { grant } = sealGrant(relayKeys[0], origin, { token: "0a".repeat(32), environment: "production", topic, pushKey: key.text, issued: Date.now() });
    const body = JSON.stringify({ messages: [{ grant, data }] }), sums = [0, 0];
    const requests = [
        () => ({ headers: { ":path": "/3/device/0a" }, body }), () => ({ headers: { ":path": "/v1/push", ...key.headers("/v1/push", body, Date.now()) }, body }),
    ];
    for (const at of [0, 1]) await measure(servers[at], ROUND, requests[at]);
    const rounds = Math.max(Math.round(count / ROUND), 1);
    for (let round = 0; round < rounds; round++) for (const at of [0, 1]) sums[at] += (await measure(servers[at], ROUND, requests[at])) / rounds;
    const [proxy, relay] = sums;
    console.log(`figure: relay-speed proxy_us=${proxy.toFixed(0)} relay_us=${relay.toFixed(0)} times=${(relay / proxy).toFixed(2)} bytes=${body.length}`);
    for (const { child } of [apns, ...servers]) child.kill();
}

if (process.argv[2] === "role") roles[process.argv[3]](process.argv[4]);
else await main(Number(process.argv[2] ?? 4000));
