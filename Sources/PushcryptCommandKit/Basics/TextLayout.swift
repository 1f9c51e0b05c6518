// Text for people in lines of at most 80 columns, as `--help` and `explain` print it.

/// The width of what is printed for people, in columns.
package let textWidth = 80

/// The words in lines of at most `width`, all but the first indented; a newline at the end.
package func wrapped(_ text: String, indent: Int = 0, width: Int = textWidth) -> String {
    var lines = [""]
    for word in text.split(separator: " ") {
        let last = lines[lines.count - 1]
        if last.isEmpty {
            lines[lines.count - 1] = String(word)
        } else if indent + last.count + 1 + word.count <= width {
            lines[lines.count - 1] += " " + word
        } else {
            lines.append(String(word))
        }
    }
    return lines.joined(separator: "\n" + String(repeating: " ", count: indent)) + "\n"
}

/// Terms in one column, what they mean in another.
package func listed(_ rows: [(term: String, meaning: String)], indent: Int = 2) -> String {
    let column = indent + (rows.map(\.term.count).max() ?? 0) + 2
    return rows.map { row in
        let padding = String(repeating: " ", count: column - indent - row.term.count)
        return String(repeating: " ", count: indent) + row.term + padding + wrapped(row.meaning, indent: column)
    }.joined()
}
