/**
 * The address of a self-hosted server, to which its phones post everything. The rules are in `Docs/FormatRecords.md`, Posts and Pairing, of the
 * project's repository.
 *
 * ```js
 * const pairing = Pairing.create({ provider: key.publicKey, url: "https://home.example.net/pair", topic });
 * // Show pairing.code as a QR code to its user alone, and store pairing.json(), which is as secret, under pairing.id.
 *
 * // A POST to the url, in one transaction; `home` looks into your store:
 * const { status, body, changes, pairing, answer } = await answerPost(posted, home, { key, topic });
 * for (const row of changes) devices.set(row.device, row);
 * if (pairing) pairings.set(pairing.id, pairing.json());
 * if (answer) answers.push(answer); // for openAnswer
 * // Commit, then answer with status and body.
 * ```
 *
 * A phone signs each record under its update key, and the reply is signed: neither needs a session or https.
 */

import type { Credential, Devices, JSONInput, ProviderKey, StoredDevice } from "./index";

/** A code for one phone, and what came of it, as a server stores it. Printing it shows no secret. */
export class Pairing {
    private constructor();
    /** Makes a code. @throws {PushcryptError} `invalid-request` for the url, `wrong-topic`, or the code of the key */
    static create(options: {
        /** Your provider key, `pcs1…`. */
        provider: string;
        /** Where the phone posts, now and later: https, or http to a name or address of a home network [P-2]. */
        url: string;
        /** The app's bundle id. */
        topic: string;
        /** Whose phone it will be. */
        user?: string;
        /** The device that it may replace, if its operator says that it was set up again [P-9]. */
        replaces?: string;
    }): Pairing;
    /** Reads what `json` wrote. @throws {PushcryptError} `malformed-record`, or the code of a key */
    static parse(json: JSONInput): Pairing;
    /** What the phone's request names, 16 hexadecimal digits. */
    readonly id: string;
    /** The text for a QR code. Anyone who sees it can pair. */
    readonly code: string;
    readonly provider: string;
    readonly url: string;
    readonly topic: string;
    readonly user?: string;
    readonly replaces?: string;
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
}

/** How {@link answerPost} looks into your store, in the transaction in which you store what it returns. */
export interface Home extends Devices {
    /** The pairing that you stored under an id, its row locked; `null` if there is none. */
    pairing(id: string): Pairing | null | Promise<Pairing | null>;
}

/** What to answer a post with, and what to store before. */
export interface Posted {
    /** 404 for what is no post of a phone of yours. */
    status: 200 | 404;
    body: string;
    /** What to store: each device replaces what you hold under its id. */
    changes: StoredDevice[];
    /** What to store under its id. */
    pairing?: Pairing;
    /** A sealed answer, for `openAnswer`. */
    answer?: string;
    /** Sentences for your operator. */
    warnings: string[];
}

/**
 * Answers what a phone posts: a pairing, its signed record or end, an answer, or a hello [D-17] to [D-26]. A refusal is an answer, too.
 * @throws {TypeError} for faults of yours alone, such as a `home` that returns another device
 * @throws {PushcryptError} `invalid-request` if the key is not that of a pairing's provider
 */
export function answerPost(body: string | Uint8Array, home: Home, options: {
    /** What signs: the provider key at epoch 0; from then on the signing key with its certificate. */
    key: ProviderKey | Credential;
    /** The app's bundle id. */
    topic: string;
    /** The public key with which you sign requests to a relay, 32 bytes. */
    pushKey?: Uint8Array;
    /** The one that will follow it. */
    nextPushKey?: Uint8Array;
    /** Every provider key that you have or had; by default the present one [D-35]. */
    ownKeys?: readonly string[];
    /** Every certificate that you issued and that is not below the floor. */
    issued?: readonly string[];
}): Promise<Posted>;
