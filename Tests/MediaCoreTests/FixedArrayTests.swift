import MediaCore
import Testing

struct FixedArrayTests {
  private static func elements<Element>(of array: borrowing FixedArray<Element>) -> [Element] {
    var elements: [Element] = []
    for index in 0..<array.count { elements.append(array[index]) }
    return elements
  }

  @Test func partsAreFilledAndCopied() {
    var array = FixedArray([1, 2, 3, 4, 5])
    array.fill(0, from: 1, count: 2)
    #expect(Self.elements(of: array) == [1, 0, 0, 4, 5])
    array.copy(from: FixedArray([7, 8, 9]), at: 1, to: 3, count: 2)
    #expect(Self.elements(of: array) == [1, 0, 0, 8, 9])
  }

  @Test(arguments: [(0, 2, [1, 2, 1, 2, 3]), (2, 0, [3, 4, 5, 4, 5]), (1, 1, [1, 2, 3, 4, 5])])
  func overlappingPartsAreMovedWhole(source: Int, destination: Int, result: [Int]) {
    var array = FixedArray([1, 2, 3, 4, 5])
    array.move(from: source, to: destination, count: 3)
    #expect(Self.elements(of: array) == result)
  }

  @Test func peakIsTheLargestMagnitudeWhereverItIs() {
    // Longer than a vector of eight, and no multiple of it.
    for place in 0..<19 {
      var array = SampleBuffer(repeating: 0.25, count: 20)
      array[place] = -0.5
      array[19] = 1
      #expect(array.peak(count: 19) == 0.5)
    }
    #expect(SampleBuffer(repeating: 1, count: 1).peak(count: 0) == 0)
  }

  @Test func samplesAreAdded() {
    var array = SampleBuffer([1, 2, 3])
    array.add(SampleBuffer([0.5, 0.5, 0.5]), count: 2)
    #expect(Self.elements(of: array) == [1.5, 2.5, 3])
  }
}
