using System.Globalization;
using Rookery.Documents;
using Rookery.Indexing.Execution;
using Rookery.Indexing.Language;

namespace Rookery.Indexing.Indexes;

/// <summary>
/// How many indexes a node keeps, of all its databases: what each gathers while it is fed, and what it knows of its
/// segments,
/// has to fit into the memory of the node, whatever the log defines. Definitions are the same on all members, memory
/// is not:
/// those that a node has no room for are not opened on it.
/// </summary>
/// <param name="memoryBytes">What bounds the memory of the process.</param>
/// <param name="tell">Told in a sentence when there are more.</param>
internal sealed class IndexQuota(long memoryBytes, Action<string> tell)
{
    private const long BytesPerIndex = 1 << 20;
    private const int Least = 32;

    private int _automatic;
    private int _others;
    private bool _isTold;

    /// <summary>How many it keeps.</summary>
    public int Most { get; } = (int)Math.Clamp(memoryBytes / BytesPerIndex, Least, int.MaxValue);

    /// <summary>
    /// How many of them may be automatic: whoever may read has them made, and they leave room for those that were
    /// defined.
    /// </summary>
    public int MostAutomatic => Most / 2;

    /// <summary>Whether one more automatic index would be kept.</summary>
    public bool HasRoomForAutomatic => HasRoom(isAutomatic: true);

    /// <summary>Why an index is not kept, as a sentence.</summary>
    public string Reason => string.Create(
        CultureInfo.InvariantCulture,
        $"This node's memory of {memoryBytes >> 20} MiB keeps {Most} indexes, {MostAutomatic} of them automatic, "
        + $"and there are more. Delete some that nobody needs, or give the node more memory.");

    /// <summary>Whether an index is automatic; one whose definition cannot be read is not.</summary>
    public static bool IsAutomatic(IndexRecord record)
    {
        try
        {
            return AutoIndexDefinition.TryRead(record.Definition) is not null
                || AutoReduceDefinition.TryRead(record.Definition) is not null;
        }
        catch (IndexDefinitionException)
        {
            return false;                               // opening it says why
        }
    }

    /// <summary>Whether one more would be kept.</summary>
    public bool HasRoom(bool isAutomatic)
    {
        int automatic = Volatile.Read(ref _automatic);
        return automatic + Volatile.Read(ref _others) < Most && (!isAutomatic || automatic < MostAutomatic);
    }

    /// <summary>Takes the place of one that is opened. On the thread that indexes.</summary>
    /// <returns>Whether there is room; the owner is told once when there is none.</returns>
    public bool TryEnter(bool isAutomatic)
    {
        if (!HasRoom(isAutomatic))
        {
            if (!_isTold)
            {
                _isTold = true;
                tell($"{Reason} Queries that need one which is not kept here look at documents, or are refused.");
            }

            return false;
        }

        Count(isAutomatic, 1);
        return true;
    }

    /// <summary>One was closed.</summary>
    public void Leave(bool isAutomatic) => Count(isAutomatic, -1);

    /// <summary>
    /// A way by which a query can be answered: without an index where it would have to be one too many.
    /// </summary>
    /// <exception cref="QueryException">It needs one.</exception>
    public QueryRoute Bound(QueryRoute route)
    {
        if (route.ToDefine is null || HasRoomForAutomatic)
        {
            return route;
        }

        return route.NeedsIndex
            ? throw new QueryException(QueryFault.TooCostly, $"This query is answered by an index only. {Reason}")
            : new QueryRoute(null, null, IsBuilt: false, NeedsIndex: false, [.. route.Reasons, PlanReason.OfDocuments($"Documents are looked at: {Reason}")]);
    }

    private void Count(bool isAutomatic, int change)
    {
        if (isAutomatic)
        {
            Interlocked.Add(ref _automatic, change);
        }
        else
        {
            Interlocked.Add(ref _others, change);
        }
    }
}
