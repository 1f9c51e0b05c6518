import Foundation

/// A terminal whose person is the test: `keyboard` is what the person types and sees, `person` what the program opens.
final class PseudoTerminal: Sendable {
    struct Unavailable: Error {}

    let keyboard: FileHandle
    let person: FileHandle
    let path: String

    init() throws {
        // posix_openpt and its friends are not in the Glibc module; these are the calls it makes.
        let unlock: UInt = 0x4004_5431
        let getNumber: UInt = 0x8004_5430
        let keyboardNumber = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var zero: CInt = 0
        var number: CInt = 0
        guard keyboardNumber >= 0, unsafe ioctl(keyboardNumber, unlock, &zero) == 0,
            unsafe ioctl(keyboardNumber, getNumber, &number) == 0
        else { throw Unavailable() }
        path = "/dev/pts/\(number)"
        let personNumber = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard personNumber >= 0 else { throw Unavailable() }
        keyboard = FileHandle(fileDescriptor: keyboardNumber, closeOnDealloc: true)
        person = FileHandle(fileDescriptor: personNumber, closeOnDealloc: true)
    }

    /// Whether typed characters are shown.
    var echoes: Bool {
        var settings = termios()
        _ = unsafe tcgetattr(person.fileDescriptor, &settings)
        return settings.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Waits until the terminal does, or does not, show what is typed.
    func wait(untilEchoes wanted: Bool) -> Bool {
        for _ in 0..<20_000 {
            if echoes == wanted { return true }
            usleep(5000)
        }
        return false
    }

    func type(_ text: String) {
        try? keyboard.write(contentsOf: Data(text.utf8))
    }

    /// The output seen, up to and including a word.
    func shown(until word: String) -> String {
        var seen = ""
        while !seen.contains(word) {
            var request = pollfd(fd: keyboard.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&request, 1, 100_000) == 1 else { break }
            var buffer = [UInt8](repeating: 0, count: 1024)
            let count = unsafe read(keyboard.fileDescriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            seen += String(decoding: buffer.prefix(count), as: UTF8.self)
        }
        return seen
    }
}
