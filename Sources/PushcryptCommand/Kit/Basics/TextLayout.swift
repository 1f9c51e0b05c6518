// The layout of text for users, as `--help` and `explain` print it.

/// The width of printed text, in columns.
private let textWidth = 80

/// Breaks text into lines of at most `textWidth` columns, indented after the first, with a newline at the end.
package func wrapped(_ text: String, indent: Int = 0) -> String {
    var lines = [""]
    for word in text.split(separator: " ") {
        let last = lines[lines.count - 1]
        if last.isEmpty {
            lines[lines.count - 1] = String(word)
        } else if indent + last.count + 1 + word.count <= textWidth {
            lines[lines.count - 1] += " " + word
        } else {
            lines.append(String(word))
        }
    }
    return lines.joined(separator: "\n" + String(repeating: " ", count: indent)) + "\n"
}

/// Lists terms in one column and their meanings in another.
package func listed(_ rows: [(term: String, meaning: String)], indent: Int = 2) -> String {
    let column = indent + (rows.map(\.term.count).max() ?? 0) + 2
    return rows.map { row in
        let padding = String(repeating: " ", count: column - indent - row.term.count)
        return String(repeating: " ", count: indent) + row.term + padding + wrapped(row.meaning, indent: column)
    }.joined()
}
