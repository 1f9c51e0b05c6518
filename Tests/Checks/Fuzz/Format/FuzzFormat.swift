internal import FuzzHarness

/// The targets that read only the format. Apart from the rest, because libFuzzer looks through the counters of a whole program after every
/// input.
@main
enum FuzzFormat {
    static func main() {
        Fuzzer.run([AttachmentTarget.self, JSONTarget.self, KeyTarget.self, KeyFormatTarget.self, RotationTarget.self])
    }
}
