import CFuzzer
import Glibc
package import Pushcrypt

/// One thing that is fuzzed, and what must hold for every input.
package protocol FuzzTarget {
    static var name: String { get }
    /// Makes what all inputs share.
    init()
    /// Tries one input; a property that does not hold ends the process.
    func run(_ input: Bytes)
}

/// Runs the target that `FUZZ_TARGET` names under libFuzzer, which has the command line for itself: to merge, it starts the program
/// again with separate words. Without a name the targets are listed; a name that there is not is exit 64.
package enum Fuzzer {
    /// What the callback, which can capture nothing, calls.
    private nonisolated(unsafe) static var target: (any FuzzTarget)?

    package static func run(_ targets: [any FuzzTarget.Type]) {
        let name = unsafe getenv("FUZZ_TARGET").map { unsafe String(cString: $0) }
        guard let name else {
            for target in targets { print(target.name) }
            return
        }
        guard let type = targets.first(where: { $0.name == name }) else {
            say("error: FUZZ_TARGET names no target of this program: \(name)")
            exit(64)
        }
        unsafe target = type.init()
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv
        let code = unsafe LLVMFuzzerRunDriver(&count, &arguments) { data, size in
            let bytes = unsafe Bytes(UnsafeBufferPointer(start: data, count: size))
            unsafe Fuzzer.target?.run(bytes)
            return 0
        }
        exit(code)
    }
}
