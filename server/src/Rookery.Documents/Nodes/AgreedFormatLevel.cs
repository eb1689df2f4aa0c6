using Rookery.Documents.Records;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Nodes;

/// <summary>
/// The format level of one node: what the members agreed on as far as that is applied here, noted beside the data.
/// </summary>
internal sealed class AgreedFormatLevel
{
    private readonly IDisk _disk;
    private readonly string _directory;
    private readonly ClusterRecords _records;
    private readonly int _newest;

    /// <summary>Reads the note, and follows the record from now on.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="directory">The data directory.</param>
    /// <param name="records">What the members agree on.</param>
    /// <param name="newest">The newest level that the program knows.</param>
    /// <exception cref="DataFormatException">The note cannot be read, or the members agreed on more than this program
    /// knows.</exception>
    public AgreedFormatLevel(IDisk disk, string directory, ClusterRecords records, int newest)
    {
        (_disk, _directory, _records, _newest) = (disk, directory, records, newest);
        Current = FormatLevel.Read(disk, directory);
        FollowRecord();
        records.FormatLevelChanged = FollowRecord;
    }

    /// <summary>What the node may write.</summary>
    public FormatLevel Current { get; private set; }

    /// <summary>Notes a level beside the data, durably; from then on the node writes by it.</summary>
    /// <exception cref="DiskException">The disk refused.</exception>
    public void Note(FormatLevel level)
    {
        level.Write(_disk, _directory);
        Current = level;
    }

    /// <summary>
    /// Goes by what the members agreed on. On the thread that applies, so that nothing that was agreed on later is
    /// written before it is noted.
    /// </summary>
    /// <exception cref="DataFormatException">They agreed on more than this program knows: it takes no further
    /// part.</exception>
    private void FollowRecord()
    {
        var agreed = ReadRecord();
        if (agreed.Level > Current.Level)
        {
            Note(agreed);
            agreed.Require(_newest, _directory);
        }
    }

    private FormatLevel ReadRecord()
    {
        try
        {
            return FormatLevel.Of(_records.TryGet(FormatLevel.RecordKey, out var record) ? record : null);
        }
        catch (DamagedException)
        {
            // What was noted before holds; the level never falls.
            return Current;
        }
    }
}
