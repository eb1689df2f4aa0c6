namespace Rookery.Journal;

/// <summary>
/// What a damaged journal still says behind the place that cannot be read: how far the log went, whom the node voted
/// for last, who belonged to the cluster, and whether any of that may be hidden in what cannot be read.
/// </summary>
/// <remarks>
/// Each frame says how many landmarks (votes, configurations, truncations) its segment had up to it, so the first one
/// behind a gap shows whether the gap holds any. A header of a further segment repeats all that counts. Only headers
/// are believed for how far the log went: too far is safe, too short is not.
/// </remarks>
internal sealed class DamageSurvey
{
    private readonly List<(long Index, byte[] Payload)> _configurations;
    private readonly long _manifestIndex;
    private int _landmarks;
    private int _seen;

    private DamageSurvey(LogMap readable, long manifestIndex)
    {
        _configurations = [.. readable.Configurations];
        _manifestIndex = manifestIndex;
        End = readable.End;
        Vote = readable.Vote;
    }

    /// <summary>The last entry that the log had.</summary>
    public EntryPosition End { get; private set; }

    /// <summary>
    /// What an earlier start knew to be lost: rot that strikes again before it was given back must not make it
    /// forgotten.
    /// </summary>
    public EntryPosition Lost { get; private set; }

    /// <summary>The highest number of a journal write.</summary>
    public long HighestWrite { get; private set; }

    /// <summary>The newest vote that can be read.</summary>
    public ReadOnlyMemory<byte> Vote { get; private set; }

    /// <summary>Whether no newer vote can have been in what cannot be read.</summary>
    public bool VoteIsKnown { get; private set; } = true;

    /// <summary>Whether <see cref="Configurations"/> tell the one in force at the manifest's index.</summary>
    public bool ConfigurationIsKnown { get; private set; } = true;

    /// <summary>The configurations of the log, those before the gap among them.</summary>
    public IReadOnlyList<(long Index, byte[] Payload)> Configurations => _configurations;

    /// <summary>Everything from a gap to the end of the journal.</summary>
    /// <param name="readable">What could be read before the gap.</param>
    /// <param name="manifestIndex">The index through which the manifest holds everything.</param>
    /// <param name="segments">The segment with the gap, and those that follow.</param>
    /// <param name="from">Where the gap begins.</param>
    /// <param name="write">The journal write that could not be read.</param>
    public static DamageSurvey OfAll(
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
            survey.Enter(segments[i].Header!);
            survey.Scan(
                segments[i],
                FrameLayout.FirstFrameOffset,
                i == segments.Count - 1 ? segments[i].Length : segments[i + 1].Header!.PreviousEnd,
                write: 0
            );
        }

        // Nothing behind the gap says what was in it; nor does anything say what was in a part of the file that is not
        // there.
        var last = segments[^1];
        if ((segments.Count == 1 && survey._seen == 0) || last.Length < last.Header!.SegmentBytes)
        {
            survey.Doubt();
        }

        return survey;
    }

    /// <summary>A gap behind which reading goes on.</summary>
    /// <param name="readable">What could be read before the gap.</param>
    /// <param name="manifestIndex">The index through which the manifest holds everything.</param>
    /// <param name="segment">The segment.</param>
    /// <param name="from">Where the gap begins.</param>
    /// <param name="to">Where reading goes on.</param>
    /// <param name="write">The journal write that could not be read.</param>
    public static DamageSurvey OfGap(
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
    /// The configuration in force at the manifest's index: its own index (0 when there is none) and payload.
    /// </summary>
    public (long Index, ReadOnlyMemory<byte> Payload) ConfigurationAtManifest()
    {
        var (index, payload) = _configurations.FindLast(configuration => configuration.Index <= _manifestIndex);
        return (index, payload);
    }

    private void Enter(SegmentHeader header)
    {
        End = new EntryPosition(header.Position.Term, header.Position.Index);
        Lost = EntryPosition.Later(Lost, header.Lost);
        HighestWrite = Math.Max(HighestWrite, header.FirstWrite - 1);
        (Vote, VoteIsKnown) = (header.Vote, true);
        Add(header.ConfigurationIndex, header.Configuration);
        ConfigurationIsKnown |= header.ConfigurationIndex <= _manifestIndex;
        _landmarks = 0;
    }

    private void Scan(Segment segment, long from, long to, long write)
    {
        foreach (var (offset, header) in FrameScan.HeadersAnywhere(segment, from, to))
        {
            if (header.Incarnation == segment.Incarnation && header.Write >= write)
            {
                Take(segment, header, offset);
            }
        }
    }

    private void Take(Segment segment, in FrameHeader header, long offset)
    {
        bool repeatsVote = (header.Flags & FrameFlags.VoteCopy) != FrameFlags.None && header.Landmarks == _landmarks;
        if (
            header.Landmarks == FrameHeader.UnknownLandmarks
            || (!repeatsVote && header.Landmarks - (header.IsLandmark ? 1 : 0) != _landmarks)
        )
        {
            Doubt();
        }

        _seen++;
        _landmarks = header.Landmarks;
        HighestWrite = Math.Max(HighestWrite, header.Write);
        switch (header.Type)
        {
            case FrameType.Vote when TryRead(segment, header, offset, out byte[] vote):
                (Vote, VoteIsKnown) = (vote, true);
                break;
            case FrameType.Vote:
                VoteIsKnown &= repeatsVote;
                break;
            case FrameType.Truncation:
                End = new EntryPosition(header.Term, header.Index);
                _configurations.RemoveAll(configuration => configuration.Index > End.Index);
                break;
            case FrameType.Configuration when TryRead(segment, header, offset, out byte[] configuration):
                Add(header.Index, configuration);
                break;
            case FrameType.Configuration:
                ConfigurationIsKnown = false;
                break;
        }

        End =
            header.IsReplicated || (header.TellsEnd && header.Index > 0)
                ? new EntryPosition(header.Term, header.Index)
                : End;
    }

    private void Doubt() => (VoteIsKnown, ConfigurationIsKnown) = (false, false);

    private void Add(long index, ReadOnlyMemory<byte> configuration)
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
