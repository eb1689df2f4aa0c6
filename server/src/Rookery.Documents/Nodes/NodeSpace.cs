using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Journal;
using Rookery.Platform;

namespace Rookery.Documents.Nodes;

/// <summary>
/// The space reserves of a node: on the file system of the data and, if the journal has its own directory, on the
/// journal's. Thread-safe.
/// </summary>
public sealed class NodeSpace
{
    // Segments for which the journal's reserve has room. Writes may fill that many before a flush releases one. Without
    // room for a new segment, the journal accepts no writes.
    private const int SegmentsInReserve = 4;

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private readonly SpaceReserve _data;
    private readonly SpaceReserve? _journal;
    private readonly string? _journalDirectory;
    private readonly string _nodeTag;

    internal NodeSpace(IDisk disk, NodeOptions options, NodeJournal journal, TimeProvider time)
    {
        _nodeTag = options.NodeTag;
        _data = new SpaceReserve(disk, options.DataDirectory, options.Reserve, Interval, time);
        _journalDirectory = options.JournalDirectory;
        if (_journalDirectory is not null)
        {
            _journal = new SpaceReserve(
                disk,
                _journalDirectory,
                JournalReserveOf(options),
                Interval,
                time,
                () => journal.ReadyBytes
            );
        }
    }

    /// <summary>Returns the reserve on the file system of a journal with its own directory.</summary>
    internal static ReserveRule JournalReserveOf(NodeOptions options) =>
        new((long)SegmentsInReserve * options.SegmentBytes, Fraction: 0);

    /// <summary>State of the data's file system.</summary>
    public ReserveState Data => _data.State;

    /// <summary>
    /// Free bytes beyond the reserve, on the file system with fewer of them; negative below the reserve.
    /// </summary>
    public long SpareBytes
    {
        get
        {
            var data = _data.State;
            long spare = data.FreeBytes - data.NeededBytes;
            return _journal?.State is { } journal ? Math.Min(spare, journal.FreeBytes - journal.NeededBytes) : spare;
        }
    }

    /// <summary>
    /// State of the journal's own file system; null if the journal is in the data directory.
    /// </summary>
    public JournalSpace? Journal => _journal is null ? null : new JournalSpace(_journalDirectory!, _journal.State);

    /// <summary>
    /// The journal's own directory if its file system, and not the data's, is why writes that grow the data are
    /// refused; otherwise null.
    /// </summary>
    public string? FullJournalDirectory => _data.State.AllowsGrowth && IsJournalLow ? _journalDirectory : null;

    /// <summary>Whether the journal's own file system is below its reserve; a flush releases segments there.</summary>
    public bool IsJournalLow => _journal is { State.AllowsGrowth: false };

    /// <summary>Returns the rejection (507) of a command that grows the data; null if it is accepted.</summary>
    /// <param name="command">The command.</param>
    /// <param name="databases">The databases, as of the last applied entry.</param>
    public Rejection? CheckGrowth(ReadOnlySpan<byte> command, DatabaseCatalog databases) =>
        WhyNoGrowth() is { } reason ? Growth.Check(command, reason, databases) : null;

    private string? WhyNoGrowth()
    {
        var data = _data.State;
        if (!data.AllowsGrowth)
        {
            return $"Node {_nodeTag} refuses writes that grow the data: its free space of "
                + $"{Amount.Bytes(data.FreeBytes)} is below its reserve of {Amount.Bytes(data.NeededBytes)}. Deletes "
                + $"are accepted. Free some space.";
        }

        return _journal?.State is { AllowsGrowth: false } journal
            ? $"Node {_nodeTag} refuses writes that grow the data: the free space of "
                + $"{Amount.Bytes(journal.FreeBytes)} for its journal in {_journalDirectory} is below the reserve of "
                + $"{Amount.Bytes(journal.NeededBytes)}. Deletes are accepted. Free some space there."
            : null;
    }
}

/// <summary>The free space on the file system of a journal with its own directory.</summary>
/// <param name="Directory">The directory.</param>
/// <param name="State">The free space and the reserve.</param>
public sealed record JournalSpace(string Directory, ReserveState State);
