/** A phone for your tests: it opens what you sealed. It is not for phones, and may change in any version: it remembers no message, certificate or key. */

import type { JSONInput, PushType } from "./index";

/** A device's secret key, X25519. */
export class DeviceKey {
    /** Creates a key from its 32 bytes, the X25519 scalar. */
    constructor(scalar: Uint8Array);
    /** Reads `PCR-SECRET-1…`. @throws {PushcryptError} `malformed-key`, `wrong-checksum`, `wrong-kind-of-key` or `unsupported-suite` */
    static parse(text: string): DeviceKey;
    /** Creates a random key. */
    static generate(): DeviceKey;
    /** `pcr1…`, for the provider. */
    readonly publicKey: string;
    /** 8 hexadecimal digits. */
    readonly keyId: string;
    /** The text of the secret key. */
    secretText(): string;
}

/** What an authentic message says. */
export interface Opened {
    /** The payload as it was sealed, JSON. Its member `pushcrypt` holds keys of files. */
    payload: string;
    /** 32 hexadecimal digits. */
    messageId: string;
    sentAt: Date;
    /** The last moment at which a phone shows it. */
    expiresAt: Date;
}

/**
 * Opens a push that the provider sealed for the device.
 * @throws {PushcryptError} `malformed-envelope`, `unknown-recipient-key`, `authentication-failed`, `wrong-push-class`, `expired`, or the code of a certificate
 */
export function open(push: JSONInput, options: {
    /** The app's bundle id. */
    topic: string;
    device: DeviceKey;
    /** The provider key, `pcs1…`. */
    provider: string;
    /** By default `alert`. */
    pushType?: PushType;
    /** The present time. */
    at?: Date;
}): Opened;
