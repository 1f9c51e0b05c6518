/**
 * Pairing by a code: a phone registers with a server that has no accounts. The rules are in `Docs/FormatPairing.md` of the project's repository.
 *
 * ```js
 * const pairing = Pairing.create({ provider: key.publicKey, url: "https://home.example.net/pair", topic });
 * // Show pairing.code as a QR code to its user alone, and store pairing.json(), which is as secret, under pairing.id.
 *
 * // A POST to the url, in one transaction that locks the row; if this throws, or there is no row, answer 404, and change nothing:
 * const request = Pairing.parse(rows.get(pairingId(body))).open(body, { key }), { record } = request; // the key that a Sealer signs with, too
 * if (record === undefined) return request.answer;
 * const held = devices.get(record.deviceId) ?? null;
 * let reply;
 * try {
 *     if (held !== null && !held.isRemoved) throw new PushcryptError("user-mismatch"); // unless your operator said that it was set up again
 *     const accepted = accept(record, held, user, { topic, provider, pushKey });
 *     devices.set(record.deviceId, accepted.device);
 *     reply = accepted.reply;
 * } catch (error) {
 *     reply = refuse(error);
 * }
 * const { pairing, answer } = request.seal(reply);
 * rows.set(pairing.id, pairing.json()); // commit, then answer
 * ```
 */

import type { Credential, JSONInput, ParsedDeviceRecord, ProviderKey, Time } from "./index";

/** A code for one phone, and what came of it, as a server stores it. Printing it shows no secret. */
export class Pairing {
    private constructor();
    /** Makes a code. @throws {PushcryptError} `invalid-request` for the url, `wrong-topic`, `invalid-time`, or the code of the key */
    static create(options: {
        /** Your provider key, `pcs1…`. */
        provider: string;
        /** Where the phone posts, now and later: https, or http to a name or address of a home network [P-2]. */
        url: string;
        /** The app's bundle id. */
        topic: string;
        /** The present time. */
        at?: Time;
    }): Pairing;
    /** Reads what `json` wrote. @throws {PushcryptError} `malformed-record`, or the code of a key */
    static parse(json: JSONInput): Pairing;
    /** What `pairingId` finds in the phone's request, 16 hexadecimal digits. */
    readonly id: string;
    /** The text for a QR code. Anyone who sees it can pair. */
    readonly code: string;
    readonly provider: string;
    readonly url: string;
    readonly topic: string;
    /** When the code was made, in milliseconds since 1970. It ends 10 minutes later [P-3]. */
    readonly created: number;
    /** When a phone paired. Its answer ends 10 minutes later [P-6]. */
    readonly claimed?: number;
    /** The id of the device that paired. */
    readonly device?: string;
    /** Its update key. */
    readonly updateKey?: string;
    /** What to store, with the secret: only the server may read it. Delete it when the code has ended. */
    json(): string;
    /**
     * Opens what a phone posted. Answer 404 if it throws, and change nothing [P-4].
     * @throws {PushcryptError} `malformed-record` for another post, `malformed-envelope`, `authentication-failed`, or `expired` for a code that has ended;
     *     `invalid-request` if the key is not of the code's provider
     */
    open(body: string | Uint8Array, options: {
        /** What signs the answer: the provider key at epoch 0; from then on the signing key with its certificate. */
        key: ProviderKey | Credential;
        /** The present time. */
        at?: Time;
    }): PairingRequest;
}

/** What a phone posted, once it was opened. */
export class PairingRequest {
    private constructor();
    /** The record for `accept`; without it only `answer` is left to send, and nothing to store. */
    readonly record?: ParsedDeviceRecord & { deviceId: string };
    /** What to answer with status 200, if that is decided: the phone has paired already, another has the code, or the record breaks a rule. */
    readonly answer?: string;
    /**
     * The pairing to store in the transaction that stores the device [P-5], and what to answer then. `reply` is that of `accept` or `refuse`: a refusal leaves
     * the code open. The reply gets the provider key and the certificate of the key that signs it [P-7]. If there was an `answer`, that is it, whatever the reply.
     * @throws {PushcryptError} `invalid-request` if the reply acknowledges another key than the record's
     */
    seal(reply: string): { pairing: Pairing; answer: string };
}

/** The id of the pairing that a phone's request names. Answer 404 if there is none. @throws {PushcryptError} `malformed-record`, `malformed-envelope` */
export function pairingId(body: string | Uint8Array): string;
