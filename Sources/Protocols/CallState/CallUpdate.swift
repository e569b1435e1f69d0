/// An address by which people are called.
package struct CallHandle: Hashable, Sendable {
  /// What kind of address it is; numbers as Apple gives them.
  package enum Kind: Int, Sendable {
    /// Neither of the others.
    case generic = 1
    /// A telephone number.
    case phoneNumber = 2
    /// An e-mail address.
    case emailAddress = 3
  }

  /// What kind of address it is.
  package let kind: Kind
  /// The address, as the app gave it.
  package let value: String

  /// An address of the given kind.
  package init(kind: Kind, value: String) {
    self.kind = kind
    self.value = value
  }
}

/// A property that an update sets or leaves alone (R49).
package enum Setting<Value: Equatable & Sendable>: Equatable, Sendable {
  /// The update says nothing of it.
  case untouched
  /// The update sets it.
  case set(Value)

  /// The value, nil if untouched.
  package var value: Value? {
    if case .set(let value) = self { value } else { nil }
  }

  func apply(to property: inout Value) {
    if case .set(let value) = self { property = value }
  }
}

/// What an app tells of a call; what is untouched leaves the call as it is (R49).
package struct CallUpdate: Equatable, Sendable {
  /// Who calls or is called.
  package var remoteHandle: Setting<CallHandle?> = .untouched
  /// The name to show.
  package var callerName: Setting<String?> = .untouched
  /// Whether the call can be held.
  package var supportsHolding: Setting<Bool> = .untouched
  /// Whether it can join a group.
  package var supportsGrouping: Setting<Bool> = .untouched
  /// Whether it can leave a group.
  package var supportsUngrouping: Setting<Bool> = .untouched
  /// Whether it can carry tones.
  package var supportsDTMF: Setting<Bool> = .untouched
  /// Whether it has pictures.
  package var hasVideo: Setting<Bool> = .untouched

  /// An update that sets nothing.
  package init() {}
}

/// What is known of a call besides its state; capabilities never set count as supported (R50).
package struct CallDetails: Equatable, Sendable {
  /// Who calls or is called.
  package internal(set) var remoteHandle: CallHandle?
  /// The name that the app gave.
  package internal(set) var callerName: String?
  /// The label that the call directory has for the handle.
  package internal(set) var directoryLabel: String?
  /// The contact card behind the handle.
  package internal(set) var contactIdentifier: String?
  /// Whether the call can be held.
  package internal(set) var supportsHolding = true
  /// Whether it can join a group.
  package internal(set) var supportsGrouping = true
  /// Whether it can leave a group.
  package internal(set) var supportsUngrouping = true
  /// Whether it can carry tones.
  package internal(set) var supportsDTMF = true
  /// Whether it has pictures.
  package internal(set) var hasVideo = false

  /// What to show: the app's name for the caller, else the directory's label, else the handle
  /// (R51).
  package var displayName: String {
    callerName ?? directoryLabel ?? remoteHandle?.value ?? ""
  }

  mutating func apply(_ update: CallUpdate) {
    if let handle = update.remoteHandle.value, handle != remoteHandle { directoryLabel = nil }
    update.remoteHandle.apply(to: &remoteHandle)
    update.callerName.apply(to: &callerName)
    update.supportsHolding.apply(to: &supportsHolding)
    update.supportsGrouping.apply(to: &supportsGrouping)
    update.supportsUngrouping.apply(to: &supportsUngrouping)
    update.supportsDTMF.apply(to: &supportsDTMF)
    update.hasVideo.apply(to: &hasVideo)
  }
}
