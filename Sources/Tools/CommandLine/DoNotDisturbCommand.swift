import ArgumentParser
import CallStore
import Localization

struct DoNotDisturbCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dnd",
    abstract: "Be left alone by all callers but favourites.",
    shouldDisplay: !HelpScreen.isShort
  )

  enum State: String, ExpressibleByArgument, CaseIterable {
    case on, off
  }

  @Argument(help: "on or off; without it, tell which.")
  var state: State?

  func run() throws {
    let store = try CallStore.ofUser()
    if let state { try store.setDoesNotDisturb(state == .on) }
    print(
      try store.doesNotDisturb()
        ? String(localized: "Do not disturb is on.") : String(localized: "Do not disturb is off.")
    )
  }
}
