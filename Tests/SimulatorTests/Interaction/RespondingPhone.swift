import DeviceSimulator
import Foundation
import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import PushcryptService
import TestPhone
import UserNotifications

/// A phone whose app gets responses through a responder and answers as a test says.
final class RespondingPhone: Sendable {
    static let categories: CategorySet = {
        let categories = [
            CategoryDeclaration(
                "CHAT",
                actions: [
                    ActionDeclaration("REPLY", title: "Reply", textInput: .init(buttonTitle: "Send")),
                    ActionDeclaration("MUTE", title: "Mute"),
                ], options: [.customDismissAction])
        ]
        guard let set = try? CategorySet(categories) else { preconditionFailure("no categories") }
        return set
    }()

    let phone: TestPhone
    let clock = stillClock()
    let device: SimulatedDevice
    let received = Notebook<ReceivedResponse>()
    let reports = Notebook<ResponseReport>()
    let configuration: NotificationResponder.Configuration
    private let answer: NotificationResponder.Handler
    /// The system does not retain a delegate.
    private let responder: Handed<NotificationResponder>

    /// - Parameters:
    ///   - opens: whether the service extension gets far enough to open pushes.
    ///   - answer: what the app does.
    ///   - change: changes what the app says.
    init(
        opens: Bool = true, answer: @escaping NotificationResponder.Handler = { _ in .done },
        changing change: (inout NotificationResponder.Configuration, TestPhone) -> Void = { _, _ in }
    ) throws {
        let phone = try TestPhone()
        var opening = phone.configuration
        opening.clock = clock
        var configuration = NotificationResponder.Configuration(opening: opening)
        configuration.observe = { [reports] in reports.add($0) }
        change(&configuration, phone)
        (self.phone, self.answer, self.configuration) = (phone, answer, configuration)
        device = SimulatedDevice(clock: .simulated(clock)) { [configuration] in
            opens ? GivenService(configuration.opening) : ScriptedExtension { $1($0.content) }
        }
        responder = Handed(Self.responder(configuration, received, answer))
        device.center.delegate = responder.value
        Self.categories.register(on: device.center)
    }

    private static func responder(
        _ configuration: NotificationResponder.Configuration, _ received: Notebook<ReceivedResponse>,
        _ answer: @escaping NotificationResponder.Handler
    ) -> NotificationResponder {
        NotificationResponder(configuration: configuration) { response in
            received.add(response)
            return try await answer(response)
        }
    }

    /// The responder of the app's next process.
    func restarted(_ answer: NotificationResponder.Handler? = nil) -> NotificationResponder {
        Self.responder(configuration, received, answer ?? self.answer)
    }

    /// Shows a sealed push under the identifier `a`, optionally with other clear members.
    func show(
        _ payload: String = payload, clear: [String: Any] = [:], clearCategory: String? = nil,
        answers: AnswerSecret? = nil
    ) async throws {
        var options = Sealer.Message([])
        options.isAnswerable = answers != nil
        let sealed = try phone.seal(payload, like: options, answers: answers)
        var push = try JSONSerialization.jsonObject(with: Data(sealed)) as? [String: Any] ?? [:]
        push.merge(clear) { _, new in new }
        if let clearCategory, var aps = push["aps"] as? [String: Any] {
            aps["category"] = clearCategory
            push["aps"] = aps
        }
        let json = try JSONSerialization.data(withJSONObject: push)
        _ = await device.push(APNsPush(ContiguousArray(json), collapseID: "a"))
    }

    func respond(_ action: UserAction) async -> ResponseOutcome { await device.respond(action, to: "a") }

    /// The string values among the custom keys of the responses so far.
    var keys: [[String: String]] { received.all.map { $0.value.customKeys as? [String: String] ?? ["": ""] } }

    static let payload =
        #"{"aps":{"alert":{"title":"Ann","body":"See you at 8"},"category":"CHAT","thread-id":"t"},"chat":"c41"}"#
}

extension ReceivedResponse {
    /// The reason that the notification is unknown.
    var unknown: String? {
        guard case .unknown(let reason) = origin else { return nil }
        return reason.code
    }
}
