import Foundation

/// The environment of a program that a test starts: the variables that the test gives it, and what a program needs that was built to
/// be watched.
func programEnvironment(_ variables: [String: String]) -> [String: String] {
    watching.merging(variables) { _, own in own }
}

private let watching: [String: String] = {
    let own = ProcessInfo.processInfo.environment
    // How a sanitizer is to behave.
    var variables = own.filter { ["ASAN_OPTIONS", "TSAN_OPTIONS"].contains($0.key) }
    variables["SWIFT_BACKTRACE"] = "enable=no"
    // Built to count what runs, the program writes its counts when it ends, and complains where it may not.
    variables["LLVM_PROFILE_FILE"] = "/dev/null"
    return variables
}()
