/// An annotation's place in its batch; without the annotation where its bytes are malformed.
struct AnnotationEvent: Sendable {
    var index: Int
    var annotation: Annotation?
}
