using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>Frames of consecutive indexes that lie one behind the other in a segment.</summary>
/// <param name="Segment">The segment.</param>
/// <param name="FirstIndex">The index of the first of them.</param>
/// <param name="LastIndex">The index of the last of them that still counts.</param>
/// <param name="Offset">Where the frame of <paramref name="FirstIndex"/> is.</param>
/// <param name="Write">The journal write it belongs to.</param>
internal readonly record struct LogSpan(Segment Segment, long FirstIndex, long LastIndex, long Offset, long Write);

/// <summary>
/// What the frames on disk add up to: the log after all truncations, where it lies, the vote and the configuration in
/// force.
/// </summary>
internal sealed class LogMap
{
    private readonly List<LogSpan> _spans = [];
    private readonly List<(long Index, byte[] Payload)> _configurations = [];
    private bool _spanIsOpen;

    private LogMap(JournalPosition position)
    {
        Base = position;
        Position = position;
    }

    public LogMap(SegmentHeader first)
        : this(first.Position)
    {
        TakeOver(first);
    }

    /// <summary>The log before the first frame that can be read.</summary>
    public JournalPosition Base { get; private set; }

    /// <summary>The lowest index that can be read.</summary>
    public long FirstIndex => Base.Index + 1;

    /// <summary>The end of the log.</summary>
    public JournalPosition Position
    {
        get;
        private set
        {
            field = value;
            Lost = Lost.IsLaterThan(End) ? Lost : default;
        }
    }

    /// <summary>The last entry.</summary>
    public EntryPosition End => new(Position.Term, Position.Index);

    /// <summary>
    /// The end of the log that this store may have acknowledged and lost to damage; zeros when nothing is lost. It is
    /// made good when the log is as new again: whoever leads after the loss has every entry that was committed, and
    /// this store votes for nobody whose log is older. Segment headers keep it through restarts.
    /// </summary>
    public EntryPosition Lost { get; private set; }

    public ReadOnlyMemory<byte> Vote { get; private set; }

    /// <summary>
    /// Through which index the log is known to be committed by the notes in it; 0 when there are none.
    /// </summary>
    public long CommittedIndex { get; private set; }

    /// <summary>The configurations in the log and the one before it, by index.</summary>
    public IReadOnlyList<(long Index, byte[] Payload)> Configurations => _configurations;

    public ReadOnlyMemory<byte> Configuration => _configurations.Count == 0 ? default : _configurations[^1].Payload;

    public long ConfigurationIndex => _configurations.Count == 0 ? 0 : _configurations[^1].Index;

    public IReadOnlyList<LogSpan> Spans => _spans;

    /// <summary>A log that has no frames yet and goes on behind <paramref name="position"/>.</summary>
    public static LogMap Empty(JournalPosition position) => new(position);

    /// <summary>
    /// A log without frames behind a state that takes the place of <paramref name="before"/>. The vote, and what was
    /// acknowledged and lost, are this node's own and stay.
    /// </summary>
    public static LogMap Behind(in JournalRebase rebase, LogMap before)
    {
        var map = new LogMap(rebase.Position) { Vote = before.Vote };
        map.Lose(before.Lost);
        if (!rebase.Configuration.IsEmpty)
        {
            map._configurations.Add((rebase.ConfigurationIndex, rebase.Configuration.ToArray()));
        }

        return map;
    }

    /// <summary>
    /// The configuration that is in force behind an index: its own index (0 when there is none) and payload.
    /// </summary>
    public (long Index, ReadOnlyMemory<byte> Payload) ConfigurationAt(long index)
    {
        var (found, payload) = _configurations.FindLast(configuration => configuration.Index <= index);
        return (found, payload);
    }

    /// <summary>Whether a frame with this header may stand at the end of the log.</summary>
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

    /// <summary>Adds the frame at <paramref name="offset"/>.</summary>
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
        if (_spanIsOpen && _spans[^1].Segment == segment)
        {
            _spans[^1] = _spans[^1] with { LastIndex = header.Index };
            return;
        }

        _spans.Add(new LogSpan(segment, header.Index, header.Index, offset, header.Write));
        _spanIsOpen = true;
    }

    /// <summary>
    /// What the header of a further segment repeats was true when it was begun, and may have been in a gap before it.
    /// </summary>
    public void TakeOver(SegmentHeader header)
    {
        (Vote, Lost) = (header.Vote, header.Lost);
        if (
            !header.Configuration.IsEmpty
            && (_configurations.Count == 0 || header.ConfigurationIndex != ConfigurationIndex)
        )
        {
            _configurations.Add((header.ConfigurationIndex, header.Configuration.ToArray()));
        }
    }

    /// <summary>
    /// What was behind the end of the log cannot be read, or not without a gap: the vote in it still counts, and so
    /// does how far it may have been acknowledged.
    /// </summary>
    public void Lose(EntryPosition through, ReadOnlyMemory<byte> vote)
    {
        Vote = vote;
        Lose(through);
    }

    /// <summary>
    /// Everything before <paramref name="position"/> is unreadable here but held by the manifest: the readable log
    /// begins behind it.
    /// </summary>
    public void BeginAgainAt(JournalPosition position, DamageSurvey gap)
    {
        Vote = gap.Vote;
        _configurations.Clear();
        _configurations.AddRange(gap.Configurations);
        _spans.Clear();
        _spanIsOpen = false;
        Base = position;
        Position = position;
    }

    /// <summary>Forgets the frames of segments before <paramref name="first"/>.</summary>
    public void Release(Segment first)
    {
        var released = first.Header!.Position;
        Base = released.Index > Base.Index ? released : Base;
        long from = FirstIndex;
        _spans.RemoveAll(span => span.LastIndex < from);
        _spanIsOpen &= _spans.Count > 0;
    }

    private void Lose(EntryPosition through)
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
        _spanIsOpen = false;
        Base = end.Index < Base.Index ? end : Base;
        Position = end;
    }
}
