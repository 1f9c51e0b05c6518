import CSodium
import Glibc

// Looks for secrets on the stack after calls of the library: see ../run.sh. Linked as the command is.
do {
    guard sodium_init() >= 0 else { throw Failure("libsodium does not start") }
    let stack = try OwnStack(depth: 256 << 10)
    try stack.checkItself()
    let cases = try Case.all()
    var faults: [String] = []
    for one in cases {
        // The first call has the linker look for functions; the second is as all others.
        for time in ["first", "second"] {
            let left = try stack.left(by: one.call)
            for secret in one.secrets where secret.stands(in: left) {
                faults.append("after \(one.name) for the \(time) time the stack holds \(secret.name)")
            }
        }
    }
    guard faults.isEmpty else { throw Failure(faults.joined(separator: "\n")) }
    print("stack: \(cases.count) calls leave none of \(cases.map(\.secrets.count).reduce(0, +)) secrets on it")
} catch {
    print("stack: error: \(error)")
    exit(1)
}
