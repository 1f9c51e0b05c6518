internal import FuzzHarness

/// The targets that need the command, the store or the receiver.
@main
enum FuzzProgram {
    static func main() {
        Fuzzer.run([ArgumentsTarget.self, BatchTarget.self, EnvelopeTarget.self, InnerTarget.self, RowTarget.self])
    }
}
