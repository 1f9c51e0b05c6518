internal import Pushcrypt
internal import PushcryptKeyStore

// Codes of keys, of their rotation and of the store that holds them.

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
            cause: "A device's key was given for a sender's, or a secret one for a public one.",
            fix:
                "Give the kind that the message names. A secret key pasted into a ticket or chat is no longer secret: replace it."
        ),
        Explanation(
            KeyError.Code.weakKey, .keys, .rotation,
            summary: "a public key that no honest program makes",
            cause: "Everyone would know its shared secret, or could forge its signatures.",
            fix: "Do not use it. Find out who sent it, and how."),
        Explanation(
            KeyError.Code.unsupportedKey, .keys,
            summary: "a key of another algorithm, or in an unsupported form",
            cause: "It is RSA, P-256, X448, Ed448, symmetric, OpenSSH's, encrypted, or a certificate.",
            fix:
                "Decrypt an encrypted one (Docs/migration/keys.md). Instead of any other, make one with 'pushcrypt keygen'."
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
            fix: "Pass on what the app, or 'pushcrypt export --json', wrote. See Docs/FormatRecords.md."),
    ]

    static let rotation = [
        Explanation(
            RotationError.Code.malformedStatement, .rotation,
            summary: "the statement does not have 181 bytes, its version is unknown, or a recovery has no serial",
            fix: "Get it again from its issuer. If that is a newer version, update the receiver."),
        Explanation(
            RotationError.Code.untrustedKey, .rotation,
            summary: "the old key is not trusted here",
            cause:
                "The device never pinned that sender, was enrolled later in the chain, which is harmless, or the app replaced the key.",
            fix: "If messages do not open, give the device the current key through the app."),
        Explanation(
            RotationError.Code.unknownRecoveryKey, .rotation,
            summary: "no sender here has this recovery key",
            cause: "The device has no recovery key, or a different one. Only an app release changes it.",
            fix: "Sign the recovery with the key that the app has built in. Otherwise pin the new key through the app."),
        Explanation(
            RotationError.Code.badSignature, .rotation,
            summary: "one of the statement's two signatures is wrong",
            fix: "Get it again from its issuer. If it keeps arriving, treat it as an attack."),
        Explanation(
            RotationError.Code.supersededKey, .rotation,
            summary: "the new key was superseded or revoked here before, or is a recovery key",
            fix: "Rotate to a key that was never used. After a restored backup, see Docs/KeyRotation.md."),
        Explanation(
            RotationError.Code.overlapTooLong, .rotation,
            summary: "the old key would remain valid for more than 60 days",
            fix: "Issue it with at most 60 days of overlap; 31 is the default."),
        Explanation(
            RotationError.Code.notYetValid, .rotation,
            summary: "issued more than 24 hours from now",
            cause: "The provider's clock was ahead when it rotated, or the device's is behind.",
            fix: "Set the wrong clock, or wait."),
        Explanation(
            RotationError.Code.expired, .rotation,
            summary: "the statement is no longer accepted",
            cause: "The device missed it for longer than it allows, 400 days by default.",
            fix: "Give the device the current key through the app."),
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
                "It is never overwritten: its keys would be lost. For restore: the store has sender keys that the backup lacks, is another one, or cannot be read; or store.key is another key.",
            fix: "Use it, or name another directory or file. 'restore --replace' replaces a store."),
        Explanation(
            KeyStoreError.Code.unsafeStoreFile, .store,
            summary: "a file of the store is not safe from others",
            cause:
                "It, its directory or one above has another owner, is open to others, is a symbolic link or has a second name; often after copying as root, or with a lax umask.",
            fix:
                "Run the command in the message. After long exposure replace the keys ('pushcrypt rotate'). For a secret mount use --sender-key-file."
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
                "Create a store with 'pushcrypt init', and let the devices register again. 'pushcrypt export sender --secret' of the version that wrote the old one gives the sender key."
        ),
        Explanation(
            KeyStoreError.Code.corruptStore, .store,
            summary: "stored data is damaged, or was changed without the store key",
            cause: "A file system lost writes, or someone edited the database.",
            fix:
                "List the damaged rows with 'pushcrypt doctor'. Restore a backup, but first read its traps in Docs/KeyRotation.md. On a phone let the app purge its keys and enrol again."
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
            summary: "no key has this name",
            cause: "It is mistyped, the key is in another store or not yet made, or its only key is pending.",
            fix: "List the keys with 'pushcrypt doctor'; make one with 'pushcrypt keygen'."),
        Explanation(
            KeyStoreError.Code.ambiguousName, .store,
            summary: "the store has keys under several names, and no default",
            fix: "Name one with --name or --from, or make one the default when it is made ('keygen … --default')."),
        Explanation(
            KeyStoreError.Code.nameTaken, .store,
            summary: "a key has this name already",
            fix: "Give the name a new key with 'pushcrypt rotate', or choose another with --name."),
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
                "Ignore a late record. After a rotation give the record ('export device --json'). For a device set up again, the operator uses --replace."
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
            KeyStoreError.Code.topicMismatch, .store,
            summary: "the same key or device is held for another app",
            cause: "It was used with another bundle id, such as the extension's or the test build's.",
            fix: "Use the app's own on both ends. If the old binding was wrong, --replace sets the new one."),
        Explanation(
            KeyStoreError.Code.futureTime, .store,
            summary: "a device's time is more than a day ahead",
            cause: "A clock is wrong, or the time is invented or in microseconds. It would override all that follows.",
            fix: "Set that machine's clock, or correct the time. 'device add' needs none."),
        Explanation(
            KeyStoreError.Code.implausibleClock, .store,
            summary: "the clock is long before or after the store's last change",
            cause:
                "More than a day before, more than 29 days after without synchronisation, or more than 400 days after. A wrong clock could end a key that every phone trusts.",
            fix: "Set the clock, best by NTP, and run the command again. If the clock is right, add --clock-is-right."),
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
            summary: "another key is trusted under this name",
            fix:
                "After a planned rotation do nothing: messages bring the proof. After a theft use --replace, which ends all trust in the old key at once."
        ),
        Explanation(
            KeyStoreError.Code.senderSuperseded, .store,
            summary: "the key was superseded here, and stays so, or is a recovery key",
            cause: "It is from an old build of the app or an old record; or the same key is to sign and to recover.",
            fix: "Get the current key from the provider: 'pushcrypt export sender'."),
        Explanation(
            KeyStoreError.Code.tooManyAnnouncements, .store,
            summary: "a message cannot carry another rotation",
            cause: "Four are being announced, each for 60 days by default; a recovery counts as one, and never ends.",
            fix:
                "Wait for the first to end; rotate every 15 days at most, 20 after a recovery. 'rotate sender --force' or 'rotate signer --announce' ends it early: devices that missed it need the key from the app."
        ),
        Explanation(
            KeyStoreError.Code.rotationRefused, .store,
            summary: "a rotation cannot be issued or is not accepted",
            cause:
                "The overlap is above 60 days, a statement is not acceptable here, no generation is left, or the recovery is not the one that waits here.",
            fix: "Read the message; statements have their own codes."),
        Explanation(
            KeyStoreError.Code.responseTooLarge, .store,
            summary: "a response is too long to be kept",
            cause: "The user wrote over 512 KiB into a notification's text field.",
            fix: "Handle it at once, or ask for it in the app."),
    ]
}
