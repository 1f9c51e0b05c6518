package import Pushcrypt
package import PushcryptCommandKit

/// The findings in an app's project, in the order of its files: what nobody else reports, and what the user sees as a
/// placeholder or as `(Encrypted)`.
package struct IOSLint {
    package let findings: [Finding]
    /// The checked configurations and extensions, and the outcome.
    package let summary: String

    package init(folder: String) throws(Failure) {
        let files = try ProjectFiles(in: folder)
        guard !files.projects.isEmpty else {
            throw .failed(
                "there is no Xcode project in \(quoted(folder))", hint: "let the tool that makes it run first")
        }
        let project = try Project(files)
        let installed = project.installed
        var found: [(finding: Finding, build: Int)] = []
        for (build, installed) in installed.enumerated() {
            let findings =
                SigningRules(installed: installed).findings + GroupRules(installed: installed).findings
                + StartRules(installed: installed).findings
            for finding in findings { found.append((finding, build)) }
        }
        var findings = project.findings
        var isSaid: Set<Finding> = []
        for (finding, _) in found where isSaid.insert(finding).inserted {
            findings.append(
                Self.merged(finding, in: found.filter { $0.finding == finding }.map { installed[$0.build] }, installed))
        }
        if !installed.contains(where: { !$0.services.isEmpty }), !findings.contains(where: { $0.severity == .error }) {
            findings.append(
                .error(
                    folder, "there is no notification service extension here, so nothing opens a sealed push",
                    fix: "add a target with the extension point \(Built.Kind.service.rawValue)"))
        }
        // By file; the findings of one file keep their order.
        self.findings = Set(findings.map(\.place)).sorted().flatMap { file in findings.filter { $0.place == file } }
        let configurations = Self.distinct(installed.map(\.configuration)).joined(separator: ", ")
        func count(_ kind: Built.Kind) -> Int {
            Set(installed.flatMap { $0.extensions }.filter { $0.kind == kind }.map { $0.info?.file ?? $0.name }).count
        }
        summary =
            "configurations: \(configurations.isEmpty ? "none" : configurations); "
            + "service extensions: \(count(.service)); content extensions: \(count(.content)); "
            + "errors: \(findings.count { $0.severity == .error }); "
            + "warnings: \(findings.count { $0.severity == .warning })"
    }

    /// A finding with the configurations that have it, unless all of that app do.
    private static func merged(_ finding: Finding, in builds: [Installed], _ installed: [Installed]) -> Finding {
        let apps = Set(builds.map { [$0.project, $0.app.name] })
        let all = Set(installed.filter { apps.contains([$0.project, $0.app.name]) }.map(\.configuration))
        let own = distinct(builds.map(\.configuration))
        if own.count == all.count { return finding }
        return Finding(
            finding.severity, at: finding.place, "\(finding.message) (\(own.joined(separator: ", ")))", fix: finding.fix
        )
    }

    private static func distinct(_ names: [String]) -> [String] {
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }
}

extension Finding {
    static func error(_ file: String, _ message: String, fix: String) -> Finding {
        Finding(.error, at: file, message, fix: fix)
    }

    static func warning(_ file: String, _ message: String, fix: String) -> Finding {
        Finding(.warning, at: file, message, fix: fix)
    }
}
