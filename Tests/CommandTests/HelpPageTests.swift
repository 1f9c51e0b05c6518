import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

@Suite struct HelpPageTests {
    private static let program = "sample - a table for tests\n\nusage: sample [options] COMMAND\n"
    private static let group = "sample device - work with devices\n\nusage: sample device COMMAND\n"
    private static let command = """
        sample send - send a message

        usage: sample send --to ID [options] [FILE]

        Sends the message that FILE holds to every device that --to names, and waits for
        none of them to answer.

        A second paragraph.

        operands:
          FILE  the message

        message:
          -t, --to ID           the device to send to; repeatable
              --ttl DURATION    how long it lives
              --priority LEVEL  how urgent it is (low, normal, high)
              --key SOURCE      where the key is read from

        options:
              --store DIR    the key store; default PUSHCRYPT_STORE, or the user's data
                             directory
              --json         write JSON, for programs
          -o, --output FILE  write to a file that appears only after success
              --force        replace the output file if it exists
          -q, --quiet        write only errors and warnings to standard error
          -h, --help         show this help

        examples:
          sample send --to phone1 message.json
          # from a pipe
          sample send -t a -t b -

        sample send --help all shows more, and 1 more option

        """

    @Test(
        "Every way of asking for help gives the page of the deepest command named",
        arguments: [
            ("--help", program), ("-h", program), ("help", program), ("--json --help", program),
            ("device --help", group), ("help device", group), ("device -h", group),
            ("send --help", command), ("help send", command), ("send -h", command), ("--help send", command),
            ("--store device --help send", command),
        ])
    func page(line: String, start: String) throws {
        let outcome = try outcome(line.split(separator: " ").map(String.init))
        #expect(outcome.exit == .done && outcome.output.hasPrefix(start) && outcome.messages == "")
    }

    @Test(
        "Help is given even where the rest of the line is wrong",
        arguments: ["send --frobnicate --help", "send x y z --help", "send --to --help", "send --ttl 0 -h"])
    func wrongLine(line: String) throws {
        let outcome = try outcome(line.split(separator: " ").map(String.init))
        #expect(outcome == Outcome(exit: .done, output: Self.command, messages: ""))
    }

    @Test(
        "Help about what does not exist is a usage error with a hint",
        arguments: [
            ("help sned", "did you mean sample send?"), ("sned --help", "did you mean sample send?"),
            ("help device ad", "did you mean sample device add?"),
            ("device ad --help", "did you mean sample device add?"),
            ("help send more", "sample send --help lists the commands"),
        ])
    func unknown(line: String, hint: String) throws {
        let outcome = try outcome(line.split(separator: " ").map(String.init))
        #expect(outcome.exit == .usage)
        #expect(outcome.messages.hasSuffix("pushcrypt: hint: \(hint)\n"))
        #expect(outcome.output == "")
    }

    @Test("After -- nothing asks for help")
    func afterTheEnd() throws {
        #expect(try outcome(["greet", "--", "--help"]).output == "hello --help\n")
    }
}
