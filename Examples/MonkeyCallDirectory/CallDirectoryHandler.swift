import CallKit

/// Call directory of MonkeyCall: the numbers that it blocks, and the labels that it gives to
/// callers.
class CallDirectoryHandler: CXCallDirectoryProvider {
  override func beginRequest(with context: CXCallDirectoryExtensionContext) {
    context.delegate = self

    if context.isIncremental {
      addOrRemoveIncrementalEntries(to: context)
    } else {
      addAllBlockingPhoneNumbers(to: context)
      addAllIdentificationPhoneNumbers(to: context)
    }
    context.completeRequest()
  }

  // Numbers ascend; there may be far more of them than fit into memory.
  private func addAllBlockingPhoneNumbers(to context: CXCallDirectoryExtensionContext) {
    let numbers: [CXCallDirectoryPhoneNumber] = [1_408_555_5555, 1_800_555_5555]
    for number in numbers {
      context.addBlockingEntry(withNextSequentialPhoneNumber: number)
    }
  }

  private func addAllIdentificationPhoneNumbers(to context: CXCallDirectoryExtensionContext) {
    let numbers: [CXCallDirectoryPhoneNumber] = [1_877_555_5555, 1_888_555_5555]
    let labels = ["Telemarketer", "Local business"]
    for (number, label) in zip(numbers, labels) {
      context.addIdentificationEntry(withNextSequentialPhoneNumber: number, label: label)
    }
  }

  private func addOrRemoveIncrementalEntries(to context: CXCallDirectoryExtensionContext) {
    context.removeIdentificationEntry(withPhoneNumber: 1_888_555_5555)
    context.addIdentificationEntry(
      withNextSequentialPhoneNumber: 1_888_555_5555,
      label: "Local business"
    )
  }
}

extension CallDirectoryHandler: CXCallDirectoryExtensionContextDelegate {
  func requestFailed(
    for extensionContext: CXCallDirectoryExtensionContext,
    withError error: any Error
  ) {
    print("the call directory was not loaded: \(error)")
  }
}
