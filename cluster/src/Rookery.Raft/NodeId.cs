namespace Rookery.Raft;

/// <summary>
/// A member's identity: random, given once, never used again for another store. Names and addresses are hints and do
/// not come in here.
/// </summary>
/// <param name="Value">Any number but zero.</param>
public readonly record struct NodeId(long Value) : IComparable<NodeId>
{
    /// <summary>Nobody: no leader is known, no vote was given.</summary>
    public static NodeId None => default;

    /// <summary>Whether this is <see cref="None"/>.</summary>
    public bool IsNone => Value == 0;

    /// <summary>Orders by <see cref="Value"/>, so that every node walks members in the same order.</summary>
    public static bool operator <(NodeId left, NodeId right) => left.Value < right.Value;

    /// <inheritdoc cref="op_LessThan"/>
    public static bool operator >(NodeId left, NodeId right) => left.Value > right.Value;

    /// <inheritdoc cref="op_LessThan"/>
    public static bool operator <=(NodeId left, NodeId right) => left.Value <= right.Value;

    /// <inheritdoc cref="op_LessThan"/>
    public static bool operator >=(NodeId left, NodeId right) => left.Value >= right.Value;

    /// <inheritdoc/>
    public int CompareTo(NodeId other) => Value.CompareTo(other.Value);

    /// <summary>The number in hexadecimal, as logs show it.</summary>
    public override string ToString() =>
        IsNone ? "nobody" : Value.ToString("x", System.Globalization.CultureInfo.InvariantCulture);
}
