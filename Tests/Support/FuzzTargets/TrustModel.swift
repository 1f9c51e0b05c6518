@testable import Pushcrypt

/// The format's rules for certificates (`Docs/FormatTrust.md`, T-1 to T-4), over the harness's knowledge of their signatures.
struct TrustModel: Equatable {
    /// The knowledge of one provider key: the highest certificate, and the highest floor.
    struct Known: Equatable {
        var certificate: Bytes?
        var floor: UInt64 = 0

        init() {}

        init(_ learned: LearnedTrust) {
            certificate = learned.certificate?.bytes
            floor = UInt64(learned.floor)
        }

        /// Takes the higher certificate and the higher floor.
        mutating func learn(_ bytes: Bytes) {
            floor = max(floor, number(bytes[5..<9]))
            if certificate.map({ $0.lexicographicallyPrecedes(bytes) }) ?? true { certificate = bytes }
        }

        /// Whether a message opens; its certificate was learned before.
        func admits(epoch: UInt64, under certificate: Bytes?, sentAt: UInt64, now: UInt64) -> Bool {
            guard let highest = self.certificate else { return epoch == 0 }
            if let certificate {
                let end = number(certificate[17..<25])
                let (last, isEndless) = end.addingReportingOverflow(31 * 86_400_000)
                guard sentAt <= end, isEndless || now <= last else { return false }
            }
            return epoch >= floor && (epoch == number(highest[1..<5]) || now <= number(highest[9..<17]))
        }
    }

    /// The harness's knowledge of a certificate: which pin has signed it, if one has.
    struct Facts {
        let pin: Int?
    }

    enum Outcome: Equatable {
        case raised
        case unchanged
        case conflict
        case refused(TrustError.Code)
    }

    private(set) var known: [Known]

    init(_ trust: ProviderTrust) { known = trust.pins.map { Known($0.learned) } }

    /// Accepts a certificate, for the pin that has signed it.
    mutating func take(_ bytes: Bytes, _ facts: Facts, pins: [Bytes]) -> Outcome {
        guard Self.isFormed(bytes) else { return .refused(.malformedCertificate) }
        guard Ed25519Point.isUsable(Bytes(bytes[25..<57])) else { return .refused(.weakKey) }
        guard let pin = facts.pin, pins[pin] != Bytes(bytes[25..<57]) else {
            return .refused(pins.contains(Bytes(bytes[25..<57])) ? .weakKey : .badSignature)
        }
        let before = known[pin]
        known[pin].learn(bytes)
        guard let highest = before.certificate else { return .raised }
        let isSameEpoch = highest[1..<5] == bytes[1..<5]
        if isSameEpoch, highest[..<57] != bytes[..<57] { return .conflict }
        let isRaised = known[pin].floor > before.floor || !isSameEpoch && known[pin].certificate == bytes
        return isRaised ? .raised : .unchanged
    }

    static func isFormed(_ bytes: Bytes) -> Bool {
        guard bytes.count == 121, bytes[0] == 1 else { return false }
        let (epoch, floor) = (number(bytes[1..<5]), number(bytes[5..<9]))
        return epoch >= 1 && floor <= epoch && (number(bytes[9..<17]) == 0) == (floor == epoch)
    }
}

/// A big-endian number of at most eight bytes.
func number(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
