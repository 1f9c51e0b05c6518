internal import PushcryptKeyStore

extension Explanation {
    static let store = storeFiles + storeNames

    /// A store that cannot be opened, read or written.
    private static let storeFiles = [
        Explanation(
            KeyStoreError.Code.storeMissing, .store,
            summary: "there is no store in this directory",
            cause: """
                At the command line: none was made yet, or --store and PUSHCRYPT_STORE name another directory than the one
                that it is in. On a phone: the app has not enrolled yet, or its keys did not come along when the phone was
                restored from a backup, as is meant.
                """,
            fix: """
                Make a store with 'pushcrypt init', or name its directory. On a phone let the app enrol at its next launch: it
                makes a new key and registers it.
                """,
            shown: unreadableKeys),
        Explanation(
            KeyStoreError.Code.storeExists, .store,
            summary: "there is a store, or a replay file, already",
            cause: "A store is never written over, because its keys would be lost.",
            fix:
                "Use the one that is there, or name another directory. Move an old one away by hand if it is not needed.",
            shown: nothingChanged),
        Explanation(
            KeyStoreError.Code.unsafeStoreFile, .store,
            summary: "a file of the store is within reach of others, or is a link",
            cause: """
                The directory, a file in it or a directory above it belongs to somebody else, may be read or changed by others, is a
                symbolic link or has a second name. Copying as root and a lax umask are the usual reasons.
                """,
            fix: """
                Run the command that the message gives. If the file was open to others for long, replace the keys: 'pushcrypt
                rotate'. Key files on a secret mount go to --sender-key-file instead, which has no such rule.
                """,
            shown: unreadableKeys),
        Explanation(
            KeyStoreError.Code.storeKeyMissing, .store,
            summary: "the file store.key is gone",
            cause:
                "The database is there, but not the key that opens its secrets: a backup of the database alone was restored.",
            fix: """
                Put store.key back from its own backup. Without it nothing in the database opens: make a new store, and new
                keys in it.
                """,
            shown: unreadableKeys),
        Explanation(
            KeyStoreError.Code.passphraseNeeded, .store,
            summary: "the store is opened by a passphrase, and none was given",
            cause: "There is no terminal to ask at, and no --passphrase-file.",
            fix: "Give --passphrase-file a file, fd:N or - for standard input.",
            shown: nothingChanged),
        Explanation(
            KeyStoreError.Code.invalidPassphrase, .store,
            summary: "a passphrase that is empty or too long",
            cause: "The file is empty, or is not the one that holds the passphrase.",
            fix: "Name the right file; it holds the passphrase and at most one line break after it.",
            shown: nothingChanged),
        Explanation(
            KeyStoreError.Code.wrongPassphrase, .store,
            summary: "the passphrase, or store.key, is not this store's",
            cause: """
                Another passphrase, store.key of another store, or a passphrase for a store that has none. Two stores whose files
                were mixed end so, too.
                """,
            fix: "Give the passphrase of this store, or put its own store.key beside it. There is no way around it.",
            shown: unreadableKeys),
        Explanation(
            KeyStoreError.Code.newerVersion, .store,
            summary: "a newer version of this program has written the store",
            cause: "The program was downgraded, or two machines with different versions share the store.",
            fix: "Update the program, or the app.",
            shown: unreadableKeys),
        Explanation(
            KeyStoreError.Code.corruptStore, .store,
            summary: "what is stored is damaged, or was changed without the store key",
            cause: """
                A row does not carry the mark that only the holder of the store key can make, a secret does not open, or the
                database itself is damaged. A file system that lost writes does this, and so does somebody who edits it.
                """,
            fix: """
                'pushcrypt doctor' lists every damaged row. Restore a backup, and read Docs/KeyRotation.md first: a restored
                store has its traps. On a phone let the app purge its keys and enrol again.
                """,
            shown: """
                On a phone: the fallback. At the command line: whoever runs the command sees it. The damaged row is not
                used, and nothing was changed.
                """),
        Explanation(
            KeyStoreError.Code.storeLocked, .store,
            summary: "the phone was not unlocked since it started",
            cause: "Before the first unlock after a start the Keychain gives no key to anybody.",
            fix: """
                Nothing: what arrives after the first unlock opens. Let the placeholder read well by itself. If it happens on phones
                that were unlocked, the keys were stored by other code with a stricter accessibility: purge them and
                enrol again.
                """,
            shown: "On the phone: the fallback. What arrived before the first unlock stays as it is."),
        Explanation(
            KeyStoreError.Code.missingEntitlement, .store,
            summary: "the process may not use the Keychain group that holds the keys",
            cause: """
                The access group is not in the entitlements of the app or of the extension, is spelled differently in the two, or
                they are signed by different teams.
                """,
            fix: """
                Put one group into keychain-access-groups of both targets, with the prefix $(AppIdentifierPrefix), and sign both with one
                team. 'pushcrypt lint --ios DIR' compares the files; what counts is the signed build.
                """,
            shown: fallback),
        Explanation(
            KeyStoreError.Code.storeBusy, .store,
            summary: "another process held the store for too long",
            cause: "Another process writes to the store, or was stopped in the middle of it.",
            fix: "Try again. If it stays, look for the process that has keystore.db open.",
            shown: unreadableKeys),
        Explanation(
            KeyStoreError.Code.diskFull, .store,
            summary: "no room is left on the disk",
            cause:
                "A write to the store found no room. On a phone a full disk stops no delivery.",
            fix: "Free some space and try again; the command ends with 1, because the same call may succeed then.",
            shown: wholeOrNot),
        Explanation(
            KeyStoreError.Code.inputOutput, .store,
            summary: "the system refuses to read or write",
            cause: """
                Missing rights, a read-only disk, a network file system that cannot lock or share memory, or no memory left. On a
                phone also an answer of the Keychain that has no code of its own.
                """,
            fix: """
                Do what the system's own words in the message suggest. Keep the store on a local disk that its user may
                write, for reading too.
                """,
            shown: "On a phone: the fallback. \(wholeOrNot)"),
    ]

    /// A store that works, and refuses a request.
    private static let storeNames = [
        Explanation(
            KeyStoreError.Code.invalidName, .store,
            summary: "a name, a device id or a setting that cannot be stored",
            cause: """
                It is empty, longer than 255 bytes or has control characters; a device id begins with pcr1, as a public key
                does, or has nothing but spaces; the value of a setting is too long.
                """,
            fix: "Choose another name.",
            shown: nothingChanged),
        Explanation(
            KeyStoreError.Code.unknownName, .store,
            summary: "no key has this name",
            cause:
                "The name is mistyped, the key is in another store, or none was made yet; or its only key is still pending.",
            fix: "'pushcrypt doctor' lists the keys of a store; 'pushcrypt keygen' makes one.",
            shown: nothingChanged),
        Explanation(
            KeyStoreError.Code.ambiguousName, .store,
            summary: "several keys, and none was named",
            cause: "The store has keys under several names and no default among them.",
            fix: "Name one with --name or --from, or make one the default when it is made ('keygen … --default').",
            shown: nothingChanged),
        Explanation(
            KeyStoreError.Code.nameTaken, .store,
            summary: "a key has this name already",
            cause: "'keygen' makes the first key of a name, and this name has one.",
            fix: "'pushcrypt rotate' gives the name a new key; --name makes a key under another one.",
            shown: nothingChanged),
        Explanation(
            KeyStoreError.Code.keyIDTaken, .store,
            summary: "the store holds this key, or one with its id, already",
            cause: """
                The same key was imported before, perhaps under another name. By chance two keys share an id once in four
                thousand million times.
                """,
            fix: "Use the key that is there, or make another one.",
            shown: nothingChanged),
        Explanation(
            KeyStoreError.Code.generationRollback, .store,
            summary: "a device's registration is older than the one that is held",
            cause: """
                An old record arrived late or was played back; a bare key was given after a rotation, which counts as
                generation 1; or the device was set up anew and counts from 1 again.
                """,
            fix: """
                Nothing for a late record. After a rotation give the record ('export device --json') and not the key alone. For a
                device that was set up anew, --replace, by the operator and not by the device.
                """,
            shown: nothingChanged),
        Explanation(
            KeyStoreError.Code.topicMismatch, .store,
            summary: "the same key or device is held for another app",
            cause: """
                A device, a sender or a device key is bound to one bundle id and was used with another: the extension's
                instead of the app's, the test build's instead of the shop's.
                """,
            fix:
                "Use the app's own bundle id on both ends. If the old binding was the mistake, --replace takes the new one.",
            shown: unreadableKeys),
        Explanation(
            KeyStoreError.Code.futureTime, .store,
            summary: "a time that is said of a device lies more than a day ahead",
            cause: """
                A clock is wrong, a time is in microseconds instead of milliseconds, or somebody has made it up: the last one
                counts, so it would win against all that the device does from now on.
                """,
            fix: """
                Set the clock of the machine that wrote the line, or correct the time there. A phone whose clock is wrong is taken
                by 'device add', which asks for no time.
                """,
            shown: nothingChanged),
        Explanation(
            KeyStoreError.Code.unknownDevice, .store,
            summary: "no device has this id",
            cause: "The id is mistyped, the device is in another store, or it never registered.",
            fix: "'pushcrypt device list' shows the devices; 'pushcrypt device add' registers one.",
            shown: nothingSealed),
        Explanation(
            KeyStoreError.Code.removedDevice, .store,
            summary: "the device was removed",
            cause: """
                The system said that the app is gone from it ('device remove --from-apns-410'), or an operator removed it; it has
                not registered since.
                """,
            fix: """
                Nothing: a device that comes back registers, and 'device add' takes it again. Stop sending to it until then.
                """,
            shown: nothingSealed),
        Explanation(
            KeyStoreError.Code.senderAlreadyTrusted, .store,
            summary: "another key is trusted under this name",
            cause: "The sender has another key than the one that was pinned, and a name has one pin.",
            fix: """
                After a planned rotation, nothing: the provider's messages bring the proof. After a theft --replace, which ends
                all trust in the old key at once.
                """,
            shown: nothingChanged),
        Explanation(
            KeyStoreError.Code.senderSuperseded, .store,
            summary: "the key was superseded here, and trust never goes back",
            cause: "An old sender key was given, from an old build of the app or an old copy of the record.",
            fix: "Get the sender's current key: 'pushcrypt export sender' on the provider's side.",
            shown: nothingChanged),
        Explanation(
            KeyStoreError.Code.tooManyAnnouncements, .store,
            summary: "a message cannot carry one rotation more",
            cause:
                "Four rotations of the sender's key are being announced, and each is announced for 60 days by default.",
            fix: """
                Wait until the first announcement has ended, and rotate no more often than every 15 days. --force ends the first one
                early: devices that missed it need the new key from the app.
                """,
            shown: nothingChanged),
        Explanation(
            KeyStoreError.Code.rotationRefused, .store,
            summary: "a rotation that cannot be issued or is not accepted",
            cause:
                "An overlap above 60 days, a statement that is not acceptable here, or the last generation that there is.",
            fix: "The message says which; the codes of rotation statements say more about the second.",
            shown: nothingChanged),
        Explanation(
            KeyStoreError.Code.responseTooLarge, .store,
            summary: "a response that is too long to wait",
            cause: "Somebody has written more than 512 KiB into the text field of a notification.",
            fix: "Take such a response in at once, or tell the person to write it in the app.",
            shown: "Nobody is shown anything. The app has the code, and what waits already is still there."),
    ]
}
