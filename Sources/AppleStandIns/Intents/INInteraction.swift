public import Foundation

/// The direction of an interaction.
public enum INInteractionDirection: Int, Sendable {
    /// Not given.
    case unspecified
    /// From the user.
    case outgoing
    /// To the user.
    case incoming
}

/// Something that happened, which an app tells the system about.
open class INInteraction: NSObject {
    /// The system's store.
    private final class Store: @unchecked Sendable {
        private let lock = NSLock()
        private var donated: [String: (intent: INIntent, group: String?)] = [:]

        func with<R>(_ body: (inout [String: (intent: INIntent, group: String?)]) -> R) -> R {
            lock.withLock { body(&donated) }
        }
    }

    private static let store = Store()

    /// The interaction's intent.
    open private(set) var intent: INIntent
    /// Its direction.
    open var direction = INInteractionDirection.unspecified
    /// Its id, for deleting it.
    open var identifier = UUID().uuidString
    /// The id of its group, for deleting that.
    open var groupIdentifier: String?

    /// Creates an interaction.
    public init(intent: INIntent, response: INIntentResponse?) { self.intent = intent }

    /// Tells the system.
    open func donate(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
        Self.store.with { $0[identifier] = (intent, groupIdentifier) }
        completion?(nil)
    }

    /// Deletes interactions from the system's store.
    open class func delete(with identifiers: [String], completion: (@Sendable ((any Error)?) -> Void)? = nil) {
        store.with { for identifier in identifiers { $0[identifier] = nil } }
        completion?(nil)
    }

    /// Deletes the interactions of a group from the system's store.
    open class func delete(
        with groupIdentifier: String, completion: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        store.with { store in store = store.filter { $0.value.group != groupIdentifier } }
        completion?(nil)
    }

    /// Deletes all of the app's interactions.
    open class func deleteAll(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
        store.with { $0 = [:] }
        completion?(nil)
    }

    /// The names of the senders, by the interactions' identifiers.
    package static var donations: [String: String] {
        store.with { $0.mapValues { ($0.intent as? INSendMessageIntent)?.sender?.displayName ?? "" } }
    }

    /// The message of an interaction.
    package static func message(_ identifier: String) -> INSendMessageIntent? {
        store.with { $0[identifier]?.intent as? INSendMessageIntent }
    }
}
