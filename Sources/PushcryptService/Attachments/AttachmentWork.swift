internal import Dispatch
internal import Foundation
internal import PushcryptKeyStore
internal import Pushcrypt
internal import UserNotifications

/// The full body and the attachments of one notification: fetched, handed on, and put into the form that the system shows.
/// Not run on Apple systems.
final class AttachmentWork: Sendable {
    /// The full body has one place among the files, the first, because a text is worth more than a picture.
    private let fullBody: FetchedBody?
    private let references: [AttachmentReference]
    private let dropped: [AttachmentError]
    private let fetch: AttachmentFetch
    private let requestID: String
    private let shared: SharedAttachments?

    /// Prepares; nil for a notification that has neither.
    init?(
        for opened: OpenedNotification, of request: UNNotificationRequest,
        _ configuration: NotificationOpener.Configuration, _ files: OpenerFiles
    ) {
        let fullBody = opened.fullBody.map { _ in FetchedBody() }
        guard fullBody != nil || !opened.attachments.isEmpty || !opened.droppedAttachments.isEmpty else { return nil }
        self.fullBody = fullBody
        references = opened.attachments
        dropped = opened.droppedAttachments
        requestID = request.identifier
        fetch = AttachmentFetch(
            (opened.fullBody.map { [$0] } ?? []) + references, with: configuration.transport,
            maximumSize: configuration.maximumAttachmentSize, in: configuration.attachmentFolder,
            each: { index, fetched in if index == 0 { fullBody?.take(fetched) } })
        shared = configuration.sharesAttachments ? files.directory.map(SharedAttachments.init(directory:)) : nil
    }

    /// Begins; `extend` gets the full body as soon as it is there, and after it `completion` what the system shows, and what
    /// is wrong with the rest.
    func start(
        extend: @escaping @Sendable (String) -> Void,
        _ completion: @escaping @Sendable (UncheckedSendableBox<[UNNotificationAttachment]>, [String]) -> Void
    ) {
        fullBody?.extend(extend)
        fetch.start { [self] fetched in
            let fetched = Array(fetched.dropFirst(fullBody == nil ? 0 : 1))
            var problems = dropped.map { "\($0.code): \($0)" }
            if let problem = fullBody?.problem { problems.append("full body: \(problem)") }
            var attachments: [UNNotificationAttachment] = []
            var files: [URL] = []
            for (index, result) in fetched.enumerated() {
                switch result {
                case .success(let file): files.append(file)
                case .failure(let problem): problems.append("attachment \(index + 1): \(problem)")
                }
            }
            problems += share(files)
            for (index, result) in fetched.enumerated() {
                guard case .success(let file) = result else { continue }
                if let attachment = attachment(references[index], file, number: index + 1) {
                    attachments.append(attachment)
                } else if shared == nil {
                    problems.append("attachment \(index + 1): the system does not show such a file")
                }
            }
            completion(UncheckedSendableBox(attachments), problems)
        }
    }

    /// Ends all of it, from any thread, without waiting.
    func stop() {
        fetch.stop()
        if let shared { DispatchQueue.global(qos: .utility).async { [requestID] in shared.remove(requestID) } }
    }

    private func share(_ files: [URL]) -> [String] {
        guard let shared, !files.isEmpty else { return [] }
        do {
            try shared.share(files, for: requestID)
            if fetch.isStopped { shared.remove(requestID) }
            return []
        } catch {
            return ["the attachments cannot be handed on: \(OpenerFiles.words(for: error))"]
        }
    }

    private func attachment(_ reference: AttachmentReference, _ file: URL, number: Int) -> UNNotificationAttachment? {
        let options = [UNNotificationAttachmentOptionsTypeHintKey: reference.type]
        if let attachment = try? UNNotificationAttachment(identifier: "\(number)", url: file, options: options) {
            return attachment
        }
        AttachmentFolder.remove(file)
        return nil
    }
}
