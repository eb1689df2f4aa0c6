namespace Rookery.Indexing.Indexes;

/// <summary>The class that an open index counts in, in the <see cref="IndexQuota"/> of its node.</summary>
public enum IndexPlace
{
    /// <summary>A user defined the index.</summary>
    Defined,

    /// <summary>A query created the index.</summary>
    Automatic,

    /// <summary>The index is being built to replace another, which serves queries meanwhile.</summary>
    Replacement,
}
