#!/usr/bin/env node
// Runs relay.mjs on Node 20 or later, behind a server that ends TLS: Docs/SelfHosted.md.
//
//     serve.mjs init FOLDER ORIGIN TOPIC TEAM AuthKey_ID.p8    makes a folder: relay.json, relay key, .p8, empty store
//     serve.mjs key FILE                                       makes another relay key; name it first in relay_keys
//     serve.mjs FOLDER                                         runs until SIGTERM; logs JSON lines to standard error
//
// Secrets are files, never arguments or variables.
import { createPrivateKey, randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { createServer } from "node:http";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { APNS, http2Transport } from "./apns.mjs";
import { decode } from "./bytes.mjs";
import { checkConfiguration, keysOf } from "./configuration.mjs";
import { httpServer } from "./http.mjs";
import { createRelay } from "./relay.mjs";
import { Misuse, STORE_HEADER, fail, fileStore } from "./store.mjs";

/** When open requests are ended after SIGTERM, and when the process is. */
const DRAIN = 6500, LAST = 7500;

// Files

const writeNew = (path, text) => fs.writeFileSync(path, text, { flag: "wx", mode: 0o600, flush: true });
const newKey = () => `${randomBytes(32).toString("base64url")}\n`;

function init(folder, origin, topic, team, p8) {
    const [, id] = /^AuthKey_([A-Z0-9]{10})\.p8$/.exec(basename(p8)) ?? fail("the .p8 file must have Apple's name, AuthKey_ID.p8");
    const app = { team, key_id: id, alert: { title: "New message", body: "(Encrypted)" } };
    const configuration = { origin, apps: { [topic]: app } };
    checked(configuration);
    const text = fs.readFileSync(p8, "utf8");
    privateKey(text, p8);
    fs.mkdirSync(folder, { mode: 0o700 });
    writeNew(join(folder, "relay.key"), newKey());
    writeNew(join(folder, basename(p8)), text);
    writeNew(join(folder, "ended"), STORE_HEADER);
    const runs = { listen: "127.0.0.1:8787", trusted_proxies: 1, relay_keys: ["relay.key"], store: "ended" };
    writeNew(join(folder, "relay.json"), `${JSON.stringify({ ...runs, ...configuration }, null, 4)}\n`);
    console.log(`made ${folder}; run: serve.mjs ${folder}`);
}

/** What `work` returns; or its error, as the reason why the relay does not start. */
function attempt(work, textOf) {
    try {
        return work();
    } catch (error) {
        return fail(textOf(error));
    }
}

const checked = (given) => attempt(() => checkConfiguration(given), (error) => `relay.json: ${error.message}`);

/** A `.p8`, which must be a private key for ES256; its text stays out of the message. */
function privateKey(text, path) {
    const wrong = `${path} is no key of Apple's: it must be the downloaded .p8`, key = attempt(() => createPrivateKey(text), () => wrong);
    return key.asymmetricKeyDetails?.namedCurve === "prime256v1" ? key : fail(wrong);
}

const addressOf = (text, name) => {
    const [, host, port] = /^(.+):([0-9]{1,5})$/.exec(text) ?? [];
    return port <= 65_535 ? { host: host.replace(/^\[|\]$/g, ""), port: Number(port) } : fail(`${name} is not like 127.0.0.1:8787`);
};

/** What a folder says: where to listen, and what `createRelay` takes. */
function load(folder, log) {
    const place = (name) => resolve(folder, name), warn = (text) => log({ event: "warning", text });
    const file = place("relay.json"), textOf = (error) => `${file}: ${error.message}`;
    const given = attempt(() => JSON.parse(fs.readFileSync(file, "utf8")), textOf);
    const { listen = "127.0.0.1:8787", listen_metrics = "127.0.0.1:8788", ...others } = given;
    const { trusted_proxies: proxies = 0, relay_keys: names, store: storeName, apns, apns_authority: authority, ...rest } = others;
    if (!Number.isSafeInteger(proxies) || proxies < 0) fail("trusted_proxies is a number");
    const isComplete = Array.isArray(names) && names.length > 0 && typeof storeName === "string";
    if (!isComplete) fail("relay.json needs relay_keys, the newest first, and store");
    const configuration = checked(rest), secret = (name) => {
        const path = place(name);
        if ((fs.statSync(path).mode & 0o007) !== 0) warn(`everyone on this machine can read ${path}: chmod o= ${path}`);
        return fs.readFileSync(path, "utf8");
    };
    const relayKeys = names.map((name) => decode(secret(name).trim(), 32) ?? fail(`${name} is no relay key`));
    const ids = new Set(Object.values(configuration.apps).flatMap((app) => Object.values(keysOf(app))));
    const keys = new Map([...ids].map((id) => [id, privateKey(secret(`AuthKey_${id}.p8`), place(`AuthKey_${id}.p8`))]));
    const transport = http2Transport({ ...APNS, ...apns }, authority ? { ca: fs.readFileSync(place(authority)) } : {});
    const listening = { main: addressOf(listen, "listen"), metrics: addressOf(listen_metrics, "listen_metrics") };
    const store = fileStore(place(storeName), { most: configuration.limits.rows, warn });
    return { ...listening, proxies, relay: { configuration, relayKeys, keys, transport, store, log } };
}

function serve(folder) {
    const log = (line) => process.stderr.write(`${JSON.stringify({ at: Date.now(), ...line })}\n`);
    const { main, metrics, proxies, relay } = load(folder, log), { transport } = relay, own = createRelay(relay);
    const server = httpServer(own.handle, proxies);
    const gauges = () => [["connections", server.places.count("all")], ["queue", transport.open]];
    const monitor = createServer((request, response) => {
        const isMetrics = request.method === "GET" && request.url === "/metrics";
        response.writeHead(isMetrics ? 200 : 404, { "content-type": "text/plain; version=0.0.4" });
        response.end(isMetrics ? own.metrics(gauges()) : "");
    });
    monitor.on("error", (error) => log({ event: "warning", text: `cannot serve metrics: ${error.message}` }));
    monitor.listen(metrics.port, metrics.host);
    server.on("error", (error) => {
        log({ event: "error", text: error.message });
        process.exit(1);
    });
    server.listen(main.port, main.host, () => log({ event: "listening", ...server.address() }));
    const drain = () => {
        log({ event: "draining" });
        server.close(() => process.exit(0));
        own.stop();
        server.drain();
        setTimeout(() => transport.close(), DRAIN).unref();
        setTimeout(() => process.exit(1), LAST).unref();
    };
    for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, drain);
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
