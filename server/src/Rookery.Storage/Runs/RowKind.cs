namespace Rookery.Storage.Runs;

/// <summary>What a row says about its key. The numbers are part of the run format.</summary>
internal enum RowKind : byte
{
    /// <summary>The key has this value.</summary>
    Put = 0,

    /// <summary>The key is deleted; hides older rows of the key.</summary>
    Tombstone = 1,

    /// <summary>The value lies in chunk rows elsewhere; this value is the engine's reference to them.</summary>
    LargeReference = 2,
}
