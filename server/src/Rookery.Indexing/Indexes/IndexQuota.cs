using System.Globalization;
using Rookery.Documents.Databases;
using Rookery.Documents.Indexes;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Mapping;

namespace Rookery.Indexing.Indexes;

/// <summary>
/// How many indexes a node keeps, of all its databases: what each gathers while it is fed, and what it knows of its
/// segments, has to fit into the memory of the node, whatever the log defines. Definitions are the same on all members,
/// memory is not: those that a node has no room for are not opened on it. Places are taken and given back by the thread
/// that indexes; any may ask.
/// </summary>
/// <param name="memoryBytes">What bounds the memory of the process.</param>
/// <param name="tell">Told in a sentence when there are more.</param>
public sealed class IndexQuota(long memoryBytes, Action<string> tell)
{
    private const long BytesPerIndex = 1 << 20;
    private const int Least = 32;

    // By IndexPlace.
    private readonly int[] _taken = new int[3];
    private bool _isTold;

    /// <summary>How many it keeps.</summary>
    public int Most { get; } = (int)Math.Clamp(memoryBytes / BytesPerIndex, Least, int.MaxValue);

    /// <summary>How many of them may be automatic while nobody defined more than the rest.</summary>
    public int MostAutomatic => Most / 2;

    /// <summary>
    /// How many may be built beside those, to take the place of one of them. They have places of their own: on a node
    /// that is full a changed definition would else never be followed.
    /// </summary>
    public int MostReplacements => Most / 8;

    /// <summary>
    /// How many automatic indexes are open beyond what those leave that were defined: whoever may read has automatic
    /// ones made, so they give way.
    /// </summary>
    public int AutomaticBeyond => Math.Max(0, TakenBy(IndexPlace.Automatic) - MostAutomaticNow);

    /// <summary>Why an index is not kept, as a sentence.</summary>
    public string Reason =>
        string.Create(
            CultureInfo.InvariantCulture,
            $"This node's memory of {memoryBytes >> 20} MiB keeps {Most} indexes, {MostAutomatic} of them automatic, "
                + $"and there are more. Delete some that nobody needs, or give the node more memory."
        );

    private int MostAutomaticNow => Math.Min(MostAutomatic, Most - TakenBy(IndexPlace.Defined));

    /// <summary>What an index counts as; one whose definition cannot be read is not automatic.</summary>
    public static IndexPlace PlaceOf(IndexRecord record)
    {
        try
        {
            return
                AutoIndexDefinition.TryRead(record.Definition) is not null
                || AutoReduceDefinition.TryRead(record.Definition) is not null
                ? IndexPlace.Automatic
                : IndexPlace.Defined;
        }
        catch (IndexDefinitionException)
        {
            return IndexPlace.Defined; // opening it says why
        }
    }

    /// <summary>Whether one more would be kept.</summary>
    public bool HasRoom(IndexPlace place) =>
        TakenBy(place)
        < place switch
        {
            IndexPlace.Defined => Most,
            IndexPlace.Automatic => MostAutomaticNow,
            _ => MostReplacements,
        };

    /// <summary>Why an index has no place, as a sentence or two.</summary>
    public string WhyNone(IndexPlace place) =>
        place != IndexPlace.Replacement
            ? Reason
            : string.Create(
                CultureInfo.InvariantCulture,
                $"This node builds {MostReplacements} changed definitions at a time, and others are before "
                    + $"it. It is its turn "
                    + $"when one of them is built, resumed, corrected or deleted."
            );

    /// <summary>Takes the place of one that is opened.</summary>
    /// <returns>Whether there is room; the owner is told once when there is none.</returns>
    public bool TryEnter(IndexPlace place)
    {
        if (!HasRoom(place))
        {
            if (!_isTold && place != IndexPlace.Replacement)
            {
                _isTold = true;
                tell(
                    $"{Reason} Queries that need one which is not kept here look at documents; "
                        + "those that name one are refused."
                );
            }

            return false;
        }

        Interlocked.Increment(ref _taken[(int)place]);
        return true;
    }

    /// <summary>One was closed.</summary>
    public void Leave(IndexPlace place) => Interlocked.Decrement(ref _taken[(int)place]);

    /// <summary>One that was built to take the place of another has it, which the other left.</summary>
    public void Settle(IndexPlace place)
    {
        Leave(IndexPlace.Replacement);
        Interlocked.Increment(ref _taken[(int)place]);
    }

    /// <summary>
    /// Whether automatic indexes may be defined beside those that there are. Definitions are read only where there may
    /// be no room: while all indexes together have it, the automatic ones have it too.
    /// </summary>
    /// <param name="automatic">Counts those that there are.</param>
    /// <param name="databases">All databases.</param>
    /// <param name="defining">How many are being defined.</param>
    public bool MayDefine(AutomaticCount automatic, IReadOnlyList<Database> databases, int defining)
    {
        int most = MostAutomaticNow;
        return databases.Sum(AutomaticCount.OfAll) + defining <= most || databases.Sum(automatic.Of) + defining <= most;
    }

    private int TakenBy(IndexPlace place) => Volatile.Read(ref _taken[(int)place]);
}
