internal import Dispatch
internal import Foundation
internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver
internal import UserNotifications

/// The notifications on the screen, of which those that show withdrawn or expired messages are removed. Not run on Apple systems.
struct NotificationList: Sendable {
    #if os(Linux)
        // A simulated device has its own, which other threads do not know.
        private let box = UncheckedSendableBox(UNUserNotificationCenter.current())
        private var center: UNUserNotificationCenter { box.value }
    #else
        private var center: UNUserNotificationCenter { .current() }
    #endif

    /// How long each answer of the system may take.
    private static let patience = DispatchTimeInterval.milliseconds(500)

    /// Removes the notifications that show one of these messages. Returns when the system has answered; at once if there
    /// are no messages.
    ///
    /// - Parameters:
    ///   - senders: Deletes what the system keeps of the messages.
    ///   - removed: Receives the identifiers before they are removed.
    func remove(_ messages: Set<MessageMark>, _ senders: SenderDisplay?, removed: ([String]) -> Void) {
        guard !messages.isEmpty else { return }
        senders?.deleteMessages(messages.map(\.text))
        remove(where: { messages.contains($0.message) }, removed: removed)
    }

    /// Removes the notifications with such marks. Returns when the system has answered.
    ///
    /// - Parameter removed: Receives the identifiers before they are removed.
    func remove(where isIncluded: @escaping @Sendable (NotificationMark) -> Bool, removed: ([String]) -> Void) {
        let identifiers = delivered { $0.request.content.mark.map(isIncluded) ?? false }
        guard !identifiers.isEmpty else { return }
        removed(identifiers)
        center.removeDeliveredNotifications(withIdentifiers: identifiers)
        // It works in the background, and is lost if this process ends: the next answer comes after it.
        _ = delivered { _ in false }
    }

    /// Removes what shows an expired message, in the background; but not the notification that a push is about to replace.
    func removeExpired(
        at now: Timestamp, except replaced: String? = nil, removed: @escaping @Sendable (String) -> Void
    ) {
        let list = self
        center.getDeliveredNotifications { notifications in
            let expired = notifications.filter { $0.request.content.mark.map { $0.expiresAt < now } ?? false }
                .map(\.request.identifier).filter { $0 != replaced }
            if expired.isEmpty { return }
            expired.forEach(removed)
            list.center.removeDeliveredNotifications(withIdentifiers: expired)
        }
    }

    /// Removes what shows a message that a guard in this directory knows as withdrawn, and what the system keeps of its
    /// sender.
    func removeWithdrawn(
        in directory: URL, at now: Timestamp, _ senders: SenderDisplay?, _ activity: ExpiringActivity = .system
    ) {
        guard FileManager.default.fileExists(atPath: directory.path) else { return }
        let shared = SharedAttachments(directory: directory)
        let database = ExtensionDatabase(in: directory.path)
        let messages = activity.run("removing notifications", expired: database.interruption.stop) {
            try? database.answerKeys.prune(at: now)
            return database.replay.withdrawn()
        }
        remove(messages, senders) { $0.forEach(shared.remove) }
    }

    /// Whether the screen shows a fallback that was marked as locked: before the first unlock one rings, and no others.
    var hasLocked: Bool {
        !delivered { $0.request.content.userInfo[PayloadKeys.reserved] as? String == Self.locked }.isEmpty
    }

    /// The mark of a fallback for a push that could not be opened because the phone has not been unlocked since it started.
    static let locked = "locked"

    /// Returns the identifiers of some notifications on the screen; none if the system does not answer.
    private func delivered(where isIncluded: @escaping @Sendable (UNNotification) -> Bool) -> [String] {
        let answer = Locked<[String]>([])
        let done = DispatchSemaphore(value: 0)
        center.getDeliveredNotifications { notifications in
            let identifiers = notifications.filter(isIncluded).map(\.request.identifier)
            answer.withLock { $0 = identifiers }
            done.signal()
        }
        guard done.wait(timeout: .now() + Self.patience) == .success else { return [] }
        return answer.withLock { $0 }
    }
}

extension UNNotificationContent {
    /// The message that the notification shows, and its account, as a receiver has marked it; nil for a push as it came.
    var mark: NotificationMark? {
        guard userInfo[PayloadKeys.aps] == nil, userInfo[PayloadKeys.encryptedData] == nil else { return nil }
        return (userInfo[PayloadKeys.reserved] as? String).flatMap(NotificationMark.init(text:))
    }

    /// The same content, marked with the message that it shows, and its account.
    func marked(_ mark: NotificationMark?) -> UNNotificationContent {
        guard let mark else { return self }
        let content = thawed
        content.userInfo[PayloadKeys.reserved] = mark.text
        return content.frozen
    }
}

extension AppGroup {
    /// Removes notifications of withdrawn messages from the screen. The extension does too, but cannot remove what the
    /// system shows later: call this at each launch, and when the app becomes active. Waits for the system, at most a
    /// second, so not on the main thread. Also deletes what can no longer be answered.
    ///
    /// - Parameters:
    ///   - senders: What the extension shows senders with, to delete what the system knows of them.
    ///   - expired: Whether to remove what shows an expired message, too.
    /// - Throws: `AppGroup.Missing`.
    public func removeWithdrawnNotifications(senders: SenderDisplay? = nil, expired: Bool = false) throws {
        let now = Timestamp(secondsSince1970: Date().timeIntervalSince1970)
        let directory = try directory()
        let (list, shared) = (NotificationList(), SharedAttachments(directory: directory))
        list.removeWithdrawn(in: directory, at: now, senders)
        if expired { list.removeExpired(at: now, removed: shared.remove) }
    }
}
