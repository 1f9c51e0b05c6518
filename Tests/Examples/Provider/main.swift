import Foundation
import Pushcrypt

let secret = ContiguousArray(try Data(contentsOf: URL(fileURLWithPath: "provider.key")))
let phone = try String(contentsOfFile: "phone.pub", encoding: .utf8)
let sealer = Sealer(provider: try ProviderKey(text: secret.span), topic: try Topic("com.example.app"))
let payload = #"{"aps":{"alert":{"title":"Table for two","body":"See you at 8"}},"chat":"c41"}"#
let now = Timestamp(secondsSince1970: Date().timeIntervalSince1970)
let sealed = try sealer.seal(Sealer.Message(payload.utf8), to: DevicePublicKey(text: phone), at: now)
print(String(decoding: sealed.json, as: UTF8.self))
