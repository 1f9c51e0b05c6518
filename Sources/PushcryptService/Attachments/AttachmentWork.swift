internal import Dispatch
internal import Foundation
internal import PushcryptKeyStore
internal import Pushcrypt
internal import UserNotifications

/// Fetches the full body and the attachments of one notification, shares them with the content extension, and converts
/// them for the system. Not run on Apple systems.
final class AttachmentWork: Sendable {
    /// The full body is fetched first, because text is worth more than a picture.
    private let fullBody: FetchedBody?
    private let face: FetchedAvatar?
    private let references: [AttachmentReference]
    private let dropped: [AttachmentError]
    private let fetch: AttachmentFetch
    private let opened: OpenedNotification
    private let requestID: String
    private let shared: SharedAttachments?
    private let account: AccountTag

    /// Whether a notification has a full body, files or a picture of its sender, or has lost files.
    static func isNeeded(
        for opened: OpenedNotification, _ configuration: NotificationServiceHandler.Configuration
    ) -> Bool {
        opened.fullBody != nil || configuration.senders != nil && opened.from?.avatar != nil
            || !opened.attachments.isEmpty || !opened.droppedAttachments.isEmpty
    }

    init(
        for opened: OpenedNotification, to account: String, of request: UNNotificationRequest,
        _ configuration: NotificationServiceHandler.Configuration, _ files: ServiceFiles
    ) {
        let fullBody = opened.fullBody.map { _ in FetchedBody() }
        let avatar = configuration.senders == nil ? nil : opened.from?.avatar
        let face = avatar.map { _ in FetchedAvatar() }
        self.fullBody = fullBody
        self.face = face
        self.opened = opened
        references = opened.attachments
        dropped = opened.droppedAttachments
        requestID = request.identifier
        self.account = AccountTag(of: account)
        fetch = AttachmentFetch(
            [opened.fullBody, avatar].compactMap(\.self) + references, with: configuration.transport,
            maximumSize: configuration.maximumAttachmentSize, in: configuration.attachmentFolder,
            each: { index, fetched in
                if index == 0, let fullBody {
                    fullBody.take(fetched)
                } else if index == (fullBody == nil ? 0 : 1) {
                    face?.take(fetched)
                }
            })
        shared = configuration.sharesAttachments ? files.directory.map(SharedAttachments.init(directory:)) : nil
    }

    /// The sender's picture, if it has come.
    var avatar: Data? { face?.data }

    /// Starts fetching.
    ///
    /// - Parameters:
    ///   - extend: Receives the full body as soon as it is read, before `completion`.
    ///   - completion: Receives the attachments that the system shows, and the problems of the others.
    func start(
        extend: @escaping @Sendable (String) -> Void,
        completion: @escaping @Sendable (UncheckedSendableBox<[UNNotificationAttachment]>, [String]) -> Void
    ) {
        fullBody?.extend(extend)
        fetch.start { [self] fetched in
            let fetched = Array(fetched.dropFirst((fullBody == nil ? 0 : 1) + (face == nil ? 0 : 1)))
            var problems = dropped.map { "\($0.code): \($0)" }
            if let problem = fullBody?.problem { problems.append("full body: \(problem)") }
            if let problem = face?.problem { problems.append("avatar: \(problem)") }
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
                    problems.append("attachment \(index + 1): the system does not show this type of file")
                }
            }
            completion(UncheckedSendableBox(attachments), problems)
        }
    }

    /// Stops everything, on any thread, without waiting.
    func stop() {
        fetch.stop()
        if let shared { DispatchQueue.global(qos: .utility).async { [requestID] in shared.remove(requestID) } }
    }

    private func share(_ files: [URL]) -> [String] {
        guard let shared, !files.isEmpty else { return [] }
        do {
            try shared.share(files, for: requestID, of: opened, account: account)
            if fetch.isStopped { shared.remove(requestID) }
            return []
        } catch {
            return ["the attachments cannot be shared with the content extension: \(ServiceFiles.text(for: error))"]
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

/// Keeps a sender's picture from its fetched file, and removes the file. Not run on Apple systems.
final class FetchedAvatar: Sendable {
    private final class State {
        var data: Data?
        var problem: String?
    }

    private let state = Locked(State())

    var data: Data? { state.withLock { $0.data } }

    /// The reason that there is no picture.
    var problem: String? { state.withLock { $0.problem } }

    /// Reads the fetched file.
    func take(_ fetched: AttachmentFetch.Fetched) {
        do {
            let file = try fetched.get()
            defer { AttachmentFolder.remove(file) }
            let data = try Data(contentsOf: file)
            state.withLock { $0.data = data }
        } catch {
            let problem = (error as? AttachmentProblem)?.description ?? "its file cannot be read: \(type(of: error))"
            state.withLock { $0.problem = problem }
        }
    }
}

/// Reads a full body from its fetched file into the notification, and removes the file. Not run on Apple systems.
final class FetchedBody: Sendable {
    private final class State {
        var problem: String?
        var extend: (@Sendable (String) -> Void)?
    }

    private let state = Locked(State())

    /// The reason that the short body stays.
    var problem: String? { state.withLock { $0.problem } }

    /// Sets the receiver of the text. Call it before anything is fetched.
    func extend(_ extend: @escaping @Sendable (String) -> Void) { state.withLock { $0.extend = extend } }

    /// Reads the fetched file.
    func take(_ fetched: AttachmentFetch.Fetched) {
        do {
            let file = try fetched.get()
            defer { AttachmentFolder.remove(file) }
            let text = try FullBody.text(ContiguousArray(Data(contentsOf: file)))
            state.withLock { state in
                defer { state.extend = nil }
                return state.extend
            }?(text)
        } catch {
            let problem =
                switch error {
                case let error as AttachmentProblem: error.description
                case let error as AttachmentError: "\(error.code): \(error)"
                default: "its file cannot be read: \(type(of: error))"
                }
            state.withLock { $0.problem = problem }
        }
    }
}
