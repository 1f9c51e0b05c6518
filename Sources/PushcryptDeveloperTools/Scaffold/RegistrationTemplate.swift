internal import Pushcrypt

extension IOSScaffold {
    /// The app's side of enrolment.
    var pushRegistration: ScaffoldFile {
        let trust =
            sender.map { "{\n            .builtIn([try SenderPublicKey(text: \"\($0)\")])\n        }" } ?? "{ .reply }"
        return ScaffoldFile(
            path: "App/PushRegistration.swift",
            text: #"""
                import Foundation
                import Pushcrypt
                import PushcryptKeyStore
                import PushcryptReceiver
                import PushcryptService

                /// Keeps the provider's knowledge of this phone up to date: which key to seal to, and which token to send to.
                actor PushRegistration {
                    static let appGroup = AppGroup(identifier: "\#(appGroup)")

                    static let shared = PushRegistration(
                        provider: ProviderChannel(),
                        firstTrust: \#(trust),
                        file: { try EnrolmentFile.inApplicationSupport() })

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

                    /// Does what there is to do, and says in a line what that was. Call it at each launch while somebody is logged
                    /// in, and whenever APNs gives another token.
                    func update(pushToken: Data, alertsAreShown: Bool) async throws -> String {
                        try await afterEarlierCalls { try await self.updateNow(pushToken, alertsAreShown) }
                    }

                    /// Deletes the keys of the account that was logged in, and has the provider forget this phone.
                    func logOut() async throws {
                        try await afterEarlierCalls { try await self.logOutNow() }
                    }

                    /// Two calls at once would write over each other's state.
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
                        // What messages have changed while the app was not running.
                        let folded = try Self.appGroup.statements().merge(into: store, at: now)
                        let version = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
                        let circumstances = EnrolmentCircumstances(
                            appVersion: version.flatMap(AppVersion.init), pushToken: ContiguousArray(pushToken),
                            alertsAreShown: alertsAreShown)

                        switch enrolment.reconcile(file.read(), in: circumstances, at: now) {
                        case .later(let obstacle), .blocked(let obstacle):
                            return "\(obstacle.code): \(obstacle)"
                        case .plan(let plan):
                            var done = "\(plan)"
                            var work = try enrolment.begin(plan, at: now)
                            // Before anything is sent: the process may end at any point, and goes on at the next launch.
                            try file.write(work.state)
                            if let request = work.request {
                                let answer = try await provider.register(
                                    record: Data(request.record.json), pushToken: pushToken)
                                let reply = try RegistrationReply(json: ContiguousArray(answer))
                                let result = Result {
                                    try enrolment.handle(reply, to: request, state: &work.state, at: now)
                                }
                                try file.write(work.state)
                                done += "; \(try result.get().key)"
                            }
                            try await withdraw(&work.state, file)
                            if folded.conflicts > 0 { done += "; somebody else has used an old key of the provider's" }
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
                        for device in state.withdrawals {
                            try await provider.withdraw(device: device)
                            state.removeWithdrawal(of: device)
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

    /// The one file that the app must fill in.
    var providerChannel: ScaffoldFile {
        ScaffoldFile(
            path: "App/ProviderChannel.swift",
            text: #"""
                import Foundation

                /// How a registration reaches the provider: the app's own channel, in which each end knows who the other is.
                protocol RegistrationChannel: Sendable {
                    /// Sends the record, and the push token beside it; gives the body of the provider's reply.
                    func register(record: Data, pushToken: Data) async throws -> Data

                    /// Has the provider forget a device of this person's.
                    func withdraw(device: String) async throws
                }

                nonisolated struct ProviderChannel: RegistrationChannel {
                    func register(record: Data, pushToken: Data) async throws -> Data {
                        // EDIT: send `record` (JSON) and `pushToken` to your server as the person who is logged in, and return what it
                        // answers, which 'pushcrypt device add ID record.json --reply' prints there.
                        throw NotConnected()
                    }

                    func withdraw(device: String) async throws {
                        // EDIT: have your server delete `device`, if it is one of this person's.
                        throw NotConnected()
                    }

                    struct NotConnected: Error, CustomStringConvertible {
                        var description: String { "ProviderChannel.swift does not reach the app's server yet" }
                    }
                }

                """#)
    }

    /// How the app shows what the extension has noted.
    var deliveryJournal: ScaffoldFile {
        ScaffoldFile(
            path: "App/DeliveryJournal.swift",
            text: #"""
                import Foundation
                import PushcryptKeyStore
                import PushcryptService

                /// How the last deliveries went: when, which message, what came of it; nothing of what it said.
                nonisolated enum DeliveryJournal {
                    /// The journal as JSON, for the person to send: 'pushcrypt explain FILE' says what it means.
                    static func json() throws -> Data {
                        Data(JournalExport(try PushRegistration.appGroup.journal().entries()).json)
                    }
                }

                """#)
    }
}
