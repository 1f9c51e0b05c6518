internal import Pushcrypt
internal import PushcryptCommandKit

extension Command {
    static let attach = Command(
        group: "attach", "seal a file that a notification brings, and open one",
        discussion: [
            "A file is sealed once under a key of its own and stored where the phone fetches it. The notification carries a reference to it, which has the key, so only who can open the notification can open the file."
        ],
        examples: [
            Example("pushcrypt attach seal photo.jpg -o photo.sealed --reference photo.json"),
            Example(
                "pushcrypt seal --to phone1 --attachment photo.json --attachment-url https://files.example.com/7f3a payload.json",
                "after photo.sealed was stored there"),
            Example("pushcrypt attach open --reference photo.json photo.sealed -o photo.jpg"),
        ],
        commands: [attachSeal, attachOpen])

    private static let attachSeal = Command(
        "seal", "seal a file, and write the reference to it",
        discussion: [
            "Writes the sealed file, and to standard output its reference: a JSON object with the key, the size and the hash of the sealed file, and the type and the name of the plain one. Give it to 'pushcrypt seal --attachment'. It is a secret, so --reference writes it to a file that only its owner reads.",
            "The file is read twice, so it cannot come from a pipe. Any size takes the same small memory.",
            "A sealed file may lie anywhere: who stores or fetches it learns its size, and whatever its url says.",
        ],
        operands: [Operand("FILE", .input, help: "the file to seal; - for standard input that is a file")],
        options: [
            Option(
                "--output", short: "-o", "SEALED", .file, isRequired: true,
                help: "the sealed file, to be stored; - for standard output, with --reference"),
            Option(
                "--reference", "REF", .file, help: "write the reference to this file, which only its owner reads"),
            Option(
                "--url", "URL",
                help: "where the sealed file will be fetched from; it can be given to 'pushcrypt seal' later"),
            Option(
                "--type", "TYPE",
                help:
                    "a uniform type identifier such as public.jpeg; otherwise from the name, if it is one of a picture, a sound or a film that notifications show"
            ),
            Option("--name", "NAME", help: "what the phone calls the file; otherwise FILE without its folders"),
            Option(
                "--from", "NAME", .name(.senderKey),
                help: "the sender key in the store that hedges the file's key; otherwise the default one"),
            Option(
                "--sender-key-file", "KEY", .secret,
                help: "hedge with this key and use no store: a file, fd:N, or - for standard input"),
            .store, .passphraseFile, .force,
        ],
        examples: [
            Example("pushcrypt attach seal photo.jpg -o photo.sealed > photo.json"),
            Example(
                "pushcrypt attach seal film.mov --type com.apple.quicktime-movie -o - --reference film.json | upload",
                "without a copy on the disk"),
        ], run: runAttachSeal)

    private static let attachOpen = Command(
        "open", "open a sealed file with its reference",
        discussion: [
            "Does what a phone does with a sealed file: the plain one appears only when the size, every part, the end and the hash agree. Otherwise the command ends with exit 65 and the reason, and there is no file.",
            "The reference is what 'pushcrypt attach seal' wrote, with or without a url. Nothing is fetched, and the name in the reference is not used.",
        ],
        operands: [Operand("SEALED", .input, .optional, help: "the sealed file; standard input otherwise")],
        options: [
            Option(
                "--reference", "REF", .secret, isRequired: true,
                help: "what opens it: a file, fd:N, or - for standard input"),
            Option(
                "--output", short: "-o", "FILE", .file, isRequired: true,
                help: "the plain file, which appears only after success"),
            .force,
        ],
        examples: [
            Example("pushcrypt attach open --reference photo.json photo.sealed -o photo.jpg"),
            Example(
                "curl --proto =https https://files.example.com/7f3a | pushcrypt attach open --reference photo.json -o photo.jpg"
            ),
        ], run: runAttachOpen)
}
