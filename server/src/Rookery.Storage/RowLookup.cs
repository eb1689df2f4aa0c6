namespace Rookery.Storage;

/// <summary>Result of a lookup that may have to stop where it would read the disk.</summary>
public enum RowLookup : byte
{
    /// <summary>There is no row of the key.</summary>
    Absent,

    /// <summary>The row was found.</summary>
    Found,

    /// <summary>Only a read from disk can tell, and the lookup was not to read the disk.</summary>
    NotInMemory,
}
