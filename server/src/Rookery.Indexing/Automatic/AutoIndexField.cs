namespace Rookery.Indexing.Automatic;

/// <summary>
/// How a field of an automatic index can be searched, in addition to equality and order without case, which every field
/// supports. The numbers are part of the stored format.
/// </summary>
[Flags]
public enum AutoIndexFieldUses : byte
{
    /// <summary>Equality and order only.</summary>
    None = 0,

    /// <summary>Also by <c>exact(…)</c>, with case.</summary>
    Exact = 1,

    /// <summary>Also by <c>search(…)</c>, by words.</summary>
    Search = 2,
}

/// <summary>A field of an automatic index.</summary>
/// <param name="Path">Member names from the root of the document. If the path leads through an array, all its elements
/// are indexed, so <c>lines[].product</c> and <c>lines.product</c> are the same path.</param>
/// <param name="Uses">How the field can be searched.</param>
public sealed record AutoIndexField(IReadOnlyList<string> Path, AutoIndexFieldUses Uses)
{
    /// <summary>The path as users see it.</summary>
    public string Name => string.Join('.', Path);

    /// <summary>
    /// Returns whether this field has the path of <paramref name="other"/> and supports all its uses.
    /// </summary>
    public bool Covers(AutoIndexField other) => HasPathOf(other) && (Uses & other.Uses) == other.Uses;

    /// <summary>Returns whether both fields have the same path.</summary>
    public bool HasPathOf(AutoIndexField other) => Path.SequenceEqual(other.Path, StringComparer.Ordinal);

    /// <summary>Returns the field as the name of its index shows it: <c>Search(bio)</c>.</summary>
    public override string ToString() =>
        Uses switch
        {
            AutoIndexFieldUses.Exact => $"Exact({Name})",
            AutoIndexFieldUses.Search => $"Search({Name})",
            AutoIndexFieldUses.None => Name,
            _ => $"Exact(Search({Name}))",
        };

    /// <inheritdoc/>
    public bool Equals(AutoIndexField? other) => other is not null && HasPathOf(other) && Uses == other.Uses;

    /// <inheritdoc/>
    public override int GetHashCode() => Path.Aggregate((int)Uses, static (hash, name) => HashCode.Combine(hash, name));
}
