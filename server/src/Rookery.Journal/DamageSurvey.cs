namespace Rookery.Journal;

/// <summary>
/// Surveys a damaged journal from its first unreadable place (the gap) on. Finds the log's end, the last vote and the
/// configurations, and whether unreadable bytes may hide a newer vote or configuration.
/// </summary>
/// <remarks>
/// Landmarks are votes, configurations and truncations. Each frame contains the number of landmarks in its segment so
/// far, so the first frame after a gap shows whether the gap contains any. The header of each later segment repeats the
/// state before it. The log's end is taken from frame headers, without checking payloads: an end that is too late is
/// safe, an end that is too early is not.
/// </remarks>
internal sealed class DamageSurvey
{
    private readonly List<(long Index, byte[] Payload)> _configurations;
    private readonly long _manifestIndex;
    private int _landmarks; // in the current segment so far
    private int _framesSeen;

    private DamageSurvey(LogMap readable, long manifestIndex)
    {
        _configurations = [.. readable.Configurations];
        _manifestIndex = manifestIndex;
        End = readable.End;
        Vote = readable.Vote;
    }

    /// <summary>Position of the last entry that the log had.</summary>
    public EntryPosition End { get; private set; }

    /// <summary>
    /// Position through which an earlier start found acknowledged entries lost. It is recorded again, so that further
    /// damage before the repair cannot hide that loss.
    /// </summary>
    public EntryPosition Lost { get; private set; }

    /// <summary>The highest write number found.</summary>
    public long HighestWrite { get; private set; }

    /// <summary>The newest readable vote.</summary>
    public ReadOnlyMemory<byte> Vote { get; private set; }

    /// <summary>Whether the unreadable bytes cannot contain a newer vote.</summary>
    public bool IsVoteKnown { get; private set; } = true;

    /// <summary>
    /// Whether <see cref="Configurations"/> contains the configuration in force at the manifest's index.
    /// </summary>
    public bool IsConfigurationKnown { get; private set; } = true;

    /// <summary>The configurations of the log, including those before the gap.</summary>
    public IReadOnlyList<(long Index, byte[] Payload)> Configurations => _configurations;

    /// <summary>Surveys everything from a gap to the end of the journal.</summary>
    /// <param name="readable">The log before the gap.</param>
    /// <param name="manifestIndex">Index through which the storage is durable without the journal.</param>
    /// <param name="segments">The segment with the gap, and the segments after it.</param>
    /// <param name="from">Offset of the gap in the first segment.</param>
    /// <param name="write">Number of the journal write that could not be read.</param>
    public static DamageSurvey SurveyToEnd(
        LogMap readable,
        long manifestIndex,
        IReadOnlyList<Segment> segments,
        long from,
        long write
    )
    {
        var survey = new DamageSurvey(readable, manifestIndex) { _landmarks = segments[0].Landmarks };
        survey.Scan(
            segments[0],
            from,
            segments.Count == 1 ? segments[0].Length : segments[1].Header!.PreviousEnd,
            write
        );
        for (int i = 1; i < segments.Count; i++)
        {
            survey.AdoptHeader(segments[i].Header!);
            survey.Scan(
                segments[i],
                FrameLayout.FirstFrameOffset,
                i == segments.Count - 1 ? segments[i].Length : segments[i + 1].Header!.PreviousEnd,
                write: 0
            );
        }

        // If no frame follows the gap, or a part of the file is missing, the content of the gap is unknown.
        var last = segments[^1];
        if ((segments.Count == 1 && survey._framesSeen == 0) || last.Length < last.Header!.SegmentBytes)
        {
            survey.MarkUnknown();
        }

        return survey;
    }

    /// <summary>Surveys a gap after which the log continues in the same segment.</summary>
    /// <param name="readable">The log before the gap.</param>
    /// <param name="manifestIndex">Index through which the storage is durable without the journal.</param>
    /// <param name="segment">The segment with the gap.</param>
    /// <param name="from">Offset of the gap.</param>
    /// <param name="to">Offset at which the log continues.</param>
    /// <param name="write">Number of the journal write that could not be read.</param>
    public static DamageSurvey SurveyGap(
        LogMap readable,
        long manifestIndex,
        Segment segment,
        long from,
        long to,
        long write
    )
    {
        var survey = new DamageSurvey(readable, manifestIndex) { _landmarks = segment.Landmarks };
        survey.Scan(segment, from, to, write);
        return survey;
    }

    /// <summary>
    /// Returns the configuration in force at the manifest's index: its own index (0 if there is none) and its payload.
    /// </summary>
    public (long Index, ReadOnlyMemory<byte> Payload) ConfigurationAtManifest()
    {
        var (index, payload) = _configurations.FindLast(configuration => configuration.Index <= _manifestIndex);
        return (index, payload);
    }

    private void AdoptHeader(SegmentHeader header)
    {
        End = new EntryPosition(header.Position.Term, header.Position.Index);
        Lost = EntryPosition.Later(Lost, header.Lost);
        HighestWrite = Math.Max(HighestWrite, header.FirstWrite - 1);
        Vote = header.Vote;
        IsVoteKnown = true;
        AddConfiguration(header.ConfigurationIndex, header.Configuration);
        IsConfigurationKnown |= header.ConfigurationIndex <= _manifestIndex;
        _landmarks = 0;
    }

    private void Scan(Segment segment, long from, long to, long write)
    {
        foreach (var (offset, header) in FrameScan.HeadersAnywhere(segment, from, to))
        {
            if (header.Generation == segment.Generation && header.Write >= write)
            {
                AddFrame(segment, header, offset);
            }
        }
    }

    private void AddFrame(Segment segment, in FrameHeader header, long offset)
    {
        bool repeatsVote = (header.Flags & FrameFlags.VoteCopy) != FrameFlags.None && header.Landmarks == _landmarks;
        int landmarksBefore = header.Landmarks - (header.IsLandmark ? 1 : 0);
        if (header.Landmarks == FrameHeader.UnknownLandmarks || (!repeatsVote && landmarksBefore != _landmarks))
        {
            MarkUnknown();
        }

        _framesSeen++;
        _landmarks = header.Landmarks;
        HighestWrite = Math.Max(HighestWrite, header.Write);
        switch (header.Type)
        {
            case FrameType.Vote when TryRead(segment, header, offset, out byte[] vote):
                Vote = vote;
                IsVoteKnown = true;
                break;
            case FrameType.Vote:
                IsVoteKnown &= repeatsVote;
                break;
            case FrameType.Truncation:
                End = new EntryPosition(header.Term, header.Index);
                _configurations.RemoveAll(configuration => configuration.Index > End.Index);
                break;
            case FrameType.Configuration when TryRead(segment, header, offset, out byte[] configuration):
                AddConfiguration(header.Index, configuration);
                break;
            case FrameType.Configuration:
                IsConfigurationKnown = false;
                break;
        }

        if (header.IsReplicated || (header.RecordsLogEnd && header.Index > 0))
        {
            End = new EntryPosition(header.Term, header.Index);
        }
    }

    private void MarkUnknown() => (IsVoteKnown, IsConfigurationKnown) = (false, false);

    private void AddConfiguration(long index, ReadOnlyMemory<byte> configuration)
    {
        _configurations.RemoveAll(older => older.Index >= index);
        if (!configuration.IsEmpty)
        {
            _configurations.Add((index, configuration.ToArray()));
        }
    }

    private static bool TryRead(Segment segment, in FrameHeader header, long offset, out byte[] payload)
    {
        payload = new byte[Math.Clamp(header.PayloadLength, 0, SegmentHeader.MaxConfigurationBytes)];
        return payload.Length == header.PayloadLength
            && segment.File.Read(payload, offset + FrameHeader.Bytes) == payload.Length
            && Payload.IsIntact(payload)
            && Payload.ChecksumIn(payload) == header.PayloadChecksum;
    }
}
