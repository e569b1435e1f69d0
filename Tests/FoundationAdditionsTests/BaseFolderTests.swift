import Foundation
import FoundationAdditions
import Testing

struct BaseFolderTests {
  @Test(arguments: [
    (BaseFolder.data, "XDG_DATA_HOME", "/.local/share"),
    (.config, "XDG_CONFIG_HOME", "/.config"), (.state, "XDG_STATE_HOME", "/.local/state"),
  ])
  func theEnvironmentNamesItOrItIsInTheHome(folder: BaseFolder, variable: String, usual: String) {
    let home = FileManager.default.homeDirectoryForCurrentUser.path
    #expect(folder.url(in: [variable: "/there"]).path == "/there")
    // The specification has such ignored.
    for path in ["", "relative"] {
      #expect(folder.url(in: [variable: path]).path == home + usual)
    }
    #expect(folder.url(in: [:]).path == home + usual)
  }

  @Test func theRuntimeFolderIsInTheEnvironmentAlone() {
    #expect(BaseFolder.runtime(in: ["XDG_RUNTIME_DIR": "/there"])?.path == "/there")
    for path in ["", "relative"] {
      #expect(BaseFolder.runtime(in: ["XDG_RUNTIME_DIR": path]) == nil)
    }
    #expect(BaseFolder.runtime(in: [:]) == nil)
  }
}
