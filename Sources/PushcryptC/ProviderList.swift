internal import Pushcrypt

/// Reads a caller's list of pinned provider keys: one per line, optionally followed by a space and what was learnt about it.
func readProviders(_ start: UnsafePointer<CChar>?, for topic: Topic) throws(CallError) -> ProviderTrust {
    let lines = try unsafe string(start, "providers").split(separator: "\n")
    guard !lines.isEmpty else { throw .invalid("providers has no key") }
    guard lines.count <= ProviderTrust.maximumPins else {
        throw .invalid("providers has \(lines.count) keys; an account has at most \(ProviderTrust.maximumPins)")
    }
    var pins: [ProviderTrust.Pin] = []
    for (number, line) in zip(1..., lines) {
        let place = "line \(number) of providers"
        let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        let key: ProviderPublicKey
        do throws(KeyError) {
            key = try ProviderPublicKey(text: String(parts[0]))
        } catch {
            throw CallError(error, in: place)
        }
        pins.append(ProviderTrust.Pin(key, parts.count == 1 ? LearnedTrust() : try learned(parts[1], place)))
        do throws(TrustError) {
            try pins[number - 1].learned.certificate?.check(for: key, topic: topic)
        } catch {
            throw CallError(error, in: place)
        }
    }
    return ProviderTrust(pins)
}

/// Parses a certificate, a space, and a floor in decimal digits.
private func learned(_ text: Substring, _ place: String) throws(CallError) -> LearnedTrust {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 2, let floor = UInt32(parts[1]), "\(floor)" == parts[1] else {
        throw .invalid("\(place): what follows the key is not what the library wrote to opened->learned")
    }
    do throws(TrustError) {
        return LearnedTrust(try Certificate(text: String(parts[0])), floor: floor)
    } catch {
        throw CallError(error, in: place)
    }
}
