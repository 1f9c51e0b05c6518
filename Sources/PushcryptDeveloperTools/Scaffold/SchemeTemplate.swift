extension IOSScaffold {
    /// The scheme that builds, tests, runs and archives the app; without one, `xcodebuild -scheme` depends on Xcode.
    var scheme: ScaffoldFile {
        let tests = Self.reference(to: "NotificationTests", product: "NotificationTests.xctest")
        let app = Self.reference(to: "App", product: "App.app")
        return ScaffoldFile(
            path: "\(Self.projectName).xcodeproj/xcshareddata/xcschemes/App.xcscheme",
            text: #"""
                <?xml version="1.0" encoding="UTF-8"?>
                <Scheme LastUpgradeVersion="2600" version="1.7">
                   <BuildAction parallelizeBuildables="YES" buildImplicitDependencies="YES">
                      <BuildActionEntries>
                         <BuildActionEntry buildForTesting="YES" buildForRunning="YES" buildForProfiling="YES" buildForArchiving="YES" buildForAnalyzing="YES">
                            \#(app)
                         </BuildActionEntry>
                      </BuildActionEntries>
                   </BuildAction>
                   <TestAction buildConfiguration="Debug" selectedDebuggerIdentifier="Xcode.DebuggerFoundation.Debugger.LLDB" selectedLauncherIdentifier="Xcode.DebuggerFoundation.Launcher.LLDB" shouldUseLaunchSchemeArgsEnv="YES">
                      <Testables>
                         <TestableReference skipped="NO">
                            \#(tests)
                         </TestableReference>
                      </Testables>
                   </TestAction>
                   <LaunchAction buildConfiguration="Debug" selectedDebuggerIdentifier="Xcode.DebuggerFoundation.Debugger.LLDB" selectedLauncherIdentifier="Xcode.DebuggerFoundation.Launcher.LLDB" launchStyle="0" useCustomWorkingDirectory="NO" ignoresPersistentStateOnLaunch="NO" debugDocumentVersioning="YES" debugServiceExtension="internal" allowLocationSimulation="YES">
                      <BuildableProductRunnable runnableDebuggingMode="0">
                         \#(app)
                      </BuildableProductRunnable>
                   </LaunchAction>
                   <ProfileAction buildConfiguration="Release" shouldUseLaunchSchemeArgsEnv="YES" savedToolIdentifier="" useCustomWorkingDirectory="NO" debugDocumentVersioning="YES">
                      <BuildableProductRunnable runnableDebuggingMode="0">
                         \#(app)
                      </BuildableProductRunnable>
                   </ProfileAction>
                   <AnalyzeAction buildConfiguration="Debug">
                   </AnalyzeAction>
                   <ArchiveAction buildConfiguration="Release" revealArchiveInOrganizer="YES">
                   </ArchiveAction>
                </Scheme>

                """#)
    }

    private static func reference(to target: String, product: String) -> String {
        let identifier = XcodeProject.identifier("\(target) target")
        return
            #"<BuildableReference BuildableIdentifier="primary" BlueprintIdentifier="\#(identifier)" BuildableName="\#(product)" BlueprintName="\#(target)" ReferencedContainer="container:\#(projectName).xcodeproj"></BuildableReference>"#
    }
}
