import Foundation
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// Completion as a person meets it: real shells on a terminal.
@Suite struct ShellCompletionTests {
    /// The text typed before the tab, and the program's arguments then.
    static let lines: [(typed: String, given: String)] = [
        ("pushcrypt sea", "<seal>"),
        ("pushcrypt device li", "<device><list>"),
        ("pushcrypt --store P device pur", "<--store><P><device><purge>"),
        ("pushcrypt help device tes", "<help><device><test>"),
        ("pushcrypt open --dup", "<open><--duplicates>"),
        ("pushcrypt open --duplicates qu", "<open><--duplicates><quiet>"),
        ("pushcrypt open --duplicates=qu", "<open><--duplicates=quiet>"),
        ("pushcrypt explain opened-w", "<explain><opened-without-attachment>"),
        ("pushcrypt seal to", "<seal><today's mail.json>"),
        ("pushcrypt seal -o to", "<seal><-o><today's mail.json>"),
        ("pushcrypt --store P seal --to pho", "<--store><P><seal><--to><phone1>"),
        ("pushcrypt --store=P seal --to=pho", "<--store=P><seal><--to=phone1>"),
        ("pushcrypt --store P seal --to us", "<--store><P><seal><--to><user 17 / 아이폰>"),
        ("pushcrypt --store P seal --to user\\ ", "<--store><P><seal><--to><user 17 / 아이폰>"),
        ("pushcrypt --store P seal --to 'us", "<--store><P><seal><--to><user 17 / 아이폰>"),
        ("pushcrypt --store P seal --to \"user 1", "<--store><P><seal><--to><user 17 / 아이폰>"),
        ("pushcrypt --store P seal --to=us", "<--store><P><seal><--to=user 17 / 아이폰>"),
        ("pushcrypt --store P device test it", "<--store><P><device><test><it's \"x\">"),
        ("pushcrypt --store P device test 'it", "<--store><P><device><test><it's \"x\">"),
        ("pushcrypt --store P device test \"it", "<--store><P><device><test><it's \"x\">"),
        ("pushcrypt --store P device remove a", "<--store><P><device><remove><a$(touch evil)`touch evil`!!>"),
        ("pushcrypt --store P device remove \"a", "<--store><P><device><remove><a$(touch evil)`touch evil`!!>"),
        ("pushcrypt --store P seal --to-user al", "<--store><P><seal><--to-user><al ice>"),
        ("pushcrypt --store P seal --sign-with wo", "<--store><P><seal><--sign-with><work>"),
        ("pushcrypt --store 'a store' key show s", "<--store><a store><key><show><spare key>"),
    ]

    static let shells = Shell.allCases

    @Test("What a person begins is completed, and the program is given it as it is called", arguments: shells)
    func complete(_ shell: Shell) throws {
        guard let program = ShellSession.program(of: shell) else {
            return print("SKIPPED: completion in \(shell): it is not installed: Tests/Checks/setup.sh test")
        }
        let directory = try Self.scene()
        let session = try ShellSession(shell, at: program, in: directory)
        for line in Self.lines {
            let given = session.run(line.typed)
            // What comes after a line that went wrong is no more than its consequence.
            try #require(given == line.given, "\(shell): \(line.typed)")
        }
        #expect(try !directory.names.contains("evil"))
    }

    @Test("What a person may mean is listed, and nothing that is typed is evaluated", arguments: shells)
    func list(_ shell: Shell) throws {
        guard let program = ShellSession.program(of: shell) else {
            return print("SKIPPED: lists in \(shell): it is not installed: Tests/Checks/setup.sh test")
        }
        let directory = try Self.scene()
        let session = try ShellSession(shell, at: program, in: directory)
        for (typed, listed) in [
            ("pushcrypt se", ["seal", "send"]), ("pushcrypt device test --me", ["--message"]),
            ("pushcrypt open --p", ["--pass-clear", "--passphrase-file", "--provider", "--push-type"]),
            ("pushcrypt seal --emit ", ["payload", "request", "apns"]),
            ("pushcrypt completions ", ["bash", "zsh", "fish"]),
            ("pushcrypt --store P device test ", ["phone1", "user", "it"]),
        ] {
            let shown = session.offers(typed, listed)
            for word in listed { try #require(shown.contains(word), "\(shell): \(typed): \(word): \(shown)") }
        }
        for typed in [
            "pushcrypt --store \"$(touch evil)\" seal --to ", "pushcrypt --store P seal --to \"`touch evil`",
            "pushcrypt --store P seal --to $(touch evil)", "pushcrypt --store=`touch evil` device test p",
            "pushcrypt seal --emit='$(touch evil)'", "pushcrypt \"$(touch evil)\" ", "pushcrypt seal \"`touch evil`",
        ] {
            session.abandon(typed)
        }
        #expect(try !directory.names.contains("evil"))
    }

    /// A folder with two stores and a file.
    private static func scene() throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = [
            "-ec",
            #"""
            pushcrypt --store P init; pushcrypt --store 'a store' init
            pushcrypt --store P key new provider --name work
            pushcrypt --store 'a store' key new device --name 'spare key' > phone.pub
            for name in phone1 'user 17 / 아이폰' "it's \"x\"" 'a$(touch evil)`touch evil`!!'; do
                pushcrypt key new device -o key | pushcrypt --store P device add "$name" --user 'al ice'
                rm key
            done
            echo '{}' > "today's mail.json"
            """#,
        ]
        process.currentDirectoryURL = URL(filePath: directory.path)
        process.environment = programEnvironment([
            "PATH": try builtProgram().deletingLastPathComponent().path + ":/usr/bin:/bin", "LC_ALL": "C.UTF-8",
        ])
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return directory
    }
}
