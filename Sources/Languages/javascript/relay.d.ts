/**
 * A self-hosted server's requests to the relay of its app's publisher. `Docs/Relay.md` of the project's repository has the rules.
 *
 * ```js
 * const pushKey = new PushKey(readFileSync("push.key")); // its public half goes into `accept(…, { pushKey: pushKey.publicKey })`
 * const { url, headers, body } = relayRequest("https://push.example.com", pushKey, [relayMessage(sealer.request(push))]);
 * const response = await fetch(url, { method: "POST", headers, body, redirect: "error", signal: AbortSignal.timeout(30_000) });
 * ```
 *
 * Post only to origins in your own configuration.
 */

import type { PushRequest } from "./index";

/** The Ed25519 key with which a server signs its requests to relays, used for nothing else. Printing it shows no secret. */
export class PushKey {
    /** @throws {RangeError} unless it has 32 bytes */
    constructor(seed: Uint8Array);
    /** Creates a random key. */
    static generate(): PushKey;
    /** The 32 bytes of the public half: `pushKey` of `accept` and `refusal`. */
    readonly publicKey: Uint8Array;
    /** The 32 bytes from which the key can be made again: for a file that only its owner reads. */
    secretBytes(): Uint8Array;
}

/** A message for a relay. */
export interface RelayMessage {
    grant: string;
    data: string;
    kind: "alert" | "background";
    priority: number;
    expiration: number;
    collapse_id: string;
    sound?: string;
    content_available?: boolean;
}

/**
 * A message of what `Sealer.request` returned for a device with a grant. Of the placeholder only the sound is used.
 * @throws {PushcryptError} `push-type-not-sealable` for a call, `invalid-request` without a grant
 */
export function relayMessage(request: PushRequest): RelayMessage;

/**
 * A signed request, a POST, with 1 to 45 messages. Send `body` unchanged, follow no redirect, and wait for 30 seconds. After the refusal `clock` add the
 * difference that its `now` shows to `at`.
 * @throws {PushcryptError} `invalid-request` or `invalid-time`
 */
export function relayRequest(origin: string, key: PushKey, messages: readonly RelayMessage[], options?: {
    /** The present time. */
    at?: Date;
}): { url: string; headers: Record<string, string>; body: string };

/**
 * A signed request, a POST, for the answers that phones have left for a push key: `answers` of the response are texts for `openAnswer`. They come
 * again, for an hour, until a request has them in `done`. Allow `wait` seconds more for the response.
 * @throws {PushcryptError} `invalid-request` or `invalid-time`
 */
export function relayAnswers(origin: string, key: PushKey, options?: {
    /** How many seconds the relay waits if there are no answers: 0 to 25. */
    wait?: number;
    /** Up to 200 texts of the last response. */
    done?: readonly string[];
    /** The present time. */
    at?: Date;
}): { url: string; headers: Record<string, string>; body: string };
