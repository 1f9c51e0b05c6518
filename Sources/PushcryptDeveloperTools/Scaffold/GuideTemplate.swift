internal import PushcryptCommandKit

extension IOSScaffold {
    /// The guide for the developer.
    var guide: ScaffoldFile {
        var text = #"""
            # Encrypted notifications of \#(topic)

            Written by `pushcrypt scaffold ios`. Change only the places marked `EDIT`:

                grep -rn EDIT App\#(hasContentExtension ? " NotificationContent" : "")

            | | |
            |---|---|
            | `NotificationService/` | the service extension, which opens each push before it is shown |

            """#
        if hasContentExtension {
            text += #"""
                | `NotificationContent/` | the content extension: the view of an expanded notification of the categories \#(categories.joined(separator: ", ")) |

                """#
        }
        text += #"""
            | `App/PushDelegate.swift` | the launch: permission, push token, registration; **to be filled in** if the app has a log-in |
            | `App/PushRegistration.swift` | creates this phone's key, and registers it with the provider |
            | `App/ProviderChannel.swift` | **to be filled in**: the connection to the app's server |
            | `App/NotificationResponses.swift` | **to be filled in**: the effect of a tap |

            """#
        if !categories.isEmpty {
            text += """
                | `App/NotificationCategories.swift` | the categories that the app declares |

                """
        }
        text += #"""
            | `App/*.lproj/Localizable.strings` | the texts for a push that did not open, in \#(StringTable.all.count) languages; the keys are the English words |
            | `App/DeliveryJournal.swift` | the outcomes of the last deliveries, for support: `pushcrypt explain` reads it |
            | `Tests/` | from the first launch to the first message, on a simulated phone |

            ## Without a phone

            On Linux, in this folder, with Swift 6.2 or later:

                swift test

            compiles these sources against stand-ins for Apple's modules, registers a phone with a provider, and sends it
            pushes. `Package.swift` looks for pushcrypt in `\#(package)`.

            ## In Xcode

            Xcode 26 or later, for Swift 6.2. Each target takes its own `PrivacyInfo.xcprivacy` as a resource. Below iOS 26 the app
            needs `libswiftCompatibilitySpan.dylib` in its `Frameworks`. Xcode copies it if the app target contains Swift; otherwise
            set `ALWAYS_EMBED_SWIFT_STANDARD_LIBRARIES`.

            1. Add the package pushcrypt to the project. The app and the service extension of step 3 need its products `Pushcrypt`,
               `PushcryptKeyStore`, `PushcryptReceiver` and `PushcryptService`.
            2. App target: add the Swift files of `App/`. Signing & Capabilities: Push Notifications; App Groups with
               `\#(appGroup)`; Keychain Sharing with `\#(keychainGroup)`. The result must equal `App/App.entitlements`. Copy
               `PushcryptKeychainGroup` from `App/Info.plist` into the app's own Info.plist, or set the build setting `INFOPLIST_FILE` to that
               file. In the app: `@UIApplicationDelegateAdaptor(PushDelegate.self) private var push`. Add the
               `.lproj` folders of `App/`, or the two lines of each to the app's own `Localizable.strings`: the system finds
               the extension's texts in the app.
            3. File > New > Target > Notification Service Extension, called `NotificationService`, embedded in the app. Replace
               the files that Xcode created by those of `NotificationService/`, and set `CODE_SIGN_ENTITLEMENTS` to the
               entitlements.

            """#
        if hasContentExtension {
            text += """
                4. The same with Notification Content Extension, called `NotificationContent`. Remove its storyboard. It needs the
                   products `PushcryptReceiver` and `PushcryptService`, and also the `Localizable.strings`.

                """
        }
        text += #"""
            \#(hasContentExtension ? 5 : 4). Minimum Deployments: iOS 15.0 or later, the same for all targets. One team for all of them.
            \#(hasContentExtension ? 6 : 5). `pushcrypt lint --ios FOLDER` checks the whole project.

            ## On the server

            The app sends a registration record. The server stores it, seals with it, and answers:

                pushcrypt device add ID record.json --reply

            \#(trustParagraph)

            ## What was tested

            These sources were compiled and run on Linux, with the stand-ins, as Swift 6. They also compile as Swift 5, and with the
            main actor as the default isolation. They were not run on an Apple system: Keychain, app groups, signing and the
            system's start of the extension are first tested on your device.
            `pushcrypt device test ID` creates a first push.

            """#
        return ScaffoldFile(path: "README.md", text: text)
    }

    private var trustParagraph: String {
        if sender != nil {
            """
            The provider's key is built into the app, in `PushRegistration.swift`. When the provider rotates it, phones learn the new
            key from its messages; new installations need a new version of the app.
            """
        } else {
            """
            The phone trusts the provider's key in the first reply, and from then on no other. To build it into the app instead:
            `pushcrypt scaffold ios --sender-key "$(pushcrypt export sender)"`.
            """
        }
    }
}
