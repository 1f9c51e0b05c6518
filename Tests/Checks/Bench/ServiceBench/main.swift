import BareCalls
import Dispatch
import Foundation
import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import PushcryptService
import UserNotifications

// Started by bench.py with an empty directory: measures deliveries as an extension makes them, from the call of the system to
// that of the content handler, replay guard and journal included, beside the libsodium calls that opening is made of. Prints the
// median of both in microseconds. What the system itself does is not in it: on Linux, stand-ins take Apple's place.

let deliveries = 2000
let time = Timestamp(milliseconds: 1_790_000_000_000)
let seed = [UInt8](0..<32)
let scalar = [UInt8](32..<64)
let topic = try Topic("com.example.app")
let directory = URL(fileURLWithPath: CommandLine.arguments[1], isDirectory: true)
/// A chat message of 200 bytes, as in the library's rows.
let payload =
    #"{"aps":{"alert":{"title":"Table for two","body":"See you at 8 on the terrace, they keep the table for us until a quarter past"},"sound":"default","thread-id":"chat-c41"},"chat":"c41","message":"7182"}"#

let provider = try ProviderKey(seed: ContiguousArray(seed).span)
let key = try DeviceKey(scalar: ContiguousArray(scalar).span)
let device = key.publicKey
var state = DeviceState()
try state.add(key, topic: topic, at: time)
try state.pin(ProviderPin(provider.publicKey))
let store = MemoryDeviceStore(state)
var configuration = NotificationServiceHandler.Configuration(topic: topic, directory: directory) { store }
configuration.now = { time }
let service = NotificationServiceHandler(configuration: configuration)
let sealer = Sealer(provider: provider, topic: topic)
var keys = bare_keys()
guard unsafe bare_make_keys(&keys, 1, seed, scalar, topic.bundleID) == 0 else {
    fatalError("the bare calls take no key")
}
var plain = [UInt8](repeating: 0, count: BARE_MAXIMUM_PAYLOAD)

var measured: [UInt64] = []
var bare: [UInt64] = []
for number in 0..<deliveries + 100 {
    let text = try sealer.seal(Sealer.Message(payload.utf8), to: device, at: time).envelope.text
    let content = UNMutableNotificationContent()
    content.title = "New message"
    content.userInfo = ["ENCRYPTED_DATA": text]
    let request = UNNotificationRequest(identifier: "\(number)", content: content, trigger: nil)
    let delivered = DispatchSemaphore(value: 0)
    var title = ""
    let start = DispatchTime.now().uptimeNanoseconds
    service.handle(request) { content in
        title = content.title
        delivered.signal()
    }
    delivered.wait()
    let end = DispatchTime.now().uptimeNanoseconds
    guard title == "Table for two" else { fatalError("the push did not open") }
    let characters = text.utf8.map { CChar(bitPattern: $0) }
    let bareStart = DispatchTime.now().uptimeNanoseconds
    guard unsafe bare_open(&keys, characters, characters.count, &plain) == payload.utf8.count else {
        fatalError("the bare calls did not open")
    }
    let bareEnd = DispatchTime.now().uptimeNanoseconds
    // The first ones fill the caches.
    guard number >= 100 else { continue }
    measured.append(end - start)
    bare.append(bareEnd - bareStart)
}
print(measured.sorted()[deliveries / 2] / 1000, bare.sorted()[deliveries / 2] / 1000)
