internal import Pushcrypt

extension IOSScaffold {
    /// The app's registration with the provider.
    var pushRegistration: ScaffoldFile {
        ScaffoldFile(
            path: "App/PushRegistration.swift",
            text: #"""
                import Foundation
                import Pushcrypt
                import PushcryptKeyStore
                import PushcryptReceiver
                import PushcryptService

                /// Keeps the provider's record of this phone up to date: its key and its push token.
                actor PushRegistration {
                    static let appGroup = AppGroup(identifier: "\#(appGroup)")

                    static let shared = PushRegistration(
                        provider: ProviderChannel(),
                        firstTrust: \#(trust),
                        file: { try EnrolmentFile.inApplicationSupport() })

                    /// Where the push token is valid: Xcode signs debug builds for development.
                    #if DEBUG
                        private static let environment = PushEnvironment.development
                    #else
                        private static let environment = PushEnvironment.production
                    #endif

                    private let provider: any RegistrationChannel
                    private let firstTrust: @Sendable () throws -> FirstTrust
                    private let file: @Sendable () throws -> EnrolmentFile
                    private var latest: Task<Void, Never>?

                    init(
                        provider: any RegistrationChannel, firstTrust: @escaping @Sendable () throws -> FirstTrust,
                        file: @escaping @Sendable () throws -> EnrolmentFile
                    ) {
                        self.provider = provider
                        self.firstTrust = firstTrust
                        self.file = file
                    }

                    /// Updates the registration, and returns a line about it. Call it at each launch while a user is logged in, and
                    /// whenever APNs returns another token.
                    func update(pushToken: Data, alertsAreShown: Bool) async throws -> String {
                        try await afterEarlierCalls { try await self.updateNow(pushToken, alertsAreShown) }
                    }

                    /// Deletes the account's keys, and removes this phone at the provider.
                    func logOut() async throws {
                        try await afterEarlierCalls { try await self.logOutNow() }
                    }

                    /// Prevents two calls from overwriting each other's state.
                    private func afterEarlierCalls<R: Sendable>(
                        _ work: @escaping @Sendable () async throws -> R
                    ) async throws -> R {
                        let earlier = latest
                        let task = Task {
                            await earlier?.value
                            return try await work()
                        }
                        latest = Task { _ = try? await task.value }
                        return try await task.value
                    }

                    // MARK: Steps

                    private func updateNow(_ pushToken: Data, _ alertsAreShown: Bool) async throws -> String {
                        let file = try file()
                        let store = try SharedKeyStore.open()
                        let enrolment = try enrolment(in: store)
                        // What the extension learned from messages that arrived while the app was not running.
                        let learned = try Self.appGroup.mergeLearned(into: store, at: now)
                        // Notifications withdrawn while the extension could not remove them.
                        try? Self.appGroup.removeWithdrawnNotifications()
                        let version = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
                        let circumstances = EnrolmentCircumstances(
                            appVersion: version.flatMap(AppVersion.init), pushToken: ContiguousArray(pushToken),
                            environment: Self.environment, alertsAreShown: alertsAreShown)

                        switch enrolment.reconcile(file.read(), in: circumstances, at: now) {
                        case .later(let obstacle), .blocked(let obstacle):
                            return "\(obstacle.code): \(obstacle)"
                        case .plan(let plan):
                            var done = "\(plan)"
                            var work = try enrolment.begin(plan, at: now)
                            // Before anything is sent: the process may end at any point, and continues at the next launch.
                            try file.write(work.state)
                            if let request = work.request {
                                let answer = try await provider.register(record: Data(request.record.json))
                                let reply = try RegistrationReply(json: ContiguousArray(answer))
                                let result = Result {
                                    try enrolment.handle(reply, to: request, state: &work.state, at: now)
                                }
                                try file.write(work.state)
                                done += "; \(try result.get())"
                            }
                            try await withdraw(&work.state, file)
                            if learned.conflicts > 0 { done += "; certificate-conflict: the provider key may be stolen" }
                            return done
                        }
                    }

                    private func logOutNow() async throws {
                        let file = try file()
                        let enrolment = try enrolment(in: try SharedKeyStore.open())
                        guard var state = try enrolment.logOut(file.read()) else { return }
                        try file.write(state)
                        try await withdraw(&state, file)
                    }

                    private func withdraw(_ state: inout EnrolmentState, _ file: EnrolmentFile) async throws {
                        for withdrawal in state.withdrawals {
                            try await provider.withdraw(Data(withdrawal.json))
                            state.removeWithdrawal(of: withdrawal.device)
                            try file.write(state)
                        }
                    }

                    private func enrolment(in store: SharedKeyStore.Store) throws -> Enrolment<SharedKeyStore.Store> {
                        Enrolment(store: store, topic: try Topic("\#(topic)"), firstTrust: try firstTrust())
                    }

                    private var now: Timestamp { Timestamp(secondsSince1970: Date().timeIntervalSince1970) }
                }

                """#)
    }

    private var trust: String {
        guard let provider else { return "{ .firstReply }" }
        let indent = String(repeating: " ", count: 20)
        let certificate = certificate.map { ",\n\(indent)certificate: try Certificate(text: \"\($0)\")" } ?? ""
        return
            "{\n            .builtIn([\n                ProviderPin(\n\(indent)try ProviderPublicKey(text: \"\(provider)\")\(certificate))\n            ])\n        }"
    }

    /// The file that the developer must complete.
    var providerChannel: ScaffoldFile {
        ScaffoldFile(
            path: "App/ProviderChannel.swift",
            text: #"""
                import Foundation

                /// The app's own channel to the provider, which authenticates both sides.
                protocol RegistrationChannel: Sendable {
                    /// Sends the record, which contains the push token; returns the body of the provider's reply.
                    func register(record: Data) async throws -> Data

                    /// Removes a device at the provider, perhaps of a user who has logged out.
                    func withdraw(_ withdrawal: Data) async throws
                }

                nonisolated struct ProviderChannel: RegistrationChannel {
                    func register(record: Data) async throws -> Data {
                        // EDIT: send `record` (JSON) to your server as the logged-in user, and return its answer, which
                        // 'pushcrypt device add ID record.json --user USER --reply' prints there.
                        throw NotConnected()
                    }

                    func withdraw(_ withdrawal: Data) async throws {
                        // EDIT: send `withdrawal` (JSON) to your server. It removes `device` if its record has this `withdrawal`,
                        // or if it belongs to the logged-in user.
                        throw NotConnected()
                    }

                    struct NotConnected: Error, CustomStringConvertible {
                        var description: String { "ProviderChannel.swift does not reach the app's server yet" }
                    }
                }

                """#)
    }

    /// The app's access to the extension's journal.
    var deliveryJournal: ScaffoldFile {
        ScaffoldFile(
            path: "App/DeliveryJournal.swift",
            text: #"""
                import Foundation
                import PushcryptKeyStore
                import PushcryptService

                /// The outcomes of the last deliveries: time, message and result, without content.
                nonisolated enum DeliveryJournal {
                    /// The journal as JSON, for the user to send: 'pushcrypt explain FILE' explains it.
                    static func json() throws -> Data {
                        Data(JournalExport(try PushRegistration.appGroup.journal().entries()).json)
                    }
                }

                """#)
    }
}
