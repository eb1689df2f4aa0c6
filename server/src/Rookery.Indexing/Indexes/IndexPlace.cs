namespace Rookery.Indexing.Indexes;

/// <summary>What an open index counts as in the <see cref="IndexQuota"/> of its node.</summary>
public enum IndexPlace
{
    /// <summary>Somebody defined it.</summary>
    Defined,

    /// <summary>A query had it made.</summary>
    Automatic,

    /// <summary>It is built to take the place of another one, which answers meanwhile.</summary>
    Replacement,
}
