namespace Rookery.Raft;

/// <summary>
/// A member's identity in consensus: a random number, assigned once and never reused for another store.
/// </summary>
/// <param name="Value">Any number except 0.</param>
public readonly record struct NodeId(long Value) : IComparable<NodeId>
{
    /// <summary>No member: no known leader, no vote.</summary>
    public static NodeId None => default;

    /// <summary>Whether this is <see cref="None"/>.</summary>
    public bool IsNone => Value == 0;

    /// <summary>Orders by <see cref="Value"/>, so that every node iterates members in the same order.</summary>
    public static bool operator <(NodeId left, NodeId right) => left.Value < right.Value;

    /// <inheritdoc cref="op_LessThan"/>
    public static bool operator >(NodeId left, NodeId right) => left.Value > right.Value;

    /// <inheritdoc cref="op_LessThan"/>
    public static bool operator <=(NodeId left, NodeId right) => left.Value <= right.Value;

    /// <inheritdoc cref="op_LessThan"/>
    public static bool operator >=(NodeId left, NodeId right) => left.Value >= right.Value;

    /// <inheritdoc/>
    public int CompareTo(NodeId other) => Value.CompareTo(other.Value);

    /// <summary>Returns the number in hexadecimal, as in logs.</summary>
    public override string ToString() =>
        IsNone ? "nobody" : Value.ToString("x", System.Globalization.CultureInfo.InvariantCulture);
}
