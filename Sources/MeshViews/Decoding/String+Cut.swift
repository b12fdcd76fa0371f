extension String {
    /// At most so many Unicode scalars, since long texts from senders must not fill memory. A text of no more bytes is returned whole.
    func cut(toScalars most: Int) -> String {
        utf8.count <= most ? self : String(String.UnicodeScalarView(unicodeScalars.prefix(most)))
    }
}
