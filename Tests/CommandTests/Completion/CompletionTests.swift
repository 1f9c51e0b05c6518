import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// The candidates at the cursor, by the sample table.
@Suite struct CompletionTests {
    private func completion(_ text: String, table: CommandTable = .sample) -> Completion {
        let line = ShellLine(text, of: .bash, home: nil)
        return CompletionPoint(table, after: line.words).completion(of: line.current) { source, start in
            ["\(source.kind) of \(start)", start + "!"]
        }
    }

    @Test(
        "Words are offered where they may stand",
        arguments: [
            ("", ["device", "send", "join", "greet", "help"]), ("s", ["send"]), ("x", []),
            ("device ", ["add", "list"]),
            ("device l", ["list"]), ("device x ", []), ("nothing ", []),
            ("help ", ["device", "send", "join", "greet", "help", "exit-codes"]),
            ("help device ", ["add", "list"]), ("help device add ", []), ("--store D de", ["device"]),
            ("--store=D de", ["device"]),
            ("complete ", ["bash", "zsh", "fish"]), ("compl", []),
        ])
    func words(text: String, words: [String]) {
        #expect(completion(text).candidates.map(\.word) == words)
    }

    @Test(
        "Options are offered where the command has them, and once unless they may be repeated",
        arguments: [
            ("-", ["--store", "--json", "--quiet", "--help", "--version"]), ("--s", ["--store"]),
            ("device --", ["--store", "--json", "--quiet", "--help"]),
            (
                "send --",
                [
                    "--to", "--ttl", "--priority", "--key", "--trace", "--store", "--json", "--output", "--force",
                    "--quiet",
                    "--help",
                ]
            ),
            (
                "send -q --to x --",
                [
                    "--to", "--ttl", "--priority", "--key", "--trace", "--store", "--json", "--output", "--force",
                    "--help",
                ]
            ),
            ("send -o f --f", ["--force"]), ("send -- --", []), ("greet --nothing x --l", ["--loud"]),
            ("device list ", ["--quiet", "--help"]),
            (
                "send - -",
                [
                    "--to", "--ttl", "--priority", "--key", "--trace", "--store", "--json", "--output", "--force",
                    "--quiet",
                    "--help",
                ]
            ),
        ])
    func options(text: String, options: [String]) {
        #expect(completion(text).candidates.map(\.word) == options)
    }

    @Test(
        "The values of a choice are offered",
        arguments: [
            ("send --priority ", ["low", "normal", "high"]), ("send --priority n", ["normal"]),
            ("send --priority=n", ["--priority=normal"]), ("send --ttl ", []), ("send --ttl=", []),
            ("send --json=", []), ("send -x=", []),
        ])
    func values(text: String, values: [String]) {
        #expect(completion(text) == Completion(candidates: values.map { .init($0) }))
    }

    @Test(
        "Paths are the shell's to offer, where one may stand",
        arguments: [
            ("send ", .files), ("send --key ", .files), ("send --output=", .files), ("send -o ", .files),
            ("send --store ", .folders),
            ("--store ", .folders), ("--store=$D/", .none), ("send \"$D/", .files), ("join a ", .files),
            ("join a b c ", .files),
            ("join ", .none), ("send a ", .none), ("nothing \"$D/", .none), ("send --ttl ", .none),
        ] as [(String, Completion.Paths)])
    func paths(text: String, paths: Completion.Paths) {
        #expect(completion(text).paths == paths)
    }

    @Test(
        "Names come from the store",
        arguments: [
            ("seal --to ph", ["ph!"]), ("seal --to=ph", ["--to=ph!"]), ("device remove a b", ["b!"]),
            ("seal --sign-with x", ["x!"]),
        ])
    func names(text: String, words: [String]) {
        #expect(completion(text, table: .pushcrypt).candidates.map(\.word) == words)
    }

    @Test(
        "Every option and operand that names something of the store asks for it",
        arguments: [
            ("seal --to ", "device"), ("seal --to-user ", "user"), ("seal --sign-with ", "providerKey"),
            ("attach seal --sign-with ", "providerKey"),
            ("device add ", "device"), ("device remove ", "device"), ("device test ", "device"),
            ("device test --sign-with ", "providerKey"), ("device show ", "device"),
            ("device list --user ", "user"), ("device add --user ", "user"), ("provider unpin ", "pinnedProvider"),
            ("provider pin --account ", "deviceKey"), ("key show ", "ownKey"), ("key export ", "ownKey"),
            ("key rotate ", "ownKey"), ("key default ", "ownKey"), ("key remove ", "ownKey"),
            ("key offline ", "providerKey"),
        ])
    func kinds(text: String, kind: String) {
        #expect(completion(text, table: .pushcrypt).candidates.first?.word == "\(kind) of ")
    }

    @Test("Every command of the product is offered, with its summary, and every option of it, with its help")
    func complete() {
        var count = 0
        for path in CommandTable.pushcrypt.paths {
            let command = CommandTable.pushcrypt.command(at: path)
            let options = command?.details(in: .pushcrypt).options ?? []
            let before = path.dropLast().map { $0 + " " }.joined()
            #expect(
                completion(before, table: .pushcrypt).candidates.contains(.init(path[path.count - 1], command?.summary))
            )
            for option in options {
                let offered = completion(path.joined(separator: " ") + " -", table: .pushcrypt).candidates
                #expect(offered.contains(.init(option.name, option.help)), "\(path) \(option.name)")
                count += 1
            }
        }
        #expect(count > 100)
    }
}

/// The answers to the scripts.
@Suite struct CompleteCommandTests {
    private func answer(_ shell: Shell, _ fields: String...) throws -> String {
        let outcome = try outcome(["complete", shell.rawValue], input: fields.map { $0 + "\0" }.joined())
        #expect(outcome.exit == .done && outcome.messages == "")
        return outcome.output
    }

    @Test("bash is given what its line editor inserts")
    func bash() throws {
        #expect(try answer(.bash, "sample send --priority=n", "=") == "none\nnormal\n")
        #expect(try answer(.bash, "sample send --priority=n", "") == "none\n--priority=normal\n")
        #expect(try answer(.bash, "sample send --priority 'n", "'") == "none\nnormal\n")
        #expect(try answer(.bash, "A=b sample de") == "none\ndevice\n")
        #expect(try answer(.bash, "sample send > ") == "files\n")
    }

    @Test("zsh is given the word and what it shows for it, fish the word and its help")
    func others() throws {
        #expect(try answer(.zsh, "sample device ") == "none\nadd\tadd   add a device\nlist\tlist  list the devices\n")
        #expect(try answer(.zsh, "sample send --priority=n") == "none\nnormal\tnormal\n")
        #expect(try answer(.fish, "sample device ") == "none\nadd\tadd a device\nlist\tlist the devices\n")
        #expect(try answer(.fish, "sample send --priority=n") == "none\n--priority=normal\n")
    }

    @Test("A line that says nothing is no failure", arguments: Shell.allCases)
    func nothing(shell: Shell) throws {
        #expect(try outcome(["complete", shell.rawValue]).exit == .done)
    }
}
