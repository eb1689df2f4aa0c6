namespace Rookery.Indexing.Grouping;

/// <summary>Limits the memory of groups. Not thread-safe.</summary>
public interface IGroupMemory
{
    /// <summary>Reserves memory before it is allocated. Throws if the limit is reached.</summary>
    /// <param name="bytes">Number of bytes.</param>
    void Reserve(long bytes);

    /// <summary>Releases reserved memory.</summary>
    /// <param name="bytes">Number of bytes.</param>
    void Release(long bytes);
}
