import Foundation
import MediaCore
import RealTime
import Synchronization
import Testing

struct RingTests {
  @Test func elementsLeaveInTheirOrder() {
    var producer = RingProducer<Int>(capacity: 4)
    var consumer = producer.makeConsumer()
    // More than the ring holds, in all: its positions wrap around.
    for number in 0..<11 {
      let isTaken = producer.write(number)
      #expect(isTaken)
      let read = consumer.read()
      #expect(read == number)
    }
    let empty = consumer.read()
    #expect(empty == nil)
  }

  @Test func fullRingRefusesAndLosesNothing() {
    var producer = RingProducer<Int>(capacity: 4)
    var consumer = producer.makeConsumer()
    for number in 0..<4 {
      let isTaken = producer.write(number)
      #expect(isTaken)
    }
    let fifth = producer.write(4)
    #expect(!fifth)
    let oldest = consumer.read()
    #expect(oldest == 0)
    let again = producer.write(4)
    #expect(again)
    var rest: [Int] = []
    consumer.drain(into: &rest)
    #expect(rest == [1, 2, 3, 4])
  }

  @Test func blocksAreTakenAsFarAsThereIsRoom() {
    var producer = RingProducer<Int>(capacity: 8)
    var consumer = producer.makeConsumer()
    let block = FixedArray([1, 2, 3, 4, 5])
    let first = producer.write(block, count: 5)
    let second = producer.write(block, count: 5)
    let third = producer.write(repeating: 9, count: 1)
    #expect(first == 5 && second == 3 && third == 0)
    var read: [Int] = []
    consumer.drain(into: &read)
    #expect(read == [1, 2, 3, 4, 5, 1, 2, 3])
    // The next block lies across the end of the memory.
    let silence = producer.write(repeating: 0, count: 3)
    let fourth = producer.write(block, count: 5)
    #expect(silence == 3 && fourth == 5)
    read = []
    consumer.drain(into: &read)
    #expect(read == [0, 0, 0, 1, 2, 3, 4, 5])
    #expect(consumer.available == 0)
  }

  @Test func noneOrLessWritesNothing() {
    var producer = RingProducer<Int>(capacity: 2)
    let consumer = producer.makeConsumer()
    let none = producer.write(repeating: 1, count: 0)
    let less = producer.write(repeating: 1, count: -3)
    #expect(none == 0 && less == 0 && consumer.available == 0)
  }

  // SAFETY: the writing thread alone touches what is in it.
  private final class Moved: @unchecked Sendable {
    var producer: RingProducer<Int>

    init(_ producer: consuming RingProducer<Int>) { self.producer = producer }
  }

  @Test func twoThreadsLoseNothing() throws {
    var producer = RingProducer<Int>(capacity: 64)
    var consumer = producer.makeConsumer()
    let moved = Moved(producer)
    let total = 200_000
    let writer = try RealTimeThread(name: "writer", policy: .ordinary) {
      var block = FixedArray<Int>(repeating: 0, count: 48)
      var next = 0
      while next < total {
        let count = min(48, total - next)
        for offset in 0..<count { block[offset] = next + offset }
        // Alternately whole blocks and single elements.
        if next % 5 == 0 {
          if moved.producer.write(next) { next += 1 }
        } else {
          next += moved.producer.write(block, count: count)
        }
      }
    }
    var expected = 0
    var block: [Int] = []
    while expected < total {
      block.removeAll(keepingCapacity: true)
      if let single = consumer.read() { block.append(single) }
      consumer.drain(into: &block)
      for number in block {
        guard number == expected else {
          Issue.record("\(number) instead of \(expected)")
          expected = total
          break
        }
        expected += 1
      }
    }
    writer.join()
  }
}
