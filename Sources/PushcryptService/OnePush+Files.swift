internal import Dispatch
internal import Foundation
internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver
internal import UserNotifications

// The files of a push: its full body, the picture of its sender, its attachments. Not run on Apple systems.
extension OnePush {
    /// Whether a message has files that may be fetched, or has lost some.
    func hasFiles(_ message: OpenedNotification) -> Bool {
        message.fullBody != nil || avatar(of: message) != nil || !message.attachments.isEmpty
            || !message.droppedAttachments.isEmpty
    }

    private func avatar(of message: OpenedNotification) -> AttachmentReference? {
        configuration.senders == nil ? nil : message.from?.avatar
    }

    /// Fetches the files, as long as there is time. The full body is shown as soon as it is there: text is worth more than a
    /// picture.
    func fetch(_ opened: OpenedPush) {
        let message = opened.notification
        let (fullBody, avatar) = (message.fullBody, avatar(of: message))
        let fetch = Fetch(
            [fullBody, avatar].compactMap(\.self) + message.attachments, with: configuration.transport,
            maximumSize: configuration.maximumAttachmentSize, in: configuration.attachmentFolder,
            ended: { [news] in news.signal() })
        guard
            let shown = progress.withLock({ progress -> UncheckedSendableBox<UNMutableNotificationContent>? in
                progress.fetch = fetch
                return progress.isLate ? nil : progress.best.shown.map { UncheckedSendableBox($0.content.thawed) }
            })
        else { return }
        let content = shown.value
        fetch.start()
        var (problems, next) = (message.droppedAttachments.map { "\($0.code): \($0)" }, 0)
        func read(_ name: String, _ use: (Data) throws -> Void) {
            wait { fetch.file(next) != nil || $0.isLate || $0.best.isOver }
            do { try fetch.read(next, use) } catch { problems.append("\(name): \(Self.problem(error))") }
            next += 1
        }
        if fullBody != nil {
            read("full body") { data in
                content.body = try FullBody.text(ContiguousArray(data))
                offer(.opened, content, .opened, isComplete: false)
            }
        }
        if avatar != nil { read("avatar") { data in note { $0.avatar = data } } }
        wait { fetch.isDone || $0.isLate || $0.best.isOver }
        fetch.giveUp()
        let (attachments, lost) = attachments(of: opened, from: next, fetch)
        content.attachments = attachments
        problems += lost
        note { $0.warnings += problems }
        if !offer(.files, content, .opened, isComplete: problems.isEmpty) { dropFiles() }
    }

    /// Removes the fetched files: the message is not shown, or was shown without them.
    func dropFiles() {
        progress.withLock { $0.fetch }?.stop()
        let (shared, identifier) = (sharedFiles, request.identifier)
        DispatchQueue.global(qos: .utility).async { shared?.remove(identifier) }
    }

    /// Returns the attachments that the system shows, and the problems of the others. A content extension gets all.
    private func attachments(
        of opened: OpenedPush, from first: Int, _ fetch: Fetch
    ) -> ([UNNotificationAttachment], [String]) {
        let references = opened.notification.attachments
        var (files, problems): ([(number: Int, url: URL)], [String]) = ([], [])
        for number in references.indices.map({ $0 + 1 }) {
            switch fetch.file(first + number - 1) ?? .failure(.stopped) {
            case .success(let url): files.append((number, url))
            case .failure(let problem): problems.append("attachment \(number): \(problem)")
            }
        }
        if let shared = sharedFiles, !files.isEmpty {
            do {
                try shared.share(
                    files.map(\.url), for: request.identifier, of: opened.notification,
                    account: AccountTag(of: opened.account))
            } catch {
                let text = ServiceFiles.text(for: error)
                problems.append("the attachments cannot be shared with the content extension: \(text)")
            }
        }
        let attachments = files.compactMap { number, url -> UNNotificationAttachment? in
            let options = [UNNotificationAttachmentOptionsTypeHintKey: references[number - 1].type]
            if let shown = try? UNNotificationAttachment(identifier: "\(number)", url: url, options: options) {
                return shown
            }
            AttachmentFolder.remove(url)
            if sharedFiles == nil {
                problems.append("attachment \(number): the system does not show this type of file")
            }
            return nil
        }
        return (attachments, problems)
    }

    private static func problem(_ error: any Error) -> String {
        switch error {
        case let error as AttachmentProblem: error.description
        case let error as AttachmentError: "\(error.code): \(error)"
        default: "its file cannot be read: \(type(of: error))"
        }
    }
}
