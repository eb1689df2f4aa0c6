namespace Rookery.Indexing.Definitions;

/// <summary>How the values of a field of a static index are looked for.</summary>
public enum FieldIndexing : byte
{
    /// <summary>Without case.</summary>
    Default = 0,

    /// <summary>With case.</summary>
    Exact = 1,

    /// <summary>By their words.</summary>
    Search = 2,

    /// <summary>Not at all: they are only stored.</summary>
    No = 3,
}

/// <summary>A field of a static index: a member of what its maps, or its reduce, return.</summary>
/// <param name="Name">The member.</param>
/// <param name="Indexing">How its values are looked for.</param>
/// <param name="Analyzer">The analyzer's name; null for the default one.</param>
/// <param name="IsStored">Whether its values are kept for projections.</param>
/// <param name="HasSuggestions">Whether suggestions are made of its words.</param>
public sealed record StaticIndexField(
    string Name,
    FieldIndexing Indexing = FieldIndexing.Default,
    string? Analyzer = null,
    bool IsStored = false,
    bool HasSuggestions = false
);
