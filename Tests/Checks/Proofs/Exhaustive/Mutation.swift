/// A way to change one thing of an envelope, and every place and value that it can be done with.
enum Mutation: String, CaseIterable {
    case flippedBit = "flipped-bit"
    case cutByteEnd = "cut-byte-end"
    case cutByteFront = "cut-byte-front"
    case removedByte = "removed-byte"
    case insertedByte = "inserted-byte"
    case cutTextEnd = "cut-text-end"
    case cutTextFront = "cut-text-front"
    case removedCharacter = "removed-character"
    case insertedCharacter = "inserted-character"
    case replacedCharacter = "replaced-character"

    /// An envelope as bytes and as text.
    struct Genuine {
        let bytes: [UInt8]
        let text: [UInt8]

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            text = Base64.encode(bytes)
        }
    }

    /// How many ways there are; characters may be any of the 256 bytes.
    func count(_ genuine: Genuine) -> Int {
        switch self {
        case .flippedBit: genuine.bytes.count * 8
        case .cutByteEnd, .cutByteFront, .removedByte: genuine.bytes.count
        case .insertedByte: (genuine.bytes.count + 1) * 256
        case .cutTextEnd, .cutTextFront, .removedCharacter: genuine.text.count
        case .insertedCharacter: (genuine.text.count + 1) * 256
        case .replacedCharacter: genuine.text.count * 256
        }
    }

    /// The text of the changed envelope; `number` is below `count`. One replaced character of 256 is the same again.
    func text(of genuine: Genuine, _ number: Int) -> [UInt8] {
        let (place, value) = (number / 256, UInt8(truncatingIfNeeded: number))
        switch self {
        case .flippedBit:
            var bytes = genuine.bytes
            bytes[number / 8] ^= 1 << UInt8(number % 8)
            return Base64.encode(bytes)
        case .cutByteEnd: return Base64.encode(Array(genuine.bytes[..<number]))
        case .cutByteFront: return Base64.encode(Array(genuine.bytes[(number + 1)...]))
        case .removedByte: return Base64.encode(genuine.bytes.removing(number))
        case .insertedByte: return Base64.encode(genuine.bytes.inserting(value, at: place))
        case .cutTextEnd: return Array(genuine.text[..<number])
        case .cutTextFront: return Array(genuine.text[(number + 1)...])
        case .removedCharacter: return genuine.text.removing(number)
        case .insertedCharacter: return genuine.text.inserting(value, at: place)
        case .replacedCharacter:
            var text = genuine.text
            text[place] = value
            return text
        }
    }
}

extension [UInt8] {
    fileprivate func removing(_ index: Int) -> [UInt8] {
        var bytes = self
        bytes.remove(at: index)
        return bytes
    }

    fileprivate func inserting(_ byte: UInt8, at index: Int) -> [UInt8] {
        var bytes = self
        bytes.insert(byte, at: index)
        return bytes
    }
}
