import Foundation
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

@Suite struct OutputFileTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func write(
        _ text: String, to name: String, mode: UInt32 = 0o666, force: Bool = false
    ) throws(Failure) {
        try OutputFile.write(ContiguousArray(text.utf8).span, to: directory.file(name), mode: mode, force: force)
    }

    private func refusal(to name: String, force: Bool = false, exit: ExitCode = .failed) -> String? {
        do throws(Failure) {
            try write("new", to: name, force: force)
            return nil
        } catch {
            return error.exit == exit ? error.message.replacing(directory.path, with: "DIR") : nil
        }
    }

    private func mode(of name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: directory.file(name))[.posixPermissions] as? Int
    }

    @Test("A new file has all its bytes, its mode, and nothing beside it")
    func newFile() throws {
        try write("secret", to: "key", mode: 0o600)
        #expect(try directory.read("key") == "secret")
        #expect(try mode(of: "key") == 0o600)
        #expect(try directory.names == ["key"])
    }

    @Test("An existing file is kept without force")
    func existingFile() throws {
        try directory.write("old", to: "file")
        #expect(refusal(to: "file", exit: .usage) == "'DIR/file' exists already")
        #expect(try directory.read("file") == "old")
        #expect(try directory.names == ["file"])
    }

    @Test("With force an existing file is replaced, its mode and its other names are not kept")
    func force() throws {
        try directory.write("old", to: "file")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: directory.file("file"))
        try FileManager.default.linkItem(atPath: directory.file("file"), toPath: directory.file("other"))
        try write("new", to: "file", mode: 0o600, force: true)
        #expect(try directory.read("file") == "new")
        #expect(try directory.read("other") == "old")
        #expect(try mode(of: "file") == 0o600)
        #expect(try directory.names == ["file", "other"])
    }

    @Test("A link stays one, and what it points to is written")
    func symbolicLink() throws {
        try directory.write("old", to: "target")
        try FileManager.default.createSymbolicLink(
            atPath: directory.file("link"), withDestinationPath: directory.file("target"))
        #expect(refusal(to: "link", exit: .usage) == "'DIR/target' exists already")
        try write("new", to: "link", force: true)
        #expect(try directory.read("target") == "new" && directory.names == ["link", "target"])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: directory.file("link")).hasSuffix("/target"))
    }

    @Test("A secret goes to no link, and nothing to a link that leads nowhere", arguments: [0o600, 0o666] as [UInt32])
    func linksThatAreRefused(mode: UInt32) throws {
        try directory.write("old", to: "target")
        for (link, target) in [("link", mode == 0o600 ? "target" : "missing"), ("loop", "loop")] {
            try FileManager.default.createSymbolicLink(
                atPath: directory.file(link), withDestinationPath: directory.file(target))
            let failure = #expect(throws: Failure.self) { try write("new", to: link, mode: mode, force: true) }
            #expect(failure?.message.hasSuffix("is a symbolic link") == true)
        }
        #expect(try directory.read("target") == "old" && directory.names == ["link", "loop", "target"])
    }

    @Test(
        "What another user has put into a folder that everybody shares is neither followed nor written",
        .enabled(if: geteuid() == 0), arguments: ["link", "pipe"])
    func planted(name: String) throws {
        try directory.write("old", to: "target")
        let shared = directory.file("shared")
        let made = unsafe mkdir(shared, 0o777)
        let opened = unsafe chmod(shared, 0o1777)
        try #require(made == 0 && opened == 0)
        try FileManager.default.createSymbolicLink(
            atPath: shared + "/link", withDestinationPath: directory.file("target"))
        let piped = unsafe mkfifo(shared + "/pipe", 0o666)
        // Without a reader a fault would wait here.
        let reader = try OpenFile(shared + "/pipe", flags: O_RDONLY | O_NONBLOCK)
        defer { _ = reader.descriptor }
        let given = unsafe lchown("\(shared)/\(name)", 4000, 4000)
        try #require(piped == 0 && given == 0)
        let failure = #expect(throws: Failure.self) { try write("new", to: "shared/\(name)", force: true) }
        #expect(failure?.message.contains(name == "link" ? "is a symbolic link" : "is not a regular file") == true)
        #expect(try directory.read("target") == "old")
    }

    @Test("A pipe and a device get the bytes, but no secret; a folder is refused", arguments: [false, true])
    func otherKinds(force: Bool) throws {
        try FileManager.default.createDirectory(atPath: directory.file("sub"), withIntermediateDirectories: false)
        #expect(refusal(to: "sub", force: force) == "'DIR/sub' is a directory")
        let made = unsafe mkfifo(directory.file("pipe"), 0o600)
        #expect(made == 0)
        let reader = try OpenFile(directory.file("pipe"), flags: O_RDONLY | O_NONBLOCK)
        try write("new", to: "pipe", force: force)
        var bytes = ContiguousArray<UInt8>(repeating: 0, count: 8)
        var span = bytes.mutableSpan
        #expect(try reader.descriptor.readSome(into: &span, from: 0) == 3)
        let failure = #expect(throws: Failure.self) { try write("key", to: "pipe", mode: 0o600, force: force) }
        #expect(failure?.message.hasSuffix("is not a regular file") == true)
        try OutputFile.write(ContiguousArray("new".utf8).span, to: "/dev/null", mode: 0o666, force: force)
        #expect(try directory.names == ["pipe", "sub"])
    }

    @Test("A file that another process made meanwhile is kept")
    func race() throws {
        let output = try OutputFile(directory.file("file"), mode: 0o600, force: false)
        try output.write(ContiguousArray("new".utf8).span)
        try directory.write("theirs", to: "file")
        do throws(Failure) {
            try output.commit()
            Issue.record("the file was replaced")
        } catch {
            #expect(error.message.hasSuffix("exists already"))
        }
        #expect(try directory.read("file") == "theirs")
        #expect(try directory.names == ["file"])
    }

    @Test("Without a commit nothing is left")
    func abandoned() throws {
        do {
            let output = try OutputFile(directory.file("file"), mode: 0o600, force: false)
            try output.write(ContiguousArray("half".utf8).span)
            #expect(try directory.names.count == 1)
            #expect(try directory.names != ["file"])
        }
        #expect(try directory.names == [])
    }

    @Test("A disk that is full leaves nothing, and keeps the old file")
    func fullDisk() async throws {
        try directory.write("old", to: "file")
        await #expect(processExitsWith: .success) { [path = directory.file("file") as String] in
            // The limit on the size of a file stands for the size of the disk.
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 1000, rlim_max: 1000)
            _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let bytes = ContiguousArray<UInt8>(repeating: 0x78, count: 3000)
            do throws(Failure) {
                try OutputFile.write(bytes.span, to: path, mode: 0o600, force: true)
                Issue.record("3000 bytes fitted into 1000")
            } catch {
                #expect(error.message == "cannot write '\(path)': file too large")
            }
        }
        #expect(try directory.read("file") == "old")
        #expect(try directory.names == ["file"])
    }

    @Test(
        "A path that cannot be written says so",
        arguments: [
            ("missing/file", "cannot write into 'DIR/missing': no such file or directory"),
            ("file/below", "cannot write into 'DIR/file': not a directory"),
            ("", "'DIR/' names no file"), (".", "'DIR/.' names no file"), ("..", "'DIR/..' names no file"),
            (String(repeating: "n", count: 256), nil),
        ])
    func unwritable(name: String, message: String?) throws {
        try directory.write("old", to: "file")
        let answer = refusal(to: name)
        #expect(answer != nil)
        if let message { #expect(answer == message) }
        #expect(try directory.names == ["file"])
    }

    @Test("A directory without write permission is refused", .enabled(if: geteuid() != 0))
    func readOnlyDirectory() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: directory.path)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory.path) }
        #expect(refusal(to: "file") == "cannot write into 'DIR': permission denied")
    }

    @Test("A name of the greatest length can be written")
    func longestName() throws {
        let name = String(repeating: "n", count: 255)
        try write("new", to: name)
        #expect(try directory.names == [name])
    }
}
