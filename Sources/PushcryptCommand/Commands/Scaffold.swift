internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptDeveloperTools
internal import PushcryptReceiver

extension Command {
    static let scaffold = Command(
        group: "scaffold", "write the files that an app needs for encrypted notifications", [scaffoldIOS])

    private static let scaffoldIOS = Command(
        "ios", "write a service extension, and the app's side of it",
        about: """
            Writes an Xcode project with an app, a notification service extension and tests: the notification delegate, the way to the server, property lists, entitlements, texts. Places to fill in are marked EDIT. See Docs/App.md.
            In the folder Linux the same sources are a Swift package: 'swift test' sends pushes to a simulated phone.
            --into writes the extension and the app's sources into the folder of a project that exists, and the steps that add them. --pass-clear-until then says what becomes of pushes that are not sealed yet: without it they would be masked from the day of the update.
            """,
        examples: [
            "pushcrypt scaffold ios --bundle-id com.example.app --group group.com.example -o Notifications",
            "pushcrypt scaffold ios --bundle-id com.example.app --group group.com.example --into MyApp --pass-clear-until 2027-06-30",
        ]
    ) { a in
        let bundleID = a.requiredValue("--bundle-id", "ID", help: "the app's bundle id, the topic of its pushes")
        let group = a.requiredValue("--group", "GROUP", help: "the app group of app and extensions")
        let newFolder = a.value("--output", short: "-o", "DIR", .folder, help: "the folder to write, new or empty")
        let project = a.value(
            "--into", "DIR", .folder, help: "the folder of a project that exists: write no project and no app")
        let clearUntil = a.value(
            "--pass-clear-until", "DATE",
            help:
                "with --into: until the end of this day (UTC) show unsealed pushes as they are, such as 2027-06-30; or never"
        )
        let keychainGroup = a.value(
            "--keychain-group", "GROUP",
            help:
                "the keys' Keychain group, without the team's prefix; default ID.pushcrypt; the app group needs no prefix"
        )
        let hasContentExtension = a.flag("--content-extension", help: "add a view for expanded notifications")
        let categories = a.values("--category", "NAME", help: "a category that the content extension shows")
        let hasCommunication = a.flag(
            "--communication", help: "show the sender's name and face, with Apple's entitlement")
        let provider = a.value(
            "--provider", "KEY|FILE", .input,
            help:
                "build in the provider's key: pcs1…, or the record of 'key show --json'; otherwise the first reply brings it"
        )
        let isTimeSensitive = a.flag(
            "--time-sensitive", help: "allow notifications that break through a Focus, with Apple's entitlement")
        let package = a.value(
            "--package", "URL|PATH", .folder,
            help:
                "where the project finds pushcrypt, this version or later of an address; default where this program was built, or ../pushcrypt"
        )
        let isJSON = a.json()
        return { console in
            if project != nil, clearUntil == nil {
                throw Failure.usage(
                    "--pass-clear-until is missing: from the day of the update, pushes that are not sealed yet would be masked",
                    hint:
                        "--pass-clear-until 2027-06-30 shows them as they are until then; never masks them as '(Encrypted)' at once"
                )
            }
            guard newFolder != "-", project != "-" else {
                throw Failure.usage(
                    "a project is a folder, and cannot go to standard output", hint: "./- is a folder of that name")
            }
            guard let path = newFolder ?? project, newFolder == nil || project == nil else {
                throw Failure.usage(
                    "name one folder", hint: "-o DIR for a new project, or --into DIR for one that exists")
            }
            if project == nil, clearUntil != nil {
                throw Failure.usage(
                    "--pass-clear-until is for a project that exists, with --into: a new app gets no unsealed pushes")
            }
            let place = PackageLocation.ofRunningProgram
            let location =
                if let package {
                    try PackageLocation(package, version: CommandTable.programVersion, for: path)
                } else {
                    PackageLocation(folder: place ?? PackageLocation.usual, for: path)
                }
            let topic = try bundleTopic(bundleID)
            let appGroup = try appGroup(group)
            let keychain = try keychainGroup.map(checkedKeychainGroup) ?? "\(topic).pushcrypt"
            var scaffold = IOSScaffold(topic: topic, appGroup: appGroup, keychainGroup: keychain, package: location)
            scaffold.categories = try checkedCategories(categories)
            if hasContentExtension, categories.isEmpty {
                throw Failure.usage(
                    "a content extension is for notifications of certain categories, and none is given",
                    hint: "add --category with the name that the payloads have, for example --category MESSAGE")
            }
            let record = try provider.map { try console.readProvider($0) }
            (scaffold.provider, scaffold.certificate) = (record?.publicKey, record?.certificate)
            scaffold.hasContentExtension = hasContentExtension
            scaffold.hasCommunication = hasCommunication
            scaffold.isTimeSensitive = isTimeSensitive
            scaffold.passesClearUntil = try clearUntil.flatMap { try clearEnd($0, at: console.timestamp) }
            let files = project == nil ? scaffold.files : scaffold.filesForProject
            let folder = try project == nil ? ScaffoldFolder(new: path) : ScaffoldFolder(existing: path)
            try folder.write(files)
            if isJSON {
                try console.writeObject { json in
                    json.string(folder.path, for: "folder")
                    json.strings(files.map(\.path), for: "files")
                    json.string(location.place, for: "package")
                }
            } else {
                try console.write(files.map { sanitized(forTerminal: "\(folder.path)/\($0.path)") + "\n" }.joined())
            }
            if project != nil {
                return console.hint("read \(folder.path)/PUSHCRYPT.md: the steps that add them to the project")
            }
            if package == nil, place == nil {
                console.hint("the project looks for pushcrypt in \(location.place): --package names another place")
            }
            console.hint(
                "read \(folder.path)/README.md; 'swift test' in \(quoted(folder.path + "/Linux")) runs it all on Linux")
        }
    }
}

// MARK: Checks

/// Whether the text follows the rules of a bundle id, and has no empty part.
private func isIdentifier(_ text: String) -> Bool {
    (try? Topic(text)) != nil && !text.split(separator: ".", omittingEmptySubsequences: false).contains("")
}

private func bundleTopic(_ id: String) throws -> Topic {
    let topic = try Topic(id, in: "--bundle-id")
    guard isIdentifier(id), id.utf8.contains(UInt8(ascii: ".")) else {
        throw Failure.usage(
            "--bundle-id cannot be \(quoted(id))",
            hint: "a bundle id has two or more parts, with one '.' between them, for example com.example.app")
    }
    return topic
}

private func appGroup(_ group: String) throws -> String {
    guard group.hasPrefix("group."), isIdentifier(group) else {
        throw Failure.usage(
            "--group cannot be \(quoted(group))",
            hint:
                "an app group begins with 'group.', and has ASCII letters, digits, '.' and '-', for example group.com.example"
        )
    }
    return group
}

private func checkedKeychainGroup(_ group: String) throws -> String {
    guard isIdentifier(group) else {
        throw Failure.usage(
            "--keychain-group cannot be \(quoted(group))",
            hint:
                "write ASCII letters, digits, '.' and '-', for example com.example.keys; Xcode puts the team's prefix in front"
        )
    }
    let first = group.prefix { $0 != "." }
    guard !isAppleID(String(first)) else {
        throw Failure.usage(
            "--keychain-group \(quoted(group)) begins with a team's prefix, which Xcode puts in front again",
            hint: "write \(group.dropFirst(first.count + 1))")
    }
    return group
}

private func checkedCategories(_ names: [String]) throws -> [String] {
    do {
        return try CategorySet(names.map { CategoryDeclaration($0) }).categories.map(\.identifier)
    } catch {
        throw Failure.usage("--category: \(error.code): \(error)")
    }
}

/// The end of the day that `--pass-clear-until` names, in UTC; nil for never.
private func clearEnd(_ text: String, at now: Timestamp) throws -> Timestamp? {
    if text == "never" { return nil }
    guard let day = Timestamp(day: text) else {
        throw Failure.usage(
            "--pass-clear-until cannot be \(quoted(text))", hint: "write a day, for example 2027-06-30, or never")
    }
    let end = day.adding(.days(1))
    guard now < end else {
        throw Failure.usage("--pass-clear-until \(text) has passed", hint: "write a later day, or never")
    }
    return end
}

extension Console {
    /// Reads the value of `--provider`: a key, or the file of a record, which has the certificate too.
    fileprivate func readProvider(_ text: String) throws -> ProviderRecord {
        let isKey = text.lowercased().hasPrefix("pcs")
        let bytes = isKey ? ContiguousArray(text.utf8) : try readRecord(text)
        return try naming("--provider", exit: .usage) { try ProviderRecord(keyOrJSON: bytes, at: timestamp) }
    }
}

extension Timestamp {
    /// The start of a day in UTC, written as `2027-06-30`; nil for anything else.
    fileprivate init?(day text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { parseInteger($0, in: 1...9999) }
        guard parts.count == 3, let year = parts[0], let month = parts[1], let day = parts[2], year >= 1970 else {
            return nil
        }
        // Years from March, so that a leap day is the last of its year.
        let past = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let days = 365 * past + past / 4 - past / 100 + past / 400 + dayOfYear - 719_468
        guard days >= 0 else { return nil }
        self.init(milliseconds: UInt64(days) * 86_400_000)
        // A day that no month has, or that is written otherwise, comes out as another text.
        guard description.hasPrefix(text + "T") else { return nil }
    }
}
