internal import Pushcrypt
internal import PushcryptCommand
internal import PushcryptCommandKit

/// Runs `pushcrypt send` with the arguments of `main`, and ends the process with its exit code.
@_cdecl("pushcrypt_send_main")
package func pushcryptSendMain(_ count: Int32, _ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Never {
    prepareProcess()
    var arguments = unsafe SystemEnvironment.arguments(count, words)
    let isDoctor = arguments.first == "doctor" && arguments.contains(DoctorArguments.sendOption)
    let isAnswer = arguments.starts(with: ["answer", "fetch"])
    if arguments != [Option.version.name], !isDoctor, !isAnswer { arguments.insert("send", at: 0) }
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
                        .send { try $0.run($1) },
                        Command(
                            group: "answer", "what users answer to notifications, back from their phones",
                            [.answerFetch { try $0.run($1) }]),
                    ]),
                Section(
                    title: "checks",
                    commands: [.doctor { try $0.checkSending($1) }]),
            ],
            version: { "pushcrypt \(CommandTable.programVersion) (\(Libraries.versions))" },
            check: SecretText.refuse, failure: { Failure($0) },
            jsonMessages: LogFormat.json.messages)
    }
}

extension SendArguments {
    func run(_ console: Console) throws {
        let token = relay == nil ? try providerToken(console) : nil
        let settings = try settings(token, console)
        let stop = try StopSignal.ofSignals()
        let input = try InputFile(file, console)
        let lines = RunLines(settings.lines, input.descriptor, named: input.name, console)
        let sender = try Sender(settings, token: token, lines, stop: stop)
        try run(sender, of: input.size, stop, console)
    }

    private func providerToken(_ console: Console) throws -> ProviderToken? {
        let token = try login.providerToken(keptIn: tokenFile, console)
        guard token != nil || login.certificate != nil || isDryRun else { throw SendLogin.missing }
        // A key that cannot sign is noticed before anything is read.
        _ = try token?.token(issuedAt: console.now() / 1000)
        if token != nil, tokenFile == nil, !isDryRun {
            console.hint(
                "the provider token is not kept, and APNs may refuse another within 20 minutes: --provider-token-file keeps it"
            )
        }
        return token
    }

    /// - Parameter size: The size of the input, if it is a file.
    private func run(_ sender: Sender, of size: Int?, _ stop: StopSignal, _ console: Console) throws {
        var reports = SendReports(metrics: metrics, health: healthFile)
        reports.write(sender)
        do {
            try sender.run { reports.writeIfDue(sender) }
        } catch {
            let error = Failure(error)
            reports.write(sender, isEnd: true)
            throw error
        }
        reports.write(sender, isEnd: true)
        if !sender.lines.hasReadAll {
            guard size == nil else { throw console.failure(stoppedBy: stop, after: sender.lines.counts.lines) }
            if console.isInterrupted(by: stop) { throw ExitCode.interrupted }
        }
        try sender.lines.counts.exit.end()
    }
}

// MARK: Settings

extension SendArguments {
    private func settings(_ token: ProviderToken?, _ console: Console) throws -> Sender.Settings {
        var settings = Sender.Settings()
        settings.dispatch.connections = connections ?? settings.dispatch.connections
        settings.dispatch.timeout = login.timeout.map { UInt64($0) } ?? settings.dispatch.timeout
        settings.repeatsClear = repeatsClear
        if let relay = relay {
            settings.lines = lineSettings(isForRelay: true)
            try useRelay(relay, &settings, console)
            return settings
        }
        settings.lines = lineSettings(isForRelay: false)
        settings.standardEnvironment = login.environment ?? .production
        let certificate = try login.certificate(console)
        if let certificate { try refuseExpired(certificate, console) }
        for environment in PushEnvironment.allCases {
            let destination = try login.destination(environment, certificate)
            settings.routes[environment] = APNsRoute(destination, token, console)
        }
        return settings
    }

    /// Everything goes to one publisher's relay.
    private func useRelay(_ text: String, _ settings: inout Sender.Settings, _ console: Console) throws {
        let origin = try SendArguments.origin(text)
        let keys = isDryRun ? { [] } : try pushKeys(console)
        var destination = try Destination(origin, authorities: login.authorities)
        destination.timeout = login.timeout.map { UInt64($0) } ?? destination.timeout
        let route = RelayRoute(destination, origin, keys)
        settings.routes[settings.standardEnvironment] = route
        settings.dispatch.peer = "the relay"
        // A relay counts the requests of a server, and each has many messages.
        settings.dispatch.mostStreams = 1
        settings.dispatch.mostMessages = RelayRequest.mostMessages
        settings.dispatch.mostBytes = RelayRequest.longestBody - RelayRequest.bodyLength([])
    }

    private func lineSettings(isForRelay: Bool) -> RunLines.Settings {
        var settings = RunLines.Settings(isForRelay: isForRelay, isInOrder: isInOrder, log: log)
        settings.retryFor = retryFor.map { UInt64($0) * 1000 } ?? settings.retryFor
        settings.isDry = isDryRun
        return settings
    }

    /// Refuses a certificate that has expired, if APNs says so too: otherwise this machine's clock may be wrong.
    private func refuseExpired(_ certificate: ClientCertificate, _ console: Console) throws {
        guard certificate.hasExpired(at: console.now() / 1000), !isDryRun else { return }
        let destination = try login.destination(login.environment ?? .production, nil)
        let result = try Probe(destination: destination).send(.harmless(topic: nil), authorization: nil)
        if case .answer(let response) = result, let time = response.time, certificate.hasExpired(at: time / 1000) {
            throw Failure.usage("the certificate has expired", hint: "create a new one, or use --key")
        }
        console.warning("the certificate has expired by this machine's clock, which APNs does not confirm")
    }
}
