namespace Rookery.Indexing.Definitions;

/// <summary>How a field of a static index can be searched.</summary>
public enum FieldIndexing : byte
{
    /// <summary>By values, ignoring case.</summary>
    Default = 0,

    /// <summary>By values, with case.</summary>
    Exact = 1,

    /// <summary>By words.</summary>
    Search = 2,

    /// <summary>Not at all: the values are only stored.</summary>
    No = 3,
}

/// <summary>A field of a static index: a member of the objects that its maps or reduce return.</summary>
/// <param name="Name">The name of the member.</param>
/// <param name="Indexing">How the field can be searched.</param>
/// <param name="Analyzer">The name of the analyzer; null for the default one.</param>
/// <param name="IsStored">Whether the values are stored for projections.</param>
/// <param name="HasSuggestions">Whether its words are offered as suggestions.</param>
public sealed record StaticIndexField(
    string Name,
    FieldIndexing Indexing = FieldIndexing.Default,
    string? Analyzer = null,
    bool IsStored = false,
    bool HasSuggestions = false
);
