namespace Rookery.Indexing.Indexes;

/// <summary>The class under which the <see cref="IndexQuota"/> of a node counts an open index.</summary>
public enum IndexPlace
{
    /// <summary>An index that a user defined.</summary>
    Defined,

    /// <summary>An index that a query created.</summary>
    Automatic,

    /// <summary>An index that is being built to replace another, which serves queries meanwhile.</summary>
    Replacement,
}
