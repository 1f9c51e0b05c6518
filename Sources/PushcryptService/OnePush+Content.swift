internal import Dispatch
internal import Foundation
internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver
internal import UserNotifications

// The content of a push, and its last changes. Not run on Apple systems.
extension OnePush {
    /// Content and outcome of a push.
    typealias Shown = (content: UNNotificationContent, outcome: Delivery.Outcome)

    private static let handoverPatience = DispatchTimeInterval.seconds(1)
    private static let donationPatience = DispatchTimeInterval.milliseconds(500)

    /// The plain copies of attachments, if the app shares them with a content extension.
    var sharedFiles: SharedAttachments? {
        configuration.sharesAttachments ? files.directory.map(SharedAttachments.init(directory:)) : nil
    }

    func content(of delivery: Delivery) -> UNNotificationContent {
        switch delivery.outcome {
        case .passed: request.content
        case .suppressed: UNNotificationContent()
        case .withdrawn, .dropped:
            delivery.isHidden ? UNNotificationContent() : UNMutableNotificationContent(delivery.content)
        case .opened, .openedWithoutAttachment: UNMutableNotificationContent(delivery.content)
        case .fallback(let reason): fallback(for: reason)
        }
    }

    func prepared(_ best: Best<UNNotificationContent>.Taken) -> Shown {
        switch best {
        case .content(let content, let outcome): (content, outcome)
        case .fallback(let reason): (fallback(for: reason), .fallback(reason))
        }
    }

    /// Returns the fallback, with the original sound.
    private func fallback(for reason: Delivery.Reason) -> UNNotificationContent {
        let fallback = Delivery(fallback: reason, for: push, texts: configuration.texts).content
        let content = UNMutableNotificationContent(fallback)
        content.sound = fallback.sound == nil ? nil : request.content.sound
        if reason.code == KeyStoreError.Code.storeLocked.description {
            if list.hasLocked { (content.sound, content.interruptionLevel) = (nil, .passive) }
            content.userInfo = [PayloadKeys.reserved: NotificationList.locked]
        }
        return content
    }

    func report(_ outcome: Delivery.Outcome) -> DeliveryReport {
        let (keyState, warnings) = progress.withLock { ($0.keyState, $0.warnings) }
        return DeliveryReport(
            receivedAt: receivedAt, milliseconds: configuration.now().milliseconds(since: receivedAt),
            fingerprint: push.fingerprint, outcome: outcome, keyState: keyState, warnings: warnings)
    }

    /// Removes what shows withdrawn messages.
    func remove(_ withdrawn: Set<MessageMark>) {
        let shared = sharedFiles
        list.remove(withdrawn, configuration.senders) { if let shared { $0.forEach(shared.remove) } }
    }

    // MARK: Handing over

    /// The result of handing over.
    struct Handover {
        var shown: Shown
        /// Whether the content is that of the message, which has a sender.
        var hasSender = false
        /// Whether it is shown for the first time.
        var rings = false
        var isJournaled = false
        var withdrawn: Set<MessageMark> = []
    }

    /// Hands the message over, and returns what is given out: what was prepared, unless another process has handed the
    /// message over first. The wait is limited, because a disk may hang.
    func handOver(_ opened: OpenedPush, _ claim: ReplayClaim?, _ prepared: Shown) -> Handover {
        // The end of another request may have stopped them.
        files.begin()
        let now = configuration.now()
        let outcome = prepared.outcome
        let answer = Self.wait(Self.handoverPatience) { [self] in
            if let lost = opened.lost(at: now) { return Answer.lost(lost) }
            return .handedOver(
                opened.handOver(after: claim, at: now) { delivery, isAsPrepared in
                    report(isAsPrepared ? outcome : delivery.outcome).entry
                })
        }
        var (result, instead) = (Handover(shown: prepared), opened.unanswered(after: claim))
        switch answer {
        case .lost(let reason)?:
            dropFiles()
            return Handover(shown: (fallback(for: reason), .fallback(reason)))
        case .handedOver(let handover)?:
            note { $0.warnings += handover.problems }
            instead = handover.isAsPrepared ? nil : handover.delivery
            (result.isJournaled, result.withdrawn) = (true, handover.claim.withdrawn)
        case nil:
            files.stop()
            note { $0.warnings.append("replay guard: the disk does not answer in time") }
            result.isJournaled = true
        }
        guard [.opened, .openedWithoutAttachment, .dropped].contains(outcome) else { return result }
        // The app shows nothing: with anything in it, the system might show the push.
        let isBlank = prepared.content.isBlank && configuration.hasFilteringEntitlement
        switch instead?.outcome {
        case .withdrawn?:
            dropFiles()
            result.shown = (isBlank ? UNNotificationContent() : instead.map(content) ?? prepared.content, .withdrawn)
        case _ where isBlank:
            dropFiles()
            result.shown.content = UNNotificationContent()
        case nil:
            result.shown.content = prepared.content.marked(opened.mark)
            (result.hasSender, result.rings) = (true, outcome != .dropped)
        case .fallback(let reason)?: result.shown = (fallback(for: reason), .fallback(reason))
        case .passed?, .suppressed?: result.shown = (UNNotificationContent(), instead?.outcome ?? outcome)
        case .opened?, .openedWithoutAttachment?, .dropped?:
            let quiet = prepared.content.quiet(isDuplicate: instead?.opened?.isDuplicate ?? false)
            result.shown.content = quiet.marked(opened.mark)
            result.hasSender = true
        }
        return result
    }

    private enum Answer {
        case lost(Delivery.Reason)
        case handedOver(OpenedPush.Handover)
    }

    // MARK: The sender

    /// Adds the sender, as the last change. The wait is limited, because the system's service may hang. `donates` is false
    /// for what does not ring: the system would suggest the sender for it.
    func withSender(_ shown: Shown, _ opened: OpenedPush, donates: Bool) -> Shown {
        guard let senders = configuration.senders, let sender = opened.notification.from else { return shown }
        let mark = opened.mark
        let message = SenderDisplay.Message(
            sender: sender, avatar: progress.withLock { $0.avatar }, mark: mark.message.text,
            account: AccountTag(of: mark.account).text)
        let (content, lost, now) = (
            UncheckedSendableBox(shown.content), Locked<Delivery.Reason?>(nil), configuration.now()
        )
        // A log-out deletes the key first, then what the system knows: whichever comes last of that and of this finds it.
        let donated: @Sendable () -> Void = {
            guard let reason = opened.lost(at: now) else { return }
            senders.deleteMessages([message.mark])
            lost.withLock { $0 = reason }
        }
        let answer = Self.wait(Self.donationPatience) {
            Result { UncheckedSendableBox(try senders.show(content.value, message, donates ? donated : nil)) }
        }
        if let reason = lost.withLock({ $0 }) { return (fallback(for: reason), .fallback(reason)) }
        switch answer {
        case .success(let content)?: return (content.value, shown.outcome)
        case .failure(let error)?:
            note { $0.warnings.append("the system does not show the sender: \(type(of: error))") }
        case nil: note { $0.warnings.append("the system does not show the sender: no answer") }
        }
        return shown
    }

    /// Returns what work that may hang returns; nil if it does not in time.
    private static func wait<R>(_ patience: DispatchTimeInterval, for work: @escaping @Sendable () -> R) -> R? {
        let (result, done) = (Locked<UncheckedSendableBox<R>?>(nil), DispatchSemaphore(value: 0))
        // The system gives a serial queue a thread even if every other hangs.
        DispatchQueue(label: "pushcrypt.wait", qos: .userInitiated).async {
            let value = UncheckedSendableBox(work())
            result.withLock { $0 = value }
            done.signal()
        }
        guard done.wait(timeout: .now() + patience) == .success else { return nil }
        return result.withLock { $0 }?.value
    }
}

extension OnePush.Ending {
    /// The reason for the fallback, if nothing else can be shown.
    var reason: Delivery.Reason {
        switch self {
        case .failed(let reason): reason
        case .expired: .systemExpired
        case .released: .abandoned
        case .done, .deadline: .deadline
        }
    }

    /// Whether the push's own thread is done.
    var isOwn: Bool {
        switch self {
        case .done, .failed: true
        case .deadline, .expired, .released: false
        }
    }
}

extension IncomingPush {
    /// Creates a push from the content that the system parsed. Reads only those clear fields that a fallback keeps.
    init(_ content: UNNotificationContent) {
        var clear = NotificationContent()
        clear.title = .plain(content.title)
        clear.sound = content.sound.map { _ in .standard }
        self.init(encryptedData: EncryptedData(in: content.userInfo), clear: clear)
    }

    /// The same push, which may pass as it came if the app's policy says so and it is not sealed.
    func passing(if mayPass: (UNNotificationContent) -> Bool, _ content: UNNotificationContent) -> IncomingPush {
        var push = self
        if encryptedData == .absent { push.mayPassInTheClear = mayPass(content) }
        return push
    }

    /// The fingerprint of the text in `ENCRYPTED_DATA`.
    var fingerprint: EnvelopeFingerprint? {
        guard case .text(let text) = encryptedData else { return nil }
        return EnvelopeFingerprint(of: text)
    }
}

extension IncomingPush.EncryptedData {
    /// Reads the dictionary of a push that the system has parsed.
    init(in push: [AnyHashable: Any]) {
        switch push[PayloadKeys.encryptedData] {
        case nil: self = .absent
        case let text as String: self = .text(text)
        default: self = .notText
        }
    }
}
