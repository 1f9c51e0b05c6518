internal import FuzzHarness

/// The target that needs the program that sends.
@main
enum FuzzSend {
    static func main() { Fuzzer.run([ResponseTarget.self]) }
}
