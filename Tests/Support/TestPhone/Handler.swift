internal import PushcryptKeyStore
package import PushcryptService
package import UserNotifications
internal import Waiting

/// A content handler that counts its calls.
package final class Handler: Sendable {
    private final class State {
        var contents: [UNNotificationContent] = []
    }

    private let state = Locked(State())

    package init() {}

    /// The closure that the system would pass to an extension.
    package var handler: (UNNotificationContent) -> Void {
        { content in self.state.withLock { $0.contents.append(content) } }
    }

    package var count: Int { state.withLock { $0.contents.count } }

    /// Waits for the first delivery; nil if there is none.
    package func delivered() async -> UNNotificationContent? {
        await eventually { count > 0 }
        return state.withLock { $0.contents.first }
    }
}

extension NotificationServiceHandler.Configuration {
    /// Passes a request to a handler of its own, and waits for the content; nil if there is none.
    package func show(_ request: UNNotificationRequest) async -> UNNotificationContent? {
        let (service, handler) = (NotificationServiceHandler(configuration: self), Handler())
        service.handle(request, contentHandler: handler.handler)
        let content = await handler.delivered()
        withExtendedLifetime(service) {}
        return content
    }
}
