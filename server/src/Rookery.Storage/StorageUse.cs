namespace Rookery.Storage;

/// <summary>Whether a directory contains a store.</summary>
public enum StorageUse
{
    /// <summary>No trace of a store.</summary>
    None,

    /// <summary>Only the first manifest. An interrupted first start leaves such a directory.</summary>
    Begun,

    /// <summary>A store that was in use.</summary>
    InUse,
}
