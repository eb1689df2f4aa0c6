namespace Rookery.Indexing.Mapping;

/// <summary>How documents use a field that they name. The numbers are stored.</summary>
[Flags]
public enum NamedFieldUses : byte
{
    /// <summary>By values, with and without case.</summary>
    None = 0,

    /// <summary>The values are stored.</summary>
    Stored = 1,

    /// <summary>By words.</summary>
    Words = 2,
}
