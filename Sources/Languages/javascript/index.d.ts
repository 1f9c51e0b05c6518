/**
 * End-to-end encrypted push notifications: a provider seals payloads for APNs, and only the phone reads them. Rule numbers, such as [D-22], and sections are
 * those of the format, `Docs/Format.md` and its parts in the project's repository.
 *
 * Texts of public keys (`pcr1…`, `pcs1…`) and of certificates are strings. Secret keys are objects, which print nothing. Times are a `Date`, durations
 * seconds. A value that is refused is a {@link PushcryptError}. A wrong type, or an option that does not exist, is a `TypeError`.
 */

import type { AnswerSecret } from "./answers";
import type { Code } from "./lib/codes";

export type { Code };

/** JSON as text or bytes, or as an object, as `JSON.stringify` writes it. Numbers and texts that would become others are refused. */
export type JSONInput = string | Uint8Array | object;

// Errors

/** What was refused. Its text is for logs, and quotes no key and no payload. */
export class PushcryptError extends Error {
    /** Creates an error, with the text of the code unless there is a better one. */
    constructor(code: Code, message?: string, sequence?: number);
    readonly name: "PushcryptError";
    /** The reason, such as `payload-too-large`. */
    readonly code: Code;
    /** The page about the code: its cause and its fix. */
    readonly url: string;
    /** Whether the same call may succeed later: something outside was busy or failed. */
    readonly retryable: boolean;
    /** The held one, for the reply `stale-record`. */
    readonly sequence?: number;
}

// Keys

/** A provider key, Ed25519: it signs certificates and, at epoch 0, messages. Phones pin its public half. */
export class ProviderKey {
    /** Creates a key from its 32 bytes, the Ed25519 seed. @throws {RangeError} for another length */
    constructor(seed: Uint8Array);
    /** Reads `PCS-SECRET-1…`. @throws {PushcryptError} `malformed-key`, `wrong-checksum` or `wrong-kind-of-key` */
    static parse(text: string): ProviderKey;
    /** Creates a random key. */
    static generate(): ProviderKey;
    /** The text of the public half, `pcs1…`. */
    readonly publicKey: string;
    /** 8 hexadecimal digits, for logs. Never compare it instead of the key [K-1]. */
    readonly keyId: string;
    /** The text of the secret key: store it where only the sealer reads it. */
    secretText(): string;
}

/** A signing key, Ed25519: it signs messages by a certificate, and is replaced by another. */
export class SigningKey {
    /** Creates a key from its 32 bytes, the Ed25519 seed. @throws {RangeError} for another length */
    constructor(seed: Uint8Array);
    /** Reads `PCK-SECRET-1…`. @throws {PushcryptError} as `ProviderKey.parse` */
    static parse(text: string): SigningKey;
    /** Creates a random key. */
    static generate(): SigningKey;
    /** The 32 bytes of the public half, which a certificate names. */
    readonly publicBytes: Uint8Array;
    /** 8 hexadecimal digits, for logs. Never compare it instead of the key [K-1]. */
    readonly keyId: string;
    /** The text of the secret key: store it where only the sealer reads it. */
    secretText(): string;
}

/** What signs messages from epoch 1 on: the signing key, its certificate and the provider key. */
export class Credential {
    /** @throws {PushcryptError} `wrong-certificate`, or the code of the certificate or of the provider key */
    constructor(parts: { key: SigningKey; certificate: string; provider: string });
    /** Reads a signing key file of three lines, as `pushcrypt key export --secret` writes it. @throws {PushcryptError} as the constructor, or the code of the key */
    static parse(text: string): Credential;
    /** The certificate, 162 characters. */
    readonly certificate: string;
    /** The provider key, `pcs1…`. */
    readonly provider: string;
    /** The certificate's epoch. */
    readonly epoch: number;
    /** The text of the file: store it where only the sealer reads it. */
    secretText(): string;
}

// Certificates

/** What the next certificate follows [T-7] to [T-9]. */
export interface CertificateHistory {
    /** The certificate in use; none at epoch 0. */
    current?: string | null | undefined;
    /** Those before it, or `null` for epoch 0, and when each was replaced. What was replaced more than 38 days ago may be left out. */
    past?: readonly { certificate: string | null; replacedAt: Date }[];
    /** A certificate that a record showed and that you never issued: `staleStore` of {@link Accepted}. */
    proven?: string | null;
    /** Whether nothing of the epochs before may open any more, because somebody else may have the signing key. */
    stolen?: boolean;
    /** The seconds after which nobody believes it; by default it never expires. */
    lifetime?: number | null;
}

/**
 * Issues the certificate of a new signing key, where the provider key is: 162 characters. If it is elsewhere, see {@link CertificateRequest}.
 * @throws {PushcryptError} `epochs-exhausted`, `weak-key`, or the code of a certificate
 */
export function issueCertificate(options: CertificateHistory & {
    provider: ProviderKey;
    /** The public half of the signing key, 32 bytes. */
    signingKey: Uint8Array;
    /** The app's bundle id. */
    topic: string;
    /** The present time. */
    at?: Date;
}): string;

/**
 * Reads a certificate. `expiresAt` is `null` if it never expires.
 * @throws {PushcryptError} `malformed-certificate` or `weak-key`
 */
export function readCertificate(text: string): { epoch: number; floor: number; expiresAt: Date | null };

/** A request for a certificate, carried to where the provider key is. It holds no secret: keep the signing key beside it. */
export class CertificateRequest {
    /** @throws {PushcryptError} `wrong-topic`, `weak-key`, or the code of a key or a certificate */
    constructor(options: CertificateHistory & {
        topic: string;
        /** The provider key, `pcs1…`. */
        provider: string;
        /** The public half of the new signing key, 32 bytes. */
        signingKey: Uint8Array;
    });
    /** Reads a request, also one of `pushcrypt key rotate --request`. @throws {PushcryptError} `malformed-request`, or the code of a key or a certificate */
    static parse(json: JSONInput): CertificateRequest;
    readonly topic: string;
    /** The provider key, `pcs1…`. */
    readonly provider: string;
    /** The public half of the new signing key, 32 bytes. */
    readonly signingKey: Uint8Array;
    /** The text to carry: `pushcrypt key certify` or {@link certify} answers it. */
    json(): string;
    /**
     * Certifies the signing key, where the provider key is, and returns the text to carry back. First show a person the app and the
     * signing key.
     * @throws {PushcryptError} `wrong-certificate` for another provider key, `epochs-exhausted`, or a certificate's code
     */
    certify(provider: ProviderKey, options?: { at?: Date }): string;
    /**
     * Takes the answer of {@link certify} or `pushcrypt key certify`. Store the result's `secretText()` before you seal with it.
     * @throws {PushcryptError} `malformed-request`, `wrong-certificate` for an answer to another request, or the code of the certificate
     */
    install(key: SigningKey, answer: JSONInput): Credential;
}

// Sealing

/** With what APNs delivers a push. Others are read by the system before any app code runs [S-1]. */
export type PushType = "alert" | "background" | "voip";

/** A field of `aps` that may also be sent in the clear. */
export type ClearField =
    | "badge" | "category" | "thread-id" | "interruption-level" | "relevance-score" | "target-content-id" | "filter-criteria";

/** What a phone shows if it cannot open a message. The relay reads it. */
export interface Placeholder {
    /** By default `New message`; at most 4,096 bytes. */
    title?: string;
    /** A sound's name, or `null` for none; by default the system's if the payload has a sound. */
    sound?: string | null;
    /** Fields of the payload's `aps` that are also sent in the clear. */
    clear?: readonly ClearField[];
}

/** How a message is sealed. */
export interface SealOptions {
    /** The present time. */
    at?: Date;
    /** By default `alert`. */
    pushType?: PushType;
    /** Your id of the message, the same in every retry, so that the phone shows it once. By default a message has a random one. */
    messageId?: string;
    /** How many seconds phones show it for, 0 to 2,592,000 (30 days), the default; 0 is now or never. Unless it is a call, the end is rounded to ten minutes. */
    timeToLive?: number;
    /** Whether `json` reaches Apple byte for byte, so that its own length counts, and not that of the longest re-encoding [S-4]. */
    exact?: boolean;
    /** The app's secret of `pushcrypt/answers`, if the phone may answer. A `messageId` is then never used for another payload. */
    answers?: AnswerSecret;
    /** Files that were sealed and stored, at most 8. */
    attachments?: readonly Reference[];
    /** The whole text, if the payload has only its beginning. */
    fullBody?: Reference;
    /** Who the notification is from. */
    person?: Person;
    /** The `messageId`s of earlier messages that phones take off the screen, at most 64. */
    withdraws?: readonly string[];
    /** Whether the message is not to be shown. */
    drop?: boolean;
}

/** A person, shown with a face: texts of 1 to 255 bytes [N-9]. */
export interface Person {
    name: string;
    /** What names the person in the app; by default the name. */
    handle?: string;
    /** What names the conversation in the app. */
    conversation?: string;
    /** At most 8 names. */
    recipients?: readonly string[];
    /** A sealed picture, JPEG or PNG, of at most a megabyte. */
    avatar?: Reference;
}

/** Seals for the devices of one app. It keeps no state between messages. */
export class Sealer {
    /** @throws {PushcryptError} `wrong-topic`, `invalid-placeholder`, `bad-certificate-signature` or `weak-key` */
    constructor(options: {
        /** The provider key at epoch 0; from then on the signing key with its certificate. */
        key: ProviderKey | Credential;
        /** The app's bundle id, without `.voip`. */
        topic: string;
        placeholder?: Placeholder;
    });
    /** The app's bundle id. */
    readonly topic: string;
    /** The provider key, `pcs1…`. */
    readonly provider: string;
    /** The certificate of the key that signs; `undefined` at epoch 0. */
    readonly certificate: string | undefined;
    /**
     * Seals a payload for one device, as you have stored it, without white space and needless escapes.
     * @throws {PushcryptError} `payload-too-large`, `push-too-large`, `malformed-payload`, `missing-aps`, `invalid-field`, `nothing-to-show`, `reserved-key`,
     *     `push-type-not-sealable`, `invalid-request`, `invalid-time` (also for an expired certificate), `implausible-time`, `removed-device`, `topic-mismatch`,
     *     `unsupported-suite`, `too-many-attachments`, or the code of the device's key
     */
    seal(payload: JSONInput, device: StoredDevice, options?: SealOptions): SealedPush;
    /**
     * Seals the smallest message that takes earlier ones of these `messageId`s, at most 64, off a device's screen. It is a background push, which shows
     * nothing, and which iOS may bring later. With the filtering entitlement an alert with `withdraws` and `drop` is quicker.
     * @throws {PushcryptError} as `seal`
     */
    withdraw(messageIds: readonly string[], device: StoredDevice, options?: { at?: Date }): SealedPush;
    /** The request to APNs, without the provider's authentication. The collapse id outlives the keys: it is a hash of the device's id. @throws {PushcryptError} `invalid-request` or `implausible-time` */
    request(push: SealedPush, options?: RequestOptions): PushRequest;
    /** Seals a file under a new key. Store it before you send its reference. @throws {PushcryptError} `malformed-reference` */
    sealFile(plain: Uint8Array, options: {
        /** Where phones will fetch it, https. */
        url: string;
        /** The uniform type identifier, such as `public.jpeg`. */
        type: string;
        /** The name to show, 1 to 255 bytes. */
        name: string;
    }): SealedFile;
    /** Seals a text of at most 65,536 bytes that is too long for a push. @throws {PushcryptError} `body-too-long`, `malformed-file` or `malformed-reference` */
    sealFullBody(text: string, options: { url: string }): SealedFile;
}

/** What a request to APNs says beside the push. */
export interface RequestOptions {
    /** The name of pushes that replace each other on a device. By default copies of one message do. The relay gets a hash: who knows the device's id can test guesses. */
    collapseName?: string;
    /** By default 5 for background pushes, and 10 for others. */
    priority?: 10 | 5 | 1;
    /** Until when APNs keeps it, at most 31 days ahead; `new Date(0)` for one attempt. By default that of the push. */
    expiration?: Date;
}

/** A request to APNs, but for the provider's authentication. */
export interface PushRequest {
    /** Where APNs gets it; `null` if the device has no token. */
    url: string | null;
    token: string | null;
    environment: "production" | "development" | null;
    /** The device's permission to push by a relay. */
    grant: string | null;
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
    /** The id that was sealed, 32 hexadecimal digits: a hash of your `messageId`. */
    readonly messageId: string;
    /** The seconds that were sealed. */
    readonly timeToLive: number;
    /** The last moment at which a phone shows the message. */
    readonly expiresAt: Date;
    /** The same in seconds since 1970; 0, for one attempt, if the time to live was 0. */
    readonly expiration: number;
    /** The longest form, in bytes, that a client may re-encode `json` to. */
    readonly widest: number;
    /** The device that it is sealed for. */
    readonly device: StoredDevice;
    readonly pushType: PushType;
    /** `json` as an object, for clients that encode it themselves. */
    toJSON(): object;
}

// Files

/** A sealed file, and what opens it. */
export interface SealedFile {
    /** The bytes to store at the reference's `url`. */
    sealed: Uint8Array;
    reference: Reference;
}

/** The place of a sealed file and its key to. Printing it shows no key. */
export class Reference {
    private constructor();
    /** @throws {PushcryptError} `malformed-reference` */
    static parse(json: JSONInput): Reference;
    readonly url: string;
    /** The bytes of the sealed file. */
    readonly size: number;
    /** The hash of the sealed file, 32 bytes. */
    readonly sha256: Uint8Array;
    /** The uniform type identifier. */
    readonly type: string;
    /** A label to show, never a path. */
    readonly name: string;
    /** The file's key, 32 bytes: a secret. */
    readonly key: Uint8Array;
    /** The reference with its key: a secret. */
    json(): string;
}

// Devices

/** A phone's registration record that was read. */
export interface ParsedDeviceRecord {
    /** The id under which the provider keeps the device. */
    device?: string;
    /** `pcr1…`, or `pcrx1…` of suite 2, which can be held for a device [D-30], but not sealed to. */
    publicKey: string;
    /** All suites that the device opens. */
    suites: number[];
    topic?: string;
    /** Counts the device's keys, from 1. */
    generation: number;
    /** When the key was made, in milliseconds since 1970. */
    created?: number;
    /** The provider key that the device has pinned, `pcs1…`. */
    provider?: string;
    /** The highest certificate that it knows of that key. */
    certificate?: string;
    appVersion?: string;
    /** The token of APNs, in hexadecimal digits. */
    token?: string;
    environment?: "production" | "development";
    /** A relay's permission to push to the phone. */
    grant?: string;
    /** The key that signs the device's records without a session, 43 characters of base64url. */
    updateKey?: string;
    /** The number of the record; a later one has a higher one. */
    sequence?: number;
}

/** Reads a phone's registration record [D-1] to [D-20]. @throws {PushcryptError} `malformed-record`, or the code of a key */
export function parseDeviceRecord(json: JSONInput): ParsedDeviceRecord;

/**
 * A device as a provider stores it: a plain object, which `JSON.stringify` writes and `JSON.parse` reads. `null` counts as absent.
 *
 * Store what {@link removed} returns in the place of a device that you remove. After a 410 from APNs, delete its `token`; after one from a relay, store what
 * {@link withoutGrant} returns.
 */
export interface StoredDevice {
    /** The id under which it is stored. */
    device: string;
    /** The app's bundle id. */
    topic: string;
    /** `pcr1…`, or `pcrx1…`. */
    publicKey: string;
    generation: number;
    /** The user that the device belongs to, or `null` if none is known. */
    user: string | null;
    suites?: number[] | null;
    created?: number | null;
    /** The provider key that the phone reported as its pin. */
    provider?: string | null;
    appVersion?: string | null;
    token?: string | null;
    environment?: "production" | "development" | null;
    grant?: string | null;
    /** The grant that the relay has ended, until the phone brings another. */
    endedGrant?: string | null;
    updateKey?: string | null;
    sequence?: number | null;
    isRemoved?: boolean;
}

/** What you keep of a device that is removed [D-38], [D-39]: {@link accept} needs it if the id comes back. */
export function removed(device: StoredDevice, options?: { at?: Date }): StoredDevice;

/**
 * The device after the relay answered 410 to a push with this grant; the same if a record has brought another since. {@link accept} does not take the grant
 * again, and the reply tells the phone to fetch another [D-33].
 */
export function withoutGrant(device: StoredDevice, grant: string): StoredDevice;

/** How {@link accept} looks into your store, in the transaction in which you store what it returns. */
export interface Devices {
    /** What you hold under an id, also of a removed device; `null` if you never knew it. */
    find(device: string): StoredDevice | null | Promise<StoredDevice | null>;
    /** All that you hold with the key or with the token, if there is one: under any id and of any user. */
    holders(publicKey: string, token: string | null): StoredDevice[] | Promise<StoredDevice[]>;
}

/** A reply as it is sent: give it to `JSON.stringify`. */
export type Reply = { readonly version: 1; readonly [member: string]: unknown };

/** What {@link accept} needs to know of the provider. */
export interface AcceptOptions {
    /** The app's bundle id. */
    topic: string;
    /** The provider key, `pcs1…`. */
    provider: string;
    /** Your id for the device, for records that name none. */
    device?: string;
    /** The current certificate; none at epoch 0 [D-37]. */
    certificate?: string | null | undefined;
    /** Every certificate that you issued and that is not below the floor. Without it, a stale store is noticed at epoch 0 only [D-36]. */
    issued?: readonly string[];
    /** Every provider key that you have or had; by default the present one [D-35]. */
    ownKeys?: readonly string[];
    /** Whether your operator says that the device was set up again. The phone must never decide this. */
    replace?: boolean;
    /** The public key with which you sign requests to a relay, 32 bytes. */
    pushKey?: Uint8Array;
    /** The one that will follow it. */
    nextPushKey?: Uint8Array;
}

/** What follows from a record that a provider accepts. */
export interface Accepted {
    /** The device that has registered. What the record does not say is as it was. */
    device: StoredDevice;
    /** What to store: `device`, and what is left of others that had its key or token. Each replaces what you hold under its id. */
    changes: StoredDevice[];
    /** The reply for the phone, once that is stored. */
    reply: Reply;
    /**
     * A certificate by your own key that you never issued, or `null`. Your store is an old copy, or the provider key was stolen: tell your operator, and issue
     * another certificate with it as `proven`.
     */
    staleStore: string | null;
    /** The members of the record that name a key which you never had: the phone trusts somebody else. Tell your operator. */
    foreign: "provider"[];
    /** Sentences for your operator: about the two before this, and what of the record was stored as something else. */
    warnings: string[];
}

/**
 * Decides about a record. It verifies no signature.
 *
 * @param record What `parseDeviceRecord` has returned.
 * @param devices Your store.
 * @param user The user whose session sent the record, `null` if it has none. It is never taken from the record.
 * @throws {PushcryptError} `user-mismatch`, `stale-record`, `generation-rollback`, `generation-too-high`, `suite-downgrade`, `unsupported-suite`, `topic-mismatch`
 *     or `key-taken`: answer with {@link refusal}
 * @throws {TypeError} for a stored device or options that are not as they must be, such as another device than the one that was looked for
 */
export function accept(record: ParsedDeviceRecord, devices: Devices, user: string | null, options: AcceptOptions): Promise<Accepted>;

/**
 * The reply that refuses a record because of this error of `parseDeviceRecord` or `accept`. Throws the error again if it is another one.
 */
export function refusal(error: unknown, options?: {
    /** The current certificate; none at epoch 0 [D-37]. */
    certificate?: string | null | undefined;
    /** The public key with which you sign requests to a relay, 32 bytes. */
    pushKey?: Uint8Array;
}): Reply;
