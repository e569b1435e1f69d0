import CallKit

extension Handle.Kind {
  private static let callKitTypes: [(Self, CXHandle.HandleType)] = [
    (.generic, .generic), (.phoneNumber, .phoneNumber), (.emailAddress, .emailAddress),
  ]

  /// CallKit's equivalent of the kind.
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
  /// Creates CallKit's equivalent of an update.
  ///
  /// `remoteHandle` is the handle of the first member in the order of names, this side excluded if
  /// there is any other member; the caller's name lists all of them.
  convenience init(_ update: Conversation.Update) {
    self.init()
    let all = (update.members ?? []).union(update.activeRemoteMembers ?? [])
    let others = all.subtracting(update.localMember.map { [$0] } ?? [])
    let members = (others.isEmpty ? all : others)
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
  /// Returns this framework's equivalent of a CallKit action; nil if it has none.
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
