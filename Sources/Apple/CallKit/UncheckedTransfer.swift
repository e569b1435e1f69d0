/// A wrapper that passes an object of Apple's classes to the one queue that uses it next.
// SAFETY: the call layer hands each object over with `async` and touches only what is behind a
// mutex or confined to the receiving queue. Apple's classes themselves are not Sendable.
package struct UncheckedTransfer<Value>: @unchecked Sendable {
  package let value: Value

  package init(value: Value) { self.value = value }
}
