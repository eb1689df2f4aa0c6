using Rookery.Documents.Records;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Nodes;

/// <summary>
/// The format level on which the members agreed, as of the last applied entry. Also stored in a file of the data
/// directory.
/// </summary>
internal sealed class AgreedFormatLevel
{
    private readonly IDisk _disk;
    private readonly string _directory;
    private readonly ClusterRecords _records;
    private readonly int _newest;

    /// <summary>Reads the level from the data directory, and follows the cluster record from now on.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="directory">The data directory.</param>
    /// <param name="records">The cluster records.</param>
    /// <param name="newest">The newest level that this program knows.</param>
    /// <exception cref="DataFormatException">The level file cannot be read, or the agreed level is newer than this
    /// program knows.</exception>
    public AgreedFormatLevel(IDisk disk, string directory, ClusterRecords records, int newest)
    {
        _disk = disk;
        _directory = directory;
        _records = records;
        _newest = newest;
        Current = FormatLevel.Read(disk, directory);
        FollowRecord();
        records.FormatLevelChanged = FollowRecord;
    }

    /// <summary>The formats that this node may write.</summary>
    public FormatLevel Current { get; private set; }

    /// <summary>Writes a level into the data directory, durably, and makes it <see cref="Current"/>.</summary>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    public void Write(FormatLevel level)
    {
        level.Write(_disk, _directory);
        Current = level;
    }

    /// <summary>
    /// Adopts the format level that the members agreed on. Called on the apply thread, so that no later entry is
    /// applied before the level is written.
    /// </summary>
    /// <exception cref="DataFormatException">The level is newer than this program knows: the node takes no further
    /// part.</exception>
    private void FollowRecord()
    {
        var agreed = ReadRecord();
        if (agreed.Level > Current.Level)
        {
            Write(agreed);
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
            // The present level stays, because it never falls.
            return Current;
        }
    }
}
