package import Pushcrypt

/// One thing that is fuzzed, and what must hold for every input.
package protocol FuzzTarget {
    static var name: String { get }
    /// Makes what all inputs share.
    init()
    /// Tries one input; a property that does not hold ends the process.
    func run(_ input: Bytes)
}

/// Every target: libFuzzer runs one of them on what it makes up, and a test runs each on its corpus.
package enum FuzzTargets {
    package static var all: [any FuzzTarget.Type] {
        [
            AnswerTarget.self, ArgumentsTarget.self, AttachmentTarget.self, BatchTarget.self, EnvelopeTarget.self,
            InnerTarget.self, JSONTarget.self, KeyFormatTarget.self, KeyTarget.self, PairingTarget.self,
            ResponseTarget.self, RowTarget.self, TrustTarget.self,
        ]
    }
}
