internal import Foundation
internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver

/// The sources of all that an app's registrations need. Not run on Apple systems.
struct AccountSettings: Sendable {
    /// The extension's directory in the app group.
    var directory: @Sendable () throws -> URL
    var topic: @Sendable () throws -> Topic
    var trust: @Sendable () throws -> FirstTrust
    /// The extension's way to show senders.
    var senders: SenderDisplay?
    var relay: PushRelay?
    var poster: any WebPosting = URLSessionPoster()
    var store: @Sendable () throws -> any DeviceStore
    /// The id of this installation.
    var mark: @Sendable () throws -> String = { try InstallationMark.inApplicationSupport().read() }
    /// The app's own bundle id; nil where there are no bundles.
    var bundleID: @Sendable () -> String? = { Bundle.main.bundleIdentifier }
    var environment: @Sendable () -> PushEnvironment? = { PushEnvironment.ofThisApp }
    var appVersion: @Sendable () -> AppVersion? = {
        let version = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
        return version.flatMap(AppVersion.init)
    }
    /// The time after which a message counts as lost, in milliseconds.
    var patience: UInt64 = 60_000
    var clock: any DeliveryClock = SystemClock()
    var now: @Sendable () -> Timestamp = { Timestamp(secondsSince1970: Date().timeIntervalSince1970) }

    init(
        directory: @escaping @Sendable () throws -> URL, topic: @escaping @Sendable () throws -> Topic,
        trust: @escaping @Sendable () throws -> FirstTrust
    ) {
        self.directory = directory
        self.topic = topic
        self.trust = trust
        store = { try SharedKeyStore.open(for: try topic()) }
    }

    /// Returns what holds for every account.
    func terms() throws -> Registrar.Terms {
        Registrar.Terms(enrolment: EnrolmentTerms(topic: try ownTopic(), trust: try trust()), relay: relay)
    }

    /// The extension's directory.
    func ownDirectory() throws -> URL {
        _ = try ownTopic()
        return try directory()
    }

    private func ownTopic() throws -> Topic {
        let topic = try topic()
        if let other = bundleID(), other != topic.bundleID { throw NotConfigured(topic: topic, bundleID: other) }
        return topic
    }

    func facts(token: Data, alertsAreShown: Bool) -> EnrolmentFacts {
        EnrolmentFacts(
            appVersion: appVersion(), pushToken: ContiguousArray(token), environment: environment(),
            alertsAreShown: alertsAreShown)
    }
}

/// The error for an app that is configured with another's bundle id, such as a variant with a copied topic: it would
/// use the other's keys and files.
struct NotConfigured: Error, CustomStringConvertible {
    let topic: Topic
    let bundleID: String

    var description: String {
        "the topic is \(topic), and this app is \(bundleID): an app's topic is its own bundle id"
    }
}

extension PushEnvironment {
    /// Where this app's token is valid. Xcode embeds a profile in an app that it signs for development, and it says
    /// so; Apple embeds none.
    static var ofThisApp: PushEnvironment {
        #if targetEnvironment(simulator)
            return .development
        #else
            // A Mac has the other, for Catalyst too.
            let profiles = ["embedded.mobileprovision", "Contents/embedded.provisionprofile"].lazy.compactMap {
                try? Data(contentsOf: Bundle.main.bundleURL.appendingPathComponent($0))
            }
            return PushEnvironment(profile: profiles.first)
        #endif
    }

    /// The environment that a provisioning profile permits: a property list in XML, inside a signature.
    init(profile: Data?) {
        // On a Mac it is com.apple.developer.aps-environment.
        let key = Data("aps-environment</key>".utf8)
        guard let profile, let found = profile.range(of: key) else {
            self = .production
            return
        }
        let value = profile[found.upperBound...].prefix(64)
        self = value.range(of: Data("<string>development</string>".utf8)) == nil ? .production : .development
    }
}
