/// The shells with completions.
package enum Shell: String, CaseIterable, Sendable {
    case bash, zsh, fish
}

/// A command line at a shell's prompt, up to the cursor, split into words as the shell splits it.
///
/// Nothing in it is evaluated: only the shell knows the value of a word with a variable, a command or a pattern.
package struct ShellLine {
    /// The words before the one at the cursor, without redirections.
    package private(set) var words: [Word] = []
    /// The word at the cursor, which may be empty.
    package private(set) var current = Word()
    /// Whether the word at the cursor is the file of a redirection.
    package private(set) var isRedirection = false

    /// A word without its quotes.
    package struct Word {
        package var text = ""
        /// Whether the shell would pass exactly this text.
        package var isLiteral = true
        /// The word as typed, without a final backslash that escapes nothing yet.
        fileprivate(set) var typed = ""
        /// The quote that is open at the end of `typed`.
        fileprivate(set) var quote = Quote.none
        fileprivate var hasBegun = false
    }

    /// The kinds of quotes.
    package enum Quote: Unicode.Scalar {
        case none = " "
        case single = "'"
        case double = "\""
    }

    package init(_ line: String, of shell: Shell, home: String?) {
        var scanner = Scanner(shell: shell, home: home)
        for scalar in line.unicodeScalars { scanner.take(scalar) }
        self = scanner.line
    }

    fileprivate struct Scanner {
        let shell: Shell
        let home: String?
        var line = ShellLine()
        var isEscaped = false

        init(shell: Shell, home: String?) {
            self.shell = shell
            self.home = home
        }

        mutating func take(_ scalar: Unicode.Scalar) {
            if isEscaped { return endEscape(scalar) }
            switch line.current.quote {
            case .none: takeBare(scalar)
            case .single where scalar == "\\" && shell == .fish: isEscaped = true
            case .double where scalar == "\\": isEscaped = true
            case let quote where scalar == quote.rawValue:
                line.current.quote = .none
                line.current.typed.unicodeScalars.append(scalar)
            case .double where scalar == "$" || scalar == "`":
                line.current.isLiteral = false
                append(scalar)
            default: append(scalar)
            }
        }
    }

    fileprivate init() {}
}

extension ShellLine.Scanner {
    private mutating func takeBare(_ scalar: Unicode.Scalar) {
        switch scalar {
        case " ", "\t", "\n": endWord()
        case "<", ">":
            // A descriptor's number may precede it, or & for two of them.
            let isPart = line.current.typed.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            if !isPart, line.current.typed != "&" { endWord() }
            line.current = ShellLine.Word()
            line.isRedirection = true
        case "\\":
            isEscaped = true
            line.current.hasBegun = true
        case "'", "\"":
            // `$'…'` has separate escapes.
            if line.current.typed.hasSuffix("$") { line.current.isLiteral = false }
            line.current.quote = scalar == "'" ? .single : .double
            line.current.hasBegun = true
            line.current.typed.unicodeScalars.append(scalar)
        case "~" where !line.current.hasBegun:
            line.current.isLiteral = home != nil
            append(scalar)
            line.current.text = home ?? "~"
        default:
            if line.current.typed == "~", scalar != "/" { line.current.isLiteral = false }
            if "$`*?[{(".unicodeScalars.contains(scalar) { line.current.isLiteral = false }
            append(scalar)
        }
    }

    private mutating func endEscape(_ scalar: Unicode.Scalar) {
        isEscaped = false
        let escapable: String.UnicodeScalarView? =
            switch line.current.quote {
            case .none: nil
            case .single: "'\\".unicodeScalars
            case .double: (shell == .fish ? "\"$\\" : "\"$\\`").unicodeScalars
            }
        line.current.typed += "\\"
        if let escapable, !escapable.contains(scalar) { line.current.text += "\\" }
        append(scalar)
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        line.current.hasBegun = true
        line.current.typed.unicodeScalars.append(scalar)
        line.current.text.unicodeScalars.append(scalar)
    }

    private mutating func endWord() {
        guard line.current.hasBegun else { return }
        if line.isRedirection {
            line.isRedirection = false
        } else {
            line.words.append(line.current)
        }
        line.current = ShellLine.Word()
    }
}

// MARK: Insertion

extension ShellLine.Word {
    /// The part of `whole` after the text, quoted as it must follow `typed`; nil if the text is not a prefix of `whole`.
    package func rest(of whole: String) -> String? {
        guard isLiteral, whole.unicodeScalars.starts(with: text.unicodeScalars) else { return nil }
        var rest = ""
        for scalar in whole.unicodeScalars.dropFirst(text.unicodeScalars.count) {
            switch quote {
            case .none:
                if !Self.isPlain(scalar) { rest += "\\" }
                rest.unicodeScalars.append(scalar)
            case .single:
                rest += scalar == "'" ? "'\\''" : String(scalar)
            case .double where scalar == "!":
                // Inside double quotes, a backslash before it would be kept.
                rest += "\"'!'\""
            case .double:
                if "\"$\\`".unicodeScalars.contains(scalar) { rest += "\\" }
                rest.unicodeScalars.append(scalar)
            }
        }
        return rest
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.isASCII || scalar.properties.isAlphabetic || "0123456789_@%+=:,./-".unicodeScalars.contains(scalar)
    }

    /// The part of `typed` that bash's line editor replaces: after an open quote, or after the last character that breaks words.
    package func replaced(breaks: String) -> Substring.UnicodeScalarView {
        let scalars = typed.unicodeScalars
        var start = scalars.startIndex
        var open: Unicode.Scalar?
        var openStart = start
        var isEscaped = false
        for index in scalars.indices {
            let scalar = scalars[index]
            if isEscaped {
                isEscaped = false
            } else if scalar == "\\", open != "'" {
                isEscaped = true
            } else if let quote = open {
                if scalar == quote { open = nil }
            } else if scalar == "'" || scalar == "\"" {
                open = scalar
                openStart = scalars.index(after: index)
            } else if breaks.unicodeScalars.contains(scalar) {
                start = scalars.index(after: index)
            }
        }
        return scalars[(open == nil ? start : openStart)...]
    }
}
