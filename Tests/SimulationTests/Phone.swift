import ModelKeychain

/// A phone with one app, or variants of it that share a Keychain group.
final class Phone {
    private unowned let world: World
    let number: Int
    private(set) var keychain = ModelKeychain()
    /// Its clock's lead, in milliseconds.
    var clock: Int64 = 0
    private(set) var isOnline = true
    private(set) var isLocked = false
    private(set) var apps: [App] = []

    init(_ world: World, _ number: Int) throws {
        (self.world, self.number) = (world, number)
        apps = try world.providers.map { try App(world, self, $0) }
    }

    func online(_ isOnline: Bool) throws {
        self.isOnline = isOnline
        if isOnline { try world.apns.deliver(to: self) }
    }

    func restart() {
        keychain.restart()
        isLocked = true
        for app in apps { app.kill() }
    }

    func unlock() {
        keychain.unlock()
        isLocked = false
    }

    /// Becomes another phone, from this one's backup: the Keychain's items stay behind.
    func replace() throws {
        keychain = keychain.restored()
        isLocked = false
        for app in apps { try app.moved() }
    }
}
