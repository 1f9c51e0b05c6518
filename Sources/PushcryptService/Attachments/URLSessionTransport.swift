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

    /// Makes a transport that gives up when nothing comes for so many seconds.
    public init(idleTimeout: Double = 15) { self.idleTimeout = idleTimeout }

    /// Starts a download.
    public func download(
        _ url: URL, receive: @escaping @Sendable (Data) -> Bool, finish: @escaping @Sendable (TransportFailure?) -> Void
    ) -> any AttachmentTransfer {
        let transfer = Transfer(receive: receive, finish: finish)
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
private final class Transfer: NSObject, URLSessionDataDelegate, AttachmentTransfer, @unchecked Sendable {
    // The session calls its delegate on a serial queue; `task` is guarded, and the rest is used there alone.
    private let receive: @Sendable (Data) -> Bool
    private let finish: @Sendable (TransportFailure?) -> Void
    private let task = Locked(Running())
    private var redirects = 0
    private var failure: TransportFailure?

    private final class Running {
        var task: URLSessionDataTask?
        var isCancelled = false
    }

    init(receive: @escaping @Sendable (Data) -> Bool, finish: @escaping @Sendable (TransportFailure?) -> Void) {
        self.receive = receive
        self.finish = finish
        super.init()
    }

    func start(_ url: URL, _ configuration: URLSessionConfiguration) {
        guard Self.isSecure(url) else {
            finish(.insecure)
            return
        }
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        var request = URLRequest(url: url)
        // The size that counts is that of the sealed file.
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        let dataTask = session.dataTask(with: request)
        task.withLock { $0.task = dataTask }
        dataTask.resume()
        session.finishTasksAndInvalidate()
    }

    func cancel() {
        let dataTask = task.withLock { running in
            running.isCancelled = true
            return running.task
        }
        dataTask?.cancel()
    }

    private static func isSecure(_ url: URL?) -> Bool { url?.scheme?.lowercased() == "https" }

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
        if !Self.isSecure(request.url) { fail(.insecure) }
        if redirects > URLSessionTransport.maximumRedirects { fail(.tooManyRedirects) }
        completionHandler(failure == nil ? request : nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        if !Self.isSecure(response.url) { fail(.insecure) }
        if status != 200 { fail(TransportFailure("the server answers with status \(status)")) }
        completionHandler(failure == nil ? .allow : .cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard failure == nil, !task.withLock({ $0.isCancelled }) else { return }
        if !receive(data) { fail(.cancelled) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let isCancelled = self.task.withLock { running in
            running.task = nil
            return running.isCancelled
        }
        if let failure {
            finish(failure)
        } else if isCancelled {
            finish(.cancelled)
        } else if let error = error as NSError? {
            // The text would name the URL.
            finish(TransportFailure("the download failed with \(error.domain) \(error.code)"))
        } else {
            finish(nil)
        }
    }
}
