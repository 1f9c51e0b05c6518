/**
 * The phone's side, for your tests: open what you sealed, and play a phone that registers.
 *
 * It is **not for production phones, and not part of the stable interface**: there is no replay guard and no key store, secrets are not wiped, and what is
 * written in JavaScript, such as the check of public keys, does not run in constant time.
 */

import type { AttachmentReference, Code, DeviceRecord, JSONInput, PushType, Time } from "./index";

/** A device's secret key, X25519, which opens messages. A device must not have two keys with one id [O-3.2]. */
export class DeviceKey {
    /** Creates a key from its 32 bytes, the X25519 scalar. */
    constructor(scalar: Uint8Array, options?: DeviceKeyOptions);
    /** Reads `PCR-SECRET-1…`. @throws {PushcryptError} `malformed-key`, `wrong-checksum`, `wrong-kind-of-key` or `unsupported-suite` */
    static parse(text: string, options?: DeviceKeyOptions): DeviceKey;
    /** Creates a random key. */
    static generate(): DeviceKey;
    /** `pcr1…`, for the provider. */
    readonly publicKey: string;
    /** 8 hexadecimal digits. */
    readonly keyId: string;
    /** The text of the secret key. */
    secretText(): string;
}

export interface DeviceKeyOptions {
    /** The last millisecond at which a retiring key opens; by default it does not end. */
    retiresAt?: Time;
}

/** What a phone has when it opens. */
export interface OpenOptions {
    /** The app's own bundle id, never a value from the push. */
    topic: string;
    /** The device's keys: active, pending and retiring. */
    devices: readonly DeviceKey[];
    trust: Trust;
    /** With what the push came, by default `alert`: a message that was sealed as another is refused. */
    pushType?: PushType;
    /** The present time. */
    at?: Time;
}

/** Opens a push as received. It changes nothing. @throws {PushcryptError} with a code of Docs/Format.md, "Opening" */
export function open(push: JSONInput, options: OpenOptions): OpenedPush;

/** The same from the value of `ENCRYPTED_DATA` alone. */
export function openEnvelope(text: string, options: OpenOptions): OpenedPush;

/** An authentic, fresh message. */
export class OpenedPush {
    private constructor();
    /** 32 hexadecimal digits. */
    readonly messageId: string;
    /** Milliseconds since 1970. */
    readonly sentAt: number;
    /** Seconds. */
    readonly timeToLive: number;
    /** Milliseconds since 1970. */
    readonly expiresAt: number;
    /** The pin under which it verified, `pcs1…`. */
    readonly provider: string;
    readonly epoch: number;
    /** The public half of the device key that opened it. */
    readonly deviceKey: string;
    /** What is known of the provider now, for `Trust.learn`; `null` at epoch 0 if nothing is. */
    readonly learned: Learned | null;
    /** Whether another certificate of its epoch is known: of a restored store, or a stolen provider key. */
    readonly hasCertificateConflict: boolean;
    /** The sealed payload. It has the keys of files: see `content`. */
    readonly payload: Uint8Array;
    /** The payload parsed by `JSON.parse`, without `pushcrypt`. */
    content(): { aps: { [name: string]: unknown }; [name: string]: unknown };
    /** What the member `pushcrypt` says. */
    extras(): Extras;
}

/** A code as a phone reads it. The app shows the host of its `url` and asks the user, posts `request` there, and follows no redirect. */
export class PairingCode {
    /** @throws {PushcryptError} `invalid-request` for what is no code, or has an address that is not allowed; `wrong-topic` */
    constructor(text: string, options: { topic: string });
    readonly url: string;
    /** What to post; after a lost reply the same again. */
    request(record: DeviceRecord): string;
    /** Opens what came back with status 200. @throws {PushcryptError} `authentication-failed`, also for another provider key [P-8] */
    open(request: string, reply: string | Uint8Array): Reply;
}

/** Answers a message. @throws {PushcryptError} `invalid-request` if it has no `answer`, or the answer is too long */
export function sealAnswer(opened: OpenedPush, answer: {
    /** The action's id, 1 to 255 bytes. */
    action: string;
    /** What the user typed. */
    text?: string;
    /** When. */
    at?: Time;
}): string;

/** What a message says beside its payload. */
export interface Extras {
    attachments: AttachmentReference[];
    fullBody: AttachmentReference | null;
    /** The hashed ids of messages to take off the screen, 32 hexadecimal digits. */
    withdraws: string[];
    /** Whether the message is not to be shown. */
    isDropped: boolean;
    sender: { name: string; handle: string; conversation: string | null; recipients: string[]; avatar: AttachmentReference | null } | null;
    /** A code for each file that is left out. */
    dropped: Code[];
}

/** The highest certificate and floor that a phone has seen of a provider key, for one app and all accounts. */
export interface Learned {
    provider: string;
    certificate: string;
    floor: number;
}

/** The pins of one account, for one app, and what is learned of provider keys. `JSON.stringify` writes it, `Trust.fromJSON` reads it again. */
export class Trust {
    /** One pin, or two while the app changes its provider key. @throws {PushcryptError} `too-many-pins`, or the code of a key or a certificate */
    constructor(pins: readonly string[], learned?: readonly Learned[]);
    /** @throws {PushcryptError} as the constructor */
    static fromJSON(stored: { pins: readonly string[]; learned: readonly Learned[] }): Trust;
    /** `pcs1…` */
    readonly pins: string[];
    /** For storage, by provider key and topic. It only grows; removing a pin removes none of it. */
    readonly learned: Learned[];
    toJSON(): { pins: string[]; learned: Learned[] };
    /** Merges what came of a message or is stored: the maximum of each. */
    learn(learned: Learned): void;
    /**
     * Learns a certificate for the first pin that verifies it. Tell the app of a conflict.
     * @throws {PushcryptError} `malformed-certificate`, `weak-key` or `bad-certificate-signature`
     */
    accept(certificate: string, options: { topic: string }): "raised" | "unchanged" | "conflict";
}

/**
 * Opens a sealed file to.
 * @throws {PushcryptError} `not-a-sealed-file`, `authentication-failed`, `wrong-size`, `wrong-hash` or `malformed-reference`
 */
export function openFile(reference: Pick<AttachmentReference, "key" | "size" | "sha256">, sealed: Uint8Array): Uint8Array;

/** The text in the opened file of a full body. @throws {PushcryptError} `malformed-file` */
export function readFullBody(plain: Uint8Array): string;

/** Writes a phone's registration record as JSON. @throws {PushcryptError} `malformed-record`, or the code of a key */
export function formatDeviceRecord(record: DeviceRecord): string;

/** A provider's reply: either `acknowledged`, the key that it seals to from now on, or `refused`, a code. */
export interface Reply {
    acknowledged?: string;
    refused?: string;
    provider?: string;
    certificate?: string;
    /** Why a certificate that came is ignored. */
    refusedCertificate?: Code;
    suites: number[];
    foreign: string[];
    /** The public key with which the provider signs requests to a relay, 32 bytes. */
    pushKey?: Uint8Array;
}

/** @throws {PushcryptError} `malformed-record`, or the code of a key */
export function parseReply(json: JSONInput): Reply;

/** What a phone does with a reply to the record of `publicKey`: store the trust, and tell the app of `told` [D-12], [D-13], [D-20]. */
export function applyReply(reply: Reply, phone: {
    publicKey: string;
    trust: Trust;
    topic: string;
    /** Whether the app has a provider key built in. */
    isBuiltIn?: boolean;
}): { confirms: boolean; trust: Trust; told: Code | null };
