public import Foundation
public import Pushcrypt
internal import PushcryptKeyStore
public import PushcryptReceiver
public import UserNotifications

extension NotificationResponder {
    /// What an app says about responses. Not run on Apple systems.
    public struct Configuration: Sendable {
        /// How the service extension opens pushes: topic, directory in the app group, keys, policy. The same here; of a
        /// response that was kept, `mayPassInTheClear` sees the custom keys and the category only.
        public var opening: NotificationOpener.Configuration
        /// The device key that a kept response is sealed to, asked for when one is to be kept. The public half is enough: an
        /// app that has it somewhere else keeps responses also while the key store is locked.
        public var deviceKey: @Sendable () throws -> DevicePublicKey
        /// The app's own directory for responses that are kept, not in the app group; made if it is not there.
        public var directory: @Sendable () throws -> URL = {
            try EnrolmentFile.inApplicationSupport().url.deletingLastPathComponent()
        }
        /// How long the system waits for the app at most, in milliseconds.
        public var deadline = ResponseGate.standardDeadline
        /// What is shown of a notification while the app is in front.
        public var foreground: UNNotificationPresentationOptions = [.banner, .list, .sound, .badge]
        /// Hears what became of each response, on any thread.
        public var observe: (@Sendable (ResponseReport) -> Void)?

        /// Takes what every app has to say.
        public init(
            opening: NotificationOpener.Configuration, deviceKey: @escaping @Sendable () throws -> DevicePublicKey
        ) {
            self.opening = opening
            self.deviceKey = deviceKey
        }

        func kept() throws -> KeptResponses {
            let directory = try directory()
            try FileManager.default.makePrivateDirectory(at: directory)
            return KeptResponses(in: ResponseFile(in: directory.path))
        }
    }
}

/// What became of a response, without anything of its content; for the app's log.
public struct ResponseReport: Hashable, Sendable {
    /// What became of it.
    public enum Outcome: String, Hashable, Sendable {
        /// The app is done with it.
        case done
        /// The app has thrown.
        case failed
        /// It is kept for later.
        case kept
        /// It should be kept, and could not be.
        case notKept = "not-kept"
        /// What is kept cannot be read, or one of it not be removed: it comes again.
        case unreadable
    }

    /// What became of it.
    public let outcome: Outcome
    /// Why there are no custom keys; nil when that is not so.
    public let reason: Delivery.Reason?
    /// What the developer should know.
    public let problem: String?

    /// Takes the parts.
    public init(_ outcome: Outcome, reason: Delivery.Reason? = nil, problem: String? = nil) {
        self.outcome = outcome
        self.reason = reason
        self.problem = problem
    }
}
