using Rookery.Journal;
using Rookery.Platform;

namespace Rookery.Documents.Nodes;

/// <summary>
/// What stays free on the file systems of a node: that of the data and, where the journal lies on one of its own, that
/// as well. Thread-safe.
/// </summary>
internal sealed class NodeSpace
{
    // So much of it the next writes may need before a flush lets go of segments: a journal that cannot make one takes
    // nothing more.
    private const int SegmentsInReserve = 4;

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private readonly SpaceReserve _data;
    private readonly SpaceReserve? _journal;
    private readonly string? _journalDirectory;

    public NodeSpace(IDisk disk, NodeOptions options, NodeJournal journal, TimeProvider time)
    {
        _data = new SpaceReserve(disk, options.DataDirectory, options.Reserve, Interval, time);
        _journalDirectory = options.JournalDirectory;
        if (_journalDirectory is not null)
        {
            var rule = new ReserveRule((long)SegmentsInReserve * options.SegmentBytes, 0);
            _journal = new SpaceReserve(disk, _journalDirectory, rule, Interval, time, () => journal.ReadyBytes);
        }
    }

    /// <summary>The data's file system.</summary>
    public ReserveState Data => _data.State;

    /// <summary>Bytes free beyond the reserve, on the file system that has fewer.</summary>
    public long SpareBytes
    {
        get
        {
            var data = _data.State;
            long spare = data.FreeBytes - data.NeededBytes;
            return _journal?.State is { } journal ? Math.Min(spare, journal.FreeBytes - journal.NeededBytes) : spare;
        }
    }

    /// <summary>Whether the journal's own file system lacks room, which a flush gives back.</summary>
    public bool IsJournalLow => _journal is { State.GrowthAllowed: false };

    /// <summary>Why writes that grow the data are refused now, in a sentence; null when they are not.</summary>
    public string? GrowthRefusal(string nodeTag)
    {
        var data = _data.State;
        if (!data.GrowthAllowed)
        {
            return $"Node {nodeTag} has {Amount.Bytes(data.FreeBytes)} free and keeps "
                + $"{Amount.Bytes(data.NeededBytes)}: writes that grow the data are refused. Deletes go on; free "
                + $"some space.";
        }

        return _journal?.State is { GrowthAllowed: false } journal
            ? $"Node {nodeTag} has {Amount.Bytes(journal.FreeBytes)} left for its journal in "
                + $"{_journalDirectory} and keeps {Amount.Bytes(journal.NeededBytes)}: writes that grow the data "
                + $"are refused. Deletes go on; free some space there."
            : null;
    }
}
