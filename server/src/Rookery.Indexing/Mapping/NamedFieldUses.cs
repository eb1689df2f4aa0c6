namespace Rookery.Indexing.Mapping;

/// <summary>How documents use a field that they name. The numbers are stored.</summary>
[Flags]
public enum NamedFieldUses : byte
{
    /// <summary>Only the search by values, with and without case, which every field allows.</summary>
    None = 0,

    /// <summary>The values are stored.</summary>
    Stored = 1,

    /// <summary>The words are indexed.</summary>
    Words = 2,
}
