internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptDeveloperTools

extension Command {
    static let lint = Command(
        "lint", "find mistakes in a push, or in an app's project",
        about: """
            Reads a push, sealed or not, or a line of 'seal --batch' or 'send', with what its headers say. Reports what a phone would not show, what the relay can read but should not, what Apple refuses, how much room is left, and what 'seal' would refuse. Needs no key, opens nothing, and prints names of keys, but no values. 'explain' explains each code.
            --ios checks the app and its extensions in each configuration of an Xcode project for mistakes that Xcode does not report: whether the system finds and starts the extensions, and whether they have the app's groups and topic. A setting that is not in the project's files counts as unknown, not as an error. plutil reads the property lists.
            Ends with 65 for an error, with --strict also for a warning.
            """,
        examples: [
            "pushcrypt lint payload.json",
            Example("pushcrypt seal --to phone1 payload.json | pushcrypt lint --strict", "before it is sent"),
            Example("pushcrypt lint --before-seal --strict payload.json", "in tests of what you seal"),
            Example("pushcrypt lint --ios App --json", "one object per line"),
        ]
    ) { a in
        let isToBeSealed = a.flag(
            "--before-seal", help: "what you are going to seal: nothing about what the relay reads")
        let isStrict = a.flag("--strict", help: "end with 65 for warnings too")
        let project = a.value("--ios", "DIR", .folder, help: "check the folder of an Xcode project")
        let isJSON = a.json()
        a.option("--ios", excludes: ["--before-seal"], hint: "--before-seal is about a push, --ios about a project")
        let file = a.optionalOperand("FILE", .input, help: "the push; default standard input")
        return { console in
            let findings: [Finding]
            if let project {
                if let file { throw Failure.usage("--ios takes no file", hint: "leave \(quoted(file)) out") }
                let lint = try IOSLint(folder: project)
                findings = lint.findings
                let lines = findings.map { isJSON ? $0.projectJSON(console) : $0.projectLine(console) }
                try console.write(lines.joined() + (isJSON ? "" : lint.summary + "\n"))
            } else {
                let input = try console.read(file ?? "-", limit: JSONDocument.defaultMaximumBytes)
                let lint = PayloadLint(input, isToBeSealed: isToBeSealed)
                findings = lint.findings
                let report = PayloadReport(lint: lint)
                try console.write(isJSON ? report.json(console) : report.text(console))
            }
            let fails = findings.contains { $0.severity == .error || isStrict && $0.severity == .warning }
            if fails { throw ExitCode.refused }
        }
    }
}

/// The report of `lint` on a push. Names of keys in it are untrusted, and cannot act on a terminal.
private struct PayloadReport {
    /// The column of the texts; a longer place has a separate line.
    private static let column = 26

    let lint: PayloadLint

    private func count(_ severity: Finding.Severity) -> Int { lint.findings.count { $0.severity == severity } }

    // MARK: For people

    /// Findings by severity, those with the same fix together; then the sizes and the counts.
    func text(_ console: Console) -> String {
        var text = ""
        for severity in Finding.Severity.allCases where count(severity) > 0 {
            text += console.styled("\(severity.rawValue)s:", severity.style) + "\n"
            let findings = lint.findings.filter { $0.severity == severity }
            for (index, finding) in findings.enumerated() {
                text += row(
                    finding.place.isEmpty ? "the push" : finding.place, "\(finding.message) (\(finding.code ?? ""))")
                let isLast = index + 1 == findings.count || findings[index + 1].fix != finding.fix
                if isLast { text += "    fix: " + wrapped(finding.fix, indent: 9) }
            }
            text += "\n"
        }
        if let sizes = lint.sizes { text += console.styled("sizes:", .bold) + "\n" + sizeRows(sizes) + "\n" }
        let type = "\(sanitized(forTerminal: lint.pushType)) push\(lint.isPushTypeAssumed ? " (assumed)" : "")"
        let counts = Finding.Severity.allCases.map { "\($0.rawValue)s: \(count($0))" }.joined(separator: "; ")
        return text + "\(type), \(lint.isSealed ? "sealed" : "not sealed"); \(counts)\n"
    }

    private func sizeRows(_ sizes: PayloadLint.Sizes) -> String {
        var text = row("as it is", "\(sizes.length) bytes, \(sizes.minifiedLength) without white space")
        text += row(
            "in the widest form",
            "\(sizes.maximumReencodedLength) of the \(sizes.limit) bytes that Apple takes; "
                + (sizes.remaining < 0 ? "\(-sizes.remaining) too many" : "\(sizes.remaining) left"))
        guard let bucket = sizes.bucket else { return text }
        guard let leftInBucket = sizes.remainingInBucket, let leftToSeal = sizes.remainingToSeal else {
            return text + row("sealed", "bucket \(bucket)")
        }
        return text
            + row("sealed", "bucket \(bucket), with \(leftInBucket) bytes left; \(leftToSeal) left of the largest")
    }

    private func row(_ place: String, _ text: String) -> String {
        let place = sanitized(forTerminal: place)
        let padding = Self.column - 2 - place.count
        let gap =
            padding > 0 ? String(repeating: " ", count: padding) : "\n" + String(repeating: " ", count: Self.column)
        return "  \(place)\(gap)" + wrapped(text, indent: Self.column)
    }

    // MARK: For programs

    /// One object.
    func json(_ console: Console) -> String {
        let json = jsonObject { json in
            json.bool(lint.isSealed, for: "sealed")
            json.string(lint.pushType, for: "push_type")
            json.bool(lint.isPushTypeAssumed, for: "push_type_assumed")
            json.bool(lint.startsExtension, for: "starts_extension")
            if let sizes = lint.sizes { write(sizes, to: &json) }
            for severity in Finding.Severity.allCases {
                json.integer(count(severity), for: "\(severity.rawValue)s")
            }
            json.array(for: "findings") { json in
                for finding in lint.findings {
                    json.object { json in
                        json.string(finding.code ?? "", for: "code")
                        json.string(finding.severity.rawValue, for: "level")
                        json.string(finding.place, for: "place")
                        json.string(finding.message, for: "text")
                        json.string(finding.fix, for: "fix")
                    }
                }
            }
        }
        return console.shown(json: json) + "\n"
    }

    private func write(_ sizes: PayloadLint.Sizes, to json: inout JSONWriter) {
        json.integer(sizes.length, for: "bytes")
        json.integer(sizes.minifiedLength, for: "minified_bytes")
        json.integer(sizes.maximumReencodedLength, for: "widest_bytes")
        json.integer(sizes.limit, for: "limit")
        json.integer(sizes.remaining, for: "left")
        if let bucket = sizes.bucket { json.integer(bucket, for: "bucket") }
        if let left = sizes.remainingInBucket { json.integer(left, for: "left_in_bucket") }
        if let left = sizes.remainingToSeal { json.integer(left, for: "left_to_seal") }
    }
}

// MARK: Projects

extension Finding {
    /// One line of a project's report; safe for a terminal, because projects may contain untrusted text.
    fileprivate func projectLine(_ console: Console) -> String {
        sanitized(forTerminal: place) + ": " + console.styled(severity.rawValue + ":", severity.style) + " "
            + sanitized(forTerminal: "\(message) — \(fix)") + "\n"
    }

    /// One object on a line; safe for a terminal too.
    fileprivate func projectJSON(_ console: Console) -> String {
        let json = jsonObject { json in
            json.string(place, for: "file")
            json.string(severity.rawValue, for: "level")
            json.string(message, for: "text")
            json.string(fix, for: "fix")
        }
        return console.shown(json: json) + "\n"
    }
}

extension Finding.Severity {
    fileprivate var style: TextStyle {
        switch self {
        case .error: .red
        case .warning: .yellow
        case .note: .dim
        }
    }
}
