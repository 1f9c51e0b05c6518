internal import Dispatch
internal import Foundation
internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver
internal import UserNotifications

/// Carries out the steps of one request's session, on the handler's own threads. Not run on Apple systems.
final class DeliveryWork: @unchecked Sendable {
    // The request and its content are immutable; `session` is set before anything starts; the rest is locked.
    private let request: UNNotificationRequest
    private let configuration: NotificationServiceHandler.Configuration
    private let files: ServiceFiles
    private let log: DeliveryLog
    private let push: IncomingPush
    private let receivedAt: Timestamp
    private let findings = Locked(Findings())
    weak var session: DeliverySession<UNNotificationContent>?

    /// The results so far.
    private final class Findings {
        var opened: OpenedNotification?
        var attachments: AttachmentWork?
        var keyState = JournalEntry.KeyState.none
        var warnings: [String] = []
        var change: Task<Void, Never>?
        var isChanging = false
        var isFinished = false
    }

    /// The handler's own threads, which may wait for a disk.
    private static let queue: DispatchQueue = {
        let queue = DispatchQueue(label: "pushcrypt.open", qos: .userInitiated, attributes: .concurrent)
        queue.setSpecific(key: isOwn, value: ())
        return queue
    }()
    private static let isOwn = DispatchSpecificKey<Void>()

    init(
        _ request: UNNotificationRequest, _ configuration: NotificationServiceHandler.Configuration,
        _ files: ServiceFiles,
        _ log: DeliveryLog
    ) {
        self.request = request
        self.configuration = configuration
        self.files = files
        self.log = log
        push = IncomingPush(request.content)
        receivedAt = configuration.now()
    }

    // MARK: Steps

    func open() {
        Self.queue.async { [self] in
            var push = push
            if push.encryptedData == .absent {
                push.mayPassInTheClear = configuration.mayPassInTheClear(request.content)
            }
            let (receiver, warnings) = files.receiver(at: receivedAt)
            // This notification replaces the one with the same identifier, which the relay chooses. The files of that
            // one must not appear with this one or with its fallback.
            if configuration.sharesAttachments, let directory = files.directory {
                SharedAttachments(directory: directory).remove(request.identifier)
            }
            let reception = receiver.receive(
                push, requestID: request.identifier, at: receivedAt,
                isAwaited: { [weak session] in session.map { !$0.isOver } ?? false })
            findings.withLock { findings in
                findings.keyState = reception.keyState
                findings.warnings += warnings + reception.warnings
            }
            var next = DeliveryMachine<UNNotificationContent>.Opened(isChanged: configuration.change != nil)
            if let opened = reception.delivery.opened {
                let attachments = AttachmentWork(for: opened, of: request, configuration, files)
                next.hasAttachments = attachments != nil
                findings.withLock { ($0.opened, $0.attachments) = (opened, attachments) }
            }
            session?.handle(.init(reception.delivery, content: content(of: reception.delivery), next))
        }
    }

    private func content(of delivery: Delivery) -> UNNotificationContent {
        switch delivery.outcome {
        case .passed: request.content
        case .suppressed: UNNotificationContent()
        case .opened, .openedWithoutAttachment, .fallback: UNMutableNotificationContent(delivery.content)
        }
    }

    func attach(_ content: UNNotificationContent) {
        let content = UncheckedSendableBox(content.thawed)
        let extend: @Sendable (String) -> Void = { [self] text in
            content.value.body = text
            session?.handle(.extended(content.value))
        }
        findings.withLock { $0.attachments }?.start(extend: extend) { [self] attachments, problems in
            let content = content.value
            content.attachments = attachments.value
            findings.withLock { $0.warnings += problems }
            let event = UncheckedSendableBox(
                DeliveryMachine<UNNotificationContent>.Event.attached(content, isComplete: problems.isEmpty))
            Self.queue.async { [weak session] in session?.handle(event.value) }
        }
    }

    func stopAttaching() { findings.withLock { $0.attachments }?.stop() }

    func change(_ content: UNNotificationContent) {
        guard let change = configuration.change, let opened = findings.withLock({ $0.opened }) else {
            session?.handle(.changeFailed)
            return
        }
        let copy = UncheckedSendableBox(content.thawed)
        findings.withLock { $0.isChanging = true }
        let task = Task.detached(priority: .userInitiated) { [self] in
            let event: DeliveryMachine<UNNotificationContent>.Event
            do {
                event = .changed(try await change(opened, copy.value))
            } catch {
                event = .changeFailed
                findings.withLock { $0.warnings.append("the app's change failed: \(ServiceFiles.text(for: error))") }
            }
            findings.withLock { $0.isChanging = false }
            let handover = UncheckedSendableBox(event)
            Self.queue.async { [weak session] in session?.handle(handover.value) }
        }
        let isTooLate = findings.withLock { findings in
            findings.change = task
            return findings.isFinished
        }
        if isTooLate { task.cancel() }
    }

    /// Returns the fallback, with the original title and sound.
    func fallback(for reason: Delivery.Reason) -> UNNotificationContent {
        let fallback = Delivery(fallback: reason, for: push, texts: configuration.texts).content
        let content = UNMutableNotificationContent(fallback)
        content.title = request.content.title
        content.sound = fallback.sound == nil ? nil : request.content.sound
        return content
    }

    // MARK: Finishing

    /// Reports the outcome before the content handler runs, because the system may then suspend this process. Any other
    /// thread that completes the delivery does not wait for the report.
    func finish(_ outcome: Delivery.Outcome) {
        let now = configuration.now()
        let (report, change) = findings.withLock { findings in
            findings.isFinished = true
            if findings.isChanging { findings.warnings.append("the app's change was not done in time") }
            let report = DeliveryReport(
                receivedAt: receivedAt, milliseconds: now.milliseconds(since: receivedAt),
                fingerprint: push.fingerprint, outcome: outcome, keyState: findings.keyState,
                warnings: findings.warnings)
            return (report, findings.change)
        }
        change?.cancel()
        log.write(report, waits: DispatchQueue.getSpecific(key: Self.isOwn) != nil)
    }
}

extension IncomingPush {
    /// Creates a push from the content that the system parsed. Reads only those clear fields that a fallback keeps.
    fileprivate init(_ content: UNNotificationContent) {
        var clear = NotificationContent()
        clear.title = .plain(content.title)
        clear.sound = content.sound.map { _ in .standard }
        let data: EncryptedData =
            switch content.userInfo[PayloadKeys.encryptedData] {
            case nil: .absent
            case let text as String: .text(text)
            default: .notText
            }
        self.init(encryptedData: data, clear: clear)
    }

    /// The fingerprint of the text in `ENCRYPTED_DATA`.
    fileprivate var fingerprint: EnvelopeFingerprint? {
        guard case .text(let text) = encryptedData else { return nil }
        return EnvelopeFingerprint(of: text)
    }
}
