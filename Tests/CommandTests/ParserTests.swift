import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

@Suite struct ParserTests {
    @Test(
        "A line that is right reaches its command with its values",
        arguments: [
            ("send --to a", "to a; file -"),
            ("send -t a", "to a; file -"),
            ("send --to=a message.json", "to a; file message.json"),
            ("send message.json --to a", "to a; file message.json"),
            ("send --to a --to b -t c", "to a,b,c; file -"),
            ("send --to a -", "to a; file -"),
            ("send --to a -- --odd-name", "to a; file --odd-name"),
            ("send --to a -- -", "to a; file -"),
            ("send --to=--odd", "to --odd; file -"),
            ("send --to=a=b", "to a=b; file -"),
            ("send --to=\u{301}a", "to \u{301}a; file -"),
            ("send --to - x", "to -; file x"),
            ("send --to a --ttl 30d --priority high", "to a; ttl 2592000; priority high; file -"),
            ("--store S send --to a", "to a; store S; file -"),
            ("--store=S --json send --to a", "to a; store S; json; file -"),
            ("send --to a --store S --json", "to a; store S; json; file -"),
            ("send --to a --json --json -q", "to a; quiet; json; file -"),
            ("--json send --to a --json", "to a; json; file -"),
            ("send --to a --key fd:3", "to a; key fd:3; file -"),
            ("send --to a -o - --force", "to a; force; file -"),
            ("device add p1", "add p1 in none"),
            ("--store S device add p1", "add p1 in S"),
            ("device --store S add p1", "add p1 in S"),
            ("device add --store S p1", "add p1 in S"),
            ("device add p1 --store S", "add p1 in S"),
            ("-- device add p1", "add p1 in none"),
            ("join t a", "t<-a"),
            ("join t a - b", "t<-a+-+b"),
            ("greet", "hello world"),
            ("greet you", "hello you"),
            ("--version", "sample 7.0"),
            ("--json --version", "sample 7.0"),
        ])
    func understood(line: String, output: String) throws {
        let outcome = try outcome(line.split(separator: " ").map(String.init))
        #expect(outcome == Outcome(exit: .done, output: output + "\n", messages: ""))
    }

    @Test(
        "A mistake is exit 64, says what is wrong and what to write, and prints no data",
        arguments: [
            ("", "no command is given", "sample --help lists the commands"),
            ("send --to a\u{fffd}", "an argument is not UTF-8 text: 'a\u{fffd}'", "rename the file, or redirect it"),
            ("--json", "no command is given", "sample --help lists the commands"),
            ("sned", "unknown command 'sned'", "did you mean sample send?"),
            ("frobnicate", "unknown command 'frobnicate'", "sample --help lists the commands"),
            ("list", "unknown command 'list'", "did you mean sample device list?"),
            ("device", "sample device needs a command after it", "one of: add, list"),
            ("device ad", "unknown command 'ad'", "did you mean sample device add?"),
            ("device frobnicate", "unknown command 'frobnicate'", "sample device --help lists the commands"),
            ("-", "unknown command '-'", "sample --help lists the commands"),
            ("--stroe S device list", "unknown option '--stroe'", "did you mean --store?"),
            ("--to a send", "unknown option '--to'", "--to stands after the command"),
            ("--frobnicate send", "unknown option '--frobnicate'", "sample --help lists the options"),
            ("send --too a", "unknown option '--too'", "did you mean --to?"),
            ("send -to a", "unknown option '-to'", "did you mean --to?"),
            ("send --prio low", "unknown option '--prio'", "did you mean --priority?"),
            ("send -x", "unknown option '-x'", "sample send --help lists the options"),
            ("send --versoin", "unknown option '--versoin'", "sample send --help lists the options"),
            ("send --to", "--to needs a value", "write --to ID"),
            ("send --to=", "--to needs a value", "write --to ID"),
            ("send --to -- x", "--to needs a value", "write --to ID"),
            ("send --to --json", "--to needs a value", "write --to=VALUE for a value that begins with a dash"),
            ("send --to a --ttl 1d --ttl 2d", "--ttl is given twice", ""),
            ("--store A device add p1 --store B", "--store is given twice", ""),
            ("send --to a --json=yes", "--json takes no value", ""),
            ("send", "--to ID is missing", "usage: sample send --to ID [options] [FILE]"),
            ("send --to a x y", "unexpected argument 'y'", "usage: sample send --to ID [options] [FILE]"),
            ("join t", "FILE is missing", "usage: sample join [options] TARGET FILE ..."),
            ("join", "TARGET is missing", "usage: sample join [options] TARGET FILE ..."),
            ("device add", "ID is missing", "usage: sample device add [options] ID"),
            ("--json greet", "sample greet has no option --json", "sample greet --help lists its options"),
            (
                "send --to a --ttl 30", "--ttl cannot be '30'",
                "write a whole number with a unit (d, h, m or s), from 1s to 30d, for example --ttl 30d"
            ),
            ("send --to a --priority hihg", "--priority cannot be 'hihg'", "did you mean high?"),
            ("send --to a --priority 9", "--priority cannot be '9'", "write one of: low, normal, high"),
            (
                "send --to a --key -", "--key and FILE cannot both be read from standard input",
                "name a file for one of them"
            ),
            (
                "send --to a --key fd:0 -", "--key and FILE cannot both be read from standard input",
                "name a file for one of them"
            ),
            ("join t - a -", "FILE and FILE cannot both be read from standard input", "name a file for one of them"),
            ("greet --loud --soft", "--loud and --soft exclude each other", ""),
            ("greet --echo 3", "--echo goes with --loud", "add --loud"),
            ("greet --loud --bow --echo 3", "--echo and --bow exclude each other", "hills see nothing"),
            ("greet --bow --echo 3", "--echo goes with --loud", "add --loud"),
        ])
    func refused(line: String, error: String, hint: String) throws {
        let outcome = try outcome(line.split(separator: " ").map(String.init))
        let isJSON = line.split(separator: " ").contains("--json")
        let errorLine =
            isJSON
            ? #"{"event":"error","code":"usage","exit":64,"message":"\#(error)"}"# : "pushcrypt: error: \(error)"
        let hintLine = isJSON ? #"{"event":"hint","message":"\#(hint)"}"# : "pushcrypt: hint: \(hint)"
        let messages = errorLine + "\n" + (hint.isEmpty ? "" : hintLine + "\n")
        #expect(outcome == Outcome(exit: .usage, output: "", messages: messages))
    }

    @Test(
        "An empty argument, as an unset shell variable leaves it, is refused",
        arguments: [
            (["send", "--to", ""], "--to needs a value"), (["device", "add", ""], "ID is empty"),
            ([""], "unknown command ''"),
        ])
    func empty(arguments: [String], error: String) throws {
        let outcome = try outcome(arguments)
        #expect(outcome.exit == .usage)
        #expect(outcome.messages.hasPrefix("pushcrypt: error: \(error)\n"))
    }

    @Test(
        "A secret key in an argument is refused, and not repeated",
        arguments: [
            ["send", "--to", "a", "--key", "PCS-SECRET-1QPZRY9X8GF2TVDW0"],
            ["send", "--to", "a", "--key=PCS-SECRET-1QPZRY9X8GF2TVDW0"],
            ["send", "--to", "a", "pcr-secret-1qpzry9x8gf2tvdw0"],
            ["PCR-SECRET-1QPZRY9X8GF2TVDW0"],
            ["send", "--to", "a", "--", "PCR-SECRET-1QPZRY9X8GF2TVDW0"],
            ["send", "--to", "key=PCS-SECRET-1QPZRY9X8GF2TVDW0"],
            [" PCS-SECRET-1QPZRY9X8GF2TVDW0"],
            ["\u{fffd}pPcR-sEcReT-1QPZRY9X8GF2TVDW0.txt"],
        ])
    func secretArgument(arguments: [String]) throws {
        let outcome = try outcome(arguments)
        #expect(outcome.exit == .usage)
        #expect(outcome.messages.contains("a secret key is never an argument"))
        #expect(!outcome.messages.lowercased().contains("qpzry9x8"))
    }

    @Test("A file may have a name that only begins as a secret key does")
    func fileOfSecret() throws {
        #expect(try outcome(["send", "--to", "a", "/run/secrets/pcs-secret-1.txt"]).exit == .done)
    }

    @Test("A command that fails has its exit code, its message and all its hints")
    func failure() throws {
        let expected = """
            pushcrypt: error: nobody is here
            pushcrypt: hint: greet somebody
            pushcrypt: hint: or stay at home

            """
        #expect(try outcome(["greet", "nobody"]) == Outcome(exit: .refused, output: "", messages: expected))
    }

    @Test("Words of the person's own cannot steer the terminal")
    func hostileArgument() throws {
        let outcome = try outcome(["\u{1b}[31mred\npushcrypt: error: forged"])
        #expect(
            outcome.messages.hasPrefix(#"pushcrypt: error: unknown command '\u001b[31mred\u000apushcrypt: error: "#))
        #expect(outcome.messages.split(separator: "\n").count == 2)
    }

    @Test("A very long word is cut in the message")
    func longArgument() throws {
        let outcome = try outcome([String(repeating: "x", count: 100_000)])
        #expect(outcome.messages.utf8.count < 500)
    }
}
