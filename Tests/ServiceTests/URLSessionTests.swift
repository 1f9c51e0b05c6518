import Foundation
import Pushcrypt
import PushcryptKeyStore
import Testing
import Waiting

@testable import PushcryptService

/// Downloads over a real network stack, from a server on this machine.
///
/// Foundation on Linux trusts only the system's certificates, so the server with the files uses plain HTTP, with a
/// transport that treats `http` as `https`; TLS itself is tested by its refusals.
@Suite final class URLSessionTests {
    private static let plain = SealedAttachment.plain(300_000)
    private static let photo = Result { try SealedAttachment(plain) }

    private let folder: URL
    private let server: AttachmentServer
    private let sealed: ContiguousArray<UInt8>
    private let file: SealedFile

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("pushcrypt-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let photo = try Self.photo.get()
        (sealed, file) = (photo.sealed, photo.reference.file)
        try Data(sealed).write(to: folder.appendingPathComponent("photo"))
        var tampered = sealed
        tampered[150_000] ^= 1
        try Data(tampered).write(to: folder.appendingPathComponent("tampered"))
        server = try AttachmentServer(folder)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Replaces the network of a reference's URL.
    private struct LocalTransport: AttachmentTransport {
        let port: Int
        var transport = URLSessionTransport(idleTimeout: 3600, scheme: "http")

        func download(
            _ url: URL, atMost limit: UInt64, receive: @escaping @Sendable (Data) -> Bool,
            finish: @escaping @Sendable (TransportFailure?) -> Void
        ) -> any AttachmentTransfer {
            var local = "http://127.0.0.1:\(port)\(url.path)"
            if let query = url.query { local += "?\(query)" }
            guard let url = URL(string: local) else { preconditionFailure("\(local) is no url") }
            return transport.download(url, atMost: limit, receive: receive, finish: finish)
        }
    }

    private func fetch(
        _ path: String, with transport: URLSessionTransport = URLSessionTransport(idleTimeout: 60, scheme: "http")
    ) async throws -> Result<Data, AttachmentProblem> {
        let reference = try AttachmentReference(
            url: "https://files.example/\(path)", file: file, type: "public.jpeg", name: "photo.jpg")
        let (ended, end) = AsyncStream<Void>.makeStream()
        let fetch = Fetch(
            [reference], with: LocalTransport(port: server.port, transport: transport), maximumSize: 50_000_000,
            in: AttachmentFolder(folder), ended: { end.finish() })
        fetch.start()
        for await _ in ended {}
        return try #require(fetch.file(0)).flatMap { file in
            Result { try Data(contentsOf: file) }.mapError { AttachmentProblem("\($0)") }
        }
    }

    private func problem(
        _ path: String, with transport: URLSessionTransport = URLSessionTransport(idleTimeout: 60, scheme: "http")
    ) async throws -> String {
        switch try await fetch(path, with: transport) {
        case .success: "none"
        case .failure(let problem): problem.description
        }
    }

    @Test(arguments: ["file/photo", "redirect/1/file/photo", "redirect/5/file/photo"])
    func aFileIsFetchedThroughAFewRedirects(_ path: String) async throws {
        #expect(try await fetch(path).get() == Data(Self.plain))
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            ("redirect/6/file/photo", "the url redirects too often"),
            ("status/404", "the server answers with status 404"),
            ("status/500", "the server answers with status 500"),
            ("to?https://127.0.0.1:1/file/photo", "the url, or one that it redirects to, is not https"),
            ("other/localhost/file/photo", "the url redirects to another host"),
            ("redirect/2/other/localhost/file/photo", "the url redirects to another host"),
            ("to?ftp://127.0.0.1/photo", "the url, or one that it redirects to, is not https"),
            ("endless", "the file is longer than its reference says"),
            ("liar/photo", "the file is longer than its reference says"),
        ])
    func whatIsNotTheFileIsRefused(_ path: String, _ reason: String) async throws {
        #expect(try await problem(path) == reason)
    }

    @Test func anotherHostIsFollowedOnlyWhereTheAppAllowsIt() async throws {
        let asked = Locked(Asked())
        let transport = URLSessionTransport(
            idleTimeout: 60,
            mayRedirect: { host in
                asked.withLock { _ = $0.hosts.insert(host) }
                return host == "localhost"
            }, scheme: "http")
        for path in ["other/LocalHost/file/photo", "other/localhost/other/127.0.0.1/file/photo"] {
            #expect(try await fetch(path, with: transport).get() == Data(Self.plain))
        }
        #expect(asked.withLock { $0.hosts } == ["localhost"], "the url's own host needs no permission")
        let path = "other/localhost/other/127.0.0.2/file/photo"
        #expect(try await problem(path, with: transport) == "the url redirects to another host")
    }

    private final class Asked {
        var hosts: Set<String> = []
    }

    @Test func aTamperedFileIsRefused() async throws {
        #expect(try await problem("file/tampered").hasPrefix("authentication-failed"))
    }

    @Test func aServerThatIsNotThereIsRefused() async throws {
        let transport = URLSessionTransport(idleTimeout: 5, scheme: "http")
        let failure = await outcome(transport, "http://127.0.0.1:1/")
        #expect(failure?.description.hasPrefix("the download failed with NSURLErrorDomain") == true)
    }

    @Test func aSlowServerIsLeftWhenNobodyWaitsAnyMore() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/slow/photo"))
        let transport = URLSessionTransport(idleTimeout: 3600, scheme: "http")
        let failure = await withCheckedContinuation { continuation in
            let transfer = transport.download(url, atMost: 1 << 20, receive: { _ in true }) {
                continuation.resume(returning: $0)
            }
            Task { [server] in
                await eventually { server.log.contains("/slow/photo") }
                transfer.cancel()
            }
        }
        #expect(failure == .cancelled)
    }

    @Test func aSlowServerIsLeftWhenNothingComes() async throws {
        let transport = URLSessionTransport(idleTimeout: 1, scheme: "http")
        let failure = await outcome(transport, "http://127.0.0.1:\(server.port)/slow/photo")
        #expect(failure?.description == "the download failed with NSURLErrorDomain -1001")
    }

    @Test func whatIsNotHTTPSIsNotEvenAskedFor() async throws {
        let failure = await outcome(URLSessionTransport(), "http://127.0.0.1:\(server.port)/file/photo")
        #expect(failure == .insecure)
        #expect(server.log == "/log")
    }

    @Test func aServerThatNobodyKnowsIsNotBelieved() async throws {
        let certificate = (
            file: folder.appendingPathComponent("cert.pem"), key: folder.appendingPathComponent("key.pem")
        )
        let made = try run(
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
            "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", certificate.key.path,
            "-out", certificate.file.path)
        #expect(made == 0)
        let secure = try AttachmentServer(folder, certificate: certificate)
        let url = "https://127.0.0.1:\(secure.port)/file/photo"
        let failure = await outcome(URLSessionTransport(), url)
        #expect(failure?.description.hasPrefix("the download failed with NSURLErrorDomain") == true)

        // It serves clients that trust the certificate.
        let script = """
            import ssl, sys, urllib.request
            urllib.request.urlopen(sys.argv[1], context=ssl.create_default_context(cafile=sys.argv[2])).read()
            """
        #expect(try run("python3", "-c", script, url, certificate.file.path) == 0)
    }

    // MARK: Posts

    private func post(_ path: String, timeout: TimeInterval = 60) async throws -> WebAnswer {
        let url = "http://127.0.0.1:\(server.port)/\(path)"
        return try await URLSessionPoster().post(WebRequest(url: url, body: [0x7B, 0x7D], timeout: timeout))
    }

    private func failure(_ path: String, timeout: TimeInterval = 60) async throws -> String {
        do {
            return "status \(try await post(path, timeout: timeout).status)"
        } catch let failure as URLSessionPoster.Failure {
            return failure.description
        }
    }

    @Test func aPostIsAnsweredWhateverTheStatus() async throws {
        let answer = try await post("echo")
        #expect(answer.status == 429 && answer.retryAfter == "7")
        #expect(String(decoding: answer.body, as: UTF8.self) == "application/json {}")
        try Data(sealed.prefix(65_536)).write(to: folder.appendingPathComponent("most"))
        #expect(try await post("file/most").body.count == 65_536)
    }

    ///
    @Test(arguments: ["redirect/1/file/photo", "other/localhost/file/photo", "to?https://127.0.0.1:1/x"])
    func noPostIsRedirected(_ path: String) async throws {
        #expect(try await post(path).status == 302)
        #expect(server.log == "/\(path)\n/log")
    }

    @Test(arguments: ["file/photo", "endless", "liar/photo"]) func aLongAnswerToAPostIsCut(_ path: String) async throws
    {
        #expect(try await failure(path) == "the answer is too long")
    }

    @Test func aPostWaitsNoLongerThanItMust() async throws {
        try Data([1, 2]).write(to: folder.appendingPathComponent("two"))
        #expect(try await failure("slow/two", timeout: 1) == "no answer: NSURLErrorDomain -1001")
    }

    @Test(arguments: ["http://example.com/", "https://a@example.com/", "ftp://127.0.0.1/", "http://0x7f000001/"])
    func nothingIsPostedWhereOthersCanRead(_ url: String) async {
        // Otherwise the system would refuse it, or the network.
        let failure = await #expect(throws: URLSessionPoster.Failure.self) {
            _ = try await URLSessionPoster().post(WebRequest(url: url, body: []))
        }
        #expect(failure?.description == "the address cannot be used")
    }

    @Test func aPostThatNobodyWaitsForIsLeft() async throws {
        try Data([1, 2]).write(to: folder.appendingPathComponent("two"))
        let request = WebRequest(url: "http://127.0.0.1:\(server.port)/slow/two", body: [], timeout: 3600)
        let task = Task { try await URLSessionPoster().post(request) }
        await eventually { server.log.contains("/slow/two") }
        task.cancel()
        await #expect(throws: URLSessionPoster.Failure.self) { try await task.value }
    }

    private func run(_ arguments: String...) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    private func outcome(_ transport: URLSessionTransport, _ url: String) async -> TransportFailure? {
        guard let url = URL(string: url) else { return TransportFailure("no url") }
        return await withCheckedContinuation { continuation in
            _ = transport.download(
                url, atMost: 1 << 20,
                receive: { _ in
                    Issue.record("something was received")
                    return true
                }, finish: { continuation.resume(returning: $0) })
        }
    }
}
