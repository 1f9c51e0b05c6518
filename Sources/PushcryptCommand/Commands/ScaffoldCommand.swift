internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptDeveloperTools
internal import PushcryptReceiver

extension Command {
    static let scaffold = Command(
        group: "scaffold", "write the files that an app needs for encrypted notifications",
        [
            .scaffoldIOS
        ])
}

extension Command {
    static let scaffoldIOS = Command(
        "ios", "write a service extension, and the app's side of it",
        about: [
            "Writes an Xcode project with an app, a notification service extension and tests: the notification delegate, the way to the server, property lists, entitlements, texts. Places to fill in are marked EDIT. See Docs/App.md.",
            "In the folder Linux the same sources are a Swift package: 'swift test' sends pushes to a simulated phone.",
            "--into writes the extension and the app's sources into the folder of a project that exists, and the steps that add them. --pass-clear-until then says what becomes of pushes that are not sealed yet: without it they would be masked from the day of the update.",
        ],
        examples: [
            "pushcrypt scaffold ios --bundle-id com.example.app --group group.com.example -o Notifications",
            "pushcrypt scaffold ios --bundle-id com.example.app --group group.com.example --into MyApp --pass-clear-until 2027-06-30",
        ]
    ) { a in
        let command = ScaffoldIOSCommand(&a)
        return { try command.run($0) }
    }
}

struct ScaffoldIOSCommand {
    private let bundleID: String
    private let group: String
    private let newFolder: String?
    private let project: String?
    private let clearUntil: String?
    private let hasCommunication: Bool
    private let keychainGroup: String?
    private let hasContentExtension: Bool
    private let categories: [String]
    private let provider: String?
    private let isTimeSensitive: Bool
    private let package: String?
    private let isJSON: Bool

    init(_ arguments: inout Arguments) {
        bundleID = arguments.requiredValue(
            "--bundle-id", "ID", help: "the app's bundle id, the topic of its pushes")
        group = arguments.requiredValue("--group", "GROUP", help: "the app group of app and extensions")
        newFolder = arguments.value(
            "--output", short: "-o", "DIR", .folder, help: "the folder to write, new or empty")
        project = arguments.value(
            "--into", "DIR", .folder, help: "the folder of a project that exists: write no project and no app")
        clearUntil = arguments.value(
            "--pass-clear-until", "DATE",
            help:
                "with --into: until the end of this day (UTC) show unsealed pushes as they are, such as 2027-06-30; or never"
        )
        keychainGroup = arguments.value(
            "--keychain-group", "GROUP",
            help:
                "the keys' Keychain group, without the team's prefix; default ID.pushcrypt; the app group needs no prefix"
        )
        hasContentExtension = arguments.flag(
            "--content-extension", help: "add a view for expanded notifications")
        categories = arguments.values(
            "--category", "NAME", help: "a category that the content extension shows")
        hasCommunication = arguments.flag(
            "--communication", help: "show the sender's name and face, with Apple's entitlement")
        provider = arguments.value(
            "--provider", "KEY|FILE", .input,
            help:
                "build in the provider's key: pcs1…, or the record of 'key show --json'; otherwise the first reply brings it"
        )
        isTimeSensitive = arguments.flag(
            "--time-sensitive", help: "allow notifications that break through a Focus, with Apple's entitlement")
        package = arguments.value(
            "--package", "URL|PATH", .folder,
            help:
                "where the project finds pushcrypt, this version or later of an address; default where this program was built, or ../pushcrypt"
        )
        isJSON = arguments.json()
    }

    func run(_ console: Console) throws -> ExitCode {
        if project != nil, clearUntil == nil {
            throw Failure.usage(
                "--pass-clear-until is missing: from the day of the update, pushes that are not sealed yet would be masked",
                hint:
                    "--pass-clear-until 2027-06-30 shows them as they are until then; never masks them as '(Encrypted)' at once"
            )
        }
        let path = try chosenFolder()
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
        let scaffold = try scaffold(location, console)
        let files = project == nil ? scaffold.files : scaffold.filesForProject
        let folder = try project == nil ? ScaffoldFolder(new: path) : ScaffoldFolder(existing: path)
        try folder.write(files)
        if isJSON {
            var json = JSONWriter()
            json.object { json in
                json.string(folder.path, for: "folder")
                json.array(for: "files") { json in for file in files { json.string(file.path) } }
                json.string(location.place, for: "package")
            }
            try console.write(console.shown(json: json.bytes) + "\n")
        } else {
            try console.write(files.map { sanitized(forTerminal: "\(folder.path)/\($0.path)") + "\n" }.joined())
        }
        if project != nil {
            console.hint("read \(folder.path)/PUSHCRYPT.md: the steps that add them to the project")
            return .done
        }
        if package == nil, place == nil {
            console.hint("the project looks for pushcrypt in \(location.place): --package names another place")
        }
        console.hint(
            "read \(folder.path)/README.md; 'swift test' in \(quoted(folder.path + "/Linux")) runs it all on Linux")
        return .done
    }

    // MARK: Checks

    private func chosenFolder() throws -> String {
        guard newFolder != "-", project != "-" else {
            throw Failure.usage(
                "a project is a folder, and cannot go to standard output", hint: "./- is a folder of that name")
        }
        switch (newFolder, project) {
        case (let folder?, nil): return folder
        case (nil, let folder?): return folder
        default:
            throw Failure.usage(
                "name one folder", hint: "-o DIR for a new project, or --into DIR for one that exists")
        }
    }

    private func scaffold(_ package: PackageLocation, _ console: Console) throws -> IOSScaffold {
        let topic = try Topic(bundleID, in: "--bundle-id")
        guard Self.isIdentifier(bundleID), bundleID.utf8.contains(UInt8(ascii: ".")) else {
            throw Failure.usage(
                "--bundle-id cannot be \(quoted(bundleID))",
                hint: "a bundle id has two or more parts, with one '.' between them, for example com.example.app")
        }
        let appGroup = try Self.appGroup(group)
        let keychainGroup = try keychainGroup.map(Self.keychainGroup) ?? "\(topic).pushcrypt"
        let categories = try Self.checked(categories)
        if hasContentExtension, categories.isEmpty {
            throw Failure.usage(
                "a content extension is for notifications of certain categories, and none is given",
                hint: "add --category with the name that the payloads have, for example --category MESSAGE")
        }
        let provider = try provider.map { text in try console.readProvider(text) }
        var scaffold = IOSScaffold(topic: topic, appGroup: appGroup, keychainGroup: keychainGroup, package: package)
        scaffold.hasContentExtension = hasContentExtension
        scaffold.categories = categories
        (scaffold.provider, scaffold.certificate) = (provider?.publicKey, provider?.certificate)
        scaffold.hasCommunication = hasCommunication
        scaffold.isTimeSensitive = isTimeSensitive
        scaffold.passesClearUntil = try clearEnd(console)
        return scaffold
    }

    /// The end of the day that `--pass-clear-until` names, in UTC; nil for never.
    private func clearEnd(_ console: Console) throws -> Timestamp? {
        guard let clearUntil, clearUntil != "never" else { return nil }
        guard let day = Timestamp(day: clearUntil) else {
            throw Failure.usage(
                "--pass-clear-until cannot be \(quoted(clearUntil))",
                hint: "write a day, for example 2027-06-30, or never")
        }
        let end = day.adding(.days(1))
        guard console.timestamp < end else {
            throw Failure.usage("--pass-clear-until \(clearUntil) has passed", hint: "write a later day, or never")
        }
        return end
    }

    private static func appGroup(_ group: String) throws -> String {
        guard group.hasPrefix("group."), isIdentifier(group) else {
            throw Failure.usage(
                "--group cannot be \(quoted(group))",
                hint:
                    "an app group begins with 'group.', and has ASCII letters, digits, '.' and '-', for example group.com.example"
            )
        }
        return group
    }

    private static func keychainGroup(_ group: String) throws -> String {
        guard isIdentifier(group) else {
            throw Failure.usage(
                "--keychain-group cannot be \(quoted(group))",
                hint:
                    "write ASCII letters, digits, '.' and '-', for example com.example.keys; Xcode puts the team's prefix in front"
            )
        }
        let first = group.prefix { $0 != "." }
        guard first.utf8.count != 10 || !first.utf8.allSatisfy(Self.isInTeamID) else {
            throw Failure.usage(
                "--keychain-group \(quoted(group)) begins with a team's prefix, which Xcode puts in front again",
                hint: "write \(group.dropFirst(first.count + 1))")
        }
        return group
    }

    /// Whether the text follows the rules of a bundle id, and has no empty part.
    private static func isIdentifier(_ text: String) -> Bool {
        (try? Topic(text)) != nil && !text.split(separator: ".", omittingEmptySubsequences: false).contains("")
    }

    private static func isInTeamID(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func checked(_ names: [String]) throws -> [String] {
        do throws(CategoryError) {
            return try CategorySet(names.map { CategoryDeclaration($0) }).categories.map(\.identifier)
        } catch {
            throw Failure.usage("--category: \(error.code): \(error)")
        }
    }
}

extension Console {
    /// Reads the value of `--provider`: a key, or the file of a record, which has the certificate too.
    fileprivate func readProvider(_ text: String) throws -> ProviderRecord {
        let isKey = text.lowercased().hasPrefix("pcs")
        let bytes = isKey ? ContiguousArray(text.utf8) : try readRecord(text)
        do throws(KeyError) {
            if bytes.first == UInt8(ascii: "{") { return try ProviderRecord(json: bytes, at: timestamp) }
            let key = try ProviderPublicKey(text: String(decoding: bytes, as: UTF8.self))
            return ProviderRecord(publicKey: key, topic: nil, generation: 1, createdAt: timestamp)
        } catch {
            throw Failure(error, inOption: "--provider")
        }
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
        // A day that no month has, or one that is written otherwise, is another day's text.
        guard description.hasPrefix(text + "T") else { return nil }
    }
}
