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
    private let list = NotificationList()
    private let findings = Locked(Findings())
    weak var session: DeliverySession<UNNotificationContent>?

    /// The results so far.
    private final class Findings {
        var taken: TakenPush?
        var receiver: NotificationReceiver?
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
        files.begin()
        Self.queue.async { [self] in
            var push = push
            if push.encryptedData == .absent {
                push.mayPassInTheClear = configuration.mayPassInTheClear(request.content)
            }
            let (receiver, warnings) = files.receiver(at: receivedAt)
            // This notification replaces the one with the same identifier, which the relay chooses. The files of that
            // one must not appear with this one or with its fallback, unless it is the same message.
            let shared = configuration.sharesAttachments ? files.directory.map(SharedAttachments.init(directory:)) : nil
            shared?.hide(request.identifier)
            let taken = receiver.take(
                push, requestID: request.identifier, at: receivedAt,
                isAwaited: { [weak session] in session.map { !$0.isOver } ?? false })
            let reception = taken.reception
            findings.withLock { findings in
                findings.keyState = reception.keyState
                findings.warnings += warnings + reception.warnings
                (findings.taken, findings.receiver) = (taken, receiver)
            }
            shared?.restore(request.identifier, of: taken.isRepeated ? reception.delivery.opened : nil)
            list.remove(taken.withdrawn, configuration.senders) { if let shared { $0.forEach(shared.remove) } }
            var next = DeliveryMachine<UNNotificationContent>.Opened(isChanged: configuration.change != nil)
            if let opened = reception.delivery.opened, taken.mayFetch {
                let attachments = AttachmentWork(
                    for: opened, to: reception.delivery.account, of: request, configuration, files)
                next.hasAttachments = attachments != nil
                findings.withLock { $0.attachments = attachments }
            }
            session?.handle(.init(reception.delivery, content: content(of: reception.delivery), next))
        }
    }

    private func content(of delivery: Delivery) -> UNNotificationContent {
        switch delivery.outcome {
        case .passed: request.content
        case .suppressed: UNNotificationContent()
        case .withdrawn, .dropped:
            delivery.isHidden ? UNNotificationContent() : UNMutableNotificationContent(delivery.content)
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
        let taken = findings.withLock { $0.taken }
        guard let change = configuration.change, let opened = taken?.reception.delivery.opened,
            let taking = taken?.taking
        else {
            session?.handle(.changeFailed)
            return
        }
        let copy = UncheckedSendableBox(content.thawed)
        let context = DeliveryContext(
            request: request, account: taken?.reception.delivery.account ?? "", verdict: taking.verdict,
            isFirst: !taking.isQuiet)
        findings.withLock { $0.isChanging = true }
        let task = Task.detached(priority: .userInitiated) { [self] in
            let event: DeliveryMachine<UNNotificationContent>.Event
            do {
                event = .changed(try await change(opened, copy.value, context))
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

    /// Returns the fallback, with the original sound.
    func fallback(for reason: Delivery.Reason) -> UNNotificationContent {
        let fallback = Delivery(fallback: reason, for: push, texts: configuration.texts).content
        let content = UNMutableNotificationContent(fallback)
        content.sound = fallback.sound == nil ? nil : request.content.sound
        if reason.code == KeyStoreError.Code.storeLocked.description {
            if list.hasLocked { (content.sound, content.interruptionLevel) = (nil, .passive) }
            content.userInfo = [PayloadKeys.reserved: NotificationList.locked]
        }
        return content
    }

    // MARK: Finishing

    /// Hands the message over, and returns what is given out: the content, unless another process has handed the message
    /// over first. The wait is limited, because a disk may hang.
    func handOver(
        _ content: UNNotificationContent, _ outcome: Delivery.Outcome
    ) -> (content: UNNotificationContent, outcome: Delivery.Outcome) {
        guard outcome == .opened || outcome == .openedWithoutAttachment || outcome == .dropped,
            let taken = findings.withLock({ $0.taken })
        else { return (content, outcome) }
        // The end of another request may have stopped them.
        files.begin()
        let answer = Locked(Answer())
        let group = DispatchGroup()
        let now = configuration.now()
        // The system gives a serial queue a thread even if every other hangs.
        DispatchQueue(label: "pushcrypt.handover", qos: .userInitiated).async(group: group) {
            let (instead, problem) = taken.handOver(at: now)
            answer.withLock { ($0.instead, $0.problem) = (instead, problem) }
        }
        var instead = taken.unanswered
        var problem: String? = "replay guard: the disk does not answer in time"
        if group.wait(timeout: .now() + Self.handoverPatience) == .success {
            (instead, problem) = answer.withLock { ($0.instead, $0.problem) }
        } else {
            files.stop()
        }
        if let problem { findings.withLock { $0.warnings.append(problem) } }
        // The app shows nothing: with anything in it, the system might show the push.
        if content.isBlank, configuration.hasFilteringEntitlement {
            guard instead?.outcome == .withdrawn else { return (UNNotificationContent(), outcome) }
            stopAttaching()
            return (UNNotificationContent(), .withdrawn)
        }
        guard let instead else {
            return withSender(content.marked(taken.mark), taken, outcome, donates: outcome != .dropped)
        }
        switch instead.outcome {
        case .fallback(let reason): return (fallback(for: reason), instead.outcome)
        case .passed, .suppressed: return (UNNotificationContent(), instead.outcome)
        case .withdrawn:
            stopAttaching()
            return (self.content(of: instead), instead.outcome)
        case .opened, .openedWithoutAttachment, .dropped:
            let quiet = content.quiet(isDuplicate: instead.opened?.isDuplicate ?? false)
            return withSender(quiet.marked(taken.mark), taken, outcome, donates: false)
        }
    }

    /// Adds the sender, as the last change. The wait is limited, because the system's service may hang. `donates` is false for
    /// what does not ring: the system would suggest the sender for it.
    private func withSender(
        _ content: UNNotificationContent, _ taken: TakenPush, _ outcome: Delivery.Outcome, donates: Bool
    ) -> (content: UNNotificationContent, outcome: Delivery.Outcome) {
        guard let senders = configuration.senders, let mark = taken.mark,
            let sender = taken.reception.delivery.opened?.from
        else { return (content, outcome) }
        let message = SenderDisplay.Message(
            sender: sender, avatar: findings.withLock { $0.attachments }?.avatar, mark: mark.message.text,
            account: AccountTag(of: mark.account).text)
        let (input, shown, group) = (UncheckedSendableBox(content), Locked(Shown()), DispatchGroup())
        let now = configuration.now()
        // A log-out deletes the key first, then what the system knows: whichever comes last of that and of this finds it.
        let donated: @Sendable () -> Void = {
            guard let lost = taken.lost(at: now) else { return }
            senders.deleteMessages([message.mark])
            shown.withLock { $0.lost = lost }
        }
        DispatchQueue(label: "pushcrypt.sender", qos: .userInitiated).async(group: group) {
            do {
                let updated = UncheckedSendableBox(
                    try senders.show(input.value, message, donates ? donated : nil))
                shown.withLock { $0.content = updated }
            } catch {
                let problem = "\(type(of: error))"
                shown.withLock { $0.problem = problem }
            }
        }
        let isDone = group.wait(timeout: .now() + Self.handoverPatience) == .success
        let (updated, lost, problem) = shown.withLock { ($0.content, $0.lost, $0.problem) }
        if let lost { return (fallback(for: lost), .fallback(lost)) }
        if isDone, let updated { return (updated.value, outcome) }
        findings.withLock { $0.warnings.append("the system does not show the sender: \(problem ?? "no answer")") }
        return (content, outcome)
    }

    /// The result of adding the sender, which may come too late.
    private final class Shown {
        var content: UncheckedSendableBox<UNNotificationContent>?
        var lost: Delivery.Reason?
        var problem: String?
    }

    /// The result of handing over, which may come too late.
    private final class Answer {
        var instead: Delivery?
        var problem: String?
    }

    private static let handoverPatience = DispatchTimeInterval.seconds(1)
    private static let donationPatience = DispatchTimeInterval.milliseconds(500)

    /// Reports the outcome before the content handler runs, because the system may then suspend this process.
    func finish(_ outcome: Delivery.Outcome, isRescue: Bool) {
        let now = configuration.now()
        let (report, change, isWorking) = findings.withLock { findings in
            findings.isFinished = true
            if findings.isChanging { findings.warnings.append("the app's change was not done in time") }
            let report = DeliveryReport(
                receivedAt: receivedAt, milliseconds: now.milliseconds(since: receivedAt),
                fingerprint: push.fingerprint, outcome: outcome, keyState: findings.keyState,
                warnings: findings.warnings)
            return (report, findings.change, findings.taken == nil)
        }
        change?.cancel()
        let isOwn = DispatchQueue.getSpecific(key: Self.isOwn) != nil
        log.write(report, isRescue ? .rescue : isOwn ? .own : .other)
        if isRescue || isWorking { files.stop() }
    }

    /// Deletes device keys that no longer open anything, on the handler's threads: after the delivery, because the
    /// Keychain may hang.
    func deleteRetiredKeys() {
        let (taken, receiver) = findings.withLock { ($0.taken, $0.receiver) }
        guard let taken, let receiver else { return }
        Self.queue.async { [receivedAt] in receiver.deleteRetiredKeys(after: taken.reception.delivery, at: receivedAt) }
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
