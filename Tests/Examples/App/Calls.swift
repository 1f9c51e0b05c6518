import CallKit
import PushKit
import PushcryptApp

nonisolated final class Calls: NSObject, PKPushRegistryDelegate {
    private let registry = PKPushRegistry(queue: nil)
    private let provider: CXProvider
    private let pushes: AppPushes

    /// Call at each launch, also in the background.
    init(_ provider: CXProvider, _ pushes: AppPushes) {
        (self.provider, self.pushes) = (provider, pushes)
        super.init()
        registry.delegate = self
        registry.desiredPushTypes = [.voIP]
    }

    func pushRegistry(_ registry: PKPushRegistry, didUpdate credentials: PKPushCredentials, for type: PKPushType) {
        // Send credentials.token to your server: it is not the token for notifications.
    }

    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping @Sendable () -> Void
    ) {
        let (call, update) = (UUID(), CXCallUpdate())
        let opened = pushes.openCall(payload.dictionaryPayload)
        if case .opened(let notification) = opened { update.localizedCallerName = notification.from?.name }
        nonisolated(unsafe) let provider = provider
        provider.reportNewIncomingCall(with: call, update: update) { error in
            // With an error, such as for a blocked caller, there is no call.
            if error == nil {
                if case .opened = opened {
                    // Connect.
                } else {
                    provider.reportCall(with: call, endedAt: nil, reason: .failed)
                }
            }
            completion()
        }
    }
}
