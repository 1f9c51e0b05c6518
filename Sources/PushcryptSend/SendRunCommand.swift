internal import Pushcrypt
internal import PushcryptCommand
internal import PushcryptCommandKit

/// Runs `pushcrypt send` with the arguments of this process, and ends the process with its exit code.
public func runPushcryptSend() -> Never {
    prepareProcess()
    var arguments = SystemEnvironment.arguments
    if arguments != [Option.version.name] { arguments.insert("send", at: 0) }
    endProcess(run(arguments: arguments, table: .send, console: .sending).rawValue)
}

extension Console {
    static var sending: Console { .process(redacting: SecretText.removed) }
}

extension CommandTable {
    /// The one command of this program, which calls itself as its users do.
    static var send: CommandTable {
        CommandTable(
            program: "pushcrypt", summary: "end-to-end encrypted push notifications",
            sections: [
                Section(
                    title: "notifications",
                    commands: [
                        Command("send", "send sealed payloads to APNs, and say what it answers", SendRunCommand.self)
                    ])
            ],
            version: { "pushcrypt \(CommandTable.programVersion) (\(Libraries.versions))" },
            page: { ProgramPage(date: "", examples: [], environment: [], files: [], exitCodes: []) },
            sharedOptions: { _ in }, check: SecretText.refuse)
    }
}

/// `send`.
struct SendRunCommand: CommandBody {
    static var page: CommandPage { SendArguments.page }

    private let arguments: SendArguments

    init(_ arguments: inout Arguments) { self.arguments = SendArguments(&arguments) }

    func configure(_ console: inout Console) {
        if let log = arguments.log { console.messageFormat = log.messages }
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let token = try providerToken(console)
        guard token != nil || arguments.certificate != nil || arguments.isDryRun else {
            throw .usage(
                "APNs must know who sends: --key with --team, or --certificate",
                hint: "the key is the file AuthKey_….p8 from the developer account")
        }
        // A key that cannot sign is noticed before anything is read.
        _ = try token?.token(issuedAt: console.now() / 1000)
        let settings = try settings(console)
        let stop: StopSignal
        do throws(SystemError) {
            stop = try StopSignal()
            try stop.raiseOnSignals { (body) throws(SystemError) in
                let code = SystemThread.start(body)
                guard code == 0 else { throw SystemError(code: code) }
            }
        } catch {
            throw .failed("cannot start: \(error.text)")
        }
        if let path = arguments.metrics { try SendMetrics(counts: SendCounts()).write(to: path) }
        let single = try single(console)
        let file = try InputFile(single == nil ? arguments.file : "-", console)
        let sender = try Sender(
            settings, token: token, input: file.descriptor, named: file.name, isInOrder: arguments.isInOrder,
            stop: stop,
            console)
        if let single { sender.add(single) }
        try run(sender, console)
        return try end(sender, isStream: file.size == nil || single != nil, console)
    }

    private func run(_ sender: Sender, _ console: Console) throws(CommandFailure) {
        var written = SystemEnvironment.uptime()
        try sender.run { counts in
            let time = SystemEnvironment.uptime()
            guard let path = arguments.metrics, time >= written + SendMetrics.interval else { return }
            written = time
            report(counts, to: path, console)
        }
        if let path = arguments.metrics { report(sender.counts, to: path, console) }
    }

    private func report(_ counts: SendCounts, to path: String, _ console: Console) {
        do throws(CommandFailure) {
            try SendMetrics(counts: counts).write(to: path)
        } catch {
            console.warning(error.message)
        }
    }

    private func end(_ sender: Sender, isStream: Bool, _ console: Console) throws(CommandFailure) -> ExitCode {
        switch sender.stopReason {
        case .refusals(let answer):
            throw .usage(
                "APNs refuses every message with \(answer.text): \(answer.advice)",
                hint: "stopped after \(Dispatcher.maximumRun) such answers; nothing was accepted")
        case .noConnection(let text): throw .usage("APNs cannot be used: \(text)", hint: "nothing was sent")
        case .requested, nil: break
        }
        if !sender.hasReadAll, !isStream {
            throw .failed("stopped by a signal after \(sender.counts.lines) lines: the rest of the input was not read")
        }
        return sender.counts.failed.isEmpty ? .done : .failed
    }
}

// MARK: Settings

extension SendRunCommand {
    private func settings(_ console: Console) throws(CommandFailure) -> Sender.Settings {
        var settings = Sender.Settings()
        settings.dispatch.connections = arguments.connections ?? settings.dispatch.connections
        settings.dispatch.timeout = arguments.timeout.map { UInt64($0) } ?? settings.dispatch.timeout
        settings.dispatch.rate = arguments.rate
        settings.dispatch.retriesUnknown = arguments.unknown != .giveUp
        settings.dispatch.usesToken = arguments.key != nil
        settings.standardEnvironment = arguments.environment ?? .production
        settings.retryFor = arguments.retryFor.map { UInt64($0) * 1000 } ?? settings.retryFor
        settings.window = arguments.window ?? settings.window
        settings.log = arguments.log
        settings.isDry = arguments.isDryRun
        let certificate = try certificate(console)
        for environment in SendArguments.Environment.allCases {
            var destination = Destination(host: environment.host)
            if let host = arguments.host { try destination.take(host) }
            destination.authorities = arguments.authorities
            destination.proxy = arguments.proxy
            destination.timeout = settings.dispatch.timeout
            destination.certificate = certificate
            settings.destinations[environment] = destination
        }
        return settings
    }

    private func providerToken(_ console: Console) throws(CommandFailure) -> ProviderToken? {
        guard let key = arguments.key, let team = arguments.team else { return nil }
        guard isAppleID(team) else {
            throw .usage("--team cannot be \(quoted(team))", hint: "it has ten letters and digits")
        }
        let id = arguments.keyID ?? Self.keyID(ofFile: key)
        guard let id, isAppleID(id) else {
            throw .usage("the key's id is not known", hint: "write it with --key-id, ten letters and digits")
        }
        return ProviderToken(try ProviderKey(key, console), keyID: id, team: team)
    }

    /// The id in the name that Apple gives the file: `AuthKey_ABC123DEFG.p8`.
    static func keyID(ofFile path: String) -> String? {
        let name = path.split(separator: "/").last ?? ""
        guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
        return String(name.dropFirst(8).dropLast(3))
    }

    private func certificate(_ console: Console) throws(CommandFailure) -> ClientCertificate? {
        guard let path = arguments.certificate else { return nil }
        var passphrase: String?
        if let source = arguments.passphraseFile {
            var text = ContiguousArray<UInt8>(repeating: 0, count: Console.secretCapacity)
            let count = try unsafe text.withUnsafeMutableBufferPointer { buffer throws(CommandFailure) in
                var span = unsafe buffer.mutableSpan
                return try console.readSecret(from: source, into: &span)
            }
            passphrase = String(decoding: text[..<count], as: UTF8.self)
        }
        var bytes = ContiguousArray<UInt8>(repeating: 0, count: 65_536)
        let count = try unsafe bytes.withUnsafeMutableBufferPointer { buffer throws(CommandFailure) in
            var span = unsafe buffer.mutableSpan
            return try console.readSecret(from: path, into: &span)
        }
        bytes.removeLast(bytes.count - count)
        let isArchive = bytes.first == 0x30
        return ClientCertificate(bytes, isArchive: isArchive, passphrase: passphrase)
    }

    /// The single message of the command line; nil if there are lines.
    private func single(_ console: Console) throws(CommandFailure) -> SendLine? {
        guard let token = arguments.single.token else { return nil }
        let text = try console.read(arguments.file, limit: JSONDocument.defaultMaximumBytes)
        let root: JSONValue
        do throws(JSONError) {
            root = try JSONDocument(parsing: text).root
        } catch {
            throw .refused("the message is not JSON: \(error)")
        }
        guard root.kind == .object else { throw .refused("the message is not a JSON object") }
        // What `seal --emit request` writes, or the payload alone.
        let isRequest = root["aps"] == nil && root["payload"]?.kind == .object
        let line = isRequest ? root : nil
        guard let topic = arguments.single.topic ?? line?["topic"]?.string else {
            throw .usage(
                "the message has no topic", hint: "add --topic with the app's bundle id, or seal with --emit request")
        }
        do throws(LineFailure) {
            let request = try PushToSend(
                token: token, topic: topic, pushType: arguments.single.pushType ?? line?["push_type"]?.string,
                priority: (arguments.single.priority.map { Int64($0) } ?? line?["priority"]?.integer)
                    .map { UInt64(clamping: $0) },
                expiration: (arguments.single.expiration.map { Int64($0) } ?? line?["expiration"]?.integer)
                    .map { UInt64(clamping: $0) },
                collapseID: arguments.single.collapseID ?? line?["collapse_id"]?.string,
                payload: (line?["payload"] ?? root).minified())
            return SendLine(request, arguments.environment)
        } catch {
            throw .usage(error.message)
        }
    }
}

extension SendArguments.Environment {
    /// Apple's server.
    fileprivate var host: String {
        switch self {
        case .production: "api.push.apple.com"
        case .sandbox: "api.sandbox.push.apple.com"
        }
    }
}

extension Destination {
    /// Reads `HOST`, `HOST:PORT` or `[ADDRESS]:PORT`.
    mutating func take(_ text: String) throws(CommandFailure) {
        let colon = text.lastIndex(of: ":")
        let hasPort = colon.map { !text[$0...].contains("]") } ?? false
        let end = hasPort ? colon ?? text.endIndex : text.endIndex
        let port = hasPort ? parseInteger(text[text.index(after: end)...], in: 1...65_535) : 443
        let host = text[..<end]
        guard let port, !host.isEmpty,
            host.utf8.allSatisfy({
                $0.isLetterOrDigit || $0 == 0x2D || $0 == 0x2E || $0 == 0x3A || $0 == 0x5B || $0 == 0x5D
            })
        else { throw .usage("--host cannot be \(quoted(text))", hint: "write HOST or HOST:PORT") }
        self.host = String(host)
        self.port = port
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= self || UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | 0x20
    }
}
