public import Foundation
public import Pushcrypt
internal import PushcryptKeyStore
public import PushcryptReceiver
internal import UserNotifications

/// The accounts that an app keeps registered with its provider: everything between a log-in, the push token, and a log-out.
///
///     let accounts = PushAccounts(trust: .firstReply, channel: ServerChannel())
///
///     await accounts.update([user], token: deviceToken)   // at each launch, after a log-in, and with each token from APNs
///     try await accounts.logOut(user)                     // when the app no longer passes the user to `update`
///
/// Both may be called at any time, by any number of tasks: steps that read and write the state run one after another, also
/// those of several objects, and nothing is held while the network is waited for. A log-out never waits for the network. The
/// state is in the ``SharedKeyStore``, which survives relaunches. Not run on Apple systems.
public actor PushAccounts {
    let registrations: AccountRegistrations

    /// Creates a value. Reads nothing before it is used.
    ///
    /// - Parameters:
    ///   - appGroup: The app group that the service extension is configured with; by default what the app's property list has
    ///     under `PushcryptAppGroup`.
    ///   - topic: The bundle id of the app, evaluated at each use; by default that of this app.
    ///   - trust: The provider keys that each account trusts first, evaluated at each use.
    ///   - senders: What the extension shows senders with: a log-out then deletes what the system knows of them.
    ///   - channel: The app's way to its server, or to each account's.
    ///   - relay: The publisher's relay, for an app whose users have their own servers: records have a grant of it in place of the
    ///     token. Grants are renewed at an update after 7 days, and if token, environment or the server's push key change.
    public init(
        appGroup: String? = nil, topic: @autoclosure @escaping @Sendable () throws -> Topic? = nil,
        trust: @autoclosure @escaping @Sendable () throws -> FirstTrust, senders: SenderDisplay? = nil,
        channel: any RegistrationChannel, relay: PushRelay? = nil
    ) {
        let app = ContainingApp()
        let ownTopic: @Sendable () throws -> Topic = { try topic() ?? app.topic() }
        var settings = AccountSettings(
            directory: {
                try AppGroup(identifier: try appGroup ?? app.appGroupIdentifier(), topic: try ownTopic()).directory()
            }, topic: ownTopic, trust: trust)
        (settings.senders, settings.relay) = (senders, relay)
        self.init(settings, channel: channel)
    }

    init(_ settings: AccountSettings, channel: any RegistrationChannel) {
        registrations = AccountRegistrations(settings, channel: channel)
    }

    /// Makes the provider know of this phone what there is to know of these accounts: key, push token, trust, app version,
    /// whether alerts are shown. Sends nothing that the provider knows, and what a log-out has left to say.
    ///
    /// A later call sends whatever this one could not; call it also when nobody is logged in. An account that is not named stays as
    /// it is. One whose log-out is requested meanwhile is not registered again.
    ///
    /// - Parameters:
    ///   - accounts: The names of the accounts that are logged in, each 1 to 255 bytes without control and invisible
    ///     characters; names that never change, such as the server's user ids.
    ///   - token: The device token from APNs.
    ///   - alertsAreShown: Whether the user lets the app show alerts; nil to ask the system.
    /// - Returns: What became of each, for the developer's log.
    @discardableResult
    public func update(
        _ accounts: [String], token: Data, alertsAreShown: Bool? = nil
    ) async -> [String: Outcome] {
        let call = CallOrder.now
        let areShown = if let alertsAreShown { alertsAreShown } else { await Self.alertsAreShown() }
        return await registrations.update(accounts, token: token, alertsAreShown: areShown, since: call)
    }

    /// Pairs an account with the server that shows a code, which needs no accounts. Call it when the user has seen the code's
    /// `PairingCode.host` and agreed: a code from a stranger pairs the phone with the stranger's server.
    ///
    /// The phone posts its record to the code's address, trusts the provider key of the code and no other, and then posts it there
    /// again with a grant of the relay. From then on `update` and `logOut` post there, too: the channel is not used.
    ///
    /// - Parameters:
    ///   - code: The code, which is for one phone, and for 10 minutes.
    ///   - account: The app's name for the account, for example the code's host, as for `update`.
    ///   - token: The device token from APNs.
    ///   - alertsAreShown: Whether the user lets the app show alerts; nil to ask the system.
    /// - Returns: What became of it. `unreachable` and `later`: the same code may be tried again, at once. `blocked`: another code is
    ///   needed (`unknown-pairing`: wrong, or too late; `pairing-used`; `wrong-provider`: another server answers, or the account
    ///   has one), or the relay must be repaired (`unknown-topic`). After `blocked` and `refused` nothing is left of a new account.
    public func pair(
        _ code: PairingCode, as account: String, token: Data, alertsAreShown: Bool? = nil
    ) async -> Outcome {
        let call = CallOrder.now
        let areShown = if let alertsAreShown { alertsAreShown } else { await Self.alertsAreShown() }
        let outcomes = await registrations.update(
            [account], pairing: code, token: token, alertsAreShown: areShown, since: call)
        return outcomes[account] ?? Outcome(.loggedOut)
    }

    /// Deletes what this phone has of an account: its keys and pins, its notifications on the screen, shared attachments, and
    /// what the system knows of senders. Then the provider is told to forget this phone, at once or by a later call of
    /// `update` for any account; it needs no session for that. The relay is told to end the account's grants.
    ///
    /// Works without a network. A push of the account that comes later does not open.
    ///
    /// - Throws: Errors of the key store, as before the first unlock. Everything else is done; repeat the call until it
    ///   succeeds.
    public func logOut(_ account: String) async throws {
        CallOrder.noteLogOut(account)
        try await registrations.logOut(account)
    }

    private static func alertsAreShown() async -> Bool {
        await withCheckedContinuation { continuation in
            UNUserNotificationCenter.current().getNotificationSettings { @Sendable settings in
                continuation.resume(returning: areAlertsShown(with: settings))
            }
        }
    }

    /// Whether the settings show alerts anywhere: banners may be off, and the lock screen on. By Apple's
    /// documentation; not run on Apple systems.
    static func areAlertsShown(with settings: UNNotificationSettings) -> Bool {
        guard settings.authorizationStatus != .notDetermined, settings.authorizationStatus != .denied else {
            return false
        }
        return [settings.alertSetting, settings.lockScreenSetting, settings.notificationCenterSetting].contains(
            .enabled)
    }

    /// The outcome of an account's update.
    public struct Outcome: Hashable, Sendable, CustomStringConvertible {
        /// The result of an update.
        public enum Status: Hashable, Sendable {
            /// The provider knows everything.
            case registered
            /// The provider has refused the account's key.
            case refused(RegistrationReply.Refusal)
            /// The provider or the relay has not answered, or not so that it can be read.
            case unreachable(String)
            /// Nothing can be done now, for example before the first unlock, or because the relay has too much to do.
            case later(EnrolmentObstacle)
            /// Nothing can be done until the app, its entitlements, its store or its relay change, or with another code.
            /// `not-configured`: the topic is not the app's bundle id, or there is no app group.
            case blocked(EnrolmentObstacle)
            /// The account has logged out meanwhile.
            case loggedOut
        }

        /// The result.
        public internal(set) var status: Status
        /// News for the app, as codes that `pushcrypt explain` explains: `alerts-off`, `provider-replaced`,
        /// `damaged-enrolment`, `foreign-provider`; `certificate-conflict`: the provider key may be stolen; `no-push-key`: the server
        /// uses no relay, and the app does; `pair-again`: the server knows this phone no more, and only another pairing, or another
        /// log-in, brings it back.
        public internal(set) var notices: Set<String> = []
        private var steps: [String] = []

        init(_ status: Status = .registered) { self.status = status }

        /// A line for the developer's log, for example `register(first); acknowledged`.
        public var description: String {
            var words = steps
            switch status {
            case .registered, .refused: break
            case .unreachable(let problem): words.append("unreachable: \(problem)")
            case .later(let obstacle), .blocked(let obstacle): words.append("\(obstacle.code): \(obstacle)")
            case .loggedOut: words.append("logged-out")
            }
            return words.joined(separator: "; ")
        }

        // MARK: The log

        mutating func note(_ step: EnrolmentStep, isFirst: Bool) {
            notices.formUnion(step.notices.map(\.rawValue))
            if isFirst || step.request != nil { steps.append(step.description) }
        }

        mutating func note(_ result: EnrolmentResult) {
            notices.formUnion(result.notices)
            steps.append(result.description)
        }

        func ending(_ status: Status) -> Outcome {
            var outcome = self
            outcome.status = status
            return outcome
        }
    }
}

extension PushAccounts.Outcome.Status {
    /// The status after an error of the store: `later` if the same call may succeed without anyone's action.
    init(_ error: KeyStoreError) {
        let passes = [.storeLocked, .storeBusy, .diskFull, .inputOutput].contains(error.code)
        self = passes ? .later(EnrolmentObstacle(error)) : .blocked(EnrolmentObstacle(error))
    }
}
