extension String {
    /// At most so many Unicode scalars: whoever writes long texts must not fill memory. A text of no more bytes is whole.
    func cut(toScalars most: Int) -> String {
        utf8.count <= most ? self : String(String.UnicodeScalarView(unicodeScalars.prefix(most)))
    }
}
