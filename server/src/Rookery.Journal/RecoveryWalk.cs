namespace Rookery.Journal;

/// <summary>
/// Recovers a journal: finds the chain of segments that the storage still needs, reads it to its end, and judges that
/// end by <see cref="RecoveryTable"/>.
/// </summary>
/// <remarks>Changes nothing on disk, except that case B creates a second hard link to each damaged segment.</remarks>
internal sealed class RecoveryWalk(JournalDirectory directory, JournalOptions options, JournalKnowledge knowledge)
{
    private readonly bool _isDiscarded = IsDiscarded(directory, knowledge);

    // Only the vote of a discarded log counts. It is in the newest segment, and the manifest proves nothing about that
    // segment's end.
    private readonly JournalKnowledge _knowledge = IsDiscarded(directory, knowledge)
        ? knowledge with
        {
            ManifestIndex = 0,
            ManifestTerm = 0,
            ManifestOperations = 0,
        }
        : knowledge;
    private FrameType _lastFrame; // in the current segment
    private long _lastWrite;
    private long _highestWrite;
    private TailVerdict _verdict;
    private string _sentence = "";

    /// <summary>
    /// Whether the journal is only read, and no node starts on it. Nothing on disk may then change, and a lost vote
    /// does not matter.
    /// </summary>
    public bool IsForReading { get; init; }

    /// <summary>The segments in use, oldest first; empty for a new journal.</summary>
    public List<Segment> Live { get; } = [];

    /// <summary>The log that the readable frames form; null for a new journal.</summary>
    public LogMap? Map { get; private set; }

    /// <summary>
    /// Offset of the last write in the last segment; the first frame's offset if the segment has no write.
    /// </summary>
    public long LastWriteOffset { get; private set; }

    /// <summary>The verdict on the log's end.</summary>
    public TailVerdict TailVerdict { get; private set; }

    /// <summary>
    /// The write number to continue from. After a torn write one number is skipped, because the torn write may have
    /// used it.
    /// </summary>
    public long LastWrite =>
        TailVerdict == TailVerdict.ContinueAfterCleanStop
            ? _lastWrite
            : Math.Max(Math.Max(_lastWrite, _highestWrite) + 1, directory.Note.End.Write);

    /// <summary>The reset that the journal needs; null if its log continues.</summary>
    public JournalReset? PendingReset { get; private set; } =
        IsDiscarded(directory, knowledge) ? knowledge.PendingReset : null;

    public List<string> KeptAside { get; } = [];

    /// <summary>
    /// Segments after the log's end in case B. They are kept until that end is durable, because they prove that entries
    /// are lost.
    /// </summary>
    public List<Segment> Dropped { get; } = [];

    /// <summary>The entries and truncations that were read, in order.</summary>
    public List<RecoveredEntry> Entries { get; } = [];

    public EntryPosition MayHaveAcknowledged
    {
        get
        {
            EntryPosition end = PendingReset is { } reset
                ? new(reset.Position.Term, reset.Position.Index)
                : Map?.End ?? default;
            return EntryPosition.Later(Map?.Lost ?? default, end);
        }
    }

    /// <summary>
    /// Creates the report. A skipped gap (case D) takes precedence over the verdict on the log's end.
    /// </summary>
    public JournalRecovery Report(IEnumerable<string> setAside)
    {
        string[] aside = [.. KeptAside, .. setAside];
        string note = aside.Length == 0 ? "" : $" Set aside: {string.Join(", ", aside)}.";
        if (directory.Note.Trouble is { } trouble)
        {
            note +=
                $" {trouble} Without that file it is unknown whether a newer segment is missing; "
                + "a start writes the file again.";
        }

        return new JournalRecovery(
            _verdict,
            RecoveryTable.LabelOf(_verdict),
            _sentence + note,
            MayHaveAcknowledged,
            aside
        );
    }

    /// <summary>Reads the journal and judges its end.</summary>
    /// <exception cref="JournalDamagedException">Case C.</exception>
    public void Run()
    {
        if (!FindChain())
        {
            SetVerdict(TailVerdict.BeginNew, $"{options.Directory} held no journal; a new one was begun.");
            return;
        }

        Map = new LogMap(Live[0].Header!);
        for (int i = 0; i < Live.Count; i++)
        {
            if (Live[i].Header!.Position != Map.Position)
            {
                // The previous segment ended at the offset in this header, but at another log position.
                ThrowDamaged(Live[i].File.Path, offset: 0, Live[^1].Header!.Position.Index);
            }

            Map.AdoptHeader(Live[i].Header!);

            if (!Walk(i))
            {
                DropSegmentsAfter(i);
                break;
            }
        }

        if (_isDiscarded && PendingReset is { } reset)
        {
            _verdict = TailVerdict.ContinueAfterSnapshot;
            _sentence +=
                $" A snapshot through index {reset.Position.Index} had been installed from another member: the "
                + $"journal discards its log and continues after that index.";
        }
    }

    private static bool IsDiscarded(JournalDirectory directory, in JournalKnowledge knowledge) =>
        directory.Used.Count > 0
        && RecoveryTable.IsDiscarded(knowledge.PendingReset?.Mark ?? 0, directory.Used[^1].Header!.ResetMark);

    /// <summary>Collects the segments from the newest back to the one with the manifest's index.</summary>
    private bool FindChain()
    {
        if (directory.Used.Count == 0)
        {
            if (
                _knowledge.ExistedBefore
                || directory.IsNewestMissing
                || directory.OrphanHoldsLaterWrite
                || _knowledge.ManifestIndex > 0
            )
            {
                string file = directory.Orphan?.File.Path ?? options.Directory;
                string loss =
                    _knowledge.ManifestIndex == 0
                        ? "the manifest holds nothing yet, and everything that was acknowledged would be lost"
                        : $"the manifest holds everything through index {_knowledge.ManifestIndex}, and what "
                            + $"was acknowledged after it would be lost";
                throw new JournalDamagedException(
                    $"{file} holds no readable journal, but this node has written one: {loss}. Nothing was "
                        + $"changed. Put the journal's files back (was the journal directory changed?), or "
                        + $"{RepairAdvice}.",
                    file,
                    offset: 0
                );
            }

            return false;
        }

        var segment = directory.Used[^1];
        Live.Add(segment);
        while (PendingReset is null && segment.Header!.Position.Index > _knowledge.ManifestIndex)
        {
            var previous =
                segment.Header.PreviousGeneration == 0
                    ? null
                    : directory.WithGeneration(segment.Header.PreviousGeneration);
            if (previous is null)
            {
                throw new JournalDamagedException(
                    $"The journal segment before {segment.File.Path} is missing or has lost its header: "
                        + $"entries {_knowledge.ManifestIndex + 1} to {segment.Header.Position.Index} would be "
                        + $"lost. Nothing was changed. Put the file back, or {RepairAdvice}.",
                    segment.File.Path,
                    offset: 0
                );
            }

            segment = previous;
            Live.Insert(0, segment);
        }

        return true;
    }

    /// <summary>Reads one segment into the map.</summary>
    /// <returns>False if the log ends here although segments follow.</returns>
    private bool Walk(int i)
    {
        var segment = Live[i];
        bool isLast = i == Live.Count - 1;
        long end = isLast ? segment.Length : Live[i + 1].Header!.PreviousEnd;
        long offset = FrameLayout.FirstFrameOffset;
        LastWriteOffset = offset;
        _lastFrame = default;
        segment.Landmarks = 0;
        _lastWrite = segment.Header!.FirstWrite - 1;
        _highestWrite = _lastWrite;
        var walker = new SegmentWalker(segment, offset, end, _lastWrite + 1);
        try
        {
            while (isLast || walker.Offset < end)
            {
                offset = walker.Offset;
                bool isWhole = walker.Next(out var header, out var payload);
                if (isWhole && Map!.Accepts(header))
                {
                    AddFrame(segment, header, payload, offset);
                    continue;
                }

                long gapWrite = isWhole ? walker.Write : walker.ExpectedWrite;
                var after = FrameScan.FindFramesAfter(segment, isWhole ? walker.Offset : offset, end, gapWrite);
                bool hasLostEnd = isLast && HasLostEnd(after);
                bool wasDurable = isWhole || !isLast || hasLostEnd || WasDurable(segment, after);
                var survey = wasDurable
                    ? DamageSurvey.SurveyToEnd(Map!, _knowledge.ManifestIndex, Live[i..], offset, gapWrite)
                    : null;
                var decided = Judge(i, after, survey, hasLostEnd);
                if (decided == TailVerdict.SkipAppliedGap)
                {
                    SkipGap(segment, offset, after, gapWrite);
                    walker.Dispose();
                    walker = new SegmentWalker(segment, after.ResumeOffset, end, after.Resume.Write);
                    continue;
                }

                _highestWrite = Math.Max(Math.Max(after.HighestWrite, _lastWrite), survey?.HighestWrite ?? 0);
                segment.End = offset;
                EndLog(segment, offset, decided, survey, hasLostEnd);
                return isLast;
            }
        }
        finally
        {
            walker.Dispose();
        }

        segment.End = end;
        return true;
    }

    /// <summary>
    /// Case B: keeps the segments after the damage aside for the operator. The log ends before the damage.
    /// </summary>
    private void DropSegmentsAfter(int i)
    {
        foreach (var segment in Live.Skip(i + 1))
        {
            KeepAside(segment);
            Dropped.Add(segment);
        }

        Live.RemoveRange(i + 1, Live.Count - i - 1);
    }

    private void AddFrame(Segment segment, in FrameHeader header, ReadOnlyMemory<byte> payload, long offset)
    {
        Map!.Append(segment, header, payload, offset);
        if (header.IsReplicated || header.Type == FrameType.Truncation)
        {
            var configuration = header.Type == FrameType.Configuration ? Map.Configuration : default;
            Entries.Add(
                new RecoveredEntry(
                    header.Type,
                    header.Index,
                    header.Term,
                    header.OperationsBefore,
                    header.OperationCount,
                    payload.Length,
                    configuration
                )
            );
        }

        _lastFrame = header.Type;
        segment.Landmarks += header.IsLandmark ? 1 : 0;
        if (header.Write != _lastWrite)
        {
            LastWriteOffset = offset;
            _lastWrite = header.Write;
        }
    }

    /// <summary>
    /// Returns whether something other than a later segment proves that the unreadable bytes were durable. A log that
    /// ends before the manifest's index is no proof if an earlier start already recorded that loss.
    /// </summary>
    private bool WasDurable(Segment segment, in FramesAfterGap after) =>
        after.HasLaterWrite
        || directory.OrphanHoldsLaterWrite
        || directory.IsNewestMissing
        || segment.Length < segment.Header!.SegmentBytes
        || (EndsBeforeManifest && ManifestEnd.IsLaterThan(Map!.Lost));

    /// <summary>
    /// Returns whether the note proves that the journal's end is lost: it names a later write than any that was found.
    /// A member may have voted in that write. A node without peers lost something only if neither log nor manifest
    /// reaches the index in the note.
    /// </summary>
    private bool HasLostEnd(in FramesAfterGap after) =>
        LacksNotedWrite(after)
        && (_knowledge.HasPeers || directory.Note.End.Index > Math.Max(Map!.Position.Index, _knowledge.ManifestIndex));

    private bool LacksNotedWrite(in FramesAfterGap after) =>
        directory.Note.End.Write > (after.HasLaterWrite ? after.HighestWrite : _lastWrite);

    private bool EndsBeforeManifest => Map!.Position.Index < _knowledge.ManifestIndex;

    private EntryPosition ManifestEnd => new(_knowledge.ManifestTerm, _knowledge.ManifestIndex);

    private TailVerdict Judge(int i, in FramesAfterGap after, DamageSurvey? survey, bool hasLostEnd)
    {
        bool manifestCoversGap =
            i == 0
            && after.ResumeOffset >= 0
            && after.Resume.Index <= _knowledge.ManifestIndex + 1
            && (!_knowledge.HasPeers || MayContinueAfterGap(survey!));

        // A missing newest segment, one without a header, or a lost end may have contained a vote.
        bool mayHaveLostVote = directory.OrphanHoldsLaterWrite || directory.IsNewestMissing || hasLostEnd;
        return RecoveryTable.JudgeFirstInvalidFrame(
            wasDurable: survey is not null,
            stoppedCleanly: _lastFrame == FrameType.CleanStop && !LacksNotedWrite(after),
            _knowledge.HasPeers,
            manifestCoversGap,
            isVoteKnown: survey is null || IsForReading || (survey.IsVoteKnown && !mayHaveLostVote)
        );
    }

    /// <summary>
    /// Returns whether a member may continue after the gap. The member must know the configuration at that place,
    /// because the others do not send it again.
    /// </summary>
    private bool MayContinueAfterGap(DamageSurvey survey) => survey.IsConfigurationKnown || !EndsBeforeManifest;

    private void SkipGap(Segment segment, long offset, in FramesAfterGap after, long gapWrite)
    {
        var resume = after.Resume;
        var gap = DamageSurvey.SurveyGap(Map!, _knowledge.ManifestIndex, segment, offset, after.ResumeOffset, gapWrite);
        SetVerdict(
            TailVerdict.SkipAppliedGap,
            $"{segment.File.Path} is damaged from offset {offset} to {after.ResumeOffset}; the manifest "
                + $"holds all of it, so nothing is lost."
        );
        long term = resume.Index - 1 == _knowledge.ManifestIndex ? _knowledge.ManifestTerm : 0;
        Map!.RestartAfter(new JournalPosition(resume.Index - 1, term, resume.OperationsBefore), gap);
        Entries.Clear();
        segment.Landmarks =
            resume.Landmarks == FrameHeader.UnknownLandmarks
                ? segment.Landmarks
                : resume.Landmarks - (resume.IsLandmark ? 1 : 0);
        _lastFrame = default;
    }

    private void EndLog(Segment segment, long offset, TailVerdict decided, DamageSurvey? survey, bool hasLostEnd)
    {
        string place = $"{segment.File.Path} ends at offset {offset}, index {Map!.Position.Index}";
        switch (decided)
        {
            case TailVerdict.StopAndExplain when directory.IsNewestMissing:
                throw new JournalDamagedException(
                    $"The journal's newest segment is missing from {options.Directory}, or has lost its header, as "
                        + $"{NewestNote.PathIn(options.Directory)} shows: what was acknowledged after index "
                        + $"{Math.Max(Map.Position.Index, _knowledge.ManifestIndex)} would be lost. Nothing "
                        + $"was changed. "
                        + $"Put the file back, or {RepairAdvice}.",
                    options.Directory,
                    offset: 0
                );
            case TailVerdict.StopAndExplain when hasLostEnd:
                throw new JournalDamagedException(
                    $"{segment.File.Path}, the journal's newest segment, is an older copy or has lost its end, as "
                        + $"{NewestNote.PathIn(options.Directory)} shows: what was acknowledged after index "
                        + $"{Math.Max(Map.Position.Index, _knowledge.ManifestIndex)} would be lost. Nothing "
                        + $"was changed. "
                        + $"Put the file back as it was last, or {RepairAdvice}.",
                    segment.File.Path,
                    offset
                );
            case TailVerdict.StopAndExplain:
                ThrowDamaged(segment.File.Path, offset, survey!.End.Index);
                break;
            case TailVerdict.RepairFromPeers:
                KeepAside(segment);
                EndBeforeDamage(survey!, hasLostEnd);
                SetVerdict(
                    decided,
                    $"{place}; the durable entries after it are damaged, through index "
                        + $"{MayHaveAcknowledged.Index}: other members must resend them."
                );
                break;
            case TailVerdict.ContinueAfterCleanStop:
                SetVerdict(decided, $"{place}; the node had stopped cleanly.");
                break;
            default:
                SetVerdict(
                    decided,
                    $"{place}; the node had not stopped cleanly, and no later write had been acknowledged."
                );
                break;
        }
    }

    /// <summary>
    /// Ends the log before damaged entries that may have been acknowledged, and keeps the vote found after them. A log
    /// that ends before the manifest's index is reset to that index, if the configuration there is known.
    /// </summary>
    private void EndBeforeDamage(DamageSurvey survey, bool hasLostEnd)
    {
        // If the newest segment is missing, at least one more entry existed.
        var end = directory.IsNewestMissing ? survey.End with { Index = survey.End.Index + 1 } : survey.End;
        if (hasLostEnd)
        {
            end = end with { Index = Math.Max(end.Index, directory.Note.End.Index) };
        }

        Map!.RecordLoss(EntryPosition.Later(EntryPosition.Later(end, survey.Lost), ManifestEnd), survey.Vote);
        if (EndsBeforeManifest && survey.IsConfigurationKnown)
        {
            var (index, configuration) = survey.ConfigurationAtManifest();
            PendingReset = new JournalReset(
                Live[0].Header!.ResetMark,
                new JournalPosition(_knowledge.ManifestIndex, _knowledge.ManifestTerm, _knowledge.ManifestOperations),
                index,
                configuration
            );
        }
    }

    private void KeepAside(Segment segment)
    {
        if (!IsForReading)
        {
            KeptAside.Add(directory.KeepAside(segment));
        }
    }

    /// <summary>
    /// The advice for a file that cannot be restored. A member must not use an older copy, because it may have voted
    /// since.
    /// </summary>
    private string RepairAdvice =>
        _knowledge.HasPeers
            ? "replace this member, whose last vote may be lost too: `rookery cluster node replace NAME` on "
                + "another one, and a join with an empty data directory"
            : "restore a backup";

    private void ThrowDamaged(string file, long offset, long provenThrough)
    {
        long from = Math.Max(Map!.Position.Index, _knowledge.ManifestIndex) + 1;
        long through = Math.Max(provenThrough, _knowledge.ManifestIndex);
        string loss =
            through >= from
                ? $"entries {from} to at least {through} would be lost"
                : $"entries from {from} on would be lost, if there were any";
        throw new JournalDamagedException(
            $"{file} is damaged at offset {offset}, in a part that had been made durable: {loss}. Nothing "
                + $"was changed. Put back an undamaged copy of the file, or {RepairAdvice}.",
            file,
            offset
        );
    }

    private void SetVerdict(TailVerdict decided, string sentence)
    {
        TailVerdict = decided;
        bool keepsEarlier = _verdict == TailVerdict.SkipAppliedGap;
        _sentence = keepsEarlier ? $"{_sentence} {sentence}" : sentence;
        _verdict = keepsEarlier ? _verdict : decided;
    }
}
