using Rookery.Indexing.Grouping;
using Rookery.Platform;
using Rookery.Queries.Language;

namespace Rookery.Queries.Conditions;

/// <summary>
/// What one query holds, drawn from the budget before it is allocated and given back at its end. For one thread.
/// </summary>
/// <param name="share">Where it is drawn from.</param>
internal sealed class ScanMemory(MemoryShare share) : IGroupMemory, IDisposable
{
    private long _heldBytes;

    /// <summary>Takes memory.</summary>
    /// <exception cref="QueryException">The budget has no more.</exception>
    public void Take(long bytes)
    {
        if (!share.TryReserve(bytes))
        {
            throw new QueryException(
                QueryFault.TooCostly,
                $"The query needs more memory than the {share.LimitBytes / (1024 * 1024)} MiB there are for "
                    + $"queries: ask for fewer results, groups or distinct values at once."
            );
        }

        _heldBytes += bytes;
    }

    /// <summary>Gives memory back.</summary>
    public void Give(long bytes)
    {
        _heldBytes -= bytes;
        share.Release(bytes);
    }

    /// <summary>Gives all of it back.</summary>
    public void Dispose()
    {
        share.Release(_heldBytes);
        _heldBytes = 0;
    }
}
