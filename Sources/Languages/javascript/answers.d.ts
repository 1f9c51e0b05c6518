/**
 * Answers: what a user did with a notification, sealed by the phone for the provider. The rules are in `Docs/FormatRecords.md`, Answers,
 * of the project's repository.
 * `Sealer.seal` takes an {@link AnswerSecret} as `answers`. Nothing is kept for a message: a caller that wants one answer keeps the first of a message.
 */

/** What a provider has to open answers, 32 random bytes for each app. A thief of it reads and forges answers, but no messages. */
export class AnswerSecret {
    /** Creates a secret from its 32 bytes. @throws {RangeError} for another length */
    constructor(secret: Uint8Array);
    /** Creates a random secret. */
    static generate(): AnswerSecret;
    /** The 32 bytes: store them where only the provider reads them. */
    secretBytes(): Uint8Array;
}

/** What a user did. It proves nothing to others. */
export interface Answer {
    /** The key of the device that answered, `pcr1…`. */
    device: string;
    /** The message, 32 hexadecimal digits. */
    messageId: string;
    /** When the message was sealed. */
    sentAt: Date;
    /** The action's id. */
    action: string;
    /** What the user typed. */
    text?: string;
    /** When the user answered, by the phone's clock. */
    at: Date;
}

/**
 * Opens an answer, the text that the app sent.
 * @throws {PushcryptError} `malformed-envelope`, `unsupported-message`, `unknown-recipient-key`, `authentication-failed`, `malformed-payload`, `expired`
 */
export function openAnswer(text: string, options: {
    /** The app's secret, and for 32 days those before it. */
    secrets: readonly AnswerSecret[];
    /** The keys of the device, or of all devices, the replaced ones for 32 days. */
    devices: readonly string[];
    /** The app's bundle id. */
    topic: string;
    /** The seconds after sealing in which an answer counts, such as 600 for an approval; by default 31 days. */
    within?: number;
    /** The present time. */
    at?: Date;
}): Answer;
