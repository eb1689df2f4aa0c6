using Rookery.Hosting.Logging;
using Rookery.Platform;
using Rookery.Terminal;

namespace Rookery.Transfer;

/// <summary>Sends the records of an input in parts. While the node stores one part, the next is read.</summary>
/// <param name="upload">Sends the parts to the node.</param>
/// <param name="start">The starting point: the beginning, or the end of an earlier import.</param>
/// <param name="journalPath">The file that records how far the import has come; null for none.</param>
/// <param name="progress">Shows the progress.</param>
internal sealed class Import(ImportUpload upload, ImportJournal start, string? journalPath, Progress progress)
{
    private const int PartBytes = 4 << 20;
    private const int PartRecords = 8192;
    private const int MaxReasonsShown = 100;

    private static readonly Task<PartResult> NothingToSend = Task.FromResult(new PartResult(0, 0, []));

    private readonly RecordId _ids = new(start.Seed);
    private ImportJournal _journal = start;
    private long _reasonsShown;
    private BadInputException? _failure; // thrown once the records before the unreadable place are sent
    private bool _hasReportedUnwritable;

    /// <summary>How far the import has come.</summary>
    public ImportJournal Result => _journal;

    /// <summary>Documents sent by this import, without earlier ones that it continues, that list counters.</summary>
    public long WithoutCounters { get; private set; }

    /// <summary>Documents sent by this import, without earlier ones that it continues, that list attachments.</summary>
    public long WithoutAttachments { get; private set; }

    /// <summary>Whether a part was sent whose result is not known yet.</summary>
    public bool IsUnanswered { get; private set; }

    /// <summary>Whether a later import can continue where this one ends.</summary>
    public bool CanBeResumed => File.Exists(journalPath);

    /// <summary>
    /// Sends all records after the starting point. If the input cannot be read to its end, sends the records before
    /// that place and throws.
    /// </summary>
    /// <param name="source">The records.</param>
    /// <param name="bytesRead">Returns how many bytes of the input were read.</param>
    /// <exception cref="BadInputException">The input cannot be read to its end.</exception>
    public async Task RunAsync(IRecordSource source, Func<long> bytesRead)
    {
        long skipped = 0;
        while (skipped < _journal.Records)
        {
            if (!source.TryRead(out _))
            {
                throw new BadInputException(
                    $"The input has fewer than the {Amount.Number(_journal.Records)} records that were imported "
                        + "already, so it has changed."
                );
            }

            skipped++;
        }

        progress.BeginAt(_journal.Stored, bytesRead());
        var (next, sent) = (new Part(), new Part());
        Task<PartResult>? sending = null;
        long records = _journal.Records;
        bool hasMore = true;
        while (hasMore)
        {
            hasMore = Fill(next, source, ref records);
            if (sending is not null)
            {
                RecordResult(sent, await sending, source.PlaceName);
                progress.Report(_journal.Stored, bytesRead());
            }

            (next, sent) = (sent, next);
            sending = sent.Records == 0 ? null : SendAsync(sent);
            next.Clear();
        }

        if (sending is not null)
        {
            RecordResult(sent, await sending, source.PlaceName);
        }

        if (_failure is not null)
        {
            throw _failure;
        }
    }

    private Task<PartResult> SendAsync(Part part)
    {
        if (part.Places.Count == 0)
        {
            return NothingToSend;
        }

        IsUnanswered = true;
        return upload.SendAsync(part.Lines.GetBuffer().AsMemory(0, (int)part.Lines.Length));
    }

    private bool TryRead(IRecordSource source, out ImportRecord record)
    {
        try
        {
            return source.TryRead(out record);
        }
        catch (BadInputException failure)
        {
            _failure = failure;
            record = default;
            return false;
        }
    }

    /// <summary>Fills a part with the next records.</summary>
    /// <param name="part">The empty part.</param>
    /// <param name="source">The records.</param>
    /// <param name="records">The number of records read so far, which is raised.</param>
    /// <returns>False at the end of the input, or where it cannot be read further.</returns>
    private bool Fill(Part part, IRecordSource source, ref long records)
    {
        while (part.Lines.Length < PartBytes && part.Records < PartRecords)
        {
            if (!TryRead(source, out var record))
            {
                return false;
            }

            records++;
            string? error = record.Error;
            var json = error is null ? _ids.Complete(record.Json, records, out error) : default;
            if (error is not null)
            {
                part.Refused.Add((record.Place, error));
                continue;
            }

            part.Lines.Write(json.Span);
            part.Lines.WriteByte((byte)'\n');
            part.Places.Add(record.Place);
        }

        return true;
    }

    private void RecordResult(Part part, PartResult result, string placeName)
    {
        var refusedByNode = result.Reasons.Select(refused =>
            (part.Places[refused.Record], WithoutLine(refused.Reason))
        );
        foreach (var (place, reason) in part.Refused.Concat(refusedByNode))
        {
            if (_reasonsShown < MaxReasonsShown)
            {
                progress.Say($"Not stored: {placeName} {place}: {VisibleText.OfLine(reason)}");
                _reasonsShown++;
                if (_reasonsShown == MaxReasonsShown)
                {
                    progress.Say("Further records that are not stored are only counted.");
                }
            }
        }

        _journal = _journal with
        {
            Records = _journal.Records + part.Records,
            Stored = _journal.Stored + result.Stored,
            Bad = _journal.Bad + result.Bad + part.Refused.Count,
        };
        WithoutCounters += result.WithoutCounters;
        WithoutAttachments += result.WithoutAttachments;
        IsUnanswered = false;
        if (journalPath is not null)
        {
            WriteJournal(journalPath);
        }
    }

    /// <summary>
    /// Writes the import's journal to disk. A failure does not end the import. An older journal is good enough, because
    /// documents that are sent again overwrite themselves.
    /// </summary>
    private void WriteJournal(string path)
    {
        try
        {
            _journal.Write(path);
        }
        catch (Exception refused) when (refused is IOException or UnauthorizedAccessException)
        {
            if (!_hasReportedUnwritable)
            {
                _hasReportedUnwritable = true;
                progress.Say(
                    $"The progress of this import cannot be recorded in {path}; the import goes on. {refused.Message}"
                );
            }
        }
    }

    /// <summary>
    /// Removes the line number of a part from a reason of the node, because it is not a line number of the input: ($.n,
    /// line 7, byte 3) becomes ($.n, byte 3).
    /// </summary>
    internal static string WithoutLine(string reason)
    {
        const string Marker = "line ";
        int at = reason.IndexOf(Marker, StringComparison.Ordinal);
        int end = at + Marker.Length;
        while (at > 0 && end < reason.Length && char.IsAsciiDigit(reason[end]))
        {
            end++;
        }

        if (at <= 0 || end == at + Marker.Length)
        {
            return reason;
        }

        var before = reason.AsSpan(0, at);
        var after = reason.AsSpan(end);
        if (after.StartsWith(", ", StringComparison.Ordinal))
        {
            return $"{before}{after[2..]}";
        }

        if (before.EndsWith(", ", StringComparison.Ordinal))
        {
            return $"{before[..^2]}{after}";
        }

        if (before.EndsWith(" (", StringComparison.Ordinal) && after.StartsWith(")", StringComparison.Ordinal))
        {
            return $"{before[..^2]}{after[1..]}";
        }

        return reason;
    }

    /// <summary>Records that are sent in one request.</summary>
    private sealed class Part
    {
        public MemoryStream Lines { get; } = new();

        public List<long> Places { get; } = [];

        public List<(long Place, string Reason)> Refused { get; } = [];

        public int Records => Places.Count + Refused.Count;

        public void Clear()
        {
            Lines.SetLength(0);
            Places.Clear();
            Refused.Clear();
        }
    }
}
