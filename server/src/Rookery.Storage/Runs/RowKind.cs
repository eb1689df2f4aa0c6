namespace Rookery.Storage.Runs;

/// <summary>Kind of a row. Numbers are part of the run format.</summary>
internal enum RowKind : byte
{
    /// <summary>The key has this value.</summary>
    Put = 0,

    /// <summary>The key is deleted; older rows of the key are hidden.</summary>
    Tombstone = 1,

    /// <summary>The value is stored in chunk rows; this row contains the reference to them.</summary>
    LargeReference = 2,
}
