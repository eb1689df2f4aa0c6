namespace Rookery.Indexing.Automatic;

/// <summary>
/// How the values of a field are looked for beside equality and order without case, which every field of an automatic
/// index has. Numbers are part of the format.
/// </summary>
[Flags]
public enum AutoIndexFieldUses : byte
{
    /// <summary>Not otherwise.</summary>
    None = 0,

    /// <summary>By <c>exact(…)</c>: with case.</summary>
    Exact = 1,

    /// <summary>By <c>search(…)</c>: by their words.</summary>
    Search = 2,
}

/// <summary>A field of an automatic index: where its values stand, and how they are looked for.</summary>
/// <param name="Path">Names of members from the document's top. Arrays on the way count element by element, so
/// <c>lines[].product</c> and <c>lines.product</c> are one path.</param>
/// <param name="Uses">How its values are looked for.</param>
public sealed record AutoIndexField(IReadOnlyList<string> Path, AutoIndexFieldUses Uses)
{
    /// <summary>The path as it is shown.</summary>
    public string Name => string.Join('.', Path);

    /// <summary>Whether what was built for this field answers what <paramref name="other"/> is for.</summary>
    public bool Covers(AutoIndexField other) => HasPathOf(other) && (Uses & other.Uses) == other.Uses;

    /// <summary>Whether both speak of the same values.</summary>
    public bool HasPathOf(AutoIndexField other) => Path.SequenceEqual(other.Path, StringComparer.Ordinal);

    /// <summary>The field as its index's name has it: <c>Search(bio)</c>.</summary>
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
