/// A claim that does not hold: what, where, and how to run that one case again.
struct Disproof: Error, CustomStringConvertible {
    let description: String

    init(_ what: String, again arguments: String, seed: UInt64) {
        description = "\(what)\n  again: SEED=\(seed) .build/release/Proofs \(arguments)"
    }
}

/// A part was called wrongly, or a case that is meant to work did not.
struct Misuse: Error, CustomStringConvertible {
    let description: String

    init(_ what: String) { description = what }
}

/// The one line by which a part says that its claim holds.
func printFigure(_ part: String, _ values: KeyValuePairs<String, any CustomStringConvertible>) {
    print("figure: \(part) " + values.map { "\($0.key)=\($0.value)" }.joined(separator: " "))
}
