using System.Globalization;
using Rookery.Documents.Databases;
using Rookery.Documents.Indexes;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Mapping;

namespace Rookery.Indexing.Indexes;

/// <summary>
/// Bounds the number of open indexes of a node, in all its databases, because each index needs memory for its write
/// buffer and for the tables of its segments. All members have the same definitions but may have less memory, so a node
/// does not open the indexes that exceed its quota. The indexing thread takes and releases places. Any thread may read.
/// </summary>
/// <param name="memoryBytes">The memory limit of the process, in bytes.</param>
/// <param name="report">Called once, with a sentence, when an index does not fit.</param>
public sealed class IndexQuota(long memoryBytes, Action<string> report)
{
    private const long BytesPerIndex = 1 << 20;
    private const int MinIndexes = 32;

    // Open indexes by IndexPlace.
    private readonly int[] _placesTaken = new int[3];
    private bool _isReported;

    /// <summary>Maximum indexes of users and queries together.</summary>
    public int MaxIndexes { get; } = (int)Math.Clamp(memoryBytes / BytesPerIndex, MinIndexes, int.MaxValue);

    /// <summary>Chooses the indexes that get places.</summary>
    internal IndexPlaces Places => field ??= new IndexPlaces(MaxIndexes, MaxAutomatic);

    /// <summary>Maximum automatic indexes; fewer if users' indexes take more than the other half.</summary>
    public int MaxAutomatic => MaxIndexes / 2;

    /// <summary>
    /// Maximum replacements built at a time. They have their own places, so that a node whose other places are taken
    /// can still follow a changed definition.
    /// </summary>
    public int MaxReplacements => MaxIndexes / 8;

    /// <summary>Why an index is not maintained, in a sentence or two.</summary>
    public string Reason =>
        string.Create(
            CultureInfo.InvariantCulture,
            $"This node has memory for {MaxIndexes} indexes ({memoryBytes >> 20} MiB), at most {MaxAutomatic} of them "
                + $"automatic, and more are needed. Delete indexes that are not needed, or give the node more memory."
        );

    /// <summary>
    /// Whether an automatic index of few documents may take a place. It may only while most places are free: a scan can
    /// answer for few documents, and the other places are for large collections.
    /// </summary>
    public bool HasRoomForFewDocuments => TakenBy(IndexPlace.Automatic) < MaxAutomaticNow / 2;

    // Maximum automatic indexes beside the users' indexes that are open now.
    private int MaxAutomaticNow => Math.Min(MaxAutomatic, MaxIndexes - TakenBy(IndexPlace.Defined));

    /// <summary>Returns the class of an index. An index whose definition cannot be read counts as a user's.</summary>
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
            return IndexPlace.Defined; // opening it reports the error
        }
    }

    /// <summary>Returns whether one more index of a class fits.</summary>
    public bool HasRoom(IndexPlace place) =>
        TakenBy(place)
        < place switch
        {
            IndexPlace.Defined => MaxIndexes,
            IndexPlace.Automatic => MaxAutomaticNow,
            _ => MaxReplacements,
        };

    /// <summary>Returns why an index of a class does not fit, in a sentence or two.</summary>
    public string ReasonAgainst(IndexPlace place) =>
        place != IndexPlace.Replacement
            ? Reason
            : string.Create(
                CultureInfo.InvariantCulture,
                $"This node builds at most {MaxReplacements} changed definitions at a time. This one waits until "
                    + $"another is built, resumed, corrected or deleted."
            );

    /// <summary>Takes a place for an index to open.</summary>
    /// <param name="place">The class of the index.</param>
    /// <param name="isChosen">Whether <see cref="Places"/> chose the index.</param>
    /// <returns>Whether the index has a place now. The first refusal is reported to the operator.</returns>
    internal bool TryTake(IndexPlace place, bool isChosen)
    {
        if (isChosen && HasRoom(place))
        {
            Interlocked.Increment(ref _placesTaken[(int)place]);
            return true;
        }

        if (!_isReported && place != IndexPlace.Replacement)
        {
            _isReported = true;
            report(
                $"{Reason} A query without an index name scans documents if this node does not maintain its index; a "
                    + "query that names such an index is refused."
            );
        }

        return false;
    }

    /// <summary>
    /// Returns a function from the name of an index to the reason why this node does not maintain the index, in a
    /// sentence. The function returns null if the index has a place among the definitions that the log has now, or if
    /// the definitions cannot be read. Thread-safe.
    /// </summary>
    /// <param name="database">The database of the indexes.</param>
    /// <param name="databases">All databases of the node.</param>
    public Func<string, string?> ReadPlaces(Database database, IReadOnlyList<Database> databases)
    {
        try
        {
            if (databases.Sum(AutomaticCount.OfAll) <= MaxAutomatic)
            {
                return static _ => null;
            }
        }
        catch (IOException)
        {
            return static _ => null; // the callers have done their work already, so damage is no failure of theirs
        }

        var hasPlace = Places.WithNewest(database);
        return name => hasPlace(LowerNames.Index(name)) ? null : Reason;
    }

    /// <summary>Releases the place of a closed index.</summary>
    public void Release(IndexPlace place) => Interlocked.Decrement(ref _placesTaken[(int)place]);

    /// <summary>
    /// Moves an index that was a replacement to its own class. The replaced index has already released its place.
    /// </summary>
    public void MoveFromReplacement(IndexPlace place)
    {
        Release(IndexPlace.Replacement);
        Interlocked.Increment(ref _placesTaken[(int)place]);
    }

    /// <summary>
    /// Returns whether further automatic indexes may be defined. Counting the automatic indexes is expensive, because
    /// it reads all definitions. So it is done only if the number of all indexes exceeds the maximum for automatic
    /// ones.
    /// </summary>
    /// <param name="automatic">Counts the automatic indexes of a database.</param>
    /// <param name="databases">All databases.</param>
    /// <param name="defining">Number of automatic indexes about to be defined.</param>
    public bool MayDefine(AutomaticCount automatic, IReadOnlyList<Database> databases, int defining)
    {
        int max = MaxAutomaticNow;
        return databases.Sum(AutomaticCount.OfAll) + defining <= max || databases.Sum(automatic.Of) + defining <= max;
    }

    private int TakenBy(IndexPlace place) => Volatile.Read(ref _placesTaken[(int)place]);
}
