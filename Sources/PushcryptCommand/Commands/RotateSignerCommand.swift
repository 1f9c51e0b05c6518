internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

struct RotateSignerCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "For keys in signers or files, without a store. Has both keys sign that the new one replaces the old, and prints the rotations for 'seal --statement'. Then seal with the new key, and destroy the old one: it could sign another rotation."
            ],
            examples: [
                Example(
                    "pushcrypt rotate signer --sender-key-file sender.key --new-signer unix:new.sock --new-signer-key pcs1… -o statements"
                ),
                Example(
                    "pushcrypt rotate signer --signer unix:old.sock --new-signer unix:new.sock --new-signer-key pcs1… --statement statements --force -o statements",
                    "the next time"),
            ])
    }

    private let keyFile: String?
    private let signer: SignerArguments?
    private let newKeyFile: String?
    private let newSigner: SignerArguments?
    /// In milliseconds.
    private let signerTimeout: Int?
    private let statements: String?
    private let overlap: Interval
    private let announcement: Interval
    private let output: OutputArguments

    init(_ arguments: inout Arguments) {
        keyFile = arguments.value(
            "--sender-key-file", "FILE", .secret, help: "the key that is replaced: a file, fd:N or -")
        signer = SignerArguments(&arguments, help: "the key that is replaced, in the program at unix:PATH")
        newKeyFile = arguments.value(
            "--new-sender-key-file", "FILE", .secret, help: "the key that replaces it: a file, fd:N or -")
        newSigner = SignerArguments(newIn: &arguments, help: "the key that replaces it, in the program at unix:PATH")
        signerTimeout = arguments.signerTimeout()
        statements = arguments.value(
            "--statement", "FILE", .input, help: "the rotations that messages of the old key announce")
        overlap = arguments.overlap()
        announcement = arguments.announcement(help: "how long after their issue older rotations stay; default 60d")
        output = OutputArguments(&arguments)
        arguments.atMostOne(of: "--sender-key-file", "--signer")
        arguments.atMostOne(of: "--new-sender-key-file", "--new-signer")
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        guard signerTimeout == nil || signer != nil || newSigner != nil else {
            throw .usage("--signer-timeout goes with --signer or --new-signer", hint: "add one, or leave it out")
        }
        guard let old = try key(keyFile, signer, console) else {
            throw .usage("no key to replace given", hint: "add --sender-key-file or --signer")
        }
        guard let new = try key(newKeyFile, newSigner, console) else {
            throw .usage("no new key given", hint: "add --new-sender-key-file or --new-signer")
        }
        let now = console.timestamp
        let announced = try statements.map { (file) throws(CommandFailure) in
            try console.readStatements(from: file, endingAt: old.publicKey)
        }
        if let announced, announced.lastIssuedAt > now {
            throw .usage(
                "the last rotation was issued at \(announced.lastIssuedAt), but the clock shows \(now)",
                hint: "set the clock: phones would stop trusting the old key too early")
        }
        // Before anything is signed.
        try checkRoom(beside: announced, announcedFor: announcement, at: now)
        let file: OutputFile? =
            if let path = output.file {
                try OutputFile(path, mode: 0o666, force: output.force)
            } else {
                nil
            }
        let unsigned = try withRotationErrors { () throws(RotationError) in
            try announced?.check(new: new.publicKey)
            return try UnsignedRotation(from: old.publicKey, to: new.publicKey, at: now, overlap: overlap)
        }
        let statement = try withSigningErrors { () throws(SigningError) in try unsigned.signed(by: old, and: new) }
        let text =
            announced?.text(adding: statement, replacing: old.publicKey, announcedFor: announcement, at: now)
            ?? AnnouncedStatements.line(statement, beginningWith: old.publicKey)
        if let file {
            try file.write(ContiguousArray(text.utf8).span)
            try file.commit()
        } else {
            try console.write(text)
        }
        console.hint(
            "from \(now) key \(unsigned.newKey.id) replaces \(unsigned.oldKey.id), which verifies until \(statement.overlapEnd): seal with the new one and --statement, then destroy the old one"
        )
        return .done
    }

    private func key(
        _ file: String?, _ signer: SignerArguments?, _ console: Console
    ) throws(CommandFailure) -> (any MessageSigner)? {
        if let signer { return try signer.connect(threads: 1, timeout: signerTimeout, console) }
        return try file.map { (file) throws(CommandFailure) in try console.readProviderKey(from: file) }
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
