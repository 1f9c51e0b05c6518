internal import CCurl
internal import CNghttp2
internal import COpenSSL

/// The C libraries of this program.
enum Libraries {
    static var versions: String {
        let nghttp2 = unsafe nghttp2_version(0).map { unsafe String(cString: $0.pointee.version_str) } ?? "?"
        let curl = unsafe pushcrypt_curl_version().map { unsafe String(cString: $0) } ?? "?"
        let openssl = unsafe OpenSSL_version(OPENSSL_VERSION_STRING).map { unsafe String(cString: $0) } ?? "?"
        return "nghttp2 \(nghttp2), libcurl \(curl), OpenSSL \(openssl)"
    }
}
