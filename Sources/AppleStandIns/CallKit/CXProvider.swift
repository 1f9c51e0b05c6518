// As on Apple platforms, importing CallKit also imports Foundation's names.
@_exported public import Foundation

/// The reason why a call ended.
@available(macOS, unavailable)
public enum CXCallEndedReason: Int, Sendable {
    /// It failed.
    case failed = 1
    /// The other side ended it.
    case remoteEnded
    /// Nobody answered.
    case unanswered
    /// Another device of the user answered.
    case answeredElsewhere
    /// Another device of the user declined.
    case declinedElsewhere
}

/// The app's settings for calls.
open class CXProviderConfiguration: NSObject {
    /// Creates settings.
    @available(iOS 14, macCatalyst 14, watchOS 9, *)
    public override init() {}
}

/// Reports calls to the system. Shows nothing here, and accepts everything.
@available(macOS, unavailable)
open class CXProvider: NSObject {
    /// The app's settings.
    open var configuration: CXProviderConfiguration
    private let queue = DispatchQueue(label: "calls")

    /// Creates a provider.
    public init(configuration: CXProviderConfiguration) { self.configuration = configuration }

    /// Reports a call that comes in.
    open func reportNewIncomingCall(
        with uuid: UUID, update: CXCallUpdate, completion: @escaping @Sendable ((any Error)?) -> Void
    ) { queue.async { completion(nil) } }

    /// Reports that a call has changed.
    open func reportCall(with uuid: UUID, updated update: CXCallUpdate) {}

    /// Reports that a call has ended.
    open func reportCall(with uuid: UUID, endedAt dateEnded: Date?, reason endedReason: CXCallEndedReason) {}

    /// Starts the app for a call, from a service extension with the filtering entitlement: it gets a push with this payload.
    @available(iOS 14.5, macCatalyst 14.5, *)
    @available(watchOS, unavailable)
    open class func reportNewIncomingVoIPPushPayload(_ dictionaryPayload: [AnyHashable: Any]) async throws {}
}
