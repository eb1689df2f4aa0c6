namespace Rookery.Storage;

/// <summary>Whether a directory contains a store.</summary>
public enum StorageUse
{
    /// <summary>No trace of a store.</summary>
    None,

    /// <summary>Only a first manifest, which an interrupted first start leaves too.</summary>
    Begun,

    /// <summary>A store that was in use.</summary>
    InUse,
}
