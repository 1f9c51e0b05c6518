import PushcryptService
import UserNotifications

func makeResponder(
    _ opening: NotificationServiceHandler.Configuration, showing chat: @escaping @Sendable (String) async -> Void,
    sending send: @escaping @Sendable (String, _ chat: String) async throws -> Void
) -> NotificationResponder {
    NotificationResponder(configuration: NotificationResponder.Configuration(opening: opening)) { response in
        guard let name = response.value.customKeys["chat"] as? String else { return .done }
        switch response.value.action {
        case .custom("REPLY"): try await send(response.value.userText ?? "", name)
        case .open: await chat(name)
        case .custom, .dismiss: break
        }
        return .done
    }
}
