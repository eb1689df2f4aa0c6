using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>A range of consecutive entries in one segment.</summary>
/// <param name="Segment">The segment.</param>
/// <param name="FirstIndex">Index of the first entry.</param>
/// <param name="LastIndex">Index of the last entry that no truncation removed.</param>
/// <param name="Offset">Offset of the first entry.</param>
/// <param name="Write">Number of the journal write that the first entry belongs to.</param>
internal readonly record struct LogSpan(Segment Segment, long FirstIndex, long LastIndex, long Offset, long Write);

/// <summary>
/// The log that the frames on disk form: its entries after all truncations, their places in segments, and the current
/// vote and configuration.
/// </summary>
internal sealed class LogMap
{
    private readonly List<LogSpan> _spans = [];
    private readonly List<(long Index, byte[] Payload)> _configurations = [];
    private bool _isSpanOpen; // whether the next entry may extend the last span

    private LogMap(JournalPosition position)
    {
        Base = position;
        Position = position;
    }

    public LogMap(SegmentHeader first)
        : this(first.Position)
    {
        AdoptHeader(first);
    }

    /// <summary>Position before the first readable entry.</summary>
    public JournalPosition Base { get; private set; }

    /// <summary>The lowest readable index.</summary>
    public long FirstIndex => Base.Index + 1;

    /// <summary>Position of the log's end.</summary>
    public JournalPosition Position
    {
        get;
        private set
        {
            field = value;

            // The log may now contain the lost entries again, or newer ones.
            Lost = Lost.IsLaterThan(End) ? Lost : default;
        }
    }

    /// <summary>Term and index of the last entry.</summary>
    public EntryPosition End => new(Position.Term, Position.Index);

    /// <summary>
    /// Position of the last entry that this store may have acknowledged and lost by damage; zeros if none is lost. This
    /// store votes for no log that ends before it. Cleared once the log is at least as up to date. Segment headers
    /// preserve it across restarts.
    /// </summary>
    public EntryPosition Lost { get; private set; }

    public ReadOnlyMemory<byte> Vote { get; private set; }

    /// <summary>
    /// Index through which the log is known to be committed, according to its <see cref="FrameType.Committed"/> frames;
    /// 0 without them.
    /// </summary>
    public long CommittedIndex { get; private set; }

    /// <summary>The configurations in the log and the last one before it, ordered by index.</summary>
    public IReadOnlyList<(long Index, byte[] Payload)> Configurations => _configurations;

    public ReadOnlyMemory<byte> Configuration => _configurations.Count == 0 ? default : _configurations[^1].Payload;

    public long ConfigurationIndex => _configurations.Count == 0 ? 0 : _configurations[^1].Index;

    public IReadOnlyList<LogSpan> Spans => _spans;

    /// <summary>Creates a log without entries that continues after <paramref name="position"/>.</summary>
    public static LogMap Empty(JournalPosition position) => new(position);

    /// <summary>
    /// Creates a log without entries that continues after an installed snapshot. Keeps the vote and the loss of
    /// <paramref name="before"/>, which are this node's own.
    /// </summary>
    public static LogMap AfterReset(in JournalReset reset, LogMap before)
    {
        var map = new LogMap(reset.Position) { Vote = before.Vote };
        map.RecordLoss(before.Lost);
        if (!reset.Configuration.IsEmpty)
        {
            map._configurations.Add((reset.ConfigurationIndex, reset.Configuration.ToArray()));
        }

        return map;
    }

    /// <summary>
    /// Returns the configuration in force after an index: its own index (0 if there is none) and its payload.
    /// </summary>
    public (long Index, ReadOnlyMemory<byte> Payload) ConfigurationAt(long index)
    {
        var (configurationIndex, payload) = _configurations.FindLast(configuration => configuration.Index <= index);
        return (configurationIndex, payload);
    }

    /// <summary>Returns whether a frame with this header may follow the log's end.</summary>
    public bool Accepts(in FrameHeader header) =>
        header switch
        {
            { IsReplicated: true } => header.Index == Position.Index + 1
                && header.Term >= Position.Term
                && header.OperationsBefore == Position.Operations
                && header.OperationCount >= 0,
            { Type: FrameType.Truncation or FrameType.Committed } => header.Index >= 0
                && header.Index <= Position.Index,
            _ => true,
        };

    /// <summary>Appends the frame at <paramref name="offset"/>.</summary>
    public void Append(Segment segment, in FrameHeader header, ReadOnlyMemory<byte> payload, long offset)
    {
        Invariant.Holds(Accepts(header), "a frame follows the one before it");
        switch (header.Type)
        {
            case FrameType.Vote:
                Vote = payload.ToArray();
                return;
            case FrameType.Truncation:
                Truncate(new JournalPosition(header.Index, header.Term, header.OperationsBefore));
                return;
            case FrameType.CleanStop or FrameType.Start:
                return;
            case FrameType.Committed:
                CommittedIndex = Math.Max(CommittedIndex, header.Index);
                return;
            case FrameType.Configuration:
                _configurations.Add((header.Index, payload.ToArray()));
                break;
        }

        Position = new JournalPosition(header.Index, header.Term, header.OperationsBefore + header.OperationCount);
        if (_isSpanOpen && _spans[^1].Segment == segment)
        {
            _spans[^1] = _spans[^1] with { LastIndex = header.Index };
            return;
        }

        _spans.Add(new LogSpan(segment, header.Index, header.Index, offset, header.Write));
        _isSpanOpen = true;
    }

    /// <summary>
    /// Adopts the state that the next segment's header repeats, because a gap before that segment may hide frames.
    /// </summary>
    public void AdoptHeader(SegmentHeader header)
    {
        Vote = header.Vote;
        Lost = header.Lost;
        if (
            !header.Configuration.IsEmpty
            && (_configurations.Count == 0 || header.ConfigurationIndex != ConfigurationIndex)
        )
        {
            _configurations.Add((header.ConfigurationIndex, header.Configuration.ToArray()));
        }
    }

    /// <summary>Records that entries after the log's end are lost, and adopts the vote found there.</summary>
    public void RecordLoss(EntryPosition through, ReadOnlyMemory<byte> vote)
    {
        Vote = vote;
        RecordLoss(through);
    }

    /// <summary>
    /// Restarts the log after <paramref name="position"/>, because earlier entries are damaged. The storage contains
    /// them.
    /// </summary>
    public void RestartAfter(JournalPosition position, DamageSurvey gap)
    {
        Vote = gap.Vote;
        _configurations.Clear();
        _configurations.AddRange(gap.Configurations);
        _spans.Clear();
        _isSpanOpen = false;
        Base = position;
        Position = position;
    }

    /// <summary>
    /// Removes the entries before <paramref name="firstRemaining"/>, whose segments are released.
    /// </summary>
    public void ReleaseBefore(Segment firstRemaining)
    {
        var released = firstRemaining.Header!.Position;
        Base = released.Index > Base.Index ? released : Base;
        long from = FirstIndex;
        _spans.RemoveAll(span => span.LastIndex < from);
        _isSpanOpen &= _spans.Count > 0;
    }

    private void RecordLoss(EntryPosition through)
    {
        var lost = EntryPosition.Later(Lost, through);
        Lost = lost.IsLaterThan(End) ? lost : default;
    }

    private void Truncate(JournalPosition end)
    {
        _spans.RemoveAll(span => span.FirstIndex > end.Index);
        if (_spans.Count > 0 && _spans[^1].LastIndex > end.Index)
        {
            _spans[^1] = _spans[^1] with { LastIndex = end.Index };
        }

        _configurations.RemoveAll(configuration => configuration.Index > end.Index);
        _isSpanOpen = false;
        Base = end.Index < Base.Index ? end : Base;
        Position = end;
    }
}
