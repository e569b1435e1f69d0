import CallKit

extension Handle.Kind {
  private static let callKitTypes: [(Self, CXHandle.HandleType)] = [
    (.generic, .generic), (.phoneNumber, .phoneNumber), (.emailAddress, .emailAddress),
  ]

  /// The same as CallKit has it.
  var callKitType: CXHandle.HandleType {
    Self.callKitTypes.first { $0.0 == self }?.1 ?? .generic
  }

  init(_ type: CXHandle.HandleType) {
    self = Self.callKitTypes.first { $0.1 == type }?.0 ?? .generic
  }
}

extension CXHandle {
  convenience init(_ handle: Handle) {
    self.init(type: handle.type.callKitType, value: handle.value)
  }
}

extension Handle {
  init(_ handle: CXHandle) {
    self.init(type: Kind(handle.type), value: handle.value)
  }
}

extension CXCallUpdate {
  /// What an update says about a call: of several members the first by name is the one whose handle
  /// the call has, and all are named.
  convenience init(_ update: Conversation.Update) {
    self.init()
    let members = (update.members ?? []).subtracting(update.localMember.map { [$0] } ?? [])
      .sorted { ($0.displayName, $0.value) < ($1.displayName, $1.value) }
    if let first = members.first {
      remoteHandle = CXHandle(first)
      localizedCallerName = members.map(\.displayName).joined(separator: ", ")
    }
    guard let capabilities = update.capabilities else { return }
    supportsHolding = capabilities.contains(.pausing)
    supportsGrouping = capabilities.contains(.merging)
    supportsUngrouping = capabilities.contains(.unmerging)
    supportsDTMF = capabilities.contains(.playingTones)
    hasVideo = capabilities.contains(.video)
  }
}

extension CXCallEndedReason {
  init(_ reason: Conversation.EndedReason) {
    self =
      switch reason {
      case .failed: .failed
      case .remoteEnded: .remoteEnded
      case .unanswered: .unanswered
      case .joinedElsewhere: .answeredElsewhere
      case .declinedElsewhere: .declinedElsewhere
      }
  }
}

extension CXProviderConfiguration {
  convenience init(_ configuration: ConversationManager.Configuration) {
    self.init(localizedName: ProcessInfo.processInfo.processName)
    ringtoneSound = configuration.ringtoneName
    iconTemplateImageData = configuration.iconTemplateImageData
    maximumCallGroups = configuration.maximumConversationGroups
    maximumCallsPerCallGroup = configuration.maximumConversationsPerConversationGroup
    includesCallsInRecents = configuration.includesConversationInRecents
    supportsVideo = configuration.supportsVideo
    supportedHandleTypes = Set(configuration.supportedHandleTypes.map(\.callKitType))
  }
}

extension ConversationAction {
  /// What the system asks for, as an action of this framework; nil for what it has none for.
  static func matching(_ action: CXCallAction) -> ConversationAction? {
    switch action {
    case let action as CXStartCallAction: StartConversationAction(action)
    case let action as CXAnswerCallAction: JoinConversationAction(action)
    case let action as CXEndCallAction: EndConversationAction(action)
    case let action as CXSetHeldCallAction: PauseConversationAction(action)
    case let action as CXSetMutedCallAction: MuteConversationAction(action)
    case let action as CXSetGroupCallAction:
      MergeConversationAction(action) ?? UnmergeConversationAction(action)
    case let action as CXPlayDTMFCallAction: PlayToneAction(action)
    default: nil
    }
  }
}
