internal import FuzzHarness

/// What needs the command, the store or the receiver.
@main
enum FuzzProgram {
    static func main() {
        Fuzzer.run([ArgumentsTarget.self, BatchTarget.self, EnvelopeTarget.self, InnerTarget.self, RowTarget.self])
    }
}
