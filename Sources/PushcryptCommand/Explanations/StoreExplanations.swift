internal import PushcryptKeyStore

extension Explanation {
    static let store = storeFiles + storeNames

    /// After a disk error at the end of a change nobody knows what the disk has kept.
    private static let wholeOrNot = """
        The command reports it. The store was changed as a whole or not at all; if the disk failed at the very end, list its \
        contents.
        """

    /// A store that cannot be opened, read or written.
    private static let storeFiles = [
        Explanation(
            KeyStoreError.Code.storeMissing, .store,
            summary: "there is no store in this directory",
            cause: """
                None was made, or --store or PUSHCRYPT_STORE names another one. On a phone: the app has not enrolled, or
                its keys, as intended, did not come with a backup.
                """,
            fix: """
                Make one with 'pushcrypt init', or name its directory. A phone makes and registers a new key at the
                app's next launch.
                """),
        Explanation(
            KeyStoreError.Code.storeExists, .store,
            summary: "there is a store, or a replay file, already",
            cause: "A store is never overwritten, because its keys would be lost.",
            fix: "Use it, or name another directory. Move an old one away by hand if it is not needed."),
        Explanation(
            KeyStoreError.Code.unsafeStoreFile, .store,
            summary: "a file of the store is within reach of others, or is a link",
            cause: """
                It, its directory or one above has another owner, is open to others, is a symbolic link or has a second
                name; usually after copying as root, or with a lax umask.
                """,
            fix: """
                Run the command in the message. If the file was exposed for long, replace the keys: 'pushcrypt rotate'.
                Key files on a secret mount go to --sender-key-file, which has no such rule.
                """),
        Explanation(
            KeyStoreError.Code.storeKeyMissing, .store,
            summary: "the file store.key is gone",
            cause: "Only the database was restored from a backup, without the key that opens its secrets.",
            fix: "Restore store.key from its own backup. Without it nothing opens: make a new store with new keys."),
        Explanation(
            KeyStoreError.Code.passphraseNeeded, .store,
            summary: "the store is opened by a passphrase, and none was given",
            cause: "No terminal to ask at, and no --passphrase-file.",
            fix: "Give --passphrase-file a file, fd:N or - for standard input."),
        Explanation(
            KeyStoreError.Code.invalidPassphrase, .store,
            summary: "a passphrase that is empty or too long",
            cause: "The file is not the one with the passphrase.",
            fix: "Name the right file; it has the passphrase and at most one line break after it."),
        Explanation(
            KeyStoreError.Code.wrongPassphrase, .store,
            summary: "the passphrase, or store.key, is not this store's",
            cause: "It belongs to another store, this store has no passphrase, or the files of two stores were mixed.",
            fix: "Give this store's passphrase, or put its own store.key beside it. There is no way around it."),
        Explanation(
            KeyStoreError.Code.newerVersion, .store,
            summary: "a newer version of this program has written the store",
            cause: "The program was downgraded, or two machines with different versions share the store.",
            fix: "Update the program, or the app."),
        Explanation(
            KeyStoreError.Code.corruptStore, .store,
            summary: "stored data is damaged, or was changed without the store key",
            cause: """
                A row lacks the tag that needs the store key, a secret does not open, or the database itself is damaged:
                a file system lost writes, or someone edited it.
                """,
            fix: """
                'pushcrypt doctor' lists every damaged row. Restore a backup, but read Docs/KeyRotation.md on its traps
                first. On a phone let the app purge its keys and enrol again.
                """,
            shown: "The command reports it, uses no damaged row and changes nothing. The phone shows the fallback."),
        Explanation(
            KeyStoreError.Code.storeLocked, .store,
            summary: "the phone has not been unlocked since it started",
            cause: "Until the first unlock the Keychain gives no key to anyone.",
            fix: """
                None needed, but let the placeholder read well alone. If the phones were unlocked, other code stored the
                keys with a stricter accessibility: purge them and enrol again.
                """,
            shown: "The fallback, which stays; what arrives after the unlock opens."),
        Explanation(
            KeyStoreError.Code.missingEntitlement, .store,
            summary: "the process may not use the Keychain group that holds the keys",
            cause: """
                App and extension do not both have the access group in their entitlements, letter by letter, or are
                signed by different teams.
                """,
            fix: """
                Give both one group in keychain-access-groups, with the prefix $(AppIdentifierPrefix), and one team.
                'pushcrypt lint --ios DIR' compares the files; the signed build counts.
                """),
        Explanation(
            KeyStoreError.Code.storeBusy, .store,
            summary: "another process held the store for too long",
            cause: "It is writing to the store, or was stopped in the middle of it.",
            fix: "Try again. If it persists, look for the process that has keystore.db open."),
        Explanation(
            KeyStoreError.Code.diskFull, .store,
            summary: "no room is left on the disk",
            cause: "A write to the store found no room. On a phone a full disk stops no delivery.",
            fix: "Free some space and try again; the command ends with 1, because the same call may then succeed.",
            shown: wholeOrNot),
        Explanation(
            KeyStoreError.Code.inputOutput, .store,
            summary: "the system refuses to read or write",
            cause: """
                Missing rights, a read-only disk, a network file system that cannot lock or share memory, no memory, or
                another error of the Keychain.
                """,
            fix: """
                Follow the system's words in the message. Keep the store on a local disk that its user may write, even
                for reading.
                """,
            shown: "The phone shows the fallback. \(wholeOrNot)"),
    ]

    /// A store that works, and refuses a request.
    private static let storeNames = [
        Explanation(
            KeyStoreError.Code.invalidName, .store,
            summary: "a name, a device id or a setting that cannot be stored",
            cause: """
                It is empty, too long (255 bytes for names) or has control characters; or a device id begins with pcr1,
                as a public key does, or is all spaces.
                """,
            fix: "Choose another name."),
        Explanation(
            KeyStoreError.Code.unknownName, .store,
            summary: "no key has this name",
            cause: """
                The name is mistyped, the key is in another store, none was made yet, or its only key is still pending.
                """,
            fix: "'pushcrypt doctor' lists the keys of a store; 'pushcrypt keygen' makes one."),
        Explanation(
            KeyStoreError.Code.ambiguousName, .store,
            summary: "several keys, and none was named",
            cause: "The store has keys under several names and no default among them.",
            fix: "Name one with --name or --from, or make one the default when it is made ('keygen … --default')."),
        Explanation(
            KeyStoreError.Code.nameTaken, .store,
            summary: "a key has this name already",
            cause: "'keygen' makes only the first key of a name.",
            fix: "'pushcrypt rotate' gives the name a new key; --name makes a key under another one."),
        Explanation(
            KeyStoreError.Code.keyIDTaken, .store,
            summary: "the store already holds this key, or one with its id",
            cause: """
                It was imported before, perhaps under another name. By chance it happens once in four thousand million
                times.
                """,
            fix: "Use the existing key, or make another one."),
        Explanation(
            KeyStoreError.Code.generationRollback, .store,
            summary: "a device's registration is older than the one that is held",
            cause: """
                An old record arrived late or was replayed, a bare key, which counts as generation 1, followed a
                rotation, or the device was set up again.
                """,
            fix: """
                Ignore a late record. After a rotation give the record ('export device --json'), not the key. For a
                device set up again the operator, not the device, uses --replace.
                """),
        Explanation(
            KeyStoreError.Code.topicMismatch, .store,
            summary: "the same key or device is held for another app",
            cause: """
                It is bound to one bundle id and was used with another: the extension's instead of the app's, the test
                build's instead of the shop's.
                """,
            fix: """
                Use the app's own bundle id on both ends. If the old binding was the mistake, --replace sets the new
                one.
                """),
        Explanation(
            KeyStoreError.Code.futureTime, .store,
            summary: "a time given for a device is more than a day ahead",
            cause: """
                A clock is wrong, the time is in microseconds instead of milliseconds, or invented. The latest time
                wins, so it would override all that the device does from now on.
                """,
            fix: """
                Set that machine's clock, or correct the time. 'device add', which requires none, adds a phone with a
                wrong clock.
                """),
        Explanation(
            KeyStoreError.Code.implausibleClock, .store,
            summary: "the clock is long before or after the store's last change",
            cause: """
                The clock is more than a day before the last change of this store, or more than 29 days after it and not
                synchronised, or more than 400 days after it. A wrong clock could end a key that every phone trusts, or date
                its statement so that no phone accepts it.
                """,
            fix: """
                Set the clock, best by NTP, and run the command again. If the clock is right, because nothing has changed
                for so long, add --clock-is-right.
                """,
            shown: "The command reports it and changes nothing."),
        Explanation(
            KeyStoreError.Code.unknownDevice, .store,
            summary: "no device has this id",
            cause: "The id is mistyped, the device is in another store, or it never registered.",
            fix: "'pushcrypt device list' shows the devices; 'pushcrypt device add' registers one."),
        Explanation(
            KeyStoreError.Code.removedDevice, .store,
            summary: "the device was removed",
            cause: """
                APNs reported the app gone ('device remove --from-apns-410'), or an operator removed it; it has not
                registered since.
                """,
            fix: "Stop sending to it until it registers; 'device add' accepts it again."),
        Explanation(
            KeyStoreError.Code.senderAlreadyTrusted, .store,
            summary: "another key is trusted under this name",
            cause: "A name has one pin, and the sender has another key than the pinned one.",
            fix: """
                None needed after a planned rotation: messages bring the proof. After a theft use --replace, which ends
                all trust in the old key at once.
                """),
        Explanation(
            KeyStoreError.Code.senderSuperseded, .store,
            summary: "the key was superseded here, and trust never returns to it",
            cause: "It is from an old build of the app or an old copy of the record.",
            fix: "Get the sender's current key: 'pushcrypt export sender' on the provider's side."),
        Explanation(
            KeyStoreError.Code.tooManyAnnouncements, .store,
            summary: "a message cannot carry another rotation",
            cause: "Four rotations of the sender's key are being announced, each for 60 days by default.",
            fix: """
                Wait for the first announcement to end; rotate at most every 15 days. --force ends it early: devices
                that missed it need the key from the app.
                """),
        Explanation(
            KeyStoreError.Code.rotationRefused, .store,
            summary: "a rotation that cannot be issued or is not accepted",
            cause: "An overlap above 60 days, a statement that is not acceptable here, or no generation left.",
            fix: "The message says which; for statements see also their codes."),
        Explanation(
            KeyStoreError.Code.responseTooLarge, .store,
            summary: "a response that is too long to be kept",
            cause: "The user wrote more than 512 KiB into the text field of a notification.",
            fix: "Handle such a response at once, or tell the user to write it in the app.",
            shown: "Nothing. The app has the code, and the responses kept so far are still there."),
    ]
}
