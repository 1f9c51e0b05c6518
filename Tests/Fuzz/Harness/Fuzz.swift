import CFuzzer
import Glibc
import Pushcrypt

/// Runs one fuzz target under libFuzzer: `Fuzz TARGET [what libFuzzer takes]`.
@main
enum Fuzz {
    private static var targets: [any FuzzTarget.Type] {
        [
            ArgumentsTarget.self, AttachmentTarget.self, BatchTarget.self, EnvelopeTarget.self, InnerTarget.self,
            JSONTarget.self, KeyTarget.self, RotationTarget.self, RowTarget.self,
        ]
    }

    /// What the callback, which can capture nothing, calls.
    private nonisolated(unsafe) static var target: (any FuzzTarget)?

    static func main() {
        let name = CommandLine.arguments.dropFirst().first
        guard let type = targets.first(where: { $0.name == name }) else {
            for target in targets { print(target.name) }
            return
        }
        unsafe target = type.init()
        // libFuzzer sees the name of the target as that of the program.
        var count = CommandLine.argc - 1
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv + 1
        let code = unsafe LLVMFuzzerRunDriver(&count, &arguments) { data, size in
            let bytes = unsafe Bytes(UnsafeBufferPointer(start: data, count: size))
            unsafe Fuzz.target?.run(bytes)
            return 0
        }
        exit(code)
    }
}

/// One thing that is fuzzed, and what must hold for every input.
protocol FuzzTarget {
    static var name: String { get }
    /// Makes what all inputs share.
    init()
    /// Tries one input; a property that does not hold ends the process.
    func run(_ input: Bytes)
}
