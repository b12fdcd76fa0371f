extension String {
    /// The first Unicode scalars, since long texts from senders must not fill memory. A text with no more bytes than `most` is returned whole.
    func cut(toScalars most: Int) -> String {
        utf8.count <= most ? self : String(String.UnicodeScalarView(unicodeScalars.prefix(most)))
    }
}
