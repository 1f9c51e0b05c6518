internal import Pushcrypt
internal import PushcryptKeyStore

// Codes of keys and of the store that holds them.

extension Explanation {
    static let keys = [
        Explanation(
            KeyError.Code.malformedKey, .keys,
            summary: "not the text of a key",
            cause:
                "It has an invalid character, white space, mixed case or wrong length: a form field cut it, or an e-mail wrapped it. Of another program: a JWK with padding or without a member, PEM not as in RFC 8410, base64 of another length.",
            fix: "Copy it whole and on one line; another program's, from its first brace or BEGIN to the end."),
        Explanation(
            KeyError.Code.wrongChecksum, .keys,
            summary: "the key was mistyped or cut",
            cause: "Its last six characters do not fit the others.",
            fix: "Copy it again. Correcting it by hand gives another key."),
        Explanation(
            KeyError.Code.wrongKind, .keys,
            summary: "a key of another kind than is needed",
            cause: "A device's key was given for a provider's, or a secret one for a public one.",
            fix:
                "Give the kind that the message names. A secret key pasted into a ticket or chat is no longer secret: replace it."
        ),
        Explanation(
            KeyError.Code.weakKey, .keys, .trust, .store,
            summary: "a public key that no honest program makes",
            cause: "Everyone would know its shared secret, or could forge its signatures.",
            fix: "Do not use it. Find out who sent it, and how."),
        Explanation(
            KeyError.Code.unsupportedKey, .keys,
            summary: "a key of another algorithm, or in an unsupported form",
            cause: "It is RSA, P-256, X448, Ed448, symmetric, OpenSSH's, encrypted, or a certificate.",
            fix:
                "Decrypt an encrypted one (Docs/migration/keys.md). Instead of any other, make one with 'pushcrypt key new'."
        ),
        Explanation(
            KeyError.Code.unequalHalves, .keys,
            summary: "the public half does not fit the secret half",
            cause: "Keys were mixed up, or someone changed a half of a JWK, PEM or libsodium key.",
            fix:
                "Get the key again from its source. Do not repair a half before you know why: signing with the pair reveals the secret half."
        ),
        Explanation(
            KeyError.Code.unsupportedSuite, .keys, .sealing, .store,
            summary: "this build cannot compute with a post-quantum key",
            cause:
                "Suite 2 needs libsodium 1.0.22, when it is built and when it runs; 'pushcrypt doctor' says what is there.",
            fix:
                "Build against another libsodium with SODIUM=PREFIX. Until then send the phone the refusal (--reply): it keeps the key before it. A key that the store holds is not refused.",
            shown: "Nothing changes on the phone; it tries again after 30 days."),
        Explanation(
            KeyError.Code.malformedRecord, .keys,
            summary: "the record around a key breaks its rules",
            cause: "A member is missing or wrong, such as another key's key_id or suite.",
            fix: "Pass on what the app, or 'pushcrypt key show --json', wrote. See Docs/FormatRecords.md."),
    ]

    // MARK: The store

    static let store = storeFiles + storeNames

    /// A store that cannot be opened, read or written.
    private static let storeFiles = [
        Explanation(
            KeyStoreError.Code.storeMissing, .store,
            summary: "there is no store in this directory",
            cause:
                "None was made, or --store or PUSHCRYPT_STORE names another. On a phone: the app has not enrolled, or its keys, as intended, did not come with a backup.",
            fix:
                "Make one with 'pushcrypt init', or name its directory. A phone registers a new key at the next launch."
        ),
        Explanation(
            KeyStoreError.Code.storeExists, .store,
            summary: "there is a store, a replay file, or the output file of a backup, already",
            cause:
                "It is not overwritten without being asked, because its keys would be lost.",
            fix:
                "Use it, or name another directory or file. 'restore --replace' replaces a store with a backup of the same store."
        ),
        Explanation(
            KeyStoreError.Code.storeKeyMissing, .store,
            summary: "the file store.key is gone",
            cause: "Only the database was restored.",
            fix: "Restore it from its own backup. Without it nothing opens: make a new store with new keys."),
        Explanation(
            KeyStoreError.Code.passphraseNeeded, .store,
            summary: "the store needs a passphrase, and none was given",
            fix: "Give --passphrase-file a file, fd:N or - for standard input."),
        Explanation(
            KeyStoreError.Code.invalidPassphrase, .store,
            summary: "the passphrase is empty or too long",
            fix: "Name the file that has the passphrase and at most one line break after it."),
        Explanation(
            KeyStoreError.Code.wrongPassphrase, .store,
            summary: "the passphrase, or store.key, is not this store's",
            cause: "It belongs to another store, this store has none, or the files of two were mixed.",
            fix: "Give this store's passphrase, or put its own store.key beside it."),
        Explanation(
            KeyStoreError.Code.newerVersion, .store,
            summary: "a newer version of this program wrote the store",
            cause: "The program was downgraded, or different versions share the store.",
            fix: "Update the program, or the app."),
        Explanation(
            KeyStoreError.Code.olderVersion, .store,
            summary: "a version before 1.0 wrote the store",
            cause: "Its layout is no longer read.",
            fix:
                "Create a store with 'pushcrypt init', and let the devices register again. The version that wrote the old one can write its provider key to a file."
        ),
        Explanation(
            KeyStoreError.Code.corruptStore, .store,
            summary: "stored data is damaged, or was changed without the store key",
            cause: "A disk changed what was written, or someone edited the database.",
            fix:
                "'pushcrypt doctor' lists the damage, and Docs/Operations.md says what to do. Restore a backup, but first read its traps in Docs/KeyRotation.md. A phone begins anew by itself."
        ),
        Explanation(
            KeyStoreError.Code.storeLocked, .store,
            summary: "the phone has not been unlocked since it started",
            cause: "Until then the Keychain gives no key to anyone.",
            fix:
                "Let the placeholder read well alone. If phones were unlocked, other code stored the keys with a stricter accessibility: purge them and enrol again.",
            shown: "The fallback, which stays; what arrives later opens."),
        Explanation(
            KeyStoreError.Code.missingEntitlement, .store,
            summary: "the process may not use the keys' Keychain group",
            cause: "App and extension do not share an access group, letter by letter, and a team.",
            fix:
                "Give both one group in keychain-access-groups, with the prefix $(AppIdentifierPrefix), and one team. 'pushcrypt lint --ios DIR' compares the files; the signed build counts."
        ),
        Explanation(
            KeyStoreError.Code.storeBusy, .store,
            summary: "another process held the store for too long",
            fix: "Try again, or look for the process that has keystore.db open."),
        Explanation(
            KeyStoreError.Code.diskFull, .store,
            summary: "a write to the store found no room on the disk",
            cause: "On a phone this stops no delivery.",
            fix: "Free some space and try again; the exit code is 1, because that may succeed.",
            shown: "The command reports it. The change was stored as a whole or not at all: list the store."),
        Explanation(
            KeyStoreError.Code.inputOutput, .store,
            summary: "the system refuses to read or write",
            cause:
                "Rights are missing, the disk is read-only, a network file system cannot lock or share memory, memory ran out, or the Keychain has another error.",
            fix:
                "Follow the system's words in the message. Keep the store on a local disk that its user may write, even for reading.",
            shown: "As for disk-full. A phone shows the fallback."),
    ]

    /// A store that works, and refuses a request.
    private static let storeNames = [
        Explanation(
            KeyStoreError.Code.invalidName, .store,
            summary: "a name, a device id or a setting cannot be stored",
            cause:
                "It is empty, too long (255 bytes for names) or has control characters; or a device id begins with pcr1, as public keys do, or is all spaces.",
            fix: "Choose another one."),
        Explanation(
            KeyStoreError.Code.unknownName, .store,
            summary: "no key has this name, or none is for the app",
            cause: "It is mistyped, the key is in another store or not yet made, or its only key is pending.",
            fix:
                "List the keys with 'pushcrypt key list'; make one with 'pushcrypt key new', for a provider with --topic."
        ),
        Explanation(
            KeyStoreError.Code.ambiguousName, .store,
            summary: "the store has keys under several names, and no default",
            fix: "Name one, or choose the default with 'pushcrypt key default'."),
        Explanation(
            KeyStoreError.Code.nameTaken, .store,
            summary: "a key has this name already",
            fix: "Change its key with 'pushcrypt key rotate', or choose another name with --name."),
        Explanation(
            KeyStoreError.Code.keyIDTaken, .store,
            summary: "the store already holds this key, or one with its id",
            cause: "It was imported before, perhaps under another name.",
            fix: "Use it, or make another one."),
        Explanation(
            KeyStoreError.Code.generationRollback, .store,
            summary: "a device's registration is older than the one held",
            cause:
                "An old record arrived late or was replayed, a bare key (generation 1) followed a rotation, or the device was set up again.",
            fix:
                "Ignore a late record. After a rotation give the record ('key show --json'). For a device set up again, the operator uses --replace."
        ),
        Explanation(
            KeyStoreError.Code.generationTooHigh, .store,
            summary: "a device's generation is too far ahead",
            cause:
                "A first generation is at most 1,024, a later one at most 1,024 above the held one: otherwise anyone could lock the phone out with the highest number.",
            fix:
                "Send the phone the refusal (--reply): it enrols again. For a device set up again, the operator uses --replace."
        ),
        Explanation(
            KeyStoreError.Code.userMismatch, .store,
            summary: "the device is another user's",
            cause: "The phone changed hands under its old device id, or somebody claims another user's device.",
            fix:
                "Send the phone the refusal (--reply): it enrols again. Take the user from the session, never from the record. Only the operator uses --replace."
        ),
        Explanation(
            KeyStoreError.Code.keyTaken, .store,
            summary: "another device has this public key",
            cause:
                "The two are not known to belong to one user; messages for one would open on the other.",
            fix:
                "Send the phone the refusal (--reply): it enrols again. If the other device is gone, remove it first."
        ),
        Explanation(
            KeyStoreError.Code.suiteDowngrade, .store,
            summary: "the device has a post-quantum key, and the new one is not",
            cause:
                "Someone on the registration channel wants messages that a quantum computer can read, or the app went back to an older build.",
            fix:
                "Send the phone the refusal (--reply): it enrols again. For a device set up again, the operator uses --replace."
        ),
        Explanation(
            KeyStoreError.Code.badRecordSignature, .store,
            summary: "the device's update key has not signed this record, or not for this app and channel",
            cause:
                "Somebody else made it, the phone was set up again, or its first record came from a list, without an update key.",
            fix:
                "Send the phone the refusal: its app asks the user to pair again. In a session ('device add --user') it brings its update key."
        ),
        Explanation(
            KeyStoreError.Code.staleRecord, .store,
            summary: "the store has a later record of the device",
            cause: "The record came twice or late, was replayed, or is from a phone that was restored from a backup.",
            fix: "Send the phone the refusal (--reply), which says the later sequence: it sends its record again."),
        Explanation(
            KeyStoreError.Code.topicMismatch, .store,
            summary: "the same key or device is held for another app",
            cause: "It was used with another bundle id, such as the extension's or the test build's.",
            fix: "Use the app's own on both ends. If the old binding was wrong, --replace sets the new one."),
        Explanation(
            KeyStoreError.Code.futureTime, .store,
            summary: "a device's time is after the year 2100",
            cause: "It is in microseconds, or invented. Any other time ahead of the clock counts as now.",
            fix: "Give milliseconds since 1970. 'device add' needs no time."),
        Explanation(
            KeyStoreError.Code.unknownDevice, .store,
            summary: "no device has this id",
            cause: "It is mistyped, the device is in another store, or it never registered.",
            fix: "See 'pushcrypt device list'; 'pushcrypt device add' registers one."),
        Explanation(
            KeyStoreError.Code.removedDevice, .store,
            summary: "the device was removed, and has not registered since",
            cause: "APNs reported the app gone ('device remove --from-apns-410'), or an operator removed it.",
            fix: "Stop sending to it until it registers; 'device add' accepts it again."),
        Explanation(
            KeyStoreError.Code.providerAlreadyPinned, .store,
            summary: "the account trusts another provider key already, and a reply cannot change it",
            cause: "A first reply pins a key only if there is none. Another key comes with a release of the app.",
            fix: "Nothing after a rotation: the provider key stays. Otherwise build the other key into the app."),
        Explanation(
            KeyStoreError.Code.providerOffline, .store,
            summary: "the secret of the provider key is not in this store",
            cause: "It was made with --offline or moved out, so that a theft of the store is not final.",
            fix: "Use 'key rotate --request', 'key certify' where the key is, and 'key rotate --install'."),
        Explanation(
            KeyStoreError.Code.staleStore, .store,
            summary: "a phone has a certificate that this store never issued",
            cause:
                "The store was restored from a backup made before a rotation, another store has the same provider key, or the provider key is stolen.",
            fix:
                "If a backup was restored, 'key rotate' ends all earlier keys at once. If none was, see Stolen in Docs/KeyRotation.md.",
            shown:
                "A warning with every seal and reply, and in 'doctor'. Phones that have the newer certificate show the fallback."
        ),
        Explanation(
            KeyStoreError.Code.rotationRefused, .store,
            summary: "a rotation would not help, or cannot go on",
            cause:
                "After a theft: the provider key lies in the stolen store, so the thief can certify too. Of a device: no generation is left.",
            fix: "After a theft, release the app with another provider key. --anyway rotates all the same."),
        Explanation(
            KeyStoreError.Code.responseTooLarge, .store,
            summary: "a response is too long to be kept",
            cause: "The user wrote over 512 KiB into a notification's text field.",
            fix: "Handle it at once, or ask for it in the app."),
    ]
}
