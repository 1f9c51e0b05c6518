internal import Foundation
internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver

/// Where an app's registrations get what they need. Not run on Apple systems.
struct AccountSettings: Sendable {
    /// The extension's directory in the app group.
    var directory: @Sendable () throws -> URL
    var topic: @Sendable () throws -> Topic
    var trust: @Sendable () throws -> FirstTrust
    /// What the extension shows senders with.
    var senders: SenderDisplay?
    var policy = EnrolmentPolicy()
    var relay: PushRelay?
    var poster: any WebPosting = URLSessionPoster()
    var store: @Sendable () throws -> any DeviceKeyStore = { try SharedKeyStore.open() }
    /// In the app's own container: a file in the app group would survive the app, and its keys would not be recognised as
    /// left by an earlier installation.
    var file: @Sendable () throws -> EnrolmentFile = { try EnrolmentFile.inApplicationSupport() }
    var environment: @Sendable () -> PushEnvironment? = { PushEnvironment.ofThisApp }
    var appVersion: @Sendable () -> AppVersion? = {
        let version = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
        return version.flatMap(AppVersion.init)
    }
    /// When a message counts as lost, in milliseconds.
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
    }

    /// What holds for every account.
    func terms() throws -> RegistrationMachine.Terms {
        RegistrationMachine.Terms(topic: try topic(), trust: try trust(), policy: policy, relay: relay)
    }

    func circumstances(token: Data, alertsAreShown: Bool) -> EnrolmentCircumstances {
        EnrolmentCircumstances(
            appVersion: appVersion(), pushToken: ContiguousArray(token), environment: environment(),
            alertsAreShown: alertsAreShown)
    }
}

extension PushEnvironment {
    /// Where this app's token is valid. Xcode embeds a profile in an app that it signs for development, and it says so; Apple embeds
    /// none.
    static var ofThisApp: PushEnvironment {
        #if targetEnvironment(simulator)
            return .development
        #else
            let profile = Bundle.main.url(forResource: "embedded", withExtension: "mobileprovision")
            return PushEnvironment(profile: profile.flatMap { try? Data(contentsOf: $0) })
        #endif
    }

    /// The environment that a provisioning profile permits: a property list in XML, inside a signature.
    init(profile: Data?) {
        let key = Data("<key>aps-environment</key>".utf8)
        guard let profile, let found = profile.range(of: key) else {
            self = .production
            return
        }
        let value = profile[found.upperBound...].prefix(64)
        self = value.range(of: Data("<string>development</string>".utf8)) == nil ? .production : .development
    }
}
