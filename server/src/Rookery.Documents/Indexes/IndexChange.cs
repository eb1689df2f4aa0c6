namespace Rookery.Documents.Indexes;

/// <summary>The kind of a change to an index.</summary>
public enum IndexChangeKind : byte
{
    /// <summary>The index was defined, for the first time or again.</summary>
    Defined = 1,

    /// <summary>Settings other than the lock mode were changed; the definition is the same.</summary>
    Configured = 2,

    /// <summary>The index was deleted.</summary>
    Deleted = 3,

    /// <summary>The lock mode was changed. If other settings changed too, <see cref="Configured"/> follows.</summary>
    Locked = 4,
}

/// <summary>A change to an index that was applied.</summary>
/// <param name="Kind">The kind of the change.</param>
/// <param name="Name">Name of the index.</param>
/// <param name="Etag">The etag of the change.</param>
public readonly record struct IndexChange(IndexChangeKind Kind, string Name, long Etag);
