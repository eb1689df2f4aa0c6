namespace Rookery.Indexing.Grouping;

/// <summary>Accounts for the memory of groups. Not thread-safe.</summary>
public interface IGroupMemory
{
    /// <summary>Reserves memory before it is allocated; throws when the limit is reached.</summary>
    /// <param name="bytes">Number of bytes.</param>
    void Take(long bytes);

    /// <summary>Releases reserved memory.</summary>
    /// <param name="bytes">Number of bytes.</param>
    void Give(long bytes);
}
