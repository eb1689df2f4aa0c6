namespace Rookery.Storage;

/// <summary>Result of a lookup that may be forbidden to read the disk.</summary>
public enum RowLookup : byte
{
    /// <summary>There is no row with the key.</summary>
    Absent,

    /// <summary>The row was found.</summary>
    Found,

    /// <summary>Only a read from disk would tell, and the lookup must not read the disk.</summary>
    NotInMemory,
}
