namespace Rookery.Indexing.Grouping;

/// <summary>Takes and gives memory for groups. For one thread.</summary>
public interface IGroupMemory
{
    /// <summary>Takes memory before it is allocated, and throws when there is no more.</summary>
    /// <param name="bytes">How much.</param>
    void Take(long bytes);

    /// <summary>Gives memory back.</summary>
    /// <param name="bytes">How much.</param>
    void Give(long bytes);
}
