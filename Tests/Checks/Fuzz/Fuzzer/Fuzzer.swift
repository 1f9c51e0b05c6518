import CFuzzer
import FuzzTargets
import Glibc
import Pushcrypt

/// Runs the target that `FUZZ_TARGET` names under libFuzzer, which has the command line for itself: to merge, it starts the program
/// again with separate words. Without a name the targets are listed; a name that there is not is exit 64.
@main
enum Fuzzer {
    /// The target of the callback, which can capture nothing.
    private nonisolated(unsafe) static var target: (any FuzzTarget)?

    static func main() {
        let name = unsafe getenv("FUZZ_TARGET").map { unsafe String(cString: $0) }
        guard let name else {
            for target in FuzzTargets.all { print(target.name) }
            return
        }
        guard let type = FuzzTargets.all.first(where: { $0.name == name }) else {
            print("error: FUZZ_TARGET names no target: \(name)")
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
