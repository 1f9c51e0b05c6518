// As on Apple platforms, importing PushKit also imports Foundation's names.
@_exported public import Foundation

/// A kind of push.
public struct PKPushType: RawRepresentable, Hashable, Sendable {
    /// The name.
    public var rawValue: String
    /// Creates a kind.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A call.
    @available(iOS 9, macCatalyst 14, watchOS 9, *)
    @available(macOS, unavailable)
    public static let voIP = Self(rawValue: "PKPushTypeVoIP")
}

/// A push token.
open class PKPushCredentials: NSObject {
    /// The kind of push.
    open var type: PKPushType { PKPushType(rawValue: "") }
    /// The token.
    open var token: Data { Data() }
}

/// A push. A test overrides the payload.
open class PKPushPayload: NSObject {
    /// The kind of push.
    open var type: PKPushType { PKPushType(rawValue: "") }
    /// The payload.
    open var dictionaryPayload: [AnyHashable: Any] { [:] }
}

/// The system's facts about a push for a call.
@available(iOS 26.4, macCatalyst 26.4, macOS 26.4, visionOS 26.4, watchOS 26.4, *)
open class PKVoIPPushMetadata: NSObject, @unchecked Sendable {
    /// Whether the app must report a call.
    open var mustReport: Bool { true }
}

/// Registers the app for pushes. Nothing comes here: a test calls the delegate.
open class PKPushRegistry: NSObject {
    /// The delegate; a weak reference.
    open weak var delegate: (any PKPushRegistryDelegate)?
    /// The kinds of pushes that the app wants.
    open var desiredPushTypes: Set<PKPushType>?

    /// Creates a registry, whose delegate is called on the queue; nil for the main queue.
    public init(queue: DispatchQueue?) {}

    /// The token for a kind of push.
    open func pushToken(for type: PKPushType) -> Data? { nil }
}

/// The delegate for pushes. All methods but the first are optional.
@preconcurrency
public protocol PKPushRegistryDelegate: NSObjectProtocol {
    /// Called with a push token.
    func pushRegistry(
        _ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType)

    /// Called with a push. Must call the completion handler.
    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping @Sendable () -> Void)

    /// Called with a push for a call. Must call the completion handler.
    @available(iOS 26.4, macCatalyst 26.4, macOS 26.4, visionOS 26.4, watchOS 26.4, *)
    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingVoIPPushWith payload: PKPushPayload,
        metadata: PKVoIPPushMetadata, withCompletionHandler completion: @escaping @Sendable () -> Void)

    /// Called when a push token is no longer valid.
    func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType)
}

extension PKPushRegistryDelegate {
    /// Calls the completion handler.
    public func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping @Sendable () -> Void
    ) { completion() }

    /// Calls the completion handler.
    @available(iOS 26.4, macCatalyst 26.4, macOS 26.4, visionOS 26.4, watchOS 26.4, *)
    public func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingVoIPPushWith payload: PKPushPayload,
        metadata: PKVoIPPushMetadata, withCompletionHandler completion: @escaping @Sendable () -> Void
    ) { completion() }

    /// Does nothing.
    public func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType) {}
}
