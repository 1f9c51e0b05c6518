public import Foundation
internal import PushcryptKeyStore

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Downloads attachments. An app or a test can replace it. Not run on Apple systems.
public protocol AttachmentTransport: Sendable {
    /// Starts a download. Uses https only, after every redirect too, and no other host unless the app allows it.
    ///
    /// - Parameters:
    ///   - url: The URL of the sealed file.
    ///   - limit: The most bytes to download; a longer download ends with a failure.
    ///   - receive: Receives the pieces, of any size, in order. The download ends when it returns false.
    ///   - finish: Called once, after the last piece, however the download ends, also when it is cancelled; with nil if
    ///     everything was received.
    /// - Returns: The download, which the caller may cancel.
    func download(
        _ url: URL, atMost limit: UInt64, receive: @escaping @Sendable (Data) -> Bool,
        finish: @escaping @Sendable (TransportFailure?) -> Void
    ) -> any AttachmentTransfer
}

/// A download in progress.
public protocol AttachmentTransfer: Sendable {
    /// Ends the download, unless it has ended.
    func cancel()
}

/// The reason that a download failed.
public struct TransportFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// A description of the failure. It does not contain the URL, which can be a secret.
    public let description: String

    /// Creates a failure. Leave the URL out of the description.
    public init(_ description: String) { self.description = description }

    static let insecure = TransportFailure("the url, or one that it redirects to, is not https")
    static let otherHost = TransportFailure("the url redirects to another host")
    static let tooManyRedirects = TransportFailure("the url redirects too often")
    static let tooLong = TransportFailure("the file is longer than its reference says")
    static let cancelled = TransportFailure("the download was stopped")
}

/// Downloads attachments with `URLSession`, without cache, cookies or credentials.
///
/// The server learns only that this file is fetched now, and from which address. Run on Linux only.
public struct URLSessionTransport: AttachmentTransport {
    /// The most redirects to follow.
    package static let maximumRedirects = 5

    private let idleTimeout: TimeInterval
    private let mayRedirect: @Sendable (_ host: String) -> Bool
    private let scheme: String

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - idleTimeout: The time without data after which a download fails, in seconds.
    ///   - mayRedirect: Returns whether a redirect may lead to this host, in lower case. Not called for the host of the
    ///     url itself, which always may. By default no other may, because the operator of the storage chooses it.
    public init(
        idleTimeout: TimeInterval = 15, mayRedirect: @escaping @Sendable (_ host: String) -> Bool = { _ in false }
    ) {
        self.init(idleTimeout: idleTimeout, mayRedirect: mayRedirect, scheme: "https")
    }

    /// For tests: Foundation on Linux trusts only the system's certificates.
    init(
        idleTimeout: TimeInterval, mayRedirect: @escaping @Sendable (_ host: String) -> Bool = { _ in false },
        scheme: String
    ) {
        self.idleTimeout = idleTimeout
        self.mayRedirect = mayRedirect
        self.scheme = scheme
    }

    /// Starts a download. See `AttachmentTransport`.
    public func download(
        _ url: URL, atMost limit: UInt64, receive: @escaping @Sendable (Data) -> Bool,
        finish: @escaping @Sendable (TransportFailure?) -> Void
    ) -> any AttachmentTransfer {
        let transfer = Transfer(
            host: url.host?.lowercased(), mayRedirect: mayRedirect, scheme: scheme, limit: limit, receive: receive,
            finish: finish)
        transfer.start(url, .withoutTraces(timeout: idleTimeout))
        return transfer
    }
}

extension URLSessionConfiguration {
    /// A configuration without cache, cookies or credentials.
    static func withoutTraces(timeout: TimeInterval) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = timeout
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        return configuration
    }
}

/// One download, in a separate session that ends with it.
///
/// The session writes the sealed bytes to a file, and the pieces are read from that file. A data task would pile them
/// up in memory whenever they arrive faster than the delegate can open them.
private final class Transfer: NSObject, URLSessionDownloadDelegate, AttachmentTransfer, @unchecked Sendable {
    // The session calls its delegate on a serial queue, where the rest is used; `running` is locked.
    private let host: String?
    private let mayRedirect: @Sendable (_ host: String) -> Bool
    private let scheme: String
    private let limit: UInt64
    private let receive: @Sendable (Data) -> Bool
    private let finish: @Sendable (TransportFailure?) -> Void
    private let running = Locked(Running())
    private var redirects = 0
    private var failure: TransportFailure?
    private var isReceived = false

    private struct Running {
        var task: URLSessionDownloadTask?
        var isCancelled = false
    }

    init(
        host: String?, mayRedirect: @escaping @Sendable (_ host: String) -> Bool, scheme: String, limit: UInt64,
        receive: @escaping @Sendable (Data) -> Bool,
        finish: @escaping @Sendable (TransportFailure?) -> Void
    ) {
        self.host = host
        self.mayRedirect = mayRedirect
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
        // The limit is on the size of the sealed file.
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

    private func isAllowedHost(_ url: URL?) -> Bool {
        guard let host = url?.host?.lowercased() else { return false }
        return host == self.host || mayRedirect(host)
    }

    private var isCancelled: Bool { running.withLock { $0.isCancelled } }

    private func fail(_ failure: TransportFailure) {
        if self.failure == nil { self.failure = failure }
        cancel()
    }

    // MARK: Delegate

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        redirects += 1
        if redirects > URLSessionTransport.maximumRedirects { failure = .tooManyRedirects }
        if !isAllowedHost(request.url) { failure = .otherHost }
        if !isAllowed(request.url) { failure = .insecure }
        // Without a request, the task ends with the redirecting response. Foundation on Linux crashes if a task is
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
        // On Linux the session does not remove the file.
        defer { try? FileManager.default.removeItem(at: location) }
        let status = (downloadTask.response as? HTTPURLResponse)?.statusCode ?? 0
        if status != 200 { fail(TransportFailure("the server answers with status \(status)")) }
        guard failure == nil, !isCancelled, isAllowed(downloadTask.response?.url),
            isAllowedHost(downloadTask.response?.url)
        else { return }
        do {
            let file = try PlainFile(location, O_RDONLY)
            var piece = [UInt8](repeating: 0, count: AttachmentDownload.pieceLength)
            while case let count = try file.read(into: &piece), count > 0 {
                guard !isCancelled, receive(Data(piece.prefix(count))) else { return fail(.cancelled) }
            }
            isReceived = true
        } catch {
            fail(TransportFailure("the downloaded file cannot be read"))
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        running.withLock { $0.task = nil }
        if let error = error as NSError?, failure == nil, !isCancelled {
            // The error's text would contain the URL.
            failure = TransportFailure("the download failed with \(error.domain) \(error.code)")
        }
        finish(isReceived ? nil : failure ?? .cancelled)
    }
}
