internal import Dispatch
internal import PushcryptKeyStore
public import PushcryptReceiver
public import UserNotifications

/// What the one view controller of a content extension shows, and what it answers.
///
///     final class NotificationViewController: UIViewController, @preconcurrency UNNotificationContentExtension {
///         private let session = ContentExtensionSession(sharedAttachments: try? SharedAttachments(appGroup: "group.…"))
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
/// It needs no keys and no network, and opens nothing: that is for the service extension, and for the app. Everything it
/// gives is on the device already, so that the view is complete when `receive` returns. It imports no user interface,
/// because the service extension, which has little memory, links this module too. Not run on Apple systems.
@MainActor
public final class ContentExtensionSession {
    /// How long the view may think about a response, in milliseconds; the person looks at it meanwhile.
    public static let standardDeadline: UInt64 = 5_000

    /// What is in the view, the oldest first.
    public private(set) var notifications: [ShownNotification] = []

    private let sharedAttachments: SharedAttachments?
    private let texts: FallbackTexts
    private let deadline: UInt64
    private let clock: any DeliveryClock

    /// Starts with an empty view.
    ///
    /// - Parameters:
    ///   - sharedAttachments: where the service extension puts attachments; nil for those that the system shows.
    ///   - texts: the texts of the fallback, as the service extension has them.
    ///   - deadline: how long the view may think about a response, in milliseconds.
    ///   - clock: calls at the deadline.
    public init(
        sharedAttachments: SharedAttachments? = nil, texts: FallbackTexts = .standard,
        deadline: UInt64 = standardDeadline, clock: any DeliveryClock = SystemClock()
    ) {
        self.sharedAttachments = sharedAttachments
        self.texts = texts
        self.deadline = deadline
        self.clock = clock
    }

    /// Takes a notification into the view, in the order of their dates; a further one of the thread while the view is up, or
    /// in place of one with the same request, which a collapse id replaces.
    @discardableResult
    public func receive(_ notification: UNNotification) -> ShownNotification {
        let shown = ShownNotification(notification, shared: sharedAttachments, texts: texts)
        notifications.removeAll { $0.identifier == shown.identifier }
        let index = notifications.firstIndex { $0.date > shown.date } ?? notifications.endIndex
        notifications.insert(shown, at: index)
        return shown
    }

    /// What becomes of the view after a response, and whether the app hears of it. The raw values are those of
    /// `UNNotificationContentExtensionResponseOption`.
    public enum Answer: UInt, Hashable, Sendable {
        /// The view stays, and the app hears nothing.
        case stay = 0
        /// The view goes, and the app hears nothing.
        case dismiss = 1
        /// The view goes, and the app gets the response.
        case dismissAndForward = 2
    }

    /// Answers a response to what is in the view: gives one answer to the completion, exactly once, on the main thread.
    ///
    /// The app gets the response when `decide` throws or is not done at the deadline; and without asking, when the
    /// notification is not authentic: the app opens it, and knows then what the response is about.
    public func answer(
        _ response: UNNotificationResponse, completion: @escaping (Answer) -> Void,
        by decide: @escaping @MainActor @Sendable (ReceivedResponse) async throws -> Answer
    ) {
        let value = NotificationResponseValue(response)
        let decision = Locked(Decision())
        let handover = UncheckedSendableBox(completion)
        let gate = ResponseGate(deadline: deadline, clock: clock) {
            let answer = decision.withLock { $0.answer }
            DispatchQueue.main.async { handover.value(answer) }
        }
        guard let received = value.receivedIfAuthentic else { return gate.complete() }
        Task {
            if let answer = try? await decide(received) { decision.withLock { $0.answer = answer } }
            gate.complete()
        }
    }

    private final class Decision {
        var answer = Answer.dismissAndForward
    }
}
