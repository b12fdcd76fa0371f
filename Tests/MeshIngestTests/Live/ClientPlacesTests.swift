import Testing

@testable import MeshIngest

/// Where clients of a shared radio continue.
struct ClientPlacesTests {
    @Test func `as many as have left take the earliest place of their address, so that nobody misses anything`() {
        var places = ClientPlaces()
        #expect(places.take("10.0.0.1") == nil)
        for place in [70, 10, 40] as [UInt64] { places.leave("10.0.0.1", at: place) }
        places.leave("10.0.0.2", at: 5)
        #expect((0..<4).map { _ in places.take("10.0.0.1") } == [10, 10, 10, nil])
        #expect(places.take("10.0.0.2") == 5 && places == ClientPlaces())
    }

    @Test func `where one client has come and gone twice alone, the other positions of its address are given up`() {
        var places = ClientPlaces()
        for place in [10, 40] as [UInt64] { places.leave("::1", at: place, wasAlone: false) }
        #expect(places.take("::1") == 10)
        places.leave("::1", at: 50, wasAlone: true)
        #expect(places.take("::1") == 10)
        places.leave("::1", at: 60, wasAlone: true)
        #expect(places.take("::1") == 60 && places.take("::1") == nil)
        // Another was there meanwhile: it may be away now.
        for place in [70, 80] as [UInt64] { places.leave("::1", at: place, wasAlone: false) }
        for (place, wasAlone) in [(90, true), (91, false), (92, true)] as [(UInt64, Bool)] {
            #expect(places.take("::1") != nil)
            places.leave("::1", at: place, wasAlone: wasAlone)
        }
        #expect(places.places["::1"]?.count == 2)
    }

    @Test func `a position is removed when as many clients have taken it as had left, even if others leave meanwhile`() {
        var places = ClientPlaces()
        for place in [10, 40] as [UInt64] { places.leave("::1", at: place) }
        #expect(places.take("::1") == 10)
        places.leave("::1", at: 50)
        #expect(places.take("::1") == 10)
        // The one that came twice is not known, so this place stays for the other.
        #expect(places.take("::1") == 50 && places.take("::1") == nil)
        places.leave("::1", at: 60)
        places.leave("::1", at: 80)
        #expect(places.take("::1") == 60)
        places.leave("::1", at: 30)
        #expect((0..<3).map { _ in places.take("::1") } == [30, 30, nil])
    }

    @Test func `if there are too many positions, the address that loses one is returned`() {
        var places = ClientPlaces()
        for number in 0..<UInt64(ClientPlaces.mostOfAddress) { #expect(places.leave("::1", at: number + 10) == nil) }
        #expect(places.leave("::1", at: 5) == "::1")
        for number in 2...UInt64(ClientPlaces.mostAddresses) { #expect(places.leave("\(number)", at: 100) == nil) }
        #expect(places.leave("new", at: 100) == "::1")
    }

    @Test func `they survive being stored, and what is no such bytes is no place`() {
        var places = ClientPlaces()
        places.leave("::1", at: .max)
        places.leave("127.0.0.1", at: 3)
        places.leave("127.0.0.1", at: 1 << 40)
        #expect(ClientPlaces(places.bytes) == places)
        #expect(ClientPlaces([]) == ClientPlaces())
        for count in 0..<places.bytes.count {
            let cut = ClientPlaces(Array(places.bytes.prefix(count)))
            #expect(cut.places.allSatisfy { places.places[$0.key]?.starts(with: $0.value) == true })
        }
        for seed in 0..<200 { _ = ClientPlaces((0..<64).map { UInt8(truncatingIfNeeded: ($0 + 1) &* (seed &* 37 + 11)) }) }
    }

    @Test func `they are few, whoever comes`() {
        var places = ClientPlaces()
        for number in 0..<1_000 as Range<UInt64> {
            places.leave("same", at: number)
            places.leave("\(number)", at: number)
        }
        #expect(places.places.count == ClientPlaces.mostAddresses && places.places["same"]?.count == ClientPlaces.mostOfAddress)
        #expect(places.places["same"]?.first == 1_000 - UInt64(ClientPlaces.mostOfAddress) && places.places["999"] == [999])
    }
}
