internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The two steps of `rotate sender --recover`.
enum RecoveryStep: String, CaseIterable {
    case prepare, finish
}

/// The options of `rotate sender --recover`.
struct RecoveryArguments: Sendable {
    static let option = "--recover"
    private static let ofPrepare = ["--recovery-key", "--serial-above", "--topic", "--output"]

    let step: RecoveryStep?
    private let file: String?
    private let recoveryKey: String?
    private let serial: Int?
    private let topic: TopicArgument
    private let output: String?

    init(_ arguments: inout Arguments) {
        file = arguments.optionalOperand("STATEMENT", .input, help: "with --recover finish: what 'recover sign' wrote")
        step = arguments.choice(
            Self.option, "STEP",
            help: "after a theft or loss: prepare a request for the recovery key, or finish with its statement")
        recoveryKey = arguments.value(
            "--recovery-key", "KEY",
            help: "with --recover prepare: the public key (pcv1…); default the only one of 'recover keys'")
        serial = arguments.serialAbove()
        topic = TopicArgument(&arguments, help: "with --recover prepare: the app, if the key is not bound to it")
        output = arguments.value("--output", short: "-o", "FILE", .file, help: "with --recover prepare: the request")
        for name in Self.ofPrepare { arguments.option(name, needs: Self.option) }
        arguments.option(
            Self.option, excludes: ["--overlap", "--announce", "--if-older-than"],
            hint: "a recovery ends the old key at once, and is announced permanently")
    }

    func refuseStatement() throws(CommandFailure) {
        if file != nil { throw .usage("a statement needs --recover finish") }
    }

    /// Makes the request.
    func prepare(
        named name: String?, in store: SQLiteKeyStore, _ clock: ClockAssurance, force: Bool, _ console: Console
    ) throws(CommandFailure) {
        try refuseStatement()
        let key = try chosenKey(named: name, in: store)
        let topic = try topic.topic()
        // Created before the store changes: a request that cannot be written would end the one that waits.
        let file: OutputFile? =
            if let output, output != "-" { try OutputFile(output, mode: 0o666, force: force) } else { nil }
        let prepared: PreparedRecovery
        do throws(KeyStoreError) {
            prepared = try store.prepareRecovery(
                named: name, topic: topic, by: key, serialAbove: UInt32(clamping: serial ?? 0), clock: clock,
                at: console.timestamp)
        } catch {
            guard error.code == .topicMismatch else { throw CommandFailure(error) }
            throw CommandFailure(
                error, hint: topic == nil ? "--topic BUNDLE-ID names it" : "leave --topic out for that app")
        }
        let request = prepared.request
        if let old = prepared.replacedRequest {
            console.hint(
                "the request of \(old.issuedAt) for new key \(old.newKey.id) can no longer be finished; if it was not yours, somebody was in this server"
            )
        }
        switch prepared.key {
        case nil:
            console.hint("this store has no key \(quoted(name ?? SQLiteKeyStore.defaultName)): a new one will be made")
        case let key?:
            if key.topic == nil {
                console.hint(
                    "key \(key.keyID) signs for every app: phones of others than \(request.topic) cannot follow")
            }
        }
        console.hint(
            "app \(request.topic), serial \(request.serial), new key \(request.newKey); nothing has changed yet: sign the request with 'recover sign', then: pushcrypt rotate sender --recover finish"
        )
        let text = ContiguousArray((String(decoding: request.json, as: UTF8.self) + "\n").utf8)
        guard let file else { return try console.write(text.span) }
        try file.write(text.span)
        try file.commit()
    }

    /// Returns the given recovery key, or the only one that `recover keys` has named.
    private func chosenKey(named name: String?, in store: SQLiteKeyStore) throws(CommandFailure) -> RecoveryPublicKey {
        if let recoveryKey {
            do throws(KeyError) {
                return try RecoveryPublicKey(text: recoveryKey)
            } catch {
                throw CommandFailure(error, inOption: "--recovery-key")
            }
        }
        let known = try withStoreErrors { () throws(KeyStoreError) in try store.announcedRecoveryKeys(of: name) }
        guard let only = known.first, known.count == 1 else {
            throw .usage(
                "--recovery-key is missing",
                hint: known.isEmpty
                    ? "add the public recovery key that the app has built in"
                    : "'recover keys' lists two: add the one whose secret key you have")
        }
        return only
    }

    /// Installs the new key.
    func finish(
        named name: String?, in store: SQLiteKeyStore, _ clock: ClockAssurance, isJSON: Bool, _ console: Console
    ) throws(CommandFailure) {
        let hasTopic = try topic.topic() != nil
        guard recoveryKey == nil, serial == nil, !hasTopic, output == nil else {
            throw .usage("\(Self.ofPrepare.joined(separator: ", ")) go with --recover prepare")
        }
        let bytes = try console.read(file ?? "-", limit: DeviceInput.maximumRecord)
        let signed = try withRotationErrors { () throws(RotationError) in try SignedRecovery(json: bytes) }
        let recovery = try withStoreErrors { () throws(KeyStoreError) in
            try store.finishRecovery(signed, named: name, clock: clock, at: console.timestamp) { old in
                console.hint(
                    "ending key \(old.keyID) of \(quoted(old.name)) at once: nothing it signed opens any longer")
            }
        }
        console.hint(
            "key \(recovery.record.keyID) replaces whatever the phones trust; messages carry serial \(signed.request.serial) permanently, to each phone that has not reported it"
        )
        try console.write((isJSON ? announcementText(recovery.record, store) : "\(recovery.record.publicKey)") + "\n")
    }
}
