import Pushcrypt
import PushcryptDeveloperTools

extension PayloadLint {
    init(_ push: String, _ headers: Headers = .init(), isToBeSealed: Bool = false) {
        self.init(Bytes(push.utf8), headers: headers, isToBeSealed: isToBeSealed)
    }

    /// `severity code place`, as tests write a finding.
    var lines: [String] { findings.map { "\($0.severity) \($0.code ?? "") \($0.place)" } }

    func lines(_ severity: Finding.Severity) -> [String] {
        findings.filter { $0.severity == severity }.map { "\($0.code ?? "") \($0.place)" }
    }
}

extension PayloadLint.Headers {
    init(
        topic: String? = nil, pushType: String? = nil, priority: String? = nil, expiration: String? = nil,
        collapseID: String? = nil, id: String? = nil
    ) {
        self.init()
        (self.topic, self.pushType, self.priority) = (topic, pushType, priority)
        (self.expiration, self.collapseID, self.id) = (expiration, collapseID, id)
    }
}

extension Finding {
    func has(_ code: PayloadLint.Code) -> Bool { self.code == code.description }
}
