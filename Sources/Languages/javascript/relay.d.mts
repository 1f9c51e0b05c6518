/**
 * A publisher's relay: requests of a self-hosted server to it, grants for endpoints that issue them, and the relay itself. The rules are in `Docs/Relay.md`
 * of the project's repository. It uses WebCrypto, and is an ES module. What is refused is a {@link RelayError}, a wrong type a `TypeError`.
 */

import type { PushRequest } from "./index.js";

/** Why a request, or one message, was refused. */
export class RelayError extends Error {
    private constructor();
    readonly name: "RelayError";
    /** The HTTP status of the protocol. */
    readonly status: number;
    /** The code of the protocol, such as `bad-signature`. */
    readonly code: string;
    /** More of the answer: `now` of `clock`, `retry_after` in seconds. */
    readonly more: { readonly now?: number; readonly retry_after?: number };
}

/** What may be sent. */
export type Kind = "alert" | "background";

/** A message as a relay takes it. */
export interface RelayMessage {
    grant: string;
    data: string;
    kind?: Kind;
    priority?: 10 | 5 | 1;
    expiration?: number;
    collapse_id?: string;
    sound?: string;
    content_available?: boolean;
}

/** A signed request. Follow no redirect, and wait for 30 seconds. */
export interface RelayRequest {
    url: string;
    headers: Record<string, string>;
    body: string;
}

/** The public half of a push key, for `accept`; `seed` are its 32 random bytes, a secret that is used for nothing else. */
export function pushKeyOf(seed: Uint8Array): Promise<Uint8Array>;

/**
 * A message for a relay, of the device's grant and what `Sealer.request` returned. The relay writes what the phone shows if it cannot open the push: of the
 * placeholder only the sound is used. @throws {RelayError} `malformed-message` for a call, `voip`
 */
export function relayMessage(grant: string, request: PushRequest): RelayMessage;

/** Signs a request with 1 to 45 messages for a relay's origin, from your configuration. After `clock` add to `time` what its `now` shows. */
export function relayRequest(origin: string, seed: Uint8Array, messages: readonly RelayMessage[], time?: number): Promise<RelayRequest>;

/**
 * The push key, 43 characters, that signed a request to your own endpoint. Call it before the body is parsed. `origin` and `path` are your own, never the
 * client's `Host`; `header` gives a header's value by its lower-case name. @throws {RelayError} `clock`, `bad-signature`
 */
export function verifyRelayRequest(
    origin: string, path: string, header: (name: string) => string | null | undefined, body: Uint8Array, now?: number,
): Promise<string>;

/** What a grant says. */
export interface GrantContent {
    /** The device token, lower-case hexadecimal digits. */
    token: string;
    /** Where it is valid. */
    environment: "production" | "development";
    /** The app's bundle id. */
    topic: string;
    /** The server's push key, 43 characters of base64url. */
    pushKey: string;
    /** By default alerts. */
    kinds?: readonly Kind[];
    /** Milliseconds since 1970; by default now. */
    issued?: number;
    /** By default 180 days later. */
    expires?: number;
}

/** Makes a grant with a relay key, 32 bytes. What the app has to prove is checked before. @throws {RelayError} `malformed-request` */
export function sealGrant(relayKey: Uint8Array, origin: string, content: GrantContent): Promise<{ grant: string; expires: number }>;

/**
 * What a grant says, if one of the relay keys sealed it for this origin. Whether it has expired or was revoked is for the caller to check.
 * @throws {RelayError} `malformed-grant`, `grant-unknown-key`
 */
export function openGrant(
    relayKeys: readonly Uint8Array[], origin: string, grant: string,
): Promise<Required<GrantContent> & { readonly id: string; readonly relayKey: Uint8Array }>;

/** A request to a relay, of any server. */
export interface IncomingRequest {
    method: string;
    path: string;
    /** The client's address, for the limits. */
    address: string;
    header(name: string): string | null | undefined;
    /** Reads the body; `undefined` if it is longer. */
    read(most: number): Promise<Uint8Array | undefined>;
}

/** Checks a relay's configuration, the members of `relay.json` that `Docs/SelfHosted.md` explains. @throws {Error} what is wrong */
export function checkConfiguration(given: object): RelayConfiguration;

/** What `checkConfiguration` returned. */
export interface RelayConfiguration {
    readonly origin: string;
}

/** Makes a relay, to mount below a server of your own. */
export function createRelay(parts: {
    configuration: RelayConfiguration;
    /** 32 bytes each, the newest first. */
    relayKeys: readonly Uint8Array[];
    /** The PEM of a `.p8`. */
    authorize(team: string, keyID: string): Promise<string>;
    /** Revocations. `put` is durable once it returns; `probe` says whether it can be written. */
    store: {
        find(names: readonly string[]): Promise<Map<string, number>>;
        put(rows: readonly { name: string; at: number; until: number }[]): Promise<void>;
        probe(): Promise<boolean>;
    };
    /** Sends a push; throws an error with `unread` if APNs cannot have read it. */
    transport(
        push: { environment: string; token: string; headers: Record<string, string>; body: string }, milliseconds: number,
    ): Promise<{ status: number; apnsID?: string; reason?: string; timestamp?: number; retryAfter: number }>;
    /** What `proof` has to be; without it there is none. */
    checkProof?(asked: { token: string; environment: string; topic: string; proof?: string; push_key?: string }): Promise<boolean>;
    log?(line: object): void;
}): (request: IncomingRequest) => Promise<{ status: number; headers: Record<string, string>; body: string }>;

/** A transport for `createRelay` by a `fetch` that speaks HTTP/2. */
export function fetchTransport(
    hosts?: { production: string; development: string }, fetch?: (url: string, options: object) => Promise<unknown>,
): Parameters<typeof createRelay>[0]["transport"];
