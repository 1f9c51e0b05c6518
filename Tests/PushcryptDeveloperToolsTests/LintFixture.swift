import Pushcrypt
import PushcryptDeveloperTools

extension PayloadLint {
    init(_ push: String, _ headers: Headers = Headers(), isSentExactly: Bool = false, isToBeSealed: Bool = false) {
        self.init(Bytes(push.utf8), headers: headers, isSentExactly: isSentExactly, isToBeSealed: isToBeSealed)
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
