internal import Foundation
internal import Pushcrypt
internal import PushcryptKeyStore

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A POST to the relay, or to the server of a code.
struct WebRequest: Hashable, Sendable {
    let url: String
    let body: ContiguousArray<UInt8>
    /// Seconds, of the whole exchange.
    var timeout: TimeInterval = 30
}

/// The answer to a POST, whatever its status; a redirect is an answer like others.
struct WebAnswer: Hashable, Sendable {
    let status: Int
    var retryAfter: String?
    let body: ContiguousArray<UInt8>
}

/// Posts requests. Not run on Apple systems.
protocol WebPosting: Sendable {
    /// Posts a request and returns the answer: follows no redirect, and reads at most 65,536 bytes.
    func post(_ request: WebRequest) async throws -> WebAnswer
}

/// Posts with `URLSession`, without cache, cookies or credentials. Run on Linux only.
struct URLSessionPoster: WebPosting {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    func post(_ request: WebRequest) async throws -> WebAnswer {
        // If Foundation reads another host than the library, nobody has agreed to that host.
        guard let address = WebAddress(request.url), address.isOfServer, let url = URL(string: request.url),
            url.host?.lowercased().trimmingCharacters(in: ["[", "]"]) == address.host
        else { throw Failure(description: "the address cannot be used") }
        var post = URLRequest(url: url)
        post.httpMethod = "POST"
        post.httpBody = Data(request.body)
        post.setValue("application/json", forHTTPHeaderField: "Content-Type")
        post.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        let exchange = Exchange()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                exchange.start(post, .withoutTraces(timeout: request.timeout), continuation)
            }
        } onCancel: {
            exchange.cancel()
        }
    }
}

/// One exchange, in a separate session that ends with it.
private final class Exchange: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // The session calls its delegate on a serial queue, where the rest is used; `running` is locked.
    private struct Running {
        var task: URLSessionDataTask?
        var isCancelled = false
    }

    private let running = Locked(Running())
    private var continuation: CheckedContinuation<WebAnswer, any Error>?
    private var body = ContiguousArray<UInt8>()
    private var isTooLong = false

    func start(
        _ request: URLRequest, _ configuration: URLSessionConfiguration,
        _ continuation: CheckedContinuation<WebAnswer, any Error>
    ) {
        self.continuation = continuation
        configuration.timeoutIntervalForResource = configuration.timeoutIntervalForRequest
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        let task = session.dataTask(with: request)
        let isCancelled = running.withLock { running in
            running.task = task
            return running.isCancelled
        }
        task.resume()
        if isCancelled { task.cancel() }
        session.finishTasksAndInvalidate()
    }

    func cancel() {
        let task = running.withLock { running in
            running.isCancelled = true
            return running.task
        }
        task?.cancel()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // The task ends with the redirecting response.
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        if isTooLong || body.count + data.count > PhoneRequest.longestAnswer {
            isTooLong = true
            cancel()
        } else {
            body.append(contentsOf: data)
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        running.withLock { $0.task = nil }
        guard let continuation else { return }
        self.continuation = nil
        guard error == nil, !isTooLong, let response = task.response as? HTTPURLResponse else {
            // The error's text would contain the address.
            let (domain, code) = ((error as NSError?)?.domain ?? "", (error as NSError?)?.code ?? 0)
            return continuation.resume(
                throwing: URLSessionPoster.Failure(
                    description: isTooLong ? "the answer is too long" : "no answer: \(domain) \(code)"))
        }
        continuation.resume(
            returning: WebAnswer(
                status: response.statusCode, retryAfter: response.value(forHTTPHeaderField: "Retry-After"), body: body))
    }
}
