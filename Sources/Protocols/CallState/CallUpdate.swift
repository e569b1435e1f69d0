/// Address of a person to call.
package struct CallHandle: Hashable, Sendable {
  /// Kind of an address, with Apple's numbers.
  package enum Kind: Int, Sendable {
    /// Any other kind.
    case generic = 1
    /// A telephone number.
    case phoneNumber = 2
    /// An e-mail address.
    case emailAddress = 3
  }

  /// Kind of the address.
  package let kind: Kind
  /// Address, as the app gave it.
  package let value: String

  /// Creates an address of the given kind.
  package init(kind: Kind, value: String) {
    self.kind = kind
    self.value = value
  }
}

/// A change of a property by an update, which sets it or leaves it as it is (R49).
package enum Setting<Value: Equatable & Sendable>: Equatable, Sendable {
  /// The update leaves the property as it is.
  case untouched
  /// The update sets the property.
  case set(Value)

  /// The new value; nil if untouched.
  package var value: Value? {
    if case .set(let value) = self { value } else { nil }
  }

  func apply(to property: inout Value) {
    if case .set(let value) = self { property = value }
  }
}

/// Changes of a call that an app reports; untouched properties stay as they are (R49).
package struct CallUpdate: Equatable, Sendable {
  /// Address of the remote party.
  package var remoteHandle: Setting<CallHandle?> = .untouched
  /// Name to show for the remote party.
  package var callerName: Setting<String?> = .untouched
  /// True if the call can be held.
  package var supportsHolding: Setting<Bool> = .untouched
  /// True if the call can join a group.
  package var supportsGrouping: Setting<Bool> = .untouched
  /// True if the call can leave a group.
  package var supportsUngrouping: Setting<Bool> = .untouched
  /// True if the call can send DTMF digits.
  package var supportsDTMF: Setting<Bool> = .untouched
  /// True if the call has video.
  package var hasVideo: Setting<Bool> = .untouched

  /// Creates an update that sets nothing.
  package init() {}
}

/// Remote party and capabilities of a call; capabilities never set count as supported (R50).
package struct CallDetails: Equatable, Sendable {
  /// Address of the remote party.
  package internal(set) var remoteHandle: CallHandle?
  /// Name that the app gave to the remote party.
  package internal(set) var callerName: String?
  /// Label of the handle in the call directory.
  package internal(set) var directoryLabel: String?
  /// Identifier of the contact card behind the handle.
  package internal(set) var contactIdentifier: String?
  /// True if the call can be held.
  package internal(set) var supportsHolding = true
  /// True if the call can join a group.
  package internal(set) var supportsGrouping = true
  /// True if the call can leave a group.
  package internal(set) var supportsUngrouping = true
  /// True if the call can send DTMF digits.
  package internal(set) var supportsDTMF = true
  /// True if the call has video.
  package internal(set) var hasVideo = false

  /// Name to show: the one that the app gave, else the directory's label, else the handle (R51).
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
