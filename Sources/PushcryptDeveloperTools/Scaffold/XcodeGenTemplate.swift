extension IOSScaffold {
    /// The same project for XcodeGen, which writes an `.xcodeproj` from it.
    var xcodeGenProject: ScaffoldFile {
        func list(_ settings: [(String, String)], indent: String) -> String {
            settings.sorted { $0.0 < $1.0 }.map { "\(indent)\($0.0): \($0.1)\n" }.joined()
        }
        func quoted(_ settings: [String: String]) -> [(String, String)] {
            settings.map { ($0.key, Self.yaml($0.value)) }
        }
        var text = """
            # For XcodeGen 2.38 or later: `xcodegen generate`. Not needed with Notifications.xcodeproj.
            name: \(Self.projectName)
            options:
              developmentLanguage: en
            packages:
              pushcrypt:
                path: \(Self.yaml(projectPackage))
            settings:
              base:
            \(list(quoted(Self.projectSettings), indent: "    "))  configs:
                Debug:
            \(list(quoted(Self.debugSettings), indent: "      "))    Release:
            \(list(quoted(Self.releaseSettings), indent: "      "))targets:

            """
        let targets = targets
        for target in targets {
            let kind =
                switch target.kind {
                case .app: "application"
                case .appExtension: "app-extension"
                case .tests: "bundle.unit-test"
                }
            text +=
                "  \(target.name):\n    type: \(kind)\n    platform: iOS\n    sources:\n      - path: \(target.folder)\n"
            if target.kind != .tests { text += "        excludes: [Info.plist]\n" }
            for (folder, files) in target.borrowed { text += files.map { "      - path: \(folder)/\($0)\n" }.joined() }
            text += "    dependencies:\n"
            text += target.products.map { "      - package: pushcrypt\n        product: \($0)\n" }.joined()
            switch target.kind {
            case .app:
                text += targets.filter { $0.kind == .appExtension }.map { "      - target: \($0.name)\n" }.joined()
            case .tests: text += "      - target: App\n"
            case .appExtension: break
            }
            text += "    settings:\n      base:\n"
            let settings = target.settings.map { name, value -> (String, String) in
                switch value {
                case .list(let values):
                    (
                        name,
                        "["
                            + values.map { if case .text(let text) = $0 { Self.yaml(text) } else { "" } }
                            .joined(separator: ", ") + "]"
                    )
                case .text(let text): (name, Self.yaml(text))
                default: (name, "")
                }
            }
            text += list(settings, indent: "        ")
        }
        return ScaffoldFile(path: "project.yml", text: text)
    }

    /// A string, quoted, so that YES and 1.0 are no other types.
    private static func yaml(_ text: String) -> String {
        var quoted = ""
        for character in text {
            if character == "\"" || character == "\\" { quoted.append("\\") }
            quoted.append(character)
        }
        return "\"\(quoted)\""
    }
}
