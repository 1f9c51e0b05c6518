internal import CCurl
internal import Pushcrypt
internal import PushcryptCommand
internal import PushcryptCommandKit

/// Makes requests to one relay, several at a time, by libcurl's HTTP. It follows no redirect.
@safe
final class RelayClient {
    /// How long an answer may take, in milliseconds. [R-24]
    static let patience: UInt64 = 30_000

    struct Settings {
        let origin: RelayOrigin
        /// Certificates to trust instead of the system's.
        var authorities: String?
        /// `http://host:port`; nil for what the environment says.
        var proxy: String?
        /// How long a connection may take, in milliseconds.
        var connectTimeout: UInt64 = 10_000
        /// How long an answer may take.
        var timeout = RelayClient.patience
    }

    /// What came of a request.
    struct Result {
        let number: Int
        /// 0 without an answer.
        let status: Int
        let retryAfter: String?
        let body: ContiguousArray<UInt8>
        /// Why there is no answer; nil if there is one.
        let failure: String?
        /// Whether the relay may have read the request.
        let wasSent: Bool
    }

    /// A request under way.
    @safe
    private final class Transfer {
        let number: Int
        let curl: UnsafeMutableRawPointer
        var headers: UnsafeMutablePointer<curl_slist>?
        var body: ContiguousArray<UInt8> = []
        var retryAfter: String?
        let text: UnsafeMutableBufferPointer<CChar>

        init(_ number: Int, _ curl: UnsafeMutableRawPointer) {
            self.number = number
            unsafe self.curl = curl
            unsafe text = .allocate(capacity: Int(CURL_ERROR_SIZE))
            unsafe text.initialize(repeating: 0)
        }

        deinit {
            unsafe curl_easy_cleanup(curl)
            unsafe curl_slist_free_all(headers)
            unsafe text.deallocate()
        }
    }

    private let settings: Settings
    private let multi: UnsafeMutableRawPointer
    private var transfers: [Transfer] = []

    init(_ settings: Settings) throws(CommandFailure) {
        self.settings = settings
        guard curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK, let multi = unsafe curl_multi_init() else {
            throw .failed("libcurl cannot start")
        }
        unsafe self.multi = multi
    }

    deinit {
        for transfer in transfers { unsafe curl_multi_remove_handle(multi, transfer.curl) }
        transfers = []
        unsafe curl_multi_cleanup(multi)
    }
}

// MARK: Requests

extension RelayClient {
    /// Asks the relay what it is; `results` has the answer under this number.
    func ask(_ number: Int) -> Bool { start(number, settings.origin.description + "/v1/relay", nil) }

    /// Posts a signed request; returns false if libcurl refuses it.
    func post(_ number: Int, _ request: RelayRequest) -> Bool { start(number, settings.origin.pushURL, request) }

    private func start(_ number: Int, _ url: String, _ request: RelayRequest?) -> Bool {
        guard let curl = unsafe curl_easy_init() else { return false }
        let transfer = unsafe Transfer(number, curl)
        guard prepare(transfer, url, request), unsafe curl_multi_add_handle(multi, curl) == CURLM_OK else {
            return false
        }
        transfers.append(transfer)
        return true
    }

    private func prepare(_ transfer: Transfer, _ url: String, _ request: RelayRequest?) -> Bool {
        let curl = unsafe transfer.curl
        func set(_ option: CURLoption, _ value: Int) -> Bool {
            unsafe pushcrypt_curl_set_long(curl, option, value) == CURLE_OK
        }
        func set(_ option: CURLoption, _ value: String?) -> Bool {
            unsafe pushcrypt_curl_set_text(curl, option, value) == CURLE_OK
        }
        var isSet = set(CURLOPT_URL, url) && set(CURLOPT_NOSIGNAL, 1) && set(CURLOPT_FOLLOWLOCATION, 0)
        isSet = isSet && set(CURLOPT_SSL_VERIFYPEER, 1) && set(CURLOPT_SSL_VERIFYHOST, 2)
        isSet = isSet && set(CURLOPT_CONNECTTIMEOUT_MS, Int(settings.connectTimeout))
        isSet = isSet && set(CURLOPT_TIMEOUT_MS, Int(settings.timeout))
        if let file = settings.authorities {
            isSet = isSet && set(CURLOPT_CAPATH, nil) && set(CURLOPT_CAINFO, file)
        }
        if let proxy = settings.proxy { isSet = isSet && set(CURLOPT_PROXY, proxy) }
        // What is not encrypted stays in its network.
        if url.hasPrefix("http://") { isSet = isSet && set(CURLOPT_NOPROXY, "*") }
        let isHeard = unsafe pushcrypt_curl_set_error_buffer(curl, transfer.text.baseAddress) == CURLE_OK
        let code = unsafe pushcrypt_curl_receive(
            curl, { bytes, size, count, context in unsafe RelayClient.take(bytes, size * count, context) },
            { bytes, size, count, context in unsafe RelayClient.takeHeader(bytes, size * count, context) },
            Unmanaged.passUnretained(transfer).toOpaque())
        isSet = isSet && isHeard && code == CURLE_OK
        guard isSet, let request else { return isSet }
        // Without "Expect", the body goes out at once.
        for (name, value) in request.headers + [("Expect", "")] {
            guard let list = unsafe curl_slist_append(transfer.headers, "\(name):\(value.isEmpty ? "" : " \(value)")")
            else { return false }
            unsafe transfer.headers = list
        }
        return unsafe request.body.withUnsafeBytes { body in
            unsafe pushcrypt_curl_post(
                curl, body.baseAddress?.assumingMemoryBound(to: CChar.self), body.count, transfer.headers) == CURLE_OK
        }
    }

    private static func take(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?)
        -> Int
    {
        guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
        let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        guard transfer.body.count + count <= RelayResponse.maximumBody else { return 0 }
        unsafe transfer.body.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
        return count
    }

    private static func takeHeader(
        _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?
    ) -> Int {
        guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
        let line = unsafe String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
        let parts = line.split(separator: ":", maxSplits: 1)
        if parts.count == 2, parts[0].lowercased() == "retry-after" {
            let value = parts[1].filter { !$0.isWhitespace }
            unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue().retryAfter = value
        }
        return count
    }
}

// MARK: Waiting

extension RelayClient {
    /// A descriptor that the caller waits for besides.
    struct Wait {
        let descriptor: Int32
        var writes = false
        /// Whether it is ready.
        var isReady = false
    }

    /// Waits until something can go on, at most for some milliseconds; marks the caller's descriptors that are ready.
    func wait(_ waits: inout [Wait], for time: Int32) throws(CommandFailure) {
        var extra = waits.map { wait in
            curl_waitfd(
                fd: wait.descriptor, events: Int16(wait.writes ? CURL_WAIT_POLLOUT : CURL_WAIT_POLLIN), revents: 0)
        }
        let code = unsafe curl_multi_poll(multi, &extra, UInt32(extra.count), time, nil)
        guard code == CURLM_OK else { throw .failed("cannot wait: libcurl says \(code.rawValue)") }
        for index in waits.indices { waits[index].isReady = extra[index].revents != 0 }
    }

    /// Goes on with the requests; returns what has come of those that have ended.
    func proceed() -> [Result] {
        var running: Int32 = 0
        unsafe curl_multi_perform(multi, &running)
        var results: [Result] = []
        var code = CURLE_OK
        while let ended = unsafe pushcrypt_curl_next_ended(multi, &code) {
            guard let index = transfers.firstIndex(where: { unsafe $0.curl == ended }) else { continue }
            let transfer = transfers.remove(at: index)
            unsafe curl_multi_remove_handle(multi, ended)
            results.append(Self.result(of: transfer, code))
        }
        return results
    }

    private static func result(of transfer: Transfer, _ code: CURLcode) -> Result {
        var begun: Int32 = 0
        let status = unsafe pushcrypt_curl_status(transfer.curl, &begun)
        var failure: String?
        if code != CURLE_OK {
            let said = unsafe transfer.text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            var text = String(decoding: said, as: UTF8.self)
            if text.isEmpty { text = unsafe curl_easy_strerror(code).map { unsafe String(cString: $0) } ?? "" }
            failure = Dialer.sentence(text, code)
        }
        return Result(
            number: transfer.number, status: Int(status), retryAfter: transfer.retryAfter, body: transfer.body,
            failure: failure, wasSent: begun != 0)
    }
}
