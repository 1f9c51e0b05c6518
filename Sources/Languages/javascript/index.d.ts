/**
 * End-to-end encrypted push notifications: a provider seals payloads for APNs, a receiver opens them. Docs/Format.md is the format, `pushcrypt
 * explain CODE` explains every code.
 *
 * Texts of public keys (`pcr1…`, `pcs1…`) and of certificates are strings; secret keys are objects, which print nothing. Times are milliseconds since 1970, or a
 * `Date`, durations are seconds. A refused value is a {@link PushcryptError}; a wrong type, or an option that does not exist, a `TypeError`.
 */

/** JSON as text or bytes, which are kept byte for byte, or as a plain object, which is refused if `JSON.stringify` would change it. */
export type JSONInput = string | Uint8Array | { readonly [name: string]: unknown };

/** Milliseconds since 1970-01-01 UTC. */
export type Time = number | bigint | Date;

/** What was refused. Its text is for logs, and quotes no key and no payload. */
export class PushcryptError extends Error {
    constructor(code: string, message?: string);
    readonly name: "PushcryptError";
    /** The reason, such as `payload-too-large`. */
    readonly code: string;
}

// Keys

/** A provider key, Ed25519: it signs certificates and, at epoch 0, messages. Phones pin its public half. */
export class ProviderKey {
    /** Creates a key from its 32 bytes. */
    constructor(seed: Uint8Array);
    /** Reads `PCS-SECRET-1…`. @throws {PushcryptError} `malformed-key`, `wrong-checksum` or `wrong-kind-of-key` */
    static parse(text: string): ProviderKey;
    static generate(): ProviderKey;
    /** `pcs1…` */
    readonly publicKey: string;
    readonly keyID: string;
    /** The text of the secret key: store it where only the sealer reads it. */
    secretText(): string;
}

/** A signing key, Ed25519: it signs messages by a certificate, and is replaced by another. */
export class SigningKey {
    /** Creates a key from its 32 bytes. */
    constructor(seed: Uint8Array);
    /** Reads `PCK-SECRET-1…`. @throws {PushcryptError} as `ProviderKey.parse` */
    static parse(text: string): SigningKey;
    static generate(): SigningKey;
    /** The public half, which a certificate names. */
    readonly publicBytes: Uint8Array;
    readonly keyID: string;
    secretText(): string;
}

/** What signs messages from epoch 1 on: the signing key, its certificate and the provider key. */
export class Credential {
    /** @throws {PushcryptError} `wrong-certificate`, or the code of the certificate or of the provider key */
    constructor(parts: { key: SigningKey; certificate: string; provider: string });
    /** Reads a signing key file, three lines. @throws {PushcryptError} as the constructor, or the code of the key */
    static parse(text: string): Credential;
    readonly certificate: string;
    readonly provider: string;
    readonly epoch: number;
    /** The text of the file: store it where only the sealer reads it. */
    secretText(): string;
}

/**
 * The certificate of a new signing key, 162 characters [T-7] to [T-9].
 * @throws {PushcryptError} `implausible-epoch`, `weak-key`, or the code of a certificate
 */
export function issueCertificate(options: {
    provider: ProviderKey;
    /** The public half of the signing key. */
    signingKey: Uint8Array;
    topic: string;
    /** The certificate that it replaces; none at epoch 0. */
    current?: string;
    /** Earlier epochs, and when each was replaced. */
    past?: readonly { epoch: number; replacedAt: Time }[];
    /** A certificate that a record showed and that you never issued. */
    proven?: string;
    /** Whether nothing of the epochs before may open any more. */
    stolen?: boolean;
    /** The seconds after which nobody believes it; by default it never expires. */
    lifetime?: number;
    at?: Time;
}): string;

/** What a certificate says. @throws {PushcryptError} `malformed-certificate` or `weak-key` */
export function readCertificate(text: string): { epoch: number; floor: number; graceUntil: bigint; expiresAt: bigint };

/** A device's secret key, X25519, which opens messages. A device must not have two keys with one id [O-3.2]. */
export class DeviceKey {
    /** Creates a key from its 32 bytes. */
    constructor(scalar: Uint8Array, options?: DeviceKeyOptions);
    /** Reads `PCR-SECRET-1…`. @throws {PushcryptError} as `ProviderKey.parse` */
    static parse(text: string, options?: DeviceKeyOptions): DeviceKey;
    static generate(): DeviceKey;
    /** `pcr1…`, for the provider. */
    readonly publicKey: string;
    readonly keyID: string;
    secretText(): string;
}

export interface DeviceKeyOptions {
    /** The last millisecond at which a retiring key opens; by default it does not end. */
    retiresAt?: Time;
}

// Sealing

export type PushType = "alert" | "background" | "voip";

export type ClearField =
    | "badge" | "category" | "thread-id" | "interruption-level" | "relevance-score" | "target-content-id" | "filter-criteria";

/** What a phone shows if it cannot open a message. The relay reads it. */
export interface Placeholder {
    /** By default `New message`. */
    title?: string;
    /** A sound's name, or `null` for none; by default the system's if the payload has a sound. */
    sound?: string | null;
    /** Fields of `aps` that are also sent in the clear. */
    clearFields?: readonly ClearField[];
}

export interface SealOptions {
    /** The device's registered key, `pcr1…`. */
    to: string;
    /** The present time. */
    at?: Time;
    /** By default `alert`. */
    pushType?: PushType;
    /** A name for the message, the same in every retry, so that the phone shows it once. */
    messageName?: string;
    /** How many seconds receivers show it for, 1 to 2,592,000 (30 days), the default. Unless it is a call, the end is rounded to ten minutes. */
    timeToLive?: number;
    /** Whether `json` reaches Apple byte for byte, so that its own length counts, and not that of the longest re-encoding. */
    sentExactly?: boolean;
    /** Files that were sealed and stored, at most 8. */
    attachments?: readonly AttachmentReference[];
    /** The whole text, if the payload has only its beginning. */
    fullBody?: AttachmentReference;
    /** The person that the notification is from. */
    from?: MessageSender;
    /** The names of earlier messages that phones take off the screen, at most 64. */
    withdrawing?: readonly string[];
    /** Whether the message is not to be shown. */
    drop?: boolean;
}

/** A person, shown with a face: texts of 1 to 255 bytes, at most 8 recipients. */
export interface MessageSender {
    name: string;
    /** What names the person in the app; by default the name. */
    handle?: string;
    conversation?: string;
    recipients?: readonly string[];
    /** A sealed picture, JPEG or PNG, of at most a megabyte. */
    avatar?: AttachmentReference;
}

export interface SealerOptions {
    key: ProviderKey | Credential;
    /** The app's bundle id, without `.voip`. */
    topic: string;
    placeholder?: Placeholder;
}

/** Seals for the devices of one app. It keeps no state between messages. */
export class Sealer {
    /** @throws {PushcryptError} `wrong-topic`, `invalid-placeholder`, `bad-certificate-signature` or `weak-key` */
    constructor(options: SealerOptions);
    readonly topic: string;
    /**
     * Seals an APNs payload for one device.
     *
     * @throws {PushcryptError} `malformed-payload`, `missing-aps`, `invalid-field`, `nothing-to-show`, `reserved-key`, `too-many-attachments`,
     * `payload-too-large`, `push-too-large`, `push-type-not-sealable`, `invalid-time`, `invalid-request`, `unsupported-suite`, or the code of the key
     */
    seal(payload: JSONInput, options: SealOptions): SealedPush;
    /** The request to APNs for a push that this sealer has sealed. @throws {PushcryptError} `invalid-request` or `invalid-time` */
    request(push: SealedPush, options?: RequestOptions): PushRequest;
    /** Seals a file: store `sealed` at `url`, and give the reference to `seal`. @throws {PushcryptError} `malformed-reference` */
    sealFile(plain: Uint8Array, options: { url: string; type: string; name: string }): SealedFile;
    /** Seals a text that is too long for a push, for `fullBody`. @throws {PushcryptError} `malformed-reference`, `malformed-file` or `body-too-long` */
    sealFullBody(text: string, options: { url: string }): SealedFile;
}

/** A key that is not in this process: in a key service or a hardware module. It signs the bytes themselves, with pure Ed25519. */
export interface Signer {
    /** The public half, 32 bytes, which must not change. */
    readonly publicKey: Uint8Array;
    /** A signature of 64 bytes, over at most 512 bytes, which reveal nothing of the notification but the device's key and the app. */
    sign(message: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

/** Seals with a key in a service. Each signature is checked before a push is returned. */
export class RemoteSealer {
    private constructor();
    /** Asks the signer once. @throws {PushcryptError} as `Sealer`, the code of the key, or `wrong-signature` */
    static create(options: {
        signer: Signer;
        topic: string;
        placeholder?: Placeholder;
        /** From epoch 1 on: `pcs1…`, and the certificate of the signer's key. At epoch 0 the signer's key is the provider key. */
        provider?: string;
        certificate?: string;
    }): Promise<RemoteSealer>;
    readonly topic: string;
    /** @throws {PushcryptError} as `Sealer.seal`, or `wrong-signature`; what the signer throws passes through */
    seal(payload: JSONInput, options: SealOptions): Promise<SealedPush>;
    request(push: SealedPush, options?: RequestOptions): PushRequest;
    sealFile(plain: Uint8Array, options: { url: string; type: string; name: string }): SealedFile;
    sealFullBody(text: string, options: { url: string }): SealedFile;
}

export interface RequestOptions {
    /** The provider's name for the device, 1 to 255 bytes, so that the collapse id stays when the device's key changes. */
    device?: string;
    /** The name of pushes that replace each other on a device; the relay gets a keyed hash. By default copies of one message do. */
    collapseName?: string;
    /** By default 5 for background pushes, and 10 for others. */
    priority?: 10 | 5 | 1;
    /** Seconds since 1970; by default the end of the message. */
    expiration?: number;
}

/** A request without the device token and the provider's authentication. */
export interface PushRequest {
    headers: {
        "apns-topic": string;
        "apns-push-type": PushType;
        "apns-priority": string;
        "apns-expiration": string;
        "apns-collapse-id": string;
    };
    body: string;
}

/** A sealed payload. */
export class SealedPush {
    private constructor();
    /** What to send instead of the payload, unchanged. */
    readonly json: string;
    /** 32 hexadecimal digits. */
    readonly messageID: string;
    /** The seconds that were sealed. */
    readonly timeToLive: number;
    readonly expiresAt: number;
    /** The longest form, in bytes, that a client may re-encode `json` to. */
    readonly widestLength: number;
    readonly recipient: string;
    readonly keyID: string;
    readonly pushType: PushType;
    /** `json` as an object, for clients that encode it themselves. */
    toJSON(): object;
}

/** The most bytes of a push, and of a payload without white space, for each push type. */
export const limits: Readonly<Record<PushType, Readonly<{ push: number; payload: number }>>>;

/** The id of a message with this name. */
export function messageID(name: string): string;

// Files

export interface SealedFile {
    sealed: Uint8Array;
    reference: AttachmentReference;
}

/** The place of a sealed file and its key. Printing it shows no key. */
export class AttachmentReference {
    private constructor();
    /** @throws {PushcryptError} `malformed-reference` */
    static parse(json: JSONInput): AttachmentReference;
    readonly url: string;
    readonly size: number;
    readonly sha256: Uint8Array;
    readonly type: string;
    /** A label to show, never a path. */
    readonly name: string;
    readonly key: Uint8Array;
    /** The reference with its key: a secret. */
    json(): string;
}

/**
 * Opens a sealed file in pieces. Write what `update` returns to a file with a temporary name, and rename it when `finish` has returned the rest
 * . Fetch over https only, and at most `size` bytes.
 */
export class FileOpener {
    constructor(reference: Pick<AttachmentReference, "key" | "size" | "sha256">);
    update(piece: Uint8Array): Uint8Array;
    finish(): Uint8Array;
}

/** The text in the opened file of a full body. @throws {PushcryptError} `malformed-file` */
export function readFullBody(plain: Uint8Array): string;

// Opening

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

/**
 * Opens a push as received. It changes nothing, and there is no replay guard: the app remembers `provider` and `messageID`, durably, and lets the
 * *currently* stored trust `learn` what is in `learned`, under one lock.
 *
 * @throws {PushcryptError} with a code of Docs/Format.md, "Opening"
 */
export function open(push: JSONInput, options: OpenOptions): OpenedPush;

/** The same from the value of `ENCRYPTED_DATA` alone. */
export function openEnvelope(text: string, options: OpenOptions): OpenedPush;

/** An authentic, fresh message. */
export class OpenedPush {
    private constructor();
    readonly messageID: string;
    readonly sentAt: number;
    readonly timeToLive: number;
    readonly expiresAt: number;
    /** The pin under which it verified, `pcs1…`. */
    readonly provider: string;
    /** A guard counts what it remembers of lower epochs than the floor in `learned` as absent. */
    readonly epoch: number;
    /** The public half of the device key that opened it: a pending one becomes active. */
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

export interface Extras {
    attachments: AttachmentReference[];
    fullBody: AttachmentReference | null;
    /** The ids of messages to take off the screen. */
    withdraws: string[];
    /** Whether the message is not to be shown. */
    isDropped: boolean;
    sender: { name: string; handle: string; conversation: string | null; recipients: string[]; avatar: AttachmentReference | null } | null;
    /** A code for each file that is left out. */
    dropped: string[];
}

/** The highest certificate and floor that a phone has seen of a provider key, for one app and all accounts. */
export interface Learned {
    provider: string;
    certificate: string;
    floor: number;
}

/** The pins of one account, for one app, and what is learned of provider keys. `new Trust(trust.pins, trust.learned)` is a copy. */
export class Trust {
    /** One pin, or two while the app changes its provider key. @throws {PushcryptError} `too-many-pins`, or the code of a key or a certificate */
    constructor(pins: readonly string[], learned?: readonly Learned[]);
    readonly pins: string[];
    /** For storage, by provider key and topic. It only grows; removing a pin removes none of it. */
    readonly learned: Learned[];
    /** Merges what came of a message or is stored: the maximum of each. */
    learn(learned: Learned): void;
    /**
     * Learns a certificate for the first pin that verifies it. Tell the app of a conflict.
     * @throws {PushcryptError} `malformed-certificate`, `weak-key` or `bad-certificate-signature`
     */
    accept(certificate: string, options: { topic: string }): "raised" | "unchanged" | "conflict";
}

// Records

/** What a phone sends to its provider. */
export interface DeviceRecord {
    /** The id under which the provider keeps the device. Take it, and the user, from the session that sent the record. */
    deviceID?: string;
    /** `pcr1…`, or `pcrx1…` of suite 2, which can be held for a device [D-24], but not sealed to. */
    publicKey: string;
    /** By default that of the key. */
    suites?: number[];
    topic?: string;
    generation?: number;
    created?: number;
    /** The provider key that the device has pinned, and the highest certificate that it knows. */
    provider?: string;
    certificate?: string;
    appVersion?: string;
    /** The token of APNs, in hexadecimal digits. */
    token?: string;
    environment?: "production" | "development";
    withdrawal?: string;
    grant?: string;
}

export type ParsedDeviceRecord = DeviceRecord & Required<Pick<DeviceRecord, "suites" | "generation">>;

/** @throws {PushcryptError} `malformed-record`, or the code of a key */
export function parseDeviceRecord(json: JSONInput): ParsedDeviceRecord;
export function formatDeviceRecord(record: DeviceRecord): string;

/** What a provider says of itself. */
export interface ProviderRecord {
    publicKey: string;
    topic?: string;
    generation?: number;
    created?: number;
    certificate?: string;
}

/** @throws {PushcryptError} `malformed-record`, or the code of a key */
export function parseProviderRecord(json: JSONInput): ProviderRecord & Required<Pick<ProviderRecord, "generation">>;
export function formatProviderRecord(record: ProviderRecord): string;

/** What a provider answers: either `acknowledged`, the key that it seals to from now on, or `refused`, a code. */
export interface Reply {
    acknowledged?: string;
    refused?: string;
    provider?: string;
    /** The current certificate, from epoch 1 on. */
    certificate?: string;
    suites?: number[];
    foreign?: string[];
    /** The public key with which the provider signs requests to a relay, 32 bytes. */
    pushKey?: Uint8Array;
}

/** @throws {PushcryptError} `malformed-record`, or the code of a key */
export function parseReply(json: JSONInput): Reply & Required<Pick<Reply, "foreign" | "suites">> & {
    /** Why a certificate that came is ignored. */
    refusedCertificate?: string;
};
export function formatReply(reply: Reply): string;

/**
 * Refuses a record that a provider must not accept. Look up and store in one transaction.
 *
 * @throws {PushcryptError} `user-mismatch`, `generation-rollback`, `generation-too-high`, `suite-downgrade`, `unsupported-suite`, `topic-mismatch` or
 *     `key-taken`
 * @throws {TypeError} for members of other types or names than these, such as a generation that a database gives as text
 * @returns the device's topic and user from now on, and the members that name a key which the provider never had
 */
export function checkRegistration(record: ParsedDeviceRecord, provider: {
    /** The user whose session sent the record; `null` if it has none. */
    user: string | null;
    /** What the provider has, or had until it removed it, under the device's id; `publicKey` may be of suite 2, `pcrx1…`. */
    held?: { publicKey: string; generation: number; topic?: string | null; user: string | null; isRemoved?: boolean } | null;
    /** Another device with the record's key. If the record is accepted, that one loses it. */
    sameKey?: { publicKey?: string; generation?: number; topic?: string | null; user: string | null } | null;
    /** Whether the operator says that the device was set up again. */
    replace?: boolean;
    /** Every provider key that the provider has or had. */
    ownKeys?: readonly string[];
}): { topic?: string; user: string | null; foreign: "provider"[] };

/**
 * Whether a record has a certificate by your own key that you did not issue: your store is an old copy, or the key was stolen. Tell your operator.
 */
export function showsStaleStore(record: ParsedDeviceRecord, options: { provider: string; topic: string; issued: readonly string[] }): boolean;

/** What a phone does with a reply to the record of `publicKey`: store the trust in one transaction, and tell the app of `told`, a code. */
export function applyReply(reply: ReturnType<typeof parseReply>, phone: {
    publicKey: string;
    trust: Trust;
    topic: string;
    /** Whether the app has a provider key built in. */
    isBuiltIn?: boolean;
}): { confirms: boolean; trust: Trust; told: string | null };

// The command as a filter

export interface SealFilterOptions {
    /** By default `pushcrypt`. */
    command?: string;
    /** Arguments after `seal --batch`, such as `["--store", path, "--emit", "request"]`. */
    args?: readonly string[];
    env?: { [name: string]: string | undefined };
    /** The most messages without an answer; others wait. By default 1,000. */
    window?: number;
}

/** A line of `pushcrypt seal --batch`: Docs/ProviderPipelines.md. All but the members of a line come back with the answer. */
export interface FilterMessage {
    to: string | null;
    payload: JSONInput;
    /** The message's name: with it, a message that is sealed again stays one message. */
    id?: string;
    topic?: string;
    ttl?: number | string;
    [name: string]: unknown;
}

/** The answer to a line. `payload` is JSON text. */
export interface FilterAnswer {
    payload: string;
    [name: string]: unknown;
}

/**
 * `pushcrypt seal --batch` as a child process. If it ends, it is started again, and what has no answer is given to it again: nothing is lost, and each
 * message gets one answer.
 */
export class SealFilter {
    constructor(options?: SealFilterOptions);
    readonly pid: number | undefined;
    /**
     * @throws {PushcryptError} the code of the line, with the rest of it as `answer`; or `filter-ended`: five children in a row answered nothing, and the next
     *     message has another one started 5 seconds later. After a child that ended with 64 none is started.
     */
    seal(message: FilterMessage): Promise<FilterAnswer>;
    /** Seals what comes, in order, takes no more than `window` at a time, and yields an answer when it is there. */
    sealAll<M extends FilterMessage>(
        messages: AsyncIterable<M> | Iterable<M>,
    ): AsyncGenerator<{ message: M; answer?: FilterAnswer; error?: Error }, void, undefined>;
    /** Waits for the answers under way, and ends the command. */
    close(): Promise<void>;
}
