/// The role of a node that a property names.
package enum NodeNaming: Sendable {
    /// The row belongs to the node: erasing the node removes it.
    case owner
    /// The row is removed only if mentions of the node are erased, too.
    case mention
}
