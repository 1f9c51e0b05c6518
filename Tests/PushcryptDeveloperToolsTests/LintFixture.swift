import Pushcrypt
import PushcryptDeveloperTools

extension PayloadLint {
    /// Checks a push, in a request if there are headers.
    init(_ push: String, _ headers: KeyValuePairs<String, String> = [:], isToBeSealed: Bool = false) {
        var request = JSONWriter()
        request.object { json in
            for (name, value) in headers { json.string(value, for: name) }
            json.raw(Bytes(push.utf8), for: "payload")
        }
        let isRequest = !headers.isEmpty && push.hasPrefix("{")
        self.init(isRequest ? request.bytes : Bytes(push.utf8), isToBeSealed: isToBeSealed)
    }

    /// `severity code place`, as tests write a finding.
    var lines: [String] { findings.map { "\($0.severity) \($0.code ?? "") \($0.place)" } }

    func lines(_ severity: Finding.Severity) -> [String] {
        findings.filter { $0.severity == severity }.map { "\($0.code ?? "") \($0.place)" }
    }
}

extension Finding {
    func has(_ code: PayloadLint.Code) -> Bool { self.code == code.description }
}
