using Rookery.Indexing.Grouping;

namespace Rookery.Indexing.Automatic;

/// <summary>A key by which an automatic map/reduce index puts entries together.</summary>
/// <param name="Path">Names of members from the document's top.</param>
/// <param name="IsOfElement">Whether it is read from the elements of the index's array; otherwise from the document, an
/// array being one value.</param>
public sealed record AutoReduceKey(IReadOnlyList<string> Path, bool IsOfElement)
{
    /// <summary>The path as it is shown.</summary>
    public string Name => string.Join('.', Path);

    /// <inheritdoc/>
    public bool Equals(AutoReduceKey? other) =>
        other is not null && IsOfElement == other.IsOfElement && Path.SequenceEqual(other.Path, StringComparer.Ordinal);

    /// <inheritdoc/>
    public override int GetHashCode() =>
        Path.Aggregate(IsOfElement.GetHashCode(), static (hash, name) => HashCode.Combine(hash, name));
}

/// <summary>What an automatic map/reduce index computes of the entries of a group.</summary>
/// <param name="Kind">What it is.</param>
/// <param name="Path">Names of members from the document's top; none for a count.</param>
public sealed record AutoReduceAggregate(AggregateKind Kind, IReadOnlyList<string> Path)
{
    /// <summary>As queries write it: <c>sum(total)</c>.</summary>
    public string Name =>
        Kind switch
        {
            AggregateKind.Count => "count()",
            AggregateKind.Average => $"avg({string.Join('.', Path)})",
            _ => $"{Kind.ToString().ToLowerInvariant()}({string.Join('.', Path)})",
        };

    /// <inheritdoc/>
    public bool Equals(AutoReduceAggregate? other) =>
        other is not null && Kind == other.Kind && Path.SequenceEqual(other.Path, StringComparer.Ordinal);

    /// <inheritdoc/>
    public override int GetHashCode() => Path.Aggregate((int)Kind, static (hash, name) => HashCode.Combine(hash, name));
}
