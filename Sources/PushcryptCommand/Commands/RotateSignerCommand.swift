internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// `rotate signer`.
struct RotateSignerCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "For keys in a key service or in files, without a store. Has the old and the new key sign that the new one replaces the old, and prints the rotations to announce, for 'seal --statement'. Then seal with the new key, and destroy the old one: it could sign another rotation."
            ],
            examples: [
                Example(
                    "pushcrypt rotate signer --sender-key-file sender.key --new-signer unix:new.sock -o statements"),
                Example(
                    "pushcrypt rotate signer --signer unix:old.sock --new-signer unix:new.sock --statement statements --force -o statements",
                    "the next time"),
            ])
    }

    private let keyFile: String?
    private let signer: SignerArguments?
    private let newKeyFile: String?
    private let newSigner: SignerArguments?
    private let statements: String?
    /// Times are in seconds.
    private let overlap: Int?
    private let announceFor: Int?
    private let output: OutputArguments

    init(_ arguments: inout Arguments) {
        keyFile = arguments.value(
            "--sender-key-file", "FILE", .secret, help: "the key that is replaced: a file, fd:N or -")
        let timeout = arguments.signerTimeout()
        signer = SignerArguments(
            &arguments, timeout: timeout, help: "the key that is replaced, in the program at unix:PATH")
        newKeyFile = arguments.value(
            "--new-sender-key-file", "FILE", .secret, help: "the key that replaces it: a file, fd:N or -")
        newSigner = SignerArguments(
            &arguments, "--new-signer", timeout: timeout, help: "the key that replaces it, in the program at unix:PATH")
        statements = arguments.value(
            "--statement", "FILE", .input, help: "the rotations that messages of the old key announce")
        overlap = arguments.overlap()
        announceFor = arguments.announcement()
        output = OutputArguments(&arguments)
        arguments.atMostOne(of: "--sender-key-file", "--signer")
        arguments.atMostOne(of: "--new-sender-key-file", "--new-signer")
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let old = try key(keyFile, signer, "--sender-key-file or --signer", console)
        let new = try key(newKeyFile, newSigner, "--new-sender-key-file or --new-signer", console)
        let now = console.timestamp
        let announced = try statements.map { (file) throws(CommandFailure) in
            try console.readStatements(file, endingAt: old.publicKey)
        }
        if let announced, announced.issuedAt > now {
            throw .usage(
                "the last rotation was issued at \(announced.issuedAt), after what the clock shows: \(now)",
                hint: "set the clock; phones would refuse the statement, or stop trusting the old key too early")
        }
        let announcement = announceFor.map { Interval.seconds(UInt64($0)) } ?? SQLiteKeyStore.standardAnnouncement
        // Before anything is signed.
        try checkRoom(beside: announced, announcedFor: announcement, at: now)
        let unsigned = try withRecovery { () throws(RotationError) in
            try UnsignedRotation(
                from: old.publicKey, to: new.publicKey, at: now,
                overlap: overlap.map { .seconds(UInt64($0)) } ?? RotationStatement.standardOverlap)
        }
        let statement = try withSigner { () throws(SigningError) in try unsigned.signed(by: old, and: new) }
        let text =
            announced?.text(adding: statement, replacing: old.publicKey, announcedFor: announcement, at: now)
            ?? AnnouncedStatements.line(statement, old.publicKey)
        try console.deliver(text, to: output)
        console.hint(
            "key \(unsigned.newKey.id) replaces \(unsigned.oldKey.id), which verifies until \(statement.overlapEnd): seal with the new one and --statement, then destroy the old one"
        )
        return .done
    }

    private func key(
        _ file: String?, _ signer: SignerArguments?, _ options: String, _ console: Console
    ) throws(CommandFailure) -> any MessageSigner {
        if let signer { return try signer.connect(threads: 1, console) }
        guard let file else { throw .usage("there is no \(options)", hint: "give one of them") }
        return try console.readSenderKey(from: file)
    }

    private func checkRoom(
        beside announced: AnnouncedStatements?, announcedFor announcement: Interval, at now: Timestamp
    ) throws(CommandFailure) {
        guard let (recoveries, rotations) = announced?.kept(announcedFor: announcement, at: now),
            recoveries + rotations >= RotationStatement.maximumPerMessage
        else { return }
        throw CommandFailure(
            KeyStoreError(
                .tooManyAnnouncements,
                "\(recoveries + rotations) rotations and recoveries are being announced, the most a message can carry: wait until the oldest rotation's announcement ends, or shorten it with --announce and lose the devices that missed it"
            ))
    }
}
