namespace Rookery.Documents.Indexes;

/// <summary>What became of an index in the log.</summary>
public enum IndexChangeKind : byte
{
    /// <summary>It was defined, for the first time or anew.</summary>
    Defined = 1,

    /// <summary>Only how it is kept was changed.</summary>
    Configured = 2,

    /// <summary>It was deleted.</summary>
    Deleted = 3,
}

/// <summary>A change of the indexes of a database that was applied.</summary>
/// <param name="Kind">What happened.</param>
/// <param name="Name">The index.</param>
/// <param name="Etag">The etag of the change.</param>
public readonly record struct IndexChange(IndexChangeKind Kind, string Name, long Etag);
