internal import CCurl
internal import COpenSSL
internal import PushcryptCommandKit

/// Where APNs or a relay is, and how this program shows who it is.
struct Destination {
    var host: String
    var port = 443
    /// Whether TLS protects the connection: not to a relay in a network of one's own.
    var isSecure = true
    /// Certificates to trust instead of the system's.
    var authorities: String?
    /// How long a connection may take, in milliseconds. Longer attempts would notice the end of an outage late.
    var timeout: UInt64 = 10_000
    var certificate: ClientCertificate?
    /// The problem of a server without HTTP/2.
    var withoutHTTP2 = "it does not speak HTTP/2"

    /// As the request names it.
    var authority: String { port == (isSecure ? 443 : 80) ? host : "\(host):\(port)" }
}

/// Makes connections: libcurl resolves names, goes through proxies and verifies certificates. Nothing of HTTP is left to it.
@safe
final class Dialer {
    /// A connection that is being made, or is made.
    @safe
    final class Handle {
        fileprivate let curl: UnsafeMutableRawPointer
        /// Whether the peer has chosen HTTP/2.
        fileprivate var speaksHTTP2: Bool
        fileprivate let destination: Destination
        /// libcurl's text about a failure.
        fileprivate let text: UnsafeMutableBufferPointer<CChar>

        fileprivate init(_ curl: UnsafeMutableRawPointer, _ destination: Destination) {
            unsafe self.curl = curl
            self.destination = destination
            // Without TLS nothing is chosen, and the first bytes show it.
            speaksHTTP2 = !destination.isSecure
            unsafe text = .allocate(capacity: Int(CURL_ERROR_SIZE))
            unsafe text.initialize(repeating: 0)
        }

        deinit {
            unsafe text.deallocate()
        }

        /// The socket to wait for.
        var descriptor: Descriptor { Descriptor(number: unsafe pushcrypt_curl_socket(curl)) }
    }

    enum Result {
        case connected
        case failed(String)
    }

    private let multi: UnsafeMutableRawPointer
    private var handles: [Handle] = []
    /// The events that libcurl waits for, by descriptor.
    private var sockets: [Int32: Int32] = [:]
    /// The uptime at which libcurl wants to be called.
    private var timer: UInt64?

    /// - Parameter isSecure: Whether any destination is: a connection in the clear uses no proxy.
    init(isSecure: Bool) throws {
        // The one that libcurl takes. A proxy inside TLS would be shown the certificate for APNs, and offered HTTP/2.
        let proxy = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].lazy
            .compactMap(SystemEnvironment.variable).first { !$0.isEmpty }
        guard !isSecure || proxy?.lowercased().hasPrefix("https://") != true else {
            throw Failure.usage(
                "the proxy's URL begins with https://",
                hint: "write http://HOST:PORT in https_proxy: what goes through it is encrypted in any case")
        }
        guard curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK, let multi = unsafe curl_multi_init() else {
            throw Failure.failed("libcurl cannot start")
        }
        unsafe self.multi = multi
        let code = unsafe pushcrypt_curl_watch(
            multi,
            { _, socket, action, context, _ in
                unsafe Dialer.of(context)?.watch(socket, action)
                return 0
            },
            { _, milliseconds, context in
                unsafe Dialer.of(context)?.wake(after: milliseconds)
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
        guard code == CURLM_OK else { throw Failure.failed("libcurl cannot start") }
    }

    deinit {
        for handle in handles { remove(handle) }
        unsafe curl_multi_cleanup(multi)
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> Dialer? {
        unsafe context.map { unsafe Unmanaged<Dialer>.fromOpaque($0).takeUnretainedValue() }
    }

    private func watch(_ socket: Int32, _ action: Int32) {
        sockets[socket] = action == CURL_POLL_REMOVE ? nil : action
    }

    private func wake(after milliseconds: Int) {
        timer = milliseconds < 0 ? nil : SystemEnvironment.uptime() + UInt64(milliseconds)
    }
}

// MARK: Connecting

extension Dialer {
    /// Starts a connection; nil without memory or if an option is refused.
    func dial(_ destination: Destination) -> Handle? {
        guard let curl = unsafe curl_easy_init() else { return nil }
        let handle = unsafe Handle(curl, destination)
        guard prepare(handle, destination), unsafe curl_multi_add_handle(multi, curl) == CURLM_OK else {
            unsafe curl_easy_cleanup(curl)
            return nil
        }
        handles.append(handle)
        return handle
    }

    private func prepare(_ handle: Handle, _ destination: Destination) -> Bool {
        let curl = unsafe handle.curl
        func set(_ option: CURLoption, _ value: Int) -> Bool {
            unsafe pushcrypt_curl_set_long(curl, option, value) == CURLE_OK
        }
        func set(_ option: CURLoption, _ value: String) -> Bool {
            unsafe pushcrypt_curl_set_text(curl, option, value) == CURLE_OK
        }
        let scheme = destination.isSecure ? "https" : "http"
        var isSet = set(CURLOPT_URL, "\(scheme)://\(destination.host):\(destination.port)/")
        isSet = isSet && set(CURLOPT_CONNECT_ONLY, 1) && set(CURLOPT_NOSIGNAL, 1) && set(CURLOPT_TCP_KEEPALIVE, 1)
        // HTTP/2 is not libcurl's here: it would offer more than h2.
        isSet = isSet && set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1) && set(CURLOPT_SSL_ENABLE_ALPN, 0)
        isSet = isSet && set(CURLOPT_SSL_VERIFYPEER, 1) && set(CURLOPT_SSL_VERIFYHOST, 2)
        isSet = isSet && set(CURLOPT_CONNECTTIMEOUT_MS, Int(destination.timeout))
        if let file = destination.authorities {
            // The system's folder would be trusted beside it.
            let isAlone = unsafe pushcrypt_curl_set_text(curl, CURLOPT_CAPATH, nil) == CURLE_OK
            isSet = isSet && set(CURLOPT_CAINFO, file) && isAlone
        }
        // A connection in the clear stays in its network.
        if !destination.isSecure { isSet = isSet && set(CURLOPT_NOPROXY, "*") }
        let code = unsafe pushcrypt_curl_prepare_tls(
            curl, { _, tls, context in unsafe Dialer.prepareTLS(tls, context) },
            Unmanaged.passUnretained(handle).toOpaque())
        let isHeard = unsafe pushcrypt_curl_set_error_buffer(curl, handle.text.baseAddress) == CURLE_OK
        return isSet && isHeard && code == CURLE_OK
    }

    /// Offers HTTP/2 only, takes note of whether the peer chooses it, and shows the certificate.
    private static func prepareTLS(_ tls: UnsafeMutableRawPointer?, _ handle: UnsafeMutableRawPointer?) -> CURLcode {
        guard let tls = unsafe tls, let own = unsafe handle else { return CURLE_SSL_CONNECT_ERROR }
        let context = OpaquePointer(tls)
        if let certificate = unsafe Unmanaged<Handle>.fromOpaque(own).takeUnretainedValue().destination.certificate {
            guard unsafe certificate.use(in: context) else { return CURLE_SSL_CERTPROBLEM }
        }
        let protocols: [UInt8] = [2, UInt8(ascii: "h"), UInt8(ascii: "2")]
        guard unsafe SSL_CTX_set_alpn_protos(context, protocols, UInt32(protocols.count)) == 0,
            unsafe pushcrypt_minimum_tls_1_2(context) == 1, unsafe SSL_CTX_set_ex_data(context, 0, handle) == 1
        else { return CURLE_SSL_CONNECT_ERROR }
        unsafe SSL_CTX_set_info_callback(context) { connection, place, _ in
            guard place & SSL_CB_HANDSHAKE_DONE != 0 else { return }
            var chosen: UnsafePointer<UInt8>?
            var length: UInt32 = 0
            unsafe SSL_get0_alpn_selected(connection, &chosen, &length)
            guard let chosen = unsafe chosen, length == 2, unsafe chosen[0] == UInt8(ascii: "h"),
                unsafe chosen[1] == UInt8(ascii: "2"),
                let handle = unsafe SSL_CTX_get_ex_data(SSL_get_SSL_CTX(connection), 0)
            else { return }
            unsafe Unmanaged<Handle>.fromOpaque(handle).takeUnretainedValue().speaksHTTP2 = true
        }
        return CURLE_OK
    }

    /// Closes a connection.
    func close(_ handle: Handle) {
        handles.removeAll { $0 === handle }
        remove(handle)
    }

    private func remove(_ handle: Handle) {
        unsafe curl_multi_remove_handle(multi, handle.curl)
        unsafe curl_easy_cleanup(handle.curl)
    }

    /// The descriptors that libcurl waits for, and whether for reading or writing.
    var waits: [(descriptor: Int32, reads: Bool, writes: Bool)] {
        sockets.map { ($0.key, $0.value & CURL_POLL_IN != 0, $0.value & CURL_POLL_OUT != 0) }
    }

    /// The milliseconds after which `proceed` must be called if nothing happens before.
    var patience: UInt64? { timer.map { $0 - min($0, SystemEnvironment.uptime()) } }

    /// Continues with the descriptors that are ready; returns the connections that are made or have failed.
    func proceed(
        ready: [(descriptor: Int32, reads: Bool, writes: Bool)]
    ) -> [(handle: Handle, result: Result)] {
        var running: Int32 = 0
        for socket in ready where sockets[socket.descriptor] != nil {
            let events = (socket.reads ? CURL_CSELECT_IN : 0) | (socket.writes ? CURL_CSELECT_OUT : 0)
            unsafe curl_multi_socket_action(multi, socket.descriptor, events, &running)
        }
        if patience == 0 {
            timer = nil
            unsafe curl_multi_socket_action(multi, CURL_SOCKET_BAD, 0, &running)
        }
        var results: [(handle: Handle, result: Result)] = []
        var code = CURLE_OK
        while let ended = unsafe pushcrypt_curl_next_ended(multi, &code) {
            guard let handle = handles.first(where: { unsafe $0.curl == ended }) else { continue }
            results.append((handle, Self.result(code, of: handle)))
        }
        return results
    }

    private static func result(_ code: CURLcode, of handle: Handle) -> Result {
        guard code == CURLE_OK else {
            var text = unsafe String(
                decoding: handle.text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.isEmpty { text = unsafe curl_easy_strerror(code).map { unsafe String(cString: $0) } ?? "" }
            // The alert of a server that speaks only HTTP/1.1; others choose nothing.
            let isWithout = text.contains("alert no application protocol")
            return .failed(isWithout ? handle.destination.withoutHTTP2 : sentence(text, code))
        }
        return handle.speaksHTTP2 ? .connected : .failed(handle.destination.withoutHTTP2)
    }
}

extension Dialer {
    /// Returns libcurl's text as part of a sentence. libcurl repeats the URL of a proxy that it cannot use, with its password.
    static func sentence(_ text: String, _ code: CURLcode) -> String {
        guard code != CURLE_COULDNT_RESOLVE_PROXY, !text.contains("://"), !text.contains("nsupported proxy") else {
            return
                "the proxy's URL cannot be used: write http://HOST:PORT, with a HOST that exists, and percent-encode user and password"
        }
        // Not the first word of "SSL certificate problem".
        let isName = text.dropFirst().first?.isLowercase != true
        let isDated = text.contains("has expired") || text.contains("not yet valid")
        return (isName ? text : text.prefix(1).lowercased() + text.dropFirst())
            + (isDated ? ", or this machine's clock is wrong" : "")
    }
}

// MARK: Bytes

/// The result of a read or write.
enum Transfer {
    case bytes(Int)
    /// Nothing now.
    case later
    /// The connection has ended.
    case ended(String)
}

extension Dialer.Handle {
    /// Writes some bytes. After `later` the same bytes must be written again.
    func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        var count = 0
        return unsafe Self.transfer(curl_easy_send(curl, bytes.baseAddress, bytes.count, &count), &count)
    }

    /// Reads available bytes into `room`.
    func read(into room: UnsafeMutableRawBufferPointer) -> Transfer {
        var count = 0
        let code = unsafe curl_easy_recv(curl, room.baseAddress, room.count, &count)
        if code == CURLE_OK, count == 0 { return .ended("it closed the connection") }
        return Self.transfer(code, &count)
    }

    private static func transfer(_ code: CURLcode, _ count: inout Int) -> Transfer {
        switch code {
        case CURLE_OK: .bytes(count)
        case CURLE_AGAIN: .later
        default: .ended("the connection broke")
        }
    }
}
