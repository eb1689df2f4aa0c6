namespace Rookery.Indexing.Grouping;

/// <summary>What is computed of the entries of a group.</summary>
public enum AggregateKind
{
    /// <summary><c>count()</c>.</summary>
    Count,

    /// <summary><c>sum(path)</c>.</summary>
    Sum,

    /// <summary><c>min(path)</c>.</summary>
    Min,

    /// <summary><c>max(path)</c>.</summary>
    Max,

    /// <summary><c>avg(path)</c>.</summary>
    Average,
}
