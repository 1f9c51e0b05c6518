public import Foundation
internal import PushcryptKeyStore

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Downloads with URLSession: no cache, no cookies, no credentials.
///
/// What the server learns is that somebody fetches this file now, and from which address. Run on Linux only.
public struct URLSessionTransport: AttachmentTransport {
    /// The most redirects that are followed.
    public static let maximumRedirects = 5

    private let idleTimeout: Double
    private let scheme: String

    /// Makes a transport that gives up when nothing comes for so many seconds.
    public init(idleTimeout: Double = 15) { self.init(idleTimeout: idleTimeout, scheme: "https") }

    /// The seam for tests: Foundation on Linux trusts no other certificates than the system's.
    init(idleTimeout: Double, scheme: String) {
        self.idleTimeout = idleTimeout
        self.scheme = scheme
    }

    /// Starts a download, as `AttachmentTransport` asks for it.
    public func download(
        _ url: URL, atMost limit: UInt64, receive: @escaping @Sendable (Data) -> Bool,
        finish: @escaping @Sendable (TransportFailure?) -> Void
    ) -> any AttachmentTransfer {
        let transfer = Transfer(scheme: scheme, limit: limit, receive: receive, finish: finish)
        transfer.start(url, configuration)
        return transfer
    }

    private var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = idleTimeout
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        return configuration
    }
}

/// One download, in a session of its own, which lives as long as it does.
///
/// The session writes what comes to a file of its own, still sealed, and the pieces are read from there: what a data task
/// gives to its delegate faster than that can open it piles up in memory.
private final class Transfer: NSObject, URLSessionDownloadDelegate, AttachmentTransfer, @unchecked Sendable {
    // The session calls its delegate on a serial queue; `running` is guarded, and the rest is used there alone.
    private let scheme: String
    private let limit: UInt64
    private let receive: @Sendable (Data) -> Bool
    private let finish: @Sendable (TransportFailure?) -> Void
    private let running = Locked(Running())
    private var redirects = 0
    private var failure: TransportFailure?
    private var isReceived = false

    private final class Running {
        var task: URLSessionDownloadTask?
        var isCancelled = false
    }

    init(
        scheme: String, limit: UInt64, receive: @escaping @Sendable (Data) -> Bool,
        finish: @escaping @Sendable (TransportFailure?) -> Void
    ) {
        self.scheme = scheme
        self.limit = limit
        self.receive = receive
        self.finish = finish
        super.init()
    }

    func start(_ url: URL, _ configuration: URLSessionConfiguration) {
        guard isAllowed(url) else {
            finish(.insecure)
            return
        }
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        var request = URLRequest(url: url)
        // The size that counts is that of the sealed file.
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        let task = session.downloadTask(with: request)
        running.withLock { $0.task = task }
        task.resume()
        session.finishTasksAndInvalidate()
    }

    func cancel() {
        let task = running.withLock { running in
            running.isCancelled = true
            return running.task
        }
        task?.cancel()
    }

    private func isAllowed(_ url: URL?) -> Bool { url?.scheme?.lowercased() == scheme }

    private var isCancelled: Bool { running.withLock { $0.isCancelled } }

    private func fail(_ failure: TransportFailure) {
        if self.failure == nil { self.failure = failure }
        cancel()
    }

    // MARK: What the session says

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        redirects += 1
        if redirects > URLSessionTransport.maximumRedirects { failure = .tooManyRedirects }
        if !isAllowed(request.url) { failure = .insecure }
        // Without a request, the task ends with the answer that redirects; Foundation on Linux dies of a task that is
        // cancelled before this call.
        completionHandler(failure == nil ? request : nil)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData count: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        if failure != nil || max(totalBytesWritten, totalBytesExpectedToWrite) > limit { fail(.tooLong) }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        // On Linux the session leaves the file behind.
        defer { try? FileManager.default.removeItem(at: location) }
        let status = (downloadTask.response as? HTTPURLResponse)?.statusCode ?? 0
        if status != 200 { fail(TransportFailure("the server answers with status \(status)")) }
        guard failure == nil, !isCancelled, isAllowed(downloadTask.response?.url) else { return }
        do {
            let file = try FileHandle(forReadingFrom: location)
            defer { try? file.close() }
            while let piece = try file.read(upToCount: AttachmentDownload.pieceLength), !piece.isEmpty {
                guard !isCancelled, receive(piece) else { return fail(.cancelled) }
            }
            isReceived = true
        } catch {
            fail(TransportFailure("the downloaded file cannot be read"))
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        running.withLock { $0.task = nil }
        if let error = error as NSError?, failure == nil, !isCancelled {
            // Its text would name the URL.
            failure = TransportFailure("the download failed with \(error.domain) \(error.code)")
        }
        finish(isReceived ? nil : failure ?? .cancelled)
    }
}
