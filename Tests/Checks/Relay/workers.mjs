// A stand-in for Cloudflare's Workers, of what they document and relay.mjs uses: `fetch(request, env)`, `cf-connecting-ip`, D1, and a fetch that speaks
// HTTP/2. It was not compared with Cloudflare. Needs Node 22 for its SQLite.
//
//     workers.mjs RELAY FOLDER       FOLDER has worker.json; the database is FOLDER/d1.sqlite, made by the relay's D1_SCHEMA
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import * as http2 from "node:http2";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

const [module, folder] = process.argv.slice(2), { env, apns, port } = JSON.parse(readFileSync(join(folder, "worker.json"), "utf8"));
const { default: worker, D1_SCHEMA } = await import(pathToFileURL(module).href);

// D1: at most 100 values a statement, no undefined, a batch is a transaction.
const path = join(folder, "d1.sqlite"), isNew = !existsSync(join(folder, "d1.made"));
const database = new DatabaseSync(path);
if (isNew) {
    database.exec(D1_SCHEMA);
    (await import("node:fs")).writeFileSync(join(folder, "d1.made"), "");
}

class Statement {
    constructor(sql, values = []) {
        Object.assign(this, { sql, values });
    }

    bind(...values) {
        if (values.length > 100 || values.includes(undefined)) throw new Error("D1_ERROR: too many or undefined values");
        return new Statement(this.sql, values);
    }

    async all() {
        return { success: true, results: database.prepare(this.sql).all(...this.values).map((row) => ({ ...row })) };
    }

    async run() {
        database.prepare(this.sql).run(...this.values);
        return { success: true };
    }
}

const DB = {
    prepare: (sql) => new Statement(sql),
    async batch(statements) {
        database.exec("BEGIN IMMEDIATE");
        try {
            for (const one of statements) database.prepare(one.sql).run(...one.values);
            database.exec("COMMIT");
        } catch (error) {
            database.exec("ROLLBACK");
            throw error;
        }
    },
};

// A fetch that speaks HTTP/2 to the local APNs, whatever Apple's host is called. A broken connection is a TypeError, as in the standard.
const authority = readFileSync(join(folder, "authority.pem"));
let session;

globalThis.fetch = (url, { method, headers, body, redirect, signal }) => new Promise((done, reject) => {
    const { pathname, host } = new URL(url);
    if (!/^api(\.sandbox)?\.push\.apple\.com$/.test(host) || redirect !== "manual") return reject(new TypeError("fetch failed"));
    if (!session || session.closed || session.destroyed) session = http2.connect(apns, { ca: authority }).on("error", () => {});
    const stream = session.request({ ":method": method, ":path": pathname, ...headers });
    let head, text = "";
    signal.addEventListener("abort", () => {
        stream.close(http2.constants.NGHTTP2_CANCEL);
        reject(signal.reason);
    });
    stream.setEncoding("utf8").on("response", (received) => (head = received)).on("data", (part) => (text += part)).on("error", () => {});
    stream.on("close", () => {
        if (!head || stream.rstCode !== 0) return reject(new TypeError("fetch failed"));
        const { ":status": status, ...rest } = head;
        return done(new Response(status === 204 ? null : text, { status: status < 200 ? 500 : status, headers: Object.fromEntries(Object.entries(rest)) }));
    });
    stream.end(body);
});

createServer(async (message, answer) => {
    const headers = new Headers(Object.entries(message.headers).flatMap(([name, value]) => [value].flat().map((one) => [name, one])));
    headers.set("cf-connecting-ip", message.socket.remoteAddress);
    const body = ["GET", "HEAD"].includes(message.method) ? undefined : new ReadableStream({
        start(controller) {
            message.on("data", (part) => controller.enqueue(new Uint8Array(part))).on("end", () => controller.close()).on("error", () => {});
        },
        cancel() {
            message.removeAllListeners("data").removeAllListeners("end").resume();
        },
    });
    const request = new Request(new URL(message.url, "https://worker.invalid"), { method: message.method, headers, body, duplex: "half" });
    const response = await worker.fetch(request, { ...env, DB });
    answer.writeHead(response.status, Object.fromEntries(response.headers)).end(Buffer.from(await response.arrayBuffer()));
}).listen(port, "127.0.0.1");
