package import Pushcrypt
package import PushcryptCommandKit

/// The findings in an app's project, in the order of its files.
package struct IOSLint {
    /// The lowest iOS version of the library.
    private static let floor = "15.0"

    package let findings: [Finding]
    /// The number of checked files and extensions, and the outcome.
    package let summary: String

    package init(folder: String) throws(CommandFailure) {
        let files = try ProjectFiles(in: folder)
        let project = try IOSProject(files)
        let services = project.extensions.filter { $0.point == .service }
        let contents = project.extensions.filter { $0.point == .content }
        var findings = project.findings
        for target in services { findings += ServiceExtensionRules(target: target).findings }
        for target in contents { findings += ContentExtensionRules(target: target).findings }
        findings += ContentExtensionRules.findings(of: contents)
        if !project.extensions.isEmpty { findings += EntitlementRules(project: project, root: folder).findings }
        findings += Self.deploymentFindings(project)
        findings += try BuildRules(project: project, files: files).findings()
        if services.isEmpty, !project.findings.contains(where: { $0.severity == .error }) {
            findings.append(
                .error(
                    folder, "there is no notification service extension here, so nothing opens a sealed push",
                    fix: "add a target with the extension point \(IOSProject.ExtensionPoint.service.rawValue)"))
        }
        if services.count > 1 {
            findings.append(
                .warning(
                    services[1].file,
                    "there are \(services.count) notification service extensions, but the system starts one per app",
                    fix: "ignore this if they belong to several apps"))
        }
        // By file; the findings of one file keep their order.
        self.findings = Set(findings.map(\.place)).sorted().flatMap { file in findings.filter { $0.place == file } }
        summary =
            "property lists and entitlements: \(project.fileCount); service extensions: \(services.count); "
            + "content extensions: \(contents.count); errors: \(findings.count { $0.severity == .error }); "
            + "warnings: \(findings.count { $0.severity == .warning })"
    }

    private static func deploymentFindings(_ project: IOSProject) -> [Finding] {
        project.extensions.flatMap { target -> [Finding] in
            guard let version = target.deploymentTarget, let floor = Version(floor) else { return [] }
            if version < floor {
                return [
                    .error(
                        target.file, "the extension is built for iOS \(version), but the library needs \(floor)",
                        fix: "set IPHONEOS_DEPLOYMENT_TARGET of the target to \(floor) or later")
                ]
            }
            guard let app = project.appDeploymentTarget, app < version else { return [] }
            return [
                .warning(
                    target.file,
                    "the extension is built for iOS \(version) and the app for \(app), so phones between them show no opened notification",
                    fix: "set IPHONEOS_DEPLOYMENT_TARGET of both to the same")
            ]
        }
    }
}

extension Finding {
    static func error(_ file: String, _ message: String, fix: String) -> Finding {
        Finding(.error, at: file, message, fix: fix)
    }

    static func warning(_ file: String, _ message: String, fix: String) -> Finding {
        Finding(.warning, at: file, message, fix: fix)
    }

    static func note(_ file: String, _ message: String, fix: String) -> Finding {
        Finding(.note, at: file, message, fix: fix)
    }
}
