internal import Dispatch
public import Foundation
internal import PushcryptKeyStore
public import PushcryptReceiver
public import UserNotifications

/// The notifications in a content extension's view controller, and its answers to responses.
///
///     final class NotificationViewController: UIViewController, @preconcurrency UNNotificationContentExtension {
///         private let session = ContentExtensionSession(
///             sharedAttachments: try? SharedAttachments(in: .ofThisApp()))
///
///         func didReceive(_ notification: UNNotification) {
///             session.receive(notification)
///             show(session.notifications)
///         }
///
///         func didReceive(
///             _ response: UNNotificationResponse,
///             completionHandler completion: @escaping (UNNotificationContentExtensionResponseOption) -> Void
///         ) {
///             session.answer(response) { completion(.init(rawValue: $0.rawValue) ?? .dismissAndForwardAction) } by: {
///                 $0.value.action == .custom("LIKE") ? .stay : .dismissAndForward
///             }
///         }
///     }
///
/// It needs no keys and no network, and opens nothing: the service extension and the app do that. All content is
/// already on the device, so the view is complete when `receive` returns. This module imports no user interface,
/// because the service extension, which has little memory, links it too. Not run on Apple systems.
@MainActor
public final class ContentExtensionSession {
    /// The notifications in the view, oldest first.
    public private(set) var notifications: [ShownNotification] = []

    private let sharedAttachments: SharedAttachments?
    private let texts: FallbackTexts
    private let deadline: UInt64
    private let clock: any DeliveryClock

    /// Creates a session without notifications.
    ///
    /// - Parameters:
    ///   - sharedAttachments: The attachments that the service extension shares; nil for those that the system shows.
    ///   - texts: The texts of the fallback, the same as in the service extension.
    ///   - deadline: The time for deciding about a response, in milliseconds: the user is waiting.
    ///   - clock: The clock for the deadline; nil for the system's.
    public init(
        sharedAttachments: SharedAttachments? = nil, texts: FallbackTexts = .standard,
        deadline: UInt64 = 5_000, clock: (any DeliveryClock)? = nil
    ) {
        self.sharedAttachments = sharedAttachments
        self.texts = texts
        self.deadline = deadline
        self.clock = clock ?? SystemClock()
    }

    /// Adds a notification to the view, ordered by date.
    ///
    /// The system calls it again for each notification of the same thread that arrives while the view is visible. A
    /// notification with the same request, from the same collapse id, replaces the earlier one.
    ///
    /// - Returns: The content to show.
    @discardableResult
    public func receive(_ notification: UNNotification) -> ShownNotification {
        let shown = ShownNotification(notification, shared: sharedAttachments, texts: texts)
        notifications.removeAll { $0.identifier == shown.identifier }
        let index = notifications.firstIndex { $0.date > shown.date } ?? notifications.endIndex
        notifications.insert(shown, at: index)
        return shown
    }

    /// The effect of a response on the view and the app. The raw values are those of
    /// `UNNotificationContentExtensionResponseOption`.
    public enum Answer: UInt, Hashable, Sendable {
        /// Keep the view. The app does not get the response.
        case stay = 0
        /// Dismiss the view. The app does not get the response.
        case dismiss = 1
        /// Dismiss the view and forward the response to the app.
        case dismissAndForward = 2
    }

    /// Answers a response to a notification in the view. Calls `completion` exactly once, on the main thread.
    ///
    /// The app gets the response if `decide` throws or is not done at the deadline. If the notification is not
    /// authentic, the app gets the response and `decide` is not called: the app opens the notification, and then knows
    /// its content.
    ///
    /// - Parameters:
    ///   - response: The system's response.
    ///   - completion: Receives the answer.
    ///   - decide: Chooses the answer to a response whose notification is authentic.
    public func answer(
        _ response: UNNotificationResponse, completion: @escaping (Answer) -> Void,
        by decide: @escaping @MainActor @Sendable (ReceivedResponse) async throws -> Answer
    ) {
        let value = NotificationResponseValue(response)
        let decision = Locked(Answer.dismissAndForward)
        let handover = UncheckedSendableBox(completion)
        let gate = ResponseGate(deadline: deadline, clock: clock) {
            let answer = decision.withLock { $0 }
            DispatchQueue.main.async { handover.value(answer) }
        }
        guard let received = value.receivedIfAuthentic else { return gate.complete() }
        Task {
            if let answer = try? await decide(received) { decision.withLock { $0 = answer } }
            gate.complete()
        }
    }
}

/// The content that a content extension may show of a notification. Not run on Apple systems.
public struct ShownNotification: Hashable, Sendable {
    /// The identifier of the notification's request.
    public let identifier: String
    /// When the notification was delivered.
    public let date: Date
    /// Whether the service extension opened the notification or the app created it. Otherwise only the clear title and
    /// the text of the fallback remain, because anyone on the path may have written the rest.
    public let isAuthentic: Bool
    /// The account that the notification is for; nil unless a device key has opened it.
    public let account: String?
    /// The title.
    public let title: String
    /// The subtitle.
    public let subtitle: String
    /// The body.
    public let body: String
    /// The category; empty unless the notification is authentic.
    public let categoryIdentifier: String
    /// The custom keys of the sealed payload, as the text of one JSON object; empty unless the notification is
    /// authentic.
    public let userInfo: ContiguousArray<UInt8>
    /// The attached files, already on this device: those in the app group, or else those that the system shows. To read
    /// the system's files, call `startAccessingSecurityScopedResource`; for the others the call is harmless.
    public let attachments: [URL]

    /// The custom keys as a dictionary.
    public var customKeys: [AnyHashable: Any] { CustomKeys.dictionary(userInfo) }

    /// Reads a notification and its files.
    init(_ notification: UNNotification, shared: SharedAttachments?, texts: FallbackTexts) {
        let request = notification.request
        let content = request.content
        identifier = request.identifier
        date = notification.date
        account = content.mark?.account
        let userInfo = CustomKeys.json(content.userInfo)
        let source = NotificationResponseValue(
            requestIdentifier: identifier, action: .open, userInfo: userInfo
        ).source
        isAuthentic = source == .app
        if isAuthentic {
            title = content.title
            subtitle = content.subtitle
            body = content.body
            categoryIdentifier = content.categoryIdentifier
            self.userInfo = userInfo
            let files = shared?.files(of: request) ?? []
            attachments = files.isEmpty ? content.attachments.map(\.url) : files
        } else {
            title = texts.title(insteadOf: .plain(content.title)).system
            subtitle = source == .sealed ? texts.couldNotOpen.system : ""
            body = source == .clear ? texts.notEncrypted.system : ""
            categoryIdentifier = ""
            self.userInfo = NotificationContent.emptyUserInfo
            attachments = []
        }
    }
}
