namespace Rookery.Storage;

/// <summary>Whether a store was kept in a directory.</summary>
public enum StorageUse
{
    /// <summary>There is no trace of one.</summary>
    None,

    /// <summary>There is the first manifest, which a first start that was cut off leaves too.</summary>
    Begun,

    /// <summary>There is more.</summary>
    InUse,
}
