internal import Pushcrypt
internal import PushcryptCommand
internal import PushcryptCommandKit

/// Runs `pushcrypt send` with the arguments of `main`, and ends the process with its exit code.
@_cdecl("pushcrypt_send_main")
package func pushcryptSendMain(_ count: Int32, _ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Never {
    prepareProcess()
    var arguments = unsafe SystemEnvironment.arguments(count, words)
    let isDoctor = arguments.first == "doctor" && arguments.contains(DoctorArguments.sendOption)
    if arguments != [Option.version.name], !isDoctor { arguments.insert("send", at: 0) }
    endProcess(run(arguments: arguments, table: .send, console: .sending).rawValue)
}

extension Console {
    static var sending: Console { .process(redacting: SecretText.removed) }
}

extension CommandTable {
    /// The commands of this program, which calls itself as its users do.
    static var send: CommandTable {
        CommandTable(
            program: "pushcrypt", summary: "end-to-end encrypted push notifications",
            sections: [
                Section(
                    title: "notifications",
                    commands: [
                        Command("send", "send sealed payloads to APNs, and say what it answers", SendRunCommand.self)
                    ]),
                Section(
                    title: "checks",
                    commands: [
                        Command("doctor", "find what is wrong, and say how to fix it", SendDoctorCommand.self)
                    ]),
            ],
            version: { "pushcrypt \(CommandTable.programVersion) (\(Libraries.versions))" },
            page: { ProgramPage(date: "", examples: [], environment: [], files: [], exitCodes: []) },
            sharedOptions: { _ in }, check: SecretText.refuse, jsonMessages: LogFormat.json.messages)
    }
}

struct SendRunCommand: CommandBody {
    static var page: CommandPage { SendArguments.page }

    private let arguments: SendArguments

    init(_ arguments: inout Arguments) { self.arguments = SendArguments(&arguments) }

    func configure(_ console: inout Console) {
        if let log = arguments.log { console.messageFormat = log.messages }
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        if let origin = arguments.relay { return try run(relay: origin, console) }
        let token = try arguments.login.providerToken(keptIn: arguments.tokenFile, console)
        guard token != nil || arguments.login.certificate != nil || arguments.isDryRun else { throw SendLogin.missing }
        // A key that cannot sign is noticed before anything is read.
        _ = try token?.token(issuedAt: console.now() / 1000)
        let settings = try settings(console)
        let stop = try Self.stopSignal()
        let single = try single(console)
        let file = try InputFile(single == nil ? arguments.file : "-", console)
        let lines = RunLines(settings.lines, file.descriptor, named: file.name, console)
        let sender = try Sender(settings, token: token, lines, stop: stop)
        if let single { sender.add(single) }
        return try run(sender, of: single == nil ? file.size : nil, stop, isSingle: single != nil, console)
    }

    private static func stopSignal() throws(CommandFailure) -> StopSignal {
        do throws(SystemError) {
            let stop = try StopSignal()
            try stop.raiseOnSignals(waitingOn: SystemThread.start)
            return stop
        } catch {
            throw .failed("cannot start: \(error.text)")
        }
    }

    /// - Parameter size: The size of the input, if it is a file.
    private func run(
        _ sender: some SendRun, of size: Int?, _ stop: StopSignal, isSingle: Bool = false, _ console: Console
    ) throws(CommandFailure) -> ExitCode {
        var reports = SendReports(metrics: arguments.metrics, health: arguments.healthFile)
        reports.write(sender)
        do throws(CommandFailure) {
            try sender.run { reports.writeIfDue(sender) }
        } catch {
            reports.write(sender, isEnd: true)
            throw error
        }
        reports.write(sender, isEnd: true)
        guard !sender.lines.hasReadAll, !isSingle else { return sender.lines.counts.exit }
        guard size == nil else { throw console.failure(stoppedBy: stop, after: sender.lines.counts.lines) }
        return console.isInterrupted(by: stop) ? .interrupted : sender.lines.counts.exit
    }

    /// Sends through a publisher's relay.
    private func run(relay text: String, _ console: Console) throws(CommandFailure) -> ExitCode {
        let origin = try SendArguments.origin(text)
        let key = arguments.isDryRun ? nil : try arguments.pushKey(console)
        var relay = RelayClient.Settings(origin: origin)
        relay.authorities = arguments.login.authorities
        relay.proxy = try arguments.login.proxyURL(console)
        relay.timeout = arguments.login.timeout.map { UInt64($0) } ?? relay.timeout
        relay.connectTimeout = min(relay.connectTimeout, relay.timeout)
        var settings = RelaySender.Settings(relay: relay)
        settings.dispatch.requests = arguments.connections ?? settings.dispatch.requests
        settings.lines = lineSettings(.relay)
        let stop = try Self.stopSignal()
        let file = try InputFile(arguments.file, console)
        let lines = RunLines(settings.lines, file.descriptor, named: file.name, console)
        let sender = try RelaySender(settings, key: key, lines, stop: stop)
        return try run(sender, of: file.size, stop, console)
    }
}

// MARK: Settings

extension SendRunCommand {
    private func settings(_ console: Console) throws(CommandFailure) -> Sender.Settings {
        var settings = Sender.Settings()
        settings.dispatch.connections = arguments.connections ?? settings.dispatch.connections
        settings.dispatch.timeout = arguments.login.timeout.map { UInt64($0) } ?? settings.dispatch.timeout
        settings.dispatch.rate = arguments.rate
        settings.dispatch.usesToken = arguments.login.key != nil
        settings.standardEnvironment = arguments.login.environment ?? .production
        settings.lines = lineSettings(.apns)
        // What is read has its turn within half of the time for retries.
        if let rate = arguments.rate {
            settings.lines.limits.window = min(
                settings.lines.limits.window, max(1, rate * Int(settings.lines.retryFor) / 2000))
        }
        settings.repeatsClear = arguments.repeatsClear
        let certificate = try arguments.login.certificate(console)
        let proxy = try arguments.login.proxyURL(console)
        if let certificate { try refuseExpired(certificate, proxy: proxy, console) }
        for environment in PushEnvironment.allCases {
            settings.destinations[environment] = try arguments.login.destination(environment, certificate, proxy: proxy)
        }
        return settings
    }

    private func lineSettings(_ form: SendLine.Form) -> RunLines.Settings {
        var settings = RunLines.Settings(form: form, isInOrder: arguments.isInOrder, log: arguments.log)
        settings.retryFor = arguments.retryFor.map { UInt64($0) * 1000 } ?? settings.retryFor
        settings.isDry = arguments.isDryRun
        return settings
    }

    /// Refuses a certificate that has expired, if APNs says so too: otherwise this machine's clock may be wrong.
    private func refuseExpired(
        _ certificate: ClientCertificate, proxy: String?, _ console: Console
    ) throws(CommandFailure) {
        guard certificate.hasExpired(at: console.now() / 1000), !arguments.isDryRun else { return }
        let destination = try arguments.login.destination(
            arguments.login.environment ?? .production, nil, proxy: proxy)
        let result = try Probe(destination: destination).send(.harmless(topic: nil), authorization: nil)
        if case .answer(let answer) = result, let time = answer.time, certificate.hasExpired(at: time / 1000) {
            throw .usage("the certificate has expired", hint: "create a new one, or use --key")
        }
        console.warning("the certificate has expired by this machine's clock, which APNs does not confirm")
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
            try SendLine.checkIsSealed(line?["payload"] ?? root, orSaidToBeClear: line?.member("unencrypted"))
            let request = try PushToSend(
                token: token, topic: topic, pushType: arguments.single.pushType ?? line?["push_type"]?.string,
                priority: (arguments.single.priority.map { Int64($0) } ?? line?["priority"]?.wholeNumber)
                    .map { UInt64(clamping: $0) },
                expiration: (arguments.single.expiration.map { Int64($0) } ?? line?["expiration"]?.wholeNumber)
                    .map { UInt64(clamping: $0) },
                collapseID: arguments.single.collapseID ?? line?["collapse_id"]?.string,
                payload: line?["payload"] ?? root)
            return SendLine(request, arguments.login.environment)
        } catch {
            guard error.code != SendCode.notSealed.rawValue else { throw .refused("\(error.code): \(error.message)") }
            throw .usage(error.message)
        }
    }
}
