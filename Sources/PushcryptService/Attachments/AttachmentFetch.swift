internal import Dispatch
internal import Foundation
internal import Pushcrypt
internal import PushcryptKeyStore

/// Fetches the attachments of one notification, two at a time. A failure drops only that attachment.
///
/// `stop` may be called at any time, on any thread, even before `start`. It does not wait, and it leaves no file
/// behind. Not run on Apple systems.
final class AttachmentFetch: Sendable {
    typealias Fetched = Result<URL, AttachmentProblem>

    /// Called for each file as soon as it ends, and returns before the completion of all files is called.
    typealias Each = @Sendable (Int, Fetched) -> Void

    private static let maximumConcurrentTransfers = 2

    private let references: [AttachmentReference]
    private let transport: any AttachmentTransport
    private let maximumSize: UInt64
    private let folder: AttachmentFolder
    private let each: Each
    private let state = Locked(State())

    private final class State {
        var next = 0
        var isStopped = false
        var transfers: [Int: any AttachmentTransfer] = [:]
        var fetched: [Int: Fetched] = [:]
        var completion: (@Sendable ([Fetched]) -> Void)?
    }

    init(
        _ references: [AttachmentReference], with transport: any AttachmentTransport, maximumSize: UInt64,
        in folder: AttachmentFolder, each: @escaping Each = { _, _ in }
    ) {
        self.references = references
        self.transport = transport
        self.maximumSize = maximumSize
        self.folder = folder
        self.each = each
    }

    /// Starts fetching. `completion` gets the result of each attachment, in order, unless `stop` is called first.
    func start(_ completion: @escaping @Sendable ([Fetched]) -> Void) {
        folder.removeLeftovers()
        state.withLock { $0.completion = completion }
        for _ in 0..<Self.maximumConcurrentTransfers { startNext() }
        if references.isEmpty { completeIfDone() }
    }

    /// Ends all downloads and removes every file.
    func stop() {
        let (transfers, fetched) = state.withLock { state in
            state.isStopped = true
            state.completion = nil
            defer { (state.transfers, state.fetched) = ([:], [:]) }
            return (Array(state.transfers.values), Array(state.fetched.values))
        }
        DispatchQueue.global(qos: .utility).async {
            for transfer in transfers { transfer.cancel() }
            for case .success(let file) in fetched { AttachmentFolder.remove(file) }
        }
    }

    // MARK: Transfers

    private func startNext() {
        let index: Int? = state.withLock { state in
            guard !state.isStopped, state.next < references.count else { return nil }
            defer { state.next += 1 }
            return state.next
        }
        guard let index else { return }
        let reference = references[index]
        guard reference.file.size <= maximumSize, let url = URL(string: reference.url) else {
            let problem = "its \(reference.file.size) bytes exceed the app's limit, or its url is not valid"
            ended(index, .failure(AttachmentProblem(problem)))
            return
        }
        let download = AttachmentDownload(reference, in: folder.place())
        let transfer = transport.download(
            url, atMost: reference.file.size,
            receive: { [weak self] data in self?.isStopped == false && download.receive(data) },
            finish: { [weak self] failure in
                let fetched = download.finish(self == nil ? .cancelled : failure)
                self?.ended(index, fetched)
            })
        let isTooLate = state.withLock { state in
            if state.fetched[index] == nil { state.transfers[index] = transfer }
            return state.isStopped
        }
        if isTooLate { transfer.cancel() }
    }

    /// Whether `stop` was called.
    var isStopped: Bool { state.withLock { $0.isStopped } }

    private func ended(_ index: Int, _ fetched: Fetched) {
        if !isStopped { each(index, fetched) }
        let isTooLate = state.withLock { state in
            state.transfers[index] = nil
            if !state.isStopped { state.fetched[index] = fetched }
            return state.isStopped
        }
        if isTooLate {
            if case .success(let file) = fetched { AttachmentFolder.remove(file) }
            return
        }
        startNext()
        completeIfDone()
    }

    private func completeIfDone() {
        let (completion, fetched) = state.withLock { state in
            guard state.fetched.count == references.count else {
                return (nil as (@Sendable ([Fetched]) -> Void)?, [Fetched]())
            }
            defer { state.completion = nil }
            return (state.completion, references.indices.compactMap { state.fetched[$0] })
        }
        completion?(fetched)
    }
}
