internal import Dispatch
internal import Foundation
internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver
internal import UserNotifications

/// One push, from `didReceive` to the content handler: read `run`, then `end`. Not run on Apple systems.
///
/// Each push has its own thread, because it may block on a disk, the Keychain or the app's hook; on the threads that tasks
/// share, that would stop other pushes. A timer, the system's expiry or the handler's release may end the push at any moment,
/// with the best content so far.
final class OnePush: @unchecked Sendable {
    /// The reason for giving out a push.
    enum Ending {
        /// Nothing is left to do.
        case done
        case failed(Delivery.Reason)
        /// The receiver's own time is over.
        case deadline
        /// The system's time is over.
        case expired
        /// The handler was released.
        case released
    }

    // The request and its content are immutable; what changes is locked.
    let request: UNNotificationRequest
    let configuration: NotificationServiceHandler.Configuration
    let files: ServiceFiles
    let push: IncomingPush
    let receivedAt: Timestamp
    let list = NotificationList()
    let progress: Locked<Progress>
    private let handler: NotificationServiceHandler.InProgress
    /// Signalled when something has happened that the thread may wait for.
    let news = DispatchSemaphore(value: 0)

    /// The state of the push so far.
    final class Progress {
        var best = Best<UNNotificationContent>()
        var contentHandler: ((UNNotificationContent) -> Void)?
        var timers: [any ScheduledCall] = []
        var opened: OpenedPush?
        var claim: ReplayClaim?
        var receiver: NotificationReceiver?
        var keyState = JournalEntry.KeyState.none
        var warnings: [String] = []
        var isOpening = true
        /// Whether it is too late for files.
        var isLate = false
        var fetch: Fetch?
        /// The picture of the sender.
        var avatar: Data?
        var change: Task<Void, Never>?
        var isChanging = false

        init(_ contentHandler: @escaping (UNNotificationContent) -> Void) { self.contentHandler = contentHandler }
    }

    init(
        _ request: UNNotificationRequest, _ configuration: NotificationServiceHandler.Configuration,
        _ files: ServiceFiles, in handler: NotificationServiceHandler.InProgress,
        _ contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        (self.request, self.configuration, self.files) = (request, configuration, files)
        self.handler = handler
        progress = Locked(Progress(contentHandler))
        push = IncomingPush(request.content)
        receivedAt = configuration.now()
    }

    // MARK: The road

    /// Sets the timers, and opens the push on its own thread.
    func start() {
        files.begin()
        let timers = [
            configuration.clock.schedule(afterMilliseconds: configuration.deadlines.attachments) { [weak self] in
                self?.note { $0.isLate = true }
            },
            configuration.clock.schedule(afterMilliseconds: configuration.deadlines.delivery) { [weak self] in
                self?.end(.deadline)
            },
        ]
        let isOver = progress.withLock { progress in
            if !progress.best.isOver { progress.timers = timers }
            return progress.best.isOver
        }
        if isOver { return timers.forEach { $0.cancel() } }
        if configuration.removesExpired {
            list.removeExpired(at: receivedAt, except: request.identifier) { [sharedFiles] in sharedFiles?.remove($0) }
        }
        let thread = Thread { self.run() }
        thread.qualityOfService = .userInitiated
        thread.start()
    }

    private func run() {
        let (receiver, problems) = files.receiver(at: receivedAt)
        note { ($0.receiver, $0.warnings) = (receiver, $0.warnings + problems) }
        // This notification replaces the one with the same identifier, which the relay chooses. The files of that one must
        // not appear with this one or with its fallback, unless it is the same message.
        let shared = sharedFiles
        shared?.hide(request.identifier)
        let opened: OpenedPush
        do throws(Unopened) {
            opened = try receiver.open(
                push.passing(if: configuration.mayPassInTheClear, request.content), requestID: request.identifier,
                at: receivedAt)
        } catch {
            shared?.restore(request.identifier, of: nil)
            note { ($0.keyState, $0.isOpening) = (error.keyState, false) }
            if case .fallback(let reason) = error.delivery.outcome { return end(.failed(reason)) }
            offer(.opened, request.content, error.delivery.outcome)
            return end(.done)
        }
        // If that is too late, a copy counts as new.
        let hasFiles = hasFiles(opened.notification)
        guard offer(opened, hasFiles) else { return }
        if let problem = opened.settle(at: receivedAt) { note { $0.warnings.append(problem) } }
        guard !opened.notification.isDropped, hasFiles || configuration.change != nil else {
            shared?.restore(request.identifier, of: nil)
            // The plain case: the message is taken and handed over in one.
            return end(.done)
        }
        let claim = opened.take(at: receivedAt)
        note { ($0.claim, $0.warnings) = (claim, $0.warnings + claim.problems) }
        shared?.restore(request.identifier, of: claim.isRepeated ? opened.notification : nil)
        remove(claim.withdrawn)
        let delivery = opened.delivery(after: claim)
        let willFetch = hasFiles && claim.mayFetch
        offer(.opened, content(of: delivery), delivery.outcome, isComplete: !willFetch)
        guard delivery.outcome == .opened, let notification = delivery.opened else { return end(.done) }
        if willFetch { fetch(opened) }
        if let change = configuration.change { self.change(notification, opened, claim, change) }
        end(.done)
    }

    /// Offers the content of a message as if it were new, before anything is written. Whoever gives it out hands the message
    /// over: both become known at once.
    private func offer(_ opened: OpenedPush, _ hasFiles: Bool) -> Bool {
        let delivery = opened.delivery()
        let content = UncheckedSendableBox(content(of: delivery).frozen)
        let outcome = Self.outcome(delivery.outcome, isComplete: !hasFiles)
        return progress.withLock { progress in
            (progress.keyState, progress.isOpening) = (opened.keyState, false)
            progress.warnings += opened.warnings
            guard progress.best.offer(.opened, content.value, outcome) else { return false }
            progress.opened = opened
            return true
        }
    }

    @discardableResult
    func offer(
        _ stage: Best<UNNotificationContent>.Stage, _ content: UNNotificationContent, _ outcome: Delivery.Outcome,
        isComplete: Bool = true
    ) -> Bool {
        let content = UncheckedSendableBox(content.frozen)
        let outcome = Self.outcome(outcome, isComplete: isComplete)
        return progress.withLock { $0.best.offer(stage, content.value, outcome) }
    }

    private static func outcome(_ outcome: Delivery.Outcome, isComplete: Bool) -> Delivery.Outcome {
        outcome == .opened && !isComplete ? .openedWithoutAttachment : outcome
    }

    /// Lets the app change a copy of the content, as long as there is time.
    private func change(
        _ notification: OpenedNotification, _ opened: OpenedPush, _ claim: ReplayClaim,
        _ change: @escaping NotificationServiceHandler.Configuration.Change
    ) {
        let shown = progress.withLock { progress in
            progress.isChanging = progress.best.shown != nil
            return progress.best.shown.map { (UncheckedSendableBox($0.content.thawed), $0.outcome) }
        }
        guard let (copy, outcome) = shown else { return }
        let context = DeliveryContext(
            request: request, account: opened.account, verdict: claim.verdict, isFirst: !claim.isQuiet)
        let task = Task.detached(priority: .userInitiated) { [self] in
            do {
                offer(.changed, try await change(notification, copy.value, context), outcome)
            } catch {
                note { $0.warnings.append("the app's change failed: \(ServiceFiles.text(for: error))") }
            }
            note { $0.isChanging = false }
        }
        note { $0.change = task }
        wait { !$0.isChanging || $0.best.isOver }
        // A push that ended before the task was noted has not cancelled it.
        if progress.withLock({ $0.best.isOver }) { task.cancel() }
    }

    /// Changes the progress, and wakes the push's thread.
    func note(_ change: (Progress) -> Void) {
        progress.withLock { change($0) }
        news.signal()
    }

    func wait(until isReached: (Progress) -> Bool) {
        while !progress.withLock({ isReached($0) }) { news.wait() }
    }

    // MARK: The end

    /// Gives out the best there is, once. Any thread may call it: the push's own, a timer, the system, the handler's release.
    func end(_ why: Ending) {
        let taken = progress.withLock { progress -> Taken? in
            guard let best = progress.best.take(why.reason), let handler = progress.contentHandler else { return nil }
            if progress.isChanging { progress.warnings.append("the app's change was not done in time") }
            defer { (progress.contentHandler, progress.timers) = (nil, []) }
            return Taken(
                best: best, contentHandler: handler, timers: progress.timers, opened: progress.opened,
                claim: progress.claim, change: progress.change)
        }
        guard let taken else { return }
        for timer in taken.timers { timer.cancel() }
        let isRescue = handler.forget(self)
        var (shown, isJournaled) = (prepared(taken.best), false)
        if let opened = taken.opened {
            let handover = handOver(opened, taken.claim, shown)
            (shown, isJournaled) = (handover.shown, handover.isJournaled)
            if taken.claim == nil, !isRescue { remove(handover.withdrawn) }
            if handover.hasSender { shown = withSender(shown, opened, donates: handover.rings) }
        }
        taken.change?.cancel()
        report(shown.outcome, why, isRescue: isRescue, isJournaled: isJournaled)
        taken.contentHandler(shown.content)
        news.signal()
        deleteRetiredKeys()
    }

    private struct Taken {
        let best: Best<UNNotificationContent>.Taken
        let contentHandler: (UNNotificationContent) -> Void
        let timers: [any ScheduledCall]
        let opened: OpenedPush?
        let claim: ReplayClaim?
        let change: Task<Void, Never>?
    }

    /// How long a delivery waits for its report, in milliseconds.
    private static let reportPatience: UInt64 = 200

    /// Reports the outcome to the journal, unless the message was handed over with its row, and to the app; before the content
    /// handler runs, because the system may then suspend this process. The wait is limited, because a disk may hang and so may
    /// an app. On return, the journal is not being written: iOS ends an app that is suspended with a lock on a shared file. A
    /// rescue waits for nothing, and leaves no row.
    private func report(_ outcome: Delivery.Outcome, _ why: Ending, isRescue: Bool, isJournaled: Bool) {
        let (report, parts, done) = (report(outcome), DispatchGroup(), DispatchSemaphore(value: 0))
        let isWritten = Locked(isJournaled || isRescue)
        if !isJournaled, !isRescue {
            DispatchQueue(label: "pushcrypt.journal", qos: .userInitiated).async(group: parts) { [files] in
                files.journal(report)
                isWritten.withLock { $0 = true }
            }
        }
        if let observe = configuration.observe {
            DispatchQueue(label: "pushcrypt.observe", qos: .userInitiated).async(group: parts) { observe(report) }
        }
        parts.notify(queue: DispatchQueue(label: "pushcrypt.reported", qos: .userInitiated)) { done.signal() }
        if why.isOwn, !isRescue {
            let timer = configuration.clock.schedule(afterMilliseconds: Self.reportPatience) { done.signal() }
            done.wait()
            timer.cancel()
        } else if !isRescue {
            // Not the clock's thread, which may be this one.
            _ = done.wait(timeout: .now() + .milliseconds(Int(Self.reportPatience)))
        }
        let isOver = isWritten.withLock { $0 }
        if isRescue || !isOver || progress.withLock({ $0.isOpening }) { files.stop() }
    }

    /// Deletes device keys that no longer open anything: after the delivery, because the Keychain may hang.
    private func deleteRetiredKeys() {
        let (opened, receiver) = progress.withLock { ($0.opened, $0.receiver) }
        guard let opened, let receiver else { return }
        Thread.detachNewThread { [receivedAt] in
            receiver.deleteRetiredKeys(after: opened.delivery(), at: receivedAt)
        }
    }
}
