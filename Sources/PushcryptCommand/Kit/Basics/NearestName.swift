/// Returns the name that the user most likely meant; nil if none is close, or two are equally close.
///
/// A close name has at most one typing error for every three letters, and at least one is allowed. A prefix of three letters
/// or more counts as one error.
package func nearestName(to text: String, among names: [String]) -> String? {
    let word = Array(text.utf8.prefix(64))
    var best: String?
    var bestDistance = Int.max
    for name in names {
        let candidate = Array(name.utf8)
        let letters = candidate.count(where: { $0 != UInt8(ascii: "-") })
        var distance = editDistance(word, candidate)
        if word.count >= 3, candidate.starts(with: word) { distance = min(distance, 1) }
        guard distance <= max(1, letters / 3) else { continue }
        if distance < bestDistance {
            best = name
            bestDistance = distance
        } else if distance == bestDistance {
            best = nil
        }
    }
    return best
}

/// The optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours.
package func editDistance(_ first: [UInt8], _ second: [UInt8]) -> Int {
    var beforePrevious: [Int] = []
    var previous = Array(0...second.count)
    for (i, a) in first.enumerated() {
        var row = [i + 1]
        for (j, b) in second.enumerated() {
            var cost = min(previous[j] + (a == b ? 0 : 1), previous[j + 1] + 1, row[j] + 1)
            if i > 0, j > 0, a == second[j - 1], first[i - 1] == b { cost = min(cost, beforePrevious[j - 1] + 1) }
            row.append(cost)
        }
        beforePrevious = previous
        previous = row
    }
    return previous[second.count]
}
